"""How a unified diff is shown: exactly, since people agree to changes by it. Pure."""

from __future__ import annotations

from tui.sanitise import spelled_out

FILE_LINES = ("--- ", "+++ ")


def diff_lines(diff: str, *, names: bool = False) -> list[str]:
    """Return the lines of a unified diff, harmless and with nothing left out.

    Only a newline ends a line: another line break in a changed text would let an added line pose as an old one.
    Carriage returns that end every line (a file from Windows) are no change and are left out.

    Args:
        diff: as stored.
        names: keep the two lines that name what is compared.
    """
    lines = diff.split("\n")
    named = len(lines) > 1 and all(map(str.startswith, lines, FILE_LINES))
    head, lines = (
        (lines[:2], lines[2:]) if named else ([], lines)
    )  # only there: a changed line may look the same
    own = [line for line in lines if line[:1] in (" ", "+", "-")]
    if own and all(line.endswith("\r") for line in own):
        lines = [line.removesuffix("\r") for line in lines]
    return [spelled_out(line) for line in ([*head, *lines] if names else lines)]


def close_context(diff: str) -> str:
    """Return a unified diff with one line of context on each side of a change: what changes has to be in sight."""
    lines = diff.split("\n")
    if len(lines) > 1 and lines[0].startswith("--- ") and lines[1].startswith("+++ "):
        del lines[:2]
    changed = [line[:1] in ("+", "-", "@") for line in lines]
    kept = [
        line
        for place, line in enumerate(lines)
        if any(changed[max(0, place - 1) : place + 2])
        and not (line.startswith(" ") and _only_heading(lines, place))
    ]
    return "\n".join(kept)


def _only_heading(lines: list[str], place: int) -> bool:
    """Whether a line of context stands next to a heading of a hunk, and to no change."""
    around = (lines[place - 1][:1], lines[place + 1][:1] if place + 1 < len(lines) else "")
    return not any(sign in ("+", "-") for sign in around)
