"""Where an escape sequence ends in what a terminal sends, and whether it is a key, a report or only text.

An ESC that begins nothing a terminal sends is the key Esc: what follows it was typed, and no rest of a sequence is ever
taken for text.
"""

from __future__ import annotations

import re
from enum import Enum

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS, IGNORE_SEQUENCE
from textual._xterm_parser import XTermParser

NEWLINE_SEQUENCES = {
    "\x1b[27;2;13~": "shift+enter",
    "\x1b[27;3;13~": "alt+enter",
    "\x1b[27;4;13~": "shift+alt+enter",
    "\x1b[27;5;13~": "ctrl+enter",
    "\x1b[27;6;13~": "ctrl+shift+enter",
    "\x1b[27;7;13~": "ctrl+alt+enter",
    "\x1b[27;8;13~": "ctrl+shift+alt+enter",
    "\x1b\r": "alt+enter",
}
"""Enter with a modifier as terminals send it: `ESC CR`, the form of Alt which some send for Shift, or xterm's
modifyOtherKeys form, which tmux sends with `extended-keys always`; Textual calls the latter by a name with a raw control
character in it."""

LONGEST = 32
"""Characters of a sequence from which on it is no key: Textual takes a longer one to pieces."""

PASTE_START, PASTE_END = "\x1b[200~", "\x1b[201~"


class Kind(Enum):
    """What begins at an ESC."""

    KEY = "a sequence that is a key"
    REPORT = "the mouse, the focus, or an answer of the terminal"
    OUTPUT = "a sequence that no key sends: a paste without marks brings it, or an answer nobody asked for"
    ESCAPE = "the key Esc alone"
    BEGUN = "what the next read decides, soon"
    CUT = "a sequence that the read cut: nobody types so"


_CSI = re.compile(r"\x1b\[[0-?]{0,256}[ -/]{0,4}[@-~]")
_CUT_CSI = re.compile(r"\x1b\[(?:M[^\x1b]{0,2}|[0-?]{1,256}[ -/]{0,4})\Z")
_MOUSE_X10 = re.compile(r"\x1b\[M[^\x1b]{3}")
_REPORT = re.compile(r"\x1b\[(?:<-?\d+;-?\d+;-?\d+[Mm]|\d+;\d+;\d+M|[IO]|48;[\d:;]+t|\?\d+;\d+\$y|\d+;\d+R)")
# With parameters, and an end that keyboards and answers have: what else it may be was typed behind an Esc.
_PARAMETERS = re.compile(r"\x1b\[[0-?]+[ -/]*[A-Za-z~]")
_STRING = re.compile(r"\x1b[P\]X^_][^\x00-\x08\x0a-\x1f\x7f]{0,4096}(?:\x07|\x1b\\)")
_CUT_STRING = re.compile(r"\x1b(?:P[\d;>!+$|]|\]\d|_G)[^\x00-\x1f\x7f]{0,4096}\x1b?\Z")
_OTHER_SEQUENCES = tuple(
    sequence
    for sequence in ANSI_SEQUENCES_KEYS
    if sequence.startswith("\x1b[") and _CSI.fullmatch(sequence) is None
)
"""Keys of two terminals that end where no control sequence ends: `ESC [ [ A`, `ESC [ 2 3 $`."""
_SHORT = frozenset(
    sequence
    for sequence, keys in ANSI_SEQUENCES_KEYS.items()
    if len(sequence) == 2 and sequence[0] == "\x1b" and isinstance(keys, tuple) and sequence[1] != "\x1b"
)
"""An ESC and one character that are a key; those that only stand for another letter are none."""
_KEYPAD = re.compile(r"\x1bO[a-y]")

_FOR_OUTPUT = re.compile(
    rf"{_PARAMETERS.pattern}|\x1b\[[mKJ]|\x1b[()][0AB]|{_STRING.pattern}"
)  # what only a program writes, and keys: see `is_output`
_ANY = re.compile(rf"{_STRING.pattern}|{_CSI.pattern}|\x1b[ -/]*[0-~]?")

_MODIFIED = re.compile(r"\x1b\[27;(\d{1,3});(\d{1,7})~")

_parser = XTermParser()


def begins(data: str, at: int) -> tuple[Kind, int]:
    """Return what begins at the ESC at `at`, and where it ends.

    Args:
        data: what came; its end may have cut a sequence.
        at: where an ESC stands.
    """
    mark = data[at + 1 : at + 2]
    if not mark:
        return Kind.BEGUN, at + 1
    if mark == "[":
        return _control_sequence(data, at)
    if mark == "O":
        end = at + 3
        if len(data) < end:
            return Kind.BEGUN, at + 2
        if data[at:end] not in ANSI_SEQUENCES_KEYS:
            return Kind.ESCAPE, at + 1
        return _unless_typed(data, at, end) if _KEYPAD.match(data, at) else (Kind.KEY, end)
    if found := _STRING.match(data, at):
        return Kind.OUTPUT, found.end()
    if _CUT_STRING.match(data, at):
        return Kind.CUT, len(data)
    if mark in "P]_" and len(data) == at + 2:
        return Kind.BEGUN, at + 2
    end = at + 2
    if data[at:end] in NEWLINE_SEQUENCES:
        return Kind.KEY, end
    if data[at:end] not in _SHORT:
        return Kind.ESCAPE, at + 1
    return _unless_typed(data, at, end) if mark.isprintable() else (Kind.KEY, end)


def _control_sequence(data: str, at: int) -> tuple[Kind, int]:
    for sequence in _OTHER_SEQUENCES:
        if data.startswith(sequence, at):
            return Kind.KEY, at + len(sequence)
    if found := _MOUSE_X10.match(data, at):
        return Kind.REPORT, found.end()
    if _CUT_CSI.match(data, at):
        return Kind.CUT, len(data)
    if len(data) == at + 2 or data[at + 2 :] == "[":
        return Kind.BEGUN, len(data)
    found = _CSI.match(data, at)
    if found is None:
        return Kind.ESCAPE, at + 1
    sequence = found.group()
    if len(sequence) > LONGEST:
        return Kind.OUTPUT, found.end()
    if _REPORT.fullmatch(sequence):
        return Kind.REPORT, found.end()
    if is_key(sequence):
        return Kind.KEY, found.end()
    return (Kind.OUTPUT, found.end()) if _PARAMETERS.fullmatch(sequence) else (Kind.ESCAPE, at + 1)


def _unless_typed(data: str, at: int, end: int) -> tuple[Kind, int]:
    """A key, unless text follows: then so does what looks like a key belong to what was typed behind an Esc."""
    return (Kind.ESCAPE, at + 1) if data[end : end + 1].isprintable() and data[end:] else (Kind.KEY, end)


def is_key(sequence: str) -> bool:
    """Return whether a whole control sequence is a key."""
    if sequence in NEWLINE_SEQUENCES or ANSI_SEQUENCES_KEYS.get(sequence) is IGNORE_SEQUENCE:
        return True
    sequence = as_kitty(sequence)
    try:
        event = next(iter(XTermParser._sequence_to_key_events(_parser, sequence)), None)
    except (ValueError, OverflowError):  # a number that no key has
        return False
    if (
        event is not None
        and sequence.count(";") > 1
        and event.character
        and not event.character.isprintable()
    ):
        return False  # the text that a key brings along is none of these
    # Only where it ends in "u" its number may be a character's.
    return event is not None and (len(event.key) > 1 or (sequence[-1] == "u" and event.key.isprintable()))


def as_kitty(sequence: str) -> str:
    """Return a character with modifiers in the form Textual knows, where xterm's modifyOtherKeys sent it."""
    if (found := _MODIFIED.fullmatch(sequence)) is None:
        return sequence
    modifiers, code = found.groups()
    return f"\x1b[{code};{modifiers}{f';{code}' if modifiers == '2' else ''}u"


def is_output(text: str) -> bool:
    """Return whether a text holds a sequence that only programs write, and so was copied from somewhere."""
    return any(
        not _CSI.fullmatch(found) or not is_key(found)
        for found in (m.group() for m in _FOR_OUTPUT.finditer(text))
    )


def without_sequences(text: str) -> str:
    """Return a text without any escape sequence, and without ESC."""
    return _ANY.sub("", text) if "\x1b" in text else text
