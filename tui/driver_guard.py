"""What the terminal sends, made safe before Textual reads it: pastes and the newline that looks like Enter.

Textual 8.2.8 takes an ESC within a bracketed paste for a key, and the rest of the paste for key presses, so that
a pasted newline sends the message; and it reads `ESC CR`, which Shift+Enter and Alt+Enter send in several
terminals, as plain Enter. `install` puts a parser in place that does neither.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.message import Message

NEWLINE_KEY = "shift+enter"
"""What `ESC CR` becomes."""


class GuardedParser(XTermParser):
    """Textual's parser of terminal input, with pastes taken out of its hands.

    What lies between the marks of a bracketed paste is never looked at: one `Paste` event, whatever is in it,
    at the price of a search for the end mark. The text is as it was sent, NULs removed; whoever shows it
    sanitises it.
    """

    def __init__(self, debug: bool = False) -> None:
        self._paste: list[str] | None = None
        self._paste_end = ""
        self._tail = ""
        super().__init__(debug)

    def feed(self, data: str) -> Iterable[Message]:
        """Take what the terminal sent; yield the messages it makes."""
        if not data:
            yield from super().feed(data)
            return
        while data:
            if self._paste is not None:
                data, message = self._take_paste(data)
                if message is not None:
                    yield message
                continue
            before, mark, after = data.partition(BRACKETED_PASTE_START)
            rest = self._rest_of_cut_mark(data)
            if rest is not None and not (mark and not before):
                # The mark came in two reads and the base class has its first half: let it end an empty paste.
                data = data[len(rest) :]
                for message in super().feed(rest + BRACKETED_PASTE_END):
                    if not isinstance(message, events.Paste):
                        yield message
                self._begin_paste()
                continue
            if before:
                yield from super().feed(before)
            self._tail = (self._tail + before)[-len(BRACKETED_PASTE_START) :]
            if not mark:
                break
            self._begin_paste()
            data = after

    def _begin_paste(self) -> None:
        self._paste, self._paste_end, self._tail = [], "", ""

    def _rest_of_cut_mark(self, data: str) -> str | None:
        """Return what `data` begins with when it completes a paste mark that the last read cut, else None."""
        if self._awaiting.timeout is None:
            return None
        mark = BRACKETED_PASTE_START
        for cut in range(len(mark) - 1, 0, -1):
            if self._tail.endswith(mark[:cut]) and data.startswith(mark[cut:]):
                return mark[cut:]
        return None

    def _take_paste(self, data: str) -> tuple[str, Message | None]:
        """Take `data` up to the end mark; return what follows it, and the paste when it is whole."""
        assert self._paste is not None
        held = self._paste_end + data
        at = held.find(BRACKETED_PASTE_END)
        if at < 0:
            # The end mark may be cut by this read: its possible beginning is kept apart.
            keep = len(held)
            for size in range(min(len(BRACKETED_PASTE_END) - 1, len(held)), 0, -1):
                if BRACKETED_PASTE_END.startswith(held[-size:]):
                    keep = len(held) - size
                    break
            self._paste.append(held[:keep])
            self._paste_end = held[keep:]
            return "", None
        self._paste.append(held[:at])
        text = "".join(self._paste).replace("\x00", "")
        self._paste, self._paste_end = None, ""
        return held[at + len(BRACKETED_PASTE_END) :], events.Paste(text)

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        if sequence == "\x1b\r":
            yield events.Key(NEWLINE_KEY, None)
            return
        yield from super()._sequence_to_key_events(sequence, alt)


def install() -> None:
    """Make Textual's terminal drivers use the guarded parser. Calling it again changes nothing."""
    import sys

    if sys.platform == "win32":  # pragma: no cover - the drivers of one platform exist only there
        from textual.drivers import win32 as driver_module
    else:
        from textual.drivers import linux_driver as driver_module
    driver_module.XTermParser = GuardedParser  # type: ignore[attr-defined]
