"""`persona keys`: what this terminal sends for a key, what the program calls it, and what it does on it."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import click

from tui.app.signals import SIGNALS, handle_signals
from tui.cli.group import Invocation
from tui.cli.printing import print_text
from tui.terminal.tty import has_terminal

POLL_INTERVAL = 0.05
"""Seconds without input after which a lone ESC is the key itself."""
COLUMN, NARROW_COLUMN = 22, 17
"""Cells of a column, and of one in a terminal of fewer than 90."""
ROOM = 40
"""Cells for the third column; with fewer it goes below the other two."""
INDENT = 4
LOST = 129
"""Exit code when the terminal is gone."""

# What the program asks for as well: bracketed paste, and keys in the form of the kitty protocol where there is one.
_ASK = "\x1b[?2004h\x1b[>25u"
_GIVE_BACK = "\x1b[<u\x1b[?2004l"


@click.command()
@click.option("--list", "listed", is_flag=True, help="Print every key and what it does, and end.")
@click.pass_obj
def keys(invocation: Invocation, *, listed: bool) -> None:
    """Show what the terminal sends for each key you press.

    Three columns: the bytes, the key's name, and what the program does with it. Press q, or Ctrl+C twice, to end.

    \b
    persona keys
    persona keys --list
    """
    if listed:
        _print_keys(invocation.config.settings.keys)
        return
    if not has_terminal((0, 1)):
        raise click.UsageError("showing keys needs a terminal")
    if sys.platform == "win32":
        raise click.UsageError("showing keys works on Unix terminals only")
    keymap = invocation.config.settings.keys
    print_text("Press keys to see what the terminal sends. Ctrl+C twice, or q, ends.")
    with _raw_terminal():
        _show_keys(keymap)


def _print_keys(keymap: Mapping[str, str]) -> None:
    """Print each part of the screen with its keys, those of the settings file included."""
    from tui.commands.registry import help_rows

    for number, (heading, rows) in enumerate(help_rows(keymap)):
        print_text(f"{chr(10) if number else ''}{heading}")
        width = max(len(names) for names, _ in rows)
        for names, does in rows:
            print_text(f"  {names:<{width}}  {does}")


def _show_keys(keymap: Mapping[str, str]) -> None:
    """Print a line for each keystroke until the person ends it, or the terminal does."""
    from tui.cli.program.key_probe import KeystrokeReader

    reader = KeystrokeReader(keymap)
    interrupts = 0
    while True:
        try:
            ready = select.select([0], [], [], POLL_INTERVAL)[0]
            data = os.read(0, 4096) if ready else b""
        except OSError:
            data, ready = b"", [0]
        if ready and not data:
            raise click.exceptions.Exit(LOST)
        for stroke in [*reader.feed(data), *(reader.tick() if not ready else ())]:
            print_text(_line(stroke.sent, stroke.name, stroke.does))
            sys.stdout.flush()
            interrupts = interrupts + 1 if stroke.name == "ctrl+c" else 0
            if stroke.name == "q" or interrupts == 2:
                return


def _line(sent: str, name: str, does: str) -> str:
    """Return the three columns, or two and the third below them; whole words go on below their own column."""
    import shutil
    import textwrap

    width = shutil.get_terminal_size().columns
    column = COLUMN if width >= 90 else NARROW_COLUMN
    head = f"{_padded(sent, column)}{_padded(name, column)}"
    beside = width - len(head) > ROOM
    indent = 2 * column if beside else INDENT
    rows = [
        row
        for line in does.splitlines()
        for row in textwrap.wrap(
            line, max(ROOM // 2, width - 1), initial_indent=" " * indent, subsequent_indent=" " * (indent + 2)
        )
    ]
    if beside and rows:
        head += rows.pop(0).lstrip()
    return "\n".join([head.rstrip(), *rows])


def _padded(text: str, column: int) -> str:
    """Return the text with spaces up to the next column, two at least."""
    from rich.cells import cell_len

    return text + " " * max(2, column - cell_len(text))


@contextmanager
def _raw_terminal() -> Iterator[None]:
    """Put the terminal into raw mode as the program does, and restore it in any case."""
    import termios

    before = termios.tcgetattr(0)
    modes: list[Any] = termios.tcgetattr(0)
    modes[0] &= ~(termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR)
    modes[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
    modes[6][termios.VMIN] = 1
    handlers = {number: signal.signal(number, _exit_on_signal) for number in handle_signals(SIGNALS)}
    try:
        termios.tcsetattr(0, termios.TCSANOW, modes)
        _write(_ASK)
        yield
    finally:
        _write(_GIVE_BACK)
        with suppress(termios.error):  # where the terminal is gone
            termios.tcsetattr(0, termios.TCSANOW, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _exit_on_signal(number: int, _frame: object) -> NoReturn:
    raise click.exceptions.Exit(SIGNALS[number])


def _write(sequence: str) -> None:
    try:
        sys.stdout.write(sequence)
        sys.stdout.flush()
    except OSError:
        return  # the terminal is gone; nothing is left to restore
