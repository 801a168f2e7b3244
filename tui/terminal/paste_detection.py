"""What comes in one read faster than a person types: a paste without marks, or a macro, told apart from single keys.

GNU screen, `tmux paste-buffer` and terminals without bracketed paste send a paste as if it were typed, its line ends as
Enter. A run of more than `KEYS` characters is one insertion, and where text follows an Enter within it, its Enters are
line ends; an Enter at its end alone is the key, as after `tmux send-keys TEXT Enter`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from time import monotonic

from textual import events
from textual.message import Message

from tui.terminal.escape_sequences import without_sequences

KEYS = 32
"""Characters that may come together and still are single keys."""
PIECE = 256
"""Characters from which on a run may be the first piece of a paste: what ends it is looked at with what follows."""
TOGETHER = 0.1
"""Seconds within which what comes next belongs to the same paste."""
AT_ONCE = 0.05
"""Seconds after which an Enter that nothing followed is the key."""

RUN = re.compile(r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]+")
_BREAKS = "\r\n\t"
_LINE_END = re.compile(r"\r\n?")


def _is_long(text: str) -> bool:
    return len(text.translate(dict.fromkeys(map(ord, _BREAKS)))) > KEYS


def is_paste(text: str) -> bool:
    """Return whether nobody typed what came together, though line ends are in it; of sequences nothing counts."""
    inner = without_sequences(text).rstrip(_BREAKS)
    return ("\r" in inner or "\n" in inner) and _is_long(inner)


class Typed(events.Paste):
    """A run of characters: a paste for what takes text, `sent` key by key for everything else.

    Args:
        text: what it is as a text.
        sent: what the terminal sent.
    """

    def __init__(self, text: str, sent: str) -> None:
        super().__init__(text)
        self.sent = sent

    def can_replace(self, message: Message) -> bool:
        """Be one with the run behind it, when that is here already: one insertion, one step of undo."""
        if type(message) is not Typed:
            return False
        message.text, message.sent = self.text + message.text, self.sent + message.sent
        return True

    def pressed(self) -> Iterator[events.Key]:
        """Yield the keys that were pressed if nothing here takes text."""
        from textual._xterm_parser import XTermParser

        for key in XTermParser().feed(without_sequences(self.sent)):
            if isinstance(key, events.Key):
                yield key


Typed.handler_name = events.Paste.handler_name  # what takes a paste takes this


class TypedRuns:
    """Cuts runs into keys and insertions, and remembers whether a paste is under way.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._breaks = ""  # what are line ends and blanks in the paste under way, and no keys
        self._last = float("-inf")
        self._half = False  # its last piece ended between CR and LF, or may have
        self._enter_at: float | None = None  # when an Enter came of which it is not known what it is
        self._pasted = float("-inf")

    @property
    def goes_on(self) -> bool:
        """Whether what comes now belongs to the paste before it."""
        is_under_way = self._breaks and self._clock() - self._last <= TOGETHER
        return bool(is_under_way) or self._enter_at is not None

    @property
    def is_behind_paste(self) -> bool:
        """Whether a paste with marks was over just now: what follows may be in it, its end mark in the midst."""
        return self._clock() - self._pasted <= TOGETHER

    def pasted(self) -> None:
        """A paste with marks is over."""
        self._pasted = self._clock()

    def end_of_paste(self, text: str = "") -> Iterator[Typed]:
        """A mark tells that `text`, and an Enter that waited, were in a paste: yield them as such."""
        if text := self.other() + text:
            yield Typed(_LINE_END.sub("\n", text), text)
        self.pasted()

    def cut(self, run: str, *, ends_read: bool) -> Iterator[str | Typed]:
        """Yield a run in pieces: texts whose characters are single keys, and insertions.

        Args:
            run: what `RUN` matches, as long as it is; in a paste sequences may be among it.
            ends_read: whether nothing came behind it in the same read.
        """
        if self._enter_at is not None:
            self._enter_at = None
            if run in _BREAKS:
                yield "\r"
            else:
                self._note("\r\n\t")
                run = f"\r{run}"
        inner = run.rstrip(_BREAKS)
        is_long = _is_long(inner)
        goes_on = self._breaks and self._clock() - self._last <= TOGETHER and run not in ("\r", "\t")
        if (is_long or self.is_behind_paste) and "\r" in inner:
            self._note("\r\n\t")
        elif is_long and "\n" in inner and not goes_on:
            self._note("\n" if "\r" in run else "\n\t")
        elif goes_on:
            self._note(self._breaks)
        else:
            self._breaks = ""
        if goes_on and self._half:
            run = run.removeprefix("\n")
        self._half = run.endswith("\r")
        keys = "".join(sign for sign in "\r\t" if sign not in self._breaks)
        may_go_on = len(run) >= PIECE or (self.is_behind_paste and bool(inner))
        waits = may_go_on and ends_read and run.endswith("\r") and "\r" in keys
        for piece in re.split(f"([{keys}])", run[:-1] if waits else run) if keys else [run]:
            if self._breaks or len(piece) > KEYS:
                if piece and piece in keys:
                    yield piece
                elif piece:
                    yield Typed(_LINE_END.sub("\n", piece), piece)
            elif piece:
                yield piece
        if waits:
            self._enter_at = self._clock()

    def other(self) -> str:
        """Something else than a run came: return the Enter that waited, which was one, or nothing.

        It ends no paste: the mouse may move meanwhile.
        """
        waited, self._enter_at = self._enter_at is not None, None
        return "\r" if waited else ""

    def tick(self) -> str:
        """Time has gone by: return the Enter that waited when nothing followed it, or nothing."""
        if self._enter_at is None or self._clock() - self._enter_at <= AT_ONCE:
            return ""
        return self.other()

    def _note(self, breaks: str) -> None:
        self._breaks, self._last = breaks, self._clock()
