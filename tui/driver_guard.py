"""What the terminal sends, made safe before Textual reads it: pastes and the newlines that look like Enter.

Textual 8.2.8 takes an ESC within a bracketed paste for a key, and the rest of the paste for key presses, so that
a pasted newline sends the message; and it reads `ESC CR`, which Shift+Enter and Alt+Enter send in several
terminals, as plain Enter; and it takes Esc for Alt where a letter follows soon; and each character of a paste without
marks is a key to it. `install` puts a parser in place that does none of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.message import Message

from tui.typed_runs import RUN, TypedRuns

NEWLINE_SEQUENCES = {
    "\x1b\r": "shift+enter",
    "\x1b[27;2;13~": "shift+enter",
    "\x1b[27;3;13~": "alt+enter",
    "\x1b[27;4;13~": "shift+alt+enter",
    "\x1b[27;5;13~": "ctrl+enter",
    "\x1b[27;6;13~": "ctrl+shift+enter",
    "\x1b[27;7;13~": "ctrl+alt+enter",
    "\x1b[27;8;13~": "ctrl+shift+alt+enter",
}
"""Enter with a modifier as terminals send it: `ESC CR`, or xterm's modifyOtherKeys form, which tmux sends with
`extended-keys always`; Textual calls the latter by a name with a raw control character in it."""


class GuardedParser(XTermParser):
    """Textual's parser of terminal input, with pastes taken out of its hands.

    What lies between the marks of a bracketed paste is never looked at: one `Paste` event, whatever is in it,
    at the price of a search for the end mark. The text is as it was sent, NULs removed; whoever shows it
    sanitises it. What comes without marks, but all at once, is cut by `tui.typed_runs`.
    """

    def __init__(self, debug: bool = False, runs: TypedRuns | None = None) -> None:
        self._runs = runs or TypedRuns()
        self._paste: list[str] | None = None
        self._paste_end = ""
        self._tail = ""
        super().__init__(debug)

    def feed(self, data: str) -> Iterable[Message]:
        """Take what the terminal sent; yield the messages it makes."""
        if not data:
            if waited := self._runs.other():
                yield from super().feed(waited)
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
                yield from self._feed_keys(before, ends_read=not mark)
            self._tail = (self._tail + before)[-len(BRACKETED_PASTE_START) :]
            if not mark:
                break
            self._begin_paste()
            data = after

    def tick(self) -> Iterable[Message]:
        """Time has gone by: yield what waited for something to follow it."""
        if waited := self._runs.tick():
            yield from super().feed(waited)
        yield from super().tick()

    def _feed_keys(self, data: str, *, ends_read: bool) -> Iterable[Message]:
        """Take what holds no paste mark: runs of characters as `tui.typed_runs` cuts them, all else as keys."""
        at = 0
        while at < len(data):
            # Only where no sequence is under way do characters stand for themselves.
            run = RUN.match(data, at) if self._awaiting.timeout is None else None
            if run is None:
                yield from super().feed(self._runs.other() + data[at])
                at += 1
                continue
            at = run.end()
            for piece in self._runs.cut(run.group(), ends_read=ends_read and at == len(data)):
                if isinstance(piece, str):
                    yield from super().feed(piece)
                else:
                    yield piece

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
        if (key := NEWLINE_SEQUENCES.get(sequence)) is not None:
            yield events.Key(key, None)
            return
        if alt and len(sequence) == 1:
            # Esc and a key that was pressed soon after it: tmux sends both as one. No key here has Alt.
            yield events.Key("escape", "\x1b")
            alt = False
        yield from super()._sequence_to_key_events(sequence, alt)


def install() -> None:
    """Make Textual's terminal drivers use the guarded parser. Calling it again changes nothing."""
    import sys

    if sys.platform == "win32":  # pragma: no cover - the drivers of one platform exist only there
        from textual.drivers import win32 as driver_module
    else:
        from textual.drivers import linux_driver as driver_module
    driver_module.XTermParser = GuardedParser  # type: ignore[attr-defined]
