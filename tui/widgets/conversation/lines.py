"""Lines of the conversation, and wrapping text into them: no widget, no colours.

A line is a sequence of text runs, each a text with its ink (style flags: bold, code, error …). Colours are added when
it is painted, so a change of theme needs no new line. All text given here is sanitised (`tui.terminal.sanitise`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from rich.cells import cell_len, chop_cells

# Inks. Several may be combined.
PLAIN = 0
BOLD = 1 << 0
ITALIC = 1 << 1
STRIKE = 1 << 2
DIM = 1 << 3
CODE = 1 << 4
LINK = 1 << 5
HEADING = 1 << 6
USER = 1 << 7
TOOL = 1 << 8
ERROR = 1 << 9
ADDED = 1 << 10
REMOVED = 1 << 11

TextRun = tuple[str, int]
"""A text without newline or tab, and its ink."""

HARD, SOFT, FOLDED = "\n", " ", ""
"""How a line is joined to the next one when copied: it ended, it was wrapped at a space, it was cut in a word."""

MINIMUM_WIDTH = 4


class Line:
    """One row on the screen.

    Attributes:
        runs: its text with inks.
        lead: how many characters at its start are decoration that is not copied.
        join: what stands between it and the next line when copied: HARD, SOFT or FOLDED.
    """

    __slots__ = ("join", "lead", "runs")

    def __init__(self, runs: Sequence[TextRun] = (), *, lead: int = 0, join: str = HARD) -> None:
        self.runs = tuple(runs)
        self.lead = lead
        self.join = join

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.runs)

    def __repr__(self) -> str:
        return f"Line({self.text!r})"


class Glyphs:
    """The few signs the conversation draws, in Unicode or in ASCII."""

    __slots__ = (
        "bar",
        "bullet",
        "closed",
        "cross",
        "cursor",
        "done",
        "dots",
        "down",
        "failed",
        "minus",
        "opened",
        "point",
        "rule",
    )

    def __init__(self, *, ascii_only: bool = False) -> None:
        self.closed, self.opened = (">", "v") if ascii_only else ("▸", "▾")
        self.failed = "x" if ascii_only else "✗"
        self.done = "+" if ascii_only else "✓"
        self.bullet = "*" if ascii_only else "•"
        self.bar = "|" if ascii_only else "│"
        self.rule = "-" if ascii_only else "─"
        self.cross = "+" if ascii_only else "┼"
        self.cursor = ">" if ascii_only else "▌"
        self.down = "v" if ascii_only else "▼"
        self.minus = "-" if ascii_only else "−"
        self.dots = "..." if ascii_only else "…"
        self.point = "-" if ascii_only else "·"


UNICODE = Glyphs()

# A word with the space after it; wide characters may be parted from each other, never from a mark on them.
_WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f"
    "\uff00-\uff60\uffe0-\uffe6\U00020000-\U0003fffd"
)
_MARKS = "\u0300-\u036f\u200c\u200d\u3099\u309a\ufe00-\ufe0f"


@cache
def _words() -> re.Pattern[str]:
    # Takes milliseconds to compile: not before the first text that needs it.
    return re.compile(f"[{_WIDE}][{_MARKS}]* *|(?:[^ {_WIDE}]|(?<=\u200d)[{_WIDE}])+ *| +")


def wrap_rows(text: str, width: int) -> list[tuple[int, int, str]]:
    """Break `text` at spaces, and words longer than a row anywhere.

    Args:
        text: one line, no newline.
        width: cells of a row.

    Returns:
        For each row where it starts and ends in `text`, and how it joins the next. Never empty. The rows are
        stable: more text at the end changes the last row only. Indentation beyond half a row is left out.
    """
    width = max(width, MINIMUM_WIDTH)
    excess = len(text) - len(text.lstrip(" ")) - width // 2
    if excess > 0:
        rows = wrap_rows(text[excess:], width)
        return [(start + excess, end + excess, join) for start, end, join in rows]
    return _wrap_ascii(text, width) if text.isascii() else _wrap_wide(text, width)


def _wrap_ascii(text: str, width: int) -> list[tuple[int, int, str]]:
    rows: list[tuple[int, int, str]] = []
    start, size = 0, len(text.rstrip(" "))
    indent = len(text) - len(text.lstrip(" "))
    while size - start > width:
        cut = text.rfind(" ", max(start + 1, indent), start + width + 1)
        if cut < 0:
            rows.append((start, start + width, FOLDED))
            start += width
        else:
            rows.append((start, len(text[start:cut].rstrip(" ")) + start, SOFT))
            start = cut + 1
            while text[start] == " ":
                start += 1
    rows.append((start, min(len(text), start + width), HARD))
    return rows


def _wrap_wide(text: str, width: int) -> list[tuple[int, int, str]]:
    rows: list[tuple[int, int, str]] = []
    start = end = used = 0
    for match in _words().finditer(text):
        word = match.group()
        body = word.rstrip(" ")
        cells = cell_len(body)
        at = match.start()
        if used + cells > width and body:
            if text[start:at].strip(" "):
                rows.append((start, end, SOFT if text[at - 1] == " " else FOLDED))
                start, used = at, 0
            if used + cells > width:
                # Only the indentation, if anything, precedes the word: it stays there.
                for number, block in enumerate(_chop(body, width - used, width)):
                    if number:
                        rows.append((start, at, FOLDED))
                        start, used = at, 0
                    used += cell_len(block)
                    at += len(block)
                cells = 0
        used += cells + len(word) - len(body)
        if body:
            end = match.start() + len(body)
    end = max(end, start)
    room = max(0, width - cell_len(text[start:end]))  # for the blanks at the end, as in ASCII
    rows.append((start, min(end + room, len(text)), HARD))
    return rows


def _chop(word: str, room: int, width: int) -> list[str]:
    """Cut one long word: the first part of `room` cells, the others of `width`."""
    first = chop_cells(word[: room * 8], room)[0]
    rest = word[len(first) :]
    return [first, *(chop_cells(rest, width) if rest else ())]


def fold_rows(text: str, width: int) -> list[tuple[int, int, str]]:
    """Cut `text` every `width` cells and nowhere else (code, diffs); as `wrap_rows` otherwise."""
    width = max(width, MINIMUM_WIDTH)
    if text.isascii():
        starts = range(0, max(len(text), 1), width)
        rows = [(start, min(start + width, len(text)), FOLDED) for start in starts]
    elif cell_len(text) <= width:
        rows = [(0, len(text), FOLDED)]
    else:
        rows, start = [], 0
        for block in chop_cells(text, width):
            rows.append((start, start + len(block), FOLDED))
            start += len(block)
    start, end, _ = rows[-1]
    rows[-1] = (start, end, HARD)
    return rows


def cut_runs(runs: Sequence[TextRun], start: int, end: int) -> list[TextRun]:
    """Return the runs of the characters from `start` to `end`."""
    result: list[TextRun] = []
    at = 0
    for text, ink in runs:
        after = at + len(text)
        if after > start and at < end and text:
            result.append((text[max(start - at, 0) : end - at], ink))
        at = after
        if at >= end:
            break
    return result


def run_cells(runs: Iterable[TextRun]) -> int:
    """Return the width of `runs` in cells."""
    return sum(cell_len(text) for text, _ in runs)


def wrap_runs(
    runs: Sequence[TextRun],
    width: int,
    first: Sequence[TextRun] = (),
    rest: Sequence[TextRun] = (),
    *,
    lead: tuple[int, int] = (0, 0),
    fold: bool = False,
) -> list[Line]:
    """Break one line of `runs` into lines of at most `width` cells.

    Args:
        runs: the text with its inks.
        width: cells of a line.
        first: the text before the first line.
        rest: the text before the other lines; the text gets the width that the wider of the two leaves.
        lead: how much of `first` and of `rest` is decoration that is not copied.
        fold: cut at the width, not at spaces.
    """
    inner = max(MINIMUM_WIDTH, width - max(run_cells(first), run_cells(rest)))
    text = runs[0][0] if len(runs) == 1 else "".join(part for part, _ in runs)
    rows = fold_rows(text, inner) if fold else wrap_rows(text, inner)
    lines = []
    for number, (start, end, join) in enumerate(rows):
        before = rest if number else first
        body = [(text[start:end], runs[0][1])] if len(runs) == 1 else cut_runs(runs, start, end)
        lines.append(Line([*before, *body], lead=lead[bool(number)], join=join))
    return lines


class Flow:
    """Text that grows, broken into lines as it comes: a block costs what the block is long, not what came before.

    Args:
        width: cells of a line.
        ink: of the text.
        prefix: decoration before every line.
        fold: cut at the width, not at spaces.
    """

    def __init__(
        self, width: int, ink: int = PLAIN, prefix: Sequence[TextRun] = (), *, fold: bool = False
    ) -> None:
        self.lines: list[Line] = []
        self._width = max(MINIMUM_WIDTH, width - run_cells(prefix))
        self._ink = ink
        self._prefix = tuple(prefix)
        self._lead = sum(len(text) for text, _ in prefix)
        self._rows = fold_rows if fold else wrap_rows
        self._last = ""
        self._started = False

    def feed(self, text: str) -> int:
        """Add sanitised `text`; return the number of the first line that changed."""
        if self._started:
            self.lines.pop()
        self._started = True
        changed = len(self.lines)
        text = (self._last + text).replace("\t", "    ")
        source = ""
        for source in text.split("\n"):
            rows = self._rows(source, self._width)
            for start, end, join in rows:
                self.lines.append(
                    Line([*self._prefix, (source[start:end], self._ink)], lead=self._lead, join=join)
                )
        self._last = source[rows[-1][0] :]
        return changed
