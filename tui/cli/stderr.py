"""Writing errors and notes to stderr: sanitised, of limited length, without secrets."""

from __future__ import annotations

import sys

from tui.cli.printing import drop


def print_error(message: str) -> None:
    """Write `persona: message` as one sanitised line on stderr."""
    from tui.terminal.sanitise import sanitise
    from tui.terminal.secrets import safe_message

    print_note(f"persona: {' '.join(sanitise(safe_message(message)).split())}")


def unexpected_message(error: Exception) -> str:
    """Return the message for an unexpected error, a bug of the program."""
    return f"unexpected {type(error).__name__}: {error}; run it again with --debug and report what it prints"


def print_note(line: str) -> None:
    """Write one sanitised line on stderr; ignored if stderr is closed."""
    write(f"{line}\n")


def write(text: str) -> None:
    """Write sanitised text on stderr; ignored if stderr is closed."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        drop(sys.stderr)
