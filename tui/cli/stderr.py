"""Writing errors and notes to stderr: sanitised, of limited length, without secrets."""

from __future__ import annotations

import sys

from tui.cli.printing import LONGEST_LINE, drop

_LONGEST_END = 400


def print_error(message: str) -> None:
    """Write `persona: message` as one sanitised line on stderr."""
    from tui.terminal.sanitise import sanitise

    print_note(f"persona: {' '.join(sanitise(safe_message(message)).split())}")


def unexpected_message(error: Exception) -> str:
    """Return the message for an unexpected error, a bug of the program."""
    return f"unexpected {type(error).__name__}: {error}; run it again with --debug and report what it prints"


def safe_message(message: str) -> str:
    """Return a message without secrets and, if it is long, without its middle: its end says what to do next."""
    from tui.terminal.secrets import redact

    message = redact(message)  # before it is cut: half a key is not recognised
    if len(message) <= LONGEST_LINE:
        return message
    return f"{message[: LONGEST_LINE - _LONGEST_END]} … {message[-_LONGEST_END:]}"


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
