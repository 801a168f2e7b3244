"""Finds signals in a text that comes in pieces. Pure.

A signal is a word alone on a line, a line `---`, and one JSON object, behind which its last line ends. Inside a fence of
code it is text. Once word and `---` stand there, anything but one valid object is a fault, and all of it is text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from agent.core.response_assembler import parse_input

WORDS = ("GENERATE_ACTIONS", "GENERATE_ASSET", "STORE_MEASUREMENT")

_WORD = re.compile(rf"({'|'.join(WORDS)})[ \t]*\r?")
_RULE = re.compile(r"---[ \t]*\r?")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
# JSON has no backtick, tilde, `G` or `S` outside of its strings, and no line end in them: no line of an object that is
# valid so far begins a signal or a fence.
_OUTSIDE = re.compile(r"[^]\[:,.+\-0-9eEtrufalsn \t\r\n]")
_IN_STRING = re.compile(r"[\"\\\0-\x1f]")
_BEFORE = re.compile(r"[^ \t\r\n]")
_BEHIND = re.compile(r"[^ \t\r]")


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal: its word, the object behind it, and the whole text of both."""

    word: str
    value: dict[str, Any]
    text: str


@dataclass(frozen=True, slots=True)
class InvalidSignal:
    """What begins as a signal is none; its text follows as text."""

    word: str
    why: str


Piece = str | Signal | InvalidSignal


@dataclass(slots=True)
class _Object:
    """The text of a signal so far, whose object is on its way."""

    word: str
    parts: list[str]
    length: int  # of all parts
    begin: int  # of the object in them, or of what comes before it
    depth: int = 0
    is_in_string: bool = False
    is_escaped: bool = False
    end: int | None = None  # of the object

    def scan(self, text: str) -> tuple[int, str] | None:
        """Take more text; return where the signal ends in all of it, with "" or with what is wrong there.

        None: that is not known yet.
        """
        start = self.length
        self.parts.append(text)
        self.length += len(text)
        at = 0
        while at < len(text):
            if self.is_escaped and text[at] >= " ":
                self.is_escaped = False
                at += 1
                continue
            found = self._next().search(text, at)
            if found is None:
                return None
            at, sign = found.end(), found[0]
            place = start + found.start()
            if self.end is not None:
                return (place + 1, "") if sign == "\n" else (place, "something follows its object")
            if self.is_in_string:
                self.is_escaped = sign == "\\"
                self.is_in_string = sign != '"'
                if sign < " ":
                    return place, "a line ends within a text"
            elif sign == '"' and self.depth:
                self.is_in_string = True
            elif sign == "{":
                self.depth += 1
            elif sign == "}" and self.depth:
                self.depth -= 1
                self.end = place + 1 if not self.depth else None
            else:
                return place, "its object is not valid JSON" if self.depth else "no JSON object follows"
        return None

    def _next(self) -> re.Pattern[str]:
        if self.end is not None:
            return _BEHIND
        return _IN_STRING if self.is_in_string else _OUTSIDE if self.depth else _BEFORE


@dataclass
class SignalParser:
    """Takes a text in pieces of any size, and gives what is known of it so far: text, signals, faults.

    What may still become a signal is held back. The text that is given, with that of the signals, is all that was taken.
    """

    _line: list[str] = field(default_factory=list)  # what was given of a line that is not at its end
    _held: str = ""  # the beginning of a line, or of two, that may begin a signal
    _fence: str = ""  # what began the block of code we are in
    _object: _Object | None = None
    _found: list[Piece] = field(default_factory=list)

    def feed(self, text: str) -> list[Piece]:
        """Take the next piece; return what is known by now."""
        self._take(text)
        return self._given()

    def end(self) -> list[Piece]:
        """Return the rest: no more text follows."""
        if (signal := self._object) is not None:
            self._take(self._close(signal, signal.length, "it breaks off" if signal.end is None else ""))
        if self._held:
            held, self._held = self._held, ""
            self._found.append(held)
        return self._given()

    def _given(self) -> list[Piece]:
        found, self._found = self._found, []
        return found

    def _take(self, text: str) -> None:
        while text:
            if self._object is not None:
                ending = self._object.scan(text)
                if ending is None:
                    return
                text = self._close(self._object, *ending)
            elif self._line or self._fence:
                text = self._give_line(text)
            else:
                text, self._held = self._held + text, ""
                begun = _begun(text)
                if begun is None:
                    text = self._give_line(text)
                elif isinstance(begun, str):
                    self._held = begun
                    return
                else:
                    word, begin = begun
                    self._object = _Object(word, [text[:begin]], begin, begin)
                    text = text[begin:]

    def _give_line(self, text: str) -> str:
        """Give a text up to the end of its line; return the rest."""
        cut = text.find("\n") + 1 or len(text)
        given = text[:cut]
        self._found.append(given)
        self._line.append(given)
        if given.endswith("\n"):
            line = "".join(self._line).rstrip("\r\n")
            self._line.clear()
            opening = _FENCE.match(line)
            if not self._fence:
                self._fence = opening[1] if opening is not None else ""
            elif (
                opening is not None
                and opening[1].startswith(self._fence)
                and not line[opening.end() :].strip(" \t")
            ):
                self._fence = ""
        return text[cut:]

    def _close(self, signal: _Object, end: int, why: str) -> str:
        """End a signal there, well or with a fault; return the text that is to be taken anew."""
        self._object = None
        text = "".join(signal.parts)
        if not why:
            value, fault = parse_input(text[signal.begin : signal.end])
            if not fault:
                self._found.append(Signal(signal.word, value, text[:end]))
                return text[end:]
            why = "its object is not valid JSON"
            end -= 1
        line = text.rfind("\n", 0, end) + 1
        self._found += [InvalidSignal(signal.word, why), text[:line]]
        return text[line:]


def _begun(text: str) -> tuple[str, int] | str | None:
    """Return word and end of the two first lines of a signal, with which a text begins; the text if it still may."""
    first, newline, rest = text.partition("\n")
    word = _WORD.fullmatch(first)
    if not newline:
        return text if word is not None or any(one.startswith(text) for one in WORDS) else None
    if word is None:
        return None
    second, newline, _ = rest.partition("\n")
    rule = _RULE.fullmatch(second)
    if not newline:
        return text if rule is not None or "---".startswith(second) else None
    return (word[1], len(first) + len(second) + 2) if rule is not None else None
