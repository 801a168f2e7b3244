"""How a command says what is wrong: one harmless line of bearable length on stderr, without secrets."""

from __future__ import annotations

import sys

from tui.cli.output import LONGEST_LINE, drop

_LONGEST_END = 400


def print_error(message: str) -> None:
    """Write `persona: message` as one harmless line on stderr."""
    from tui.terminal.sanitise import sanitise

    print_note(f"persona: {' '.join(sanitise(safe_message(message)).split())}")


def unexpected_message(error: Exception) -> str:
    """Return what to say of a fault of the program's own."""
    return f"unexpected {type(error).__name__}: {error}; run it again with --debug and report what it prints"


def safe_message(message: str) -> str:
    """Return a message without secrets, and without the middle of one that is long: at the end is what to do next."""
    from tui.terminal.secrets import redact

    message = redact(message)  # before it is cut: half a key looks like none
    if len(message) <= LONGEST_LINE:
        return message
    return f"{message[: LONGEST_LINE - _LONGEST_END]} … {message[-_LONGEST_END:]}"


def print_note(line: str) -> None:
    """Write one harmless line on stderr; nothing where nobody is left to read it."""
    write(f"{line}\n")


def write(text: str) -> None:
    """Write harmless text on stderr; nothing where nobody is left to read it."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        drop(sys.stderr)
