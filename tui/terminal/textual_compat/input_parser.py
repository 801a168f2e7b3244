"""A parser of terminal input that keeps pastes whole. It takes the place of Textual's `XTermParser`.

What Textual 8.2.8 does otherwise, and why this is needed:

- An ESC within a bracketed paste ends the paste for it. The rest arrives as key presses, and a pasted line end sends the
  message (`XTermParser.parse` reads sequences within a paste).
- `ESC CR`, which Shift+Enter and Alt+Enter send in VS Code, Windows Terminal and tmux, is plain Enter for it
  (Textualize/textual#6577 would add it).
- xterm's modifyOtherKeys form, `ESC [ 27 ; 5 ; 13 ~`, gets a name with a control character in it, or types its number.
- A number that stands for no character (`ESC [ 99999999 u`) raises `ValueError` and ends the thread that reads keys.
- A sequence it does not know swallows up to 32 characters behind it, and then types them all.
- Enter that was pressed before the terminal gave single keys comes as a line feed, which is Ctrl+J: a new line.
- A paste without marks (GNU screen, `tmux paste-buffer`) is key presses, so that its line ends send messages.

Figures: a paste of 1 MB takes 0.01 s of the thread that reads, with Textual's parser 1 s, since that reads it by character.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from time import monotonic

from textual import constants, events
from textual._xterm_parser import BRACKETED_PASTE_END as PASTE_END
from textual._xterm_parser import BRACKETED_PASTE_START as PASTE_START
from textual._xterm_parser import XTermParser
from textual.keys import Keys
from textual.message import Message

TYPED_AT_ONCE = 32
"""Characters that may come in one read and still are single keys."""
SAME_PASTE = 0.1
"""Seconds within which the next read belongs to the paste before it: a long one comes in reads of 4 KB."""
PASTE_WAITS = 2.0
"""Seconds without input after which a paste whose end mark did not come is given on as far as it came."""

CUT_WAITS = 1.0
"""Seconds that the rest of a sequence which a read cut may take to come."""
LONGEST = 32
"""Characters of the longest sequence that Textual reads."""

NEWLINES = {
    "\x1b[27;2;13~": "shift+enter",
    "\x1b[27;3;13~": "alt+enter",
    "\x1b[27;4;13~": "shift+alt+enter",
    "\x1b[27;5;13~": "ctrl+enter",
    "\x1b[27;6;13~": "ctrl+shift+enter",
    "\x1b[27;7;13~": "ctrl+alt+enter",
    "\x1b[27;8;13~": "ctrl+shift+alt+enter",
    "\x1b\r": "alt+enter",
}
"""Enter with a modifier: `ESC CR`, or xterm's modifyOtherKeys form, which tmux sends with `extended-keys always`."""

_RUN = r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]+"
_SEQUENCE = (
    r"\x1b(?:"
    r"\[(?:M[^\x1b]{3}|\[[A-E]|[A-Za-d]|[0-?]+[ -/]*[A-Za-z~^@]?)"  # CSI; its end may be lost
    r"|O(?:[A-Z]|[a-y](?![ -~]))|[bf](?![ -~])|[\t\r\x7f]"  # text behind it was typed behind an Esc
    r"|[P\]X^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # an answer of the terminal
    r")"
)
# Not compiled here: no key is read before the first paint.
_TOKEN = f"(?P<run>{_RUN})|{_SEQUENCE}|[\\s\\S]"
_UNFINISHED = r"\x1b(?:\[(?:M[^\x1b]{0,2}|\[|[0-?]*[ -/]*)|O)?\Z"
_MODIFY_OTHER_KEYS = r"\x1b\[27;(\d{1,3});(\d{1,7})~"
_LINE_END = r"\r\n?|\n"


class UnmarkedPaste(events.Paste):
    """Characters that came at once: a paste for what takes text, single keys for everything else.

    Args:
        text: the text, its line ends as line feeds.
        sent: what the terminal sent.
    """

    def __init__(self, text: str, sent: str) -> None:
        super().__init__(text)
        self.sent = sent

    def can_replace(self, message: Message) -> bool:
        """Become one with the next part of the same paste: one step of undo."""
        if type(message) is not UnmarkedPaste:
            return False
        message.text, message.sent = self.text + message.text, self.sent + message.sent
        return True

    def pressed(self) -> Iterator[events.Key]:
        """Yield the keys of the characters."""
        for key in XTermParser().feed(self.sent):
            if isinstance(key, events.Key):
                yield key


UnmarkedPaste.handler_name = events.Paste.handler_name  # what takes a paste takes this


class InputParser(XTermParser):
    """Cuts what the terminal sent into pastes, runs of characters and sequences; Textual reads the last two.

    Args:
        debug: as in the base class.
        clock: monotonic seconds.
    """

    def __init__(self, debug: bool = False, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._read_at = clock()
        self._pasted_at = self._unmarked_at = float("-inf")  # with marks, and without
        self._paste: list[str] | None = None
        self._unfinished = ""  # the beginning of a sequence, of which the rest is to come
        super().__init__(debug)

    def feed(self, data: str) -> Iterable[Message]:
        """Take what the terminal sent in one read; yield the messages it makes."""
        if not data:
            yield from super().feed(data)
            return
        self._read_at = self._clock()
        data, self._unfinished = self._unfinished + data, ""
        while data:
            if self._paste is not None:
                data, paste = self._take_paste(data)
                if paste is not None:
                    yield paste
                continue
            typed, mark, data = data.partition(PASTE_START)
            if not mark and (unfinished := re.search(_UNFINISHED, typed)):
                typed, self._unfinished = typed[: unfinished.start()], unfinished.group()
            yield from self._take_typed(typed)
            if mark:
                self._paste = []

    def tick(self) -> Iterable[Message]:
        """Time has gone by: yield the Esc that nothing followed, and a paste whose end mark did not come."""
        quiet = self._clock() - self._read_at
        if self._paste is not None:
            if quiet >= PASTE_WAITS:
                yield self._end_paste(self._unfinished)
        elif 0 < len(self._unfinished) <= 2 and quiet >= constants.ESCAPE_DELAY:  # nobody types a longer part
            typed, self._unfinished = self._unfinished[1:], ""
            yield events.Key("escape", "\x1b")
            yield from super().feed(typed) if typed else ()
        elif quiet >= CUT_WAITS:
            self._unfinished = ""

    # -- bracketed pastes -----------------------------------------------------------------------------------

    def _take_paste(self, data: str) -> tuple[str, events.Paste | None]:
        """Take data up to the end mark; return what follows it, and the paste when it is whole."""
        assert self._paste is not None
        # Of several end marks the last: the others are within the text.
        until = data.find(PASTE_START, max(0, data.find(PASTE_END)))
        at = data.rfind(PASTE_END, 0, until if until >= 0 else len(data))
        if at >= 0:
            return data[at + len(PASTE_END) :], self._end_paste(data[:at])
        held = next(n for n in range(len(PASTE_END) - 1, -1, -1) if data.endswith(PASTE_END[:n]))
        self._paste.append(data[: len(data) - held])
        self._unfinished = data[len(data) - held :]
        return "", None

    def _end_paste(self, rest: str) -> events.Paste:
        text = "".join([*(self._paste or ()), rest]).replace("\x00", "")
        self._paste, self._unfinished, self._pasted_at = None, "", self._clock()
        return events.Paste(text)

    # -- keys, and pastes without marks ---------------------------------------------------------------------

    def _take_typed(self, data: str) -> Iterator[Message]:
        run = ""  # also over sequences that mean nothing: a paste without marks may hold colours
        for token in re.finditer(_TOKEN, data):
            if token["run"]:
                run += token["run"]
            elif messages := list(self._sequence(token.group())):
                yield from self._take_run(run)
                yield from messages
                run = ""
        yield from self._take_run(run)

    def _sequence(self, sequence: str) -> Iterator[Message]:
        """Yield what Textual makes of one whole sequence or control character."""
        if sequence == "\x1b":
            yield events.Key("escape", "\x1b")
            return
        if len(sequence) > LONGEST or sequence[1:2] in tuple("P]X^_"):
            return  # no key; Textual would type it
        yield from super().feed(sequence)
        if self._awaiting.timeout is not None:  # it knows none such and would take what follows for its rest
            self._gen = self.parse(self._tokens.append)
            self._awaiting, self._timeout_time = next(self._gen), None

    def _take_run(self, run: str) -> Iterator[Message]:
        """Yield a run of characters as keys or as a paste. A line end behind all of it alone is Enter."""
        inner, now = run.rstrip("\r\n\t"), self._clock()
        is_long = len(re.sub(_LINE_END, "", inner)) > TYPED_AT_ONCE
        goes_on = bool(inner) and now - self._unmarked_at <= SAME_PASTE
        if goes_on:
            is_paste = bool(re.search(_LINE_END, run))
        else:
            is_paste = bool(re.search(_LINE_END, inner)) and (is_long or now - self._pasted_at <= SAME_PASTE)
        if is_paste:
            self._unmarked_at = now
            if (
                goes_on or "\r" in inner or not run.endswith("\r")
            ):  # else its line ends are Ctrl+J, and that one is Enter
                inner = run
        if is_paste or is_long:
            yield UnmarkedPaste(re.sub(_LINE_END, "\n", inner), inner)
            run = run[len(inner) :]
        if run:
            yield from super().feed(run)

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        if (key := NEWLINES.get(sequence)) is not None:
            yield events.Key(key, None)
            return
        known = _as_kitty(sequence)
        try:
            keys = [*super()._sequence_to_key_events(known, alt)]
        except (ValueError, OverflowError):  # a number that stands for no character
            keys = [events.Key(Keys.Ignore, sequence)]
        # Textual takes the number of a key that it does not know for a character; only before a `u` it is one.
        is_numbered = known.startswith("\x1b[") and not known.endswith("u")
        for one in keys:
            is_key = one.key.isprintable() and not (is_numbered and one.is_printable)
            yield one if is_key else events.Key(Keys.Ignore, sequence)


def _as_kitty(sequence: str) -> str:
    """Return a character with modifiers in the form Textual knows, where xterm's modifyOtherKeys sent it."""
    if (found := re.fullmatch(_MODIFY_OTHER_KEYS, sequence)) is None:
        return sequence
    modifiers, code = found.groups()
    return f"\x1b[{code};{modifiers}{f';{code}' if modifiers == '2' else ''}u"


class TerminalParser(InputParser):
    """The parser of this process's terminal."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._typed_ahead = _unread_bytes()

    def feed(self, data: str) -> Iterable[Message]:
        """Take what was read. What was typed before the program asked for single keys has each Enter as a line feed."""
        if data and self._typed_ahead:
            sent = data.encode("utf-8", "surrogateescape")
            ahead = sent[: self._typed_ahead].decode("utf-8", "ignore")
            data = ahead.replace("\n", "\r") + data[len(ahead) :]
            self._typed_ahead = max(0, self._typed_ahead - len(sent))
        yield from super().feed(data)


def _unread_bytes() -> int:
    """Return how many bytes the terminal has sent that are not read yet; 0 where that cannot be told."""
    try:
        import fcntl
        import sys
        import termios

        assert sys.__stdin__ is not None
        return int.from_bytes(fcntl.ioctl(sys.__stdin__.fileno(), termios.FIONREAD, bytes(4)), sys.byteorder)
    except (ImportError, AssertionError, OSError, ValueError):
        return 0


def install() -> None:
    """Make Textual's terminal drivers use this parser. Calling it again changes nothing."""
    import sys

    if sys.platform == "win32":  # pragma: no cover - the drivers of one platform exist only there
        from textual.drivers import win32 as driver_module
    else:
        from textual.drivers import linux_driver as driver_module
    driver_module.XTermParser = TerminalParser  # type: ignore[attr-defined]
