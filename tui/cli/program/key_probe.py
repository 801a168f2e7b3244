"""Parsing terminal input as the program does: bytes in, named keystrokes out."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from textual import events
from textual.message import Message

from tui.commands.registry import (
    COMMANDS,
    HEADINGS,
    HELP_ONLY_KEYS,
    NO_KEYMAP,
    Keymap,
    keys_of,
    keys_of_help_entry,
)
from tui.terminal.textual_compat.input_parser import InputParser
from tui.widgets.chat_input import NEWLINE_KEYS

AMBIGUOUS_BYTES = {r"\x1b\r": "alt+enter or shift+enter"}
"""Escaped bytes that terminals send for several keys, with the names of all of them."""

SHOWN_BYTES = 40
"""Bytes of one keystroke that are shown; a paste has more."""


@dataclass(frozen=True, slots=True)
class Keystroke:
    """One thing the terminal sent.

    Attributes:
        sent: its bytes, escaped.
        name: Textual's name of the key; else what it is.
        does: what the program does on it, a line for each part of the screen; empty for nothing.
    """

    sent: str
    name: str
    does: str = ""


class KeystrokeReader:
    """Takes terminal input in any chunks; yields keystrokes and what a keymap does with them."""

    def __init__(self, keymap: Keymap = NO_KEYMAP) -> None:
        self._keymap = keymap
        self._parser = InputParser()
        self._decode = getincrementaldecoder("utf-8")(errors="replace").decode
        self._sent = bytearray()

    def feed(self, data: bytes) -> Iterator[Keystroke]:
        """Take bytes; yield the keystrokes that are complete."""
        for number in data:
            self._sent.append(number)
            for character in self._decode(bytes((number,))):
                yield from self._named(self._parser.feed(character))

    def tick(self) -> Iterator[Keystroke]:
        """After a pause: an ESC without a sequence was the Esc key."""
        yield from self._named(self._parser.tick())

    def _named(self, messages: Iterable[Message]) -> Iterator[Keystroke]:
        # An unknown escape sequence is parsed as several keys; the first one gets all its bytes.
        for message in messages:
            sent, self._sent = escaped(bytes(self._sent)), bytearray()
            if isinstance(message, events.Key):
                name = "".join(c if c.isprintable() else escaped(c.encode()) for c in message.key)
                name = AMBIGUOUS_BYTES.get(sent, name)
                yield Keystroke(sent, name, meaning(message.key, message.is_printable, self._keymap))
            elif isinstance(message, events.Paste):
                yield Keystroke(sent, f"paste of {len(message.text)} characters", "Inserted as one text")
            else:
                yield Keystroke(sent, type(message).__name__)


def escaped(data: bytes) -> str:
    r"""Return bytes as a Python literal would have them, `\x1b[A`, cut after some."""
    shown = repr(data[:SHOWN_BYTES])[2:-1].replace(" ", r"\x20")
    return f"{shown}… ({len(data)} bytes)" if len(data) > SHOWN_BYTES else shown


def meaning(key: str, printable: bool = False, keymap: Keymap = NO_KEYMAP) -> str:
    """Return what the program does on a key, a line for each part of the screen; empty for nothing."""
    found = [(command.where, command.title) for command in COMMANDS if key in keys_of(command, keymap)]
    found += [(where, title) for where, keys, title in HELP_ONLY_KEYS if key in _keys_of(keys, keymap)]
    found.sort(key=lambda one: list(HEADINGS).index(one[0]))  # a part of the screen before what is over it
    if key in NEWLINE_KEYS and not found:
        found.append(("chat", "New line"))
    if printable:
        found.insert(0, ("anywhere", "Written as text"))
    return "\n".join(
        title if where == "anywhere" else f"{HEADINGS[where]}: {title}" for where, title in found
    )


def _keys_of(keys: str, keymap: Keymap) -> list[str]:
    return [{"/": "slash"}.get(key, key) for key in keys_of_help_entry(keys, keymap)]
