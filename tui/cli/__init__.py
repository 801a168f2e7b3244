"""The command `persona`. Only what a command needs is imported when it runs."""

from __future__ import annotations


def main() -> None:
    """Run `persona` with the arguments of this process and exit with its code."""
    try:
        from tui.cli.boundary import run

        run()
    except KeyboardInterrupt:  # pressed while Python still reads the program
        raise SystemExit(130) from None
