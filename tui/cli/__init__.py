"""The command `persona`. Only what a command needs is imported when it runs."""

from __future__ import annotations


def main() -> None:
    """Run `persona` with the arguments of this process and exit with its code."""
    try:
        from tui.cli.error_handling import run

        run()
    except KeyboardInterrupt:  # pressed while Python still reads the program
        raise SystemExit(130) from None
    except RuntimeError as error:
        if not was_interrupted(error):
            raise
        raise SystemExit(130) from None


def was_interrupted(error: BaseException) -> bool:
    """Return whether Ctrl+C is what an error came of.

    Python 3.11 makes a `RuntimeError` of whatever is raised while the attributes of a new class are told their names.
    """
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        if isinstance(link, KeyboardInterrupt):
            return True
        seen.add(id(link))
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return False
