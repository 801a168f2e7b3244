"""What the terminal sends, made safe before Textual reads it: pastes, cut sequences, and the newlines that look like Enter.

Textual 8.2.8 takes an ESC within a bracketed paste for a key, and the rest of the paste for key presses, so that
a pasted newline sends the message; it reads `ESC CR`, which Shift+Enter and Alt+Enter send in several terminals, as
plain Enter; it types `^`, and what follows it, where an Esc and text come together, and the rests of sequences it does
not know or that came in two parts; and each character of a paste without marks is a key to it. `install` puts a parser
in place that does none of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import ClassVar

from textual import constants, events
from textual._xterm_parser import XTermParser
from textual.message import Message

from tui.terminal.escape_sequences import (
    NEWLINE_SEQUENCES,
    PASTE_END,
    PASTE_START,
    Kind,
    as_kitty,
    begins,
    is_output,
)
from tui.terminal.paste_detection import AT_ONCE, RUN, TypedRuns, is_paste

CUT_WAITS = 1.0
"""Seconds that the rest of a sequence which a read cut may take to come; a part of a key nobody types."""
PASTE_WAITS = 2.0
"""Seconds without input after which a paste whose end mark did not come is given on as far as it came."""
REST_WAITS = 60.0
"""Seconds for which the rest of such a paste, or of a mark that was cut, may still come if no key comes first."""
LOOKS = 100
"""How often, a millisecond apart, it is looked whether all is read that came before the end."""

_Token = tuple[Kind | None, str]
"""A sequence or an ESC by its kind, or None and a run of characters or a control character."""


class GuardedParser(XTermParser):
    """Textual's parser of terminal input, which is given one whole key at a time.

    What lies between the marks of a bracketed paste is never looked at: one `Paste` event, whatever is in it,
    at the price of a search for the end mark. The text is as it was sent, NULs removed; whoever shows it
    sanitises it. What comes without marks, but all at once, is cut by `tui.typed_runs`.

    Args:
        debug: as in the base class.
        runs: what tells typing from pasting.
        clock: monotonic seconds.
    """

    def __init__(
        self, debug: bool = False, runs: TypedRuns | None = None, clock: Callable[[], float] = monotonic
    ) -> None:
        self._runs = runs or TypedRuns(clock)
        self._clock = clock
        self._came = clock()
        self._paste: list[str] | None = None
        self._begun = ""  # a sequence, or the end mark of a paste, of which the rest is to come
        self._given_up = ""  # the same, but it came too late: the Esc was pressed, or the sequence left out
        self._due = False  # a paste was given on without its end mark: what comes may be its rest
        self._is_key = False  # what came last is no rest of it, unless more follows at once
        self._at_work = False
        self._over = False
        super().__init__(debug)

    async def stop(self, comes: Callable[[], bool]) -> str:
        """Take nothing more, the program ends; return what has come of a paste whose end has not.

        The thread that reads the terminal may be at work here meanwhile: what it is at is waited for.

        Args:
            comes: says whether the terminal has sent something that is not read yet; it is read, a while long.
        """
        looks = LOOKS
        while looks > 0 and (self._at_work or comes()):
            looks -= 1
            await asyncio.sleep(0.001)
        self._over = True
        if self._at_work:  # with what came since: it ends within a moment
            await asyncio.sleep(0.01)
        return "" if self._paste is None else self._end_paste(self._begun).text

    def feed(self, data: str) -> Iterable[Message]:
        """Take what the terminal sent; yield the messages it makes."""
        yield from self._unless_over(lambda: self._feed(data))

    def tick(self) -> Iterable[Message]:
        """Time has gone by: yield what waited for something to follow it."""
        yield from self._unless_over(self._tick)

    def _unless_over(self, work: Callable[[], Iterable[Message]]) -> Iterable[Message]:
        self._at_work = True
        try:
            if not self._over:
                yield from work()
        finally:
            self._at_work = False

    def _feed(self, data: str) -> Iterable[Message]:
        if not data:
            yield from self._press(self._runs.other())
            yield from super().feed(data)
            return
        self._forget_rest()
        self._came = self._clock()
        given_up, self._given_up = self._given_up, ""
        if given_up and data == PASTE_START[len(given_up) :]:
            yield from self._take_typed(data)  # it may have been typed, but what follows is a paste then
            self._paste = []
            return
        data, self._begun = self._begun + data, ""
        data = self._completed(given_up, data) if given_up else data
        while data:
            is_rest = self._due and self._paste is None and self._is_rest(data)
            if is_rest:
                yield from self._press(self._runs.other())
                self._paste = []
            if self._paste is not None:
                data, message = self._take_paste(data)
                if message is not None and (message.text or not is_rest):
                    yield message
                continue
            before, mark, data = data.partition(PASTE_START)
            if before and mark and self._due:
                yield events.Paste(before)
            elif before:
                yield from self._take_typed(before)
            if mark:
                if self._begun and begins(self._begun, 0)[0] is Kind.BEGUN:
                    yield from self._escape()  # nothing follows it any more: it comes before the paste
                if self._runs.is_behind_paste:
                    yield from self._runs.end_of_paste()
                yield from self._press(self._runs.other())
                self._paste, self._due = [], False
        if self._due and self._paste is not None and not self._begun:
            yield self._end_paste("")

    def _tick(self) -> Iterable[Message]:
        yield from self._press(self._runs.tick())
        self._forget_rest()
        quiet = self._clock() - self._came
        if self._paste is not None:
            if quiet >= PASTE_WAITS:
                self._given_up, self._begun = self._begun, ""
                self._due, self._is_key = True, False
                yield self._end_paste(self._given_up)
        elif self._begun:
            kind, _ = begins(self._begun, 0)
            if kind is Kind.CUT and quiet >= CUT_WAITS:
                self._given_up, self._begun = self._begun, ""
            elif kind is Kind.BEGUN and quiet >= constants.ESCAPE_DELAY:
                self._given_up = self._begun
                self._due = False
                yield from self._escape()

    def _escape(self) -> Iterator[Message]:
        """What has begun is the key Esc, and what was typed behind it."""
        typed, self._begun = self._begun[1:], ""
        yield events.Key("escape", "\x1b")
        if typed:
            yield from self._take_run(typed, ends_read=True)

    # -- what is typed ------------------------------------------------------------------------------------

    def _take_typed(self, data: str) -> Iterator[Message]:
        """Take what holds no beginning of a paste: runs as `tui.typed_runs` cuts them, all else as keys."""
        held: list[_Token] = []
        for kind, text in self._tokens_of(data):
            if text == PASTE_END:
                # It is only sent behind a paste: what came since was in it, its own mark in the midst of it.
                pasted = "".join(part for _, part in held)
                held = []
                yield from self._runs.end_of_paste(pasted)
            elif kind is Kind.REPORT or (kind is None and RUN.match(text) is None):
                yield from self._take_stretch(held, ends_read=False)
                held = []
                yield from self._press(self._runs.other() + text)
            else:
                held.append((kind, text))
        yield from self._take_stretch(held, ends_read=not self._begun)

    def _tokens_of(self, data: str) -> Iterator[_Token]:
        """Yield `data` in parts; keep what may go on with the next read."""
        at = 0
        while at < len(data):
            if data[at] == "\x1b":
                kind, end = begins(data, at)
                if kind in (Kind.BEGUN, Kind.CUT):
                    self._begun = data[at:]
                    return
                yield kind, data[at:end]
            else:
                run = RUN.match(data, at)
                end = run.end() if run else at + 1
                yield None, data[at:end]
            at = end

    def _take_stretch(self, tokens: list[_Token], *, ends_read: bool) -> Iterator[Message]:
        """Take runs, keys and whatever else begins with ESC: one paste where such a thing is only text in it."""
        while tokens and tokens[0][0] in (Kind.KEY, Kind.ESCAPE):
            yield from self._take_token(tokens.pop(0), ends_read=False)
        after: list[_Token] = []
        while tokens and tokens[-1][0] in (Kind.KEY, Kind.ESCAPE):
            after.insert(0, tokens.pop())
        whole = "".join(text for _, text in tokens)
        if len(tokens) > 1 and (self._runs.goes_on or self._is_copied(tokens, whole)):
            yield from self._take_run(whole, ends_read=ends_read and not after)
            tokens = []
        for number, token in enumerate([*tokens, *after], 1):
            yield from self._take_token(token, ends_read=ends_read and number == len(tokens) + len(after))

    @staticmethod
    def _is_copied(tokens: list[_Token], whole: str) -> bool:
        """Whether what looks like keys came with a paste: a program wrote it, or it stands among several lines."""
        if not is_paste(whole):
            return False
        if is_output(whole):
            return True
        kinds = [kind for kind, _ in tokens]
        within_lines = (
            kind is Kind.ESCAPE and tokens[at - 1][1][-1] not in "\r\n" for at, kind in enumerate(kinds)
        )
        several = whole.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").count("\n") > 1
        return several and Kind.KEY not in kinds and any(within_lines)

    def _take_token(self, token: _Token, *, ends_read: bool) -> Iterator[Message]:
        kind, text = token
        if kind is None:
            yield from self._take_run(text, ends_read=ends_read)
            return
        yield from self._press(self._runs.other())
        if kind is Kind.KEY:
            yield from self._press(text)
        elif kind is Kind.ESCAPE:
            yield events.Key("escape", "\x1b")

    def _take_run(self, run: str, *, ends_read: bool) -> Iterator[Message]:
        for piece in self._runs.cut(run, ends_read=ends_read):
            if isinstance(piece, str):
                yield from self._press(piece)
            else:
                yield piece

    def _press(self, keys: str) -> Iterator[Message]:
        """Yield what Textual makes of characters and of one whole sequence; a part of one is never left in it."""
        if not keys:
            return
        yield from super().feed(keys)
        if self._awaiting.timeout is not None:
            self._gen = self.parse(self._tokens.append)
            self._awaiting, self._timeout_time = next(self._gen), None

    # -- what comes too late -------------------------------------------------------------------------------

    def _completed(self, given_up: str, data: str) -> str:
        """Return what came, with its mark whole where it begins with the rest of one: nobody types that in one go."""
        for mark in (PASTE_START, PASTE_END):
            rest = mark.removeprefix(given_up)
            if rest != mark and data.startswith(rest):
                return mark + data[len(rest) :]
            if rest != mark and rest.startswith(data):
                self._given_up = given_up + data
        return data

    def _is_rest(self, data: str) -> bool:
        """Whether what came is the rest of the paste whose end mark is due; an Enter alone is such a rest too."""
        start, end = data.find(PASTE_START), data.find(PASTE_END)
        if start >= 0 or end >= 0:
            return end >= 0 and not 0 <= start < end
        tokens = list(self._tokens_of(data))
        ends_in_mark, self._begun = bool(self._begun) and PASTE_END.startswith(self._begun), ""
        is_rest = any(
            kind is None and (len(text) > 1 or text in "\r\n" or ends_in_mark) for kind, text in tokens
        )
        self._is_key = not is_rest and any(kind is not Kind.REPORT for kind, _ in tokens)
        return is_rest

    def _forget_rest(self) -> None:
        """Wait no longer for a rest that did not come in time, or behind what was pressed."""
        quiet = self._clock() - self._came
        if quiet >= REST_WAITS:
            self._given_up = ""
        if quiet >= (AT_ONCE if self._is_key else REST_WAITS):
            self._due = self._is_key = False

    # -- what is pasted -----------------------------------------------------------------------------------

    def _take_paste(self, data: str) -> tuple[str, events.Paste | None]:
        """Take `data` up to the end mark; return what follows it, and the paste when it is whole."""
        assert self._paste is not None
        # Of several the last: the others are within the text.
        until = data.find(PASTE_START, max(0, data.find(PASTE_END)))
        at = data.rfind(PASTE_END, 0, until if until >= 0 else len(data))
        if at >= 0:
            message = self._end_paste(data[:at])
            self._due = False
            self._runs.pasted()
            return data[at + len(PASTE_END) :], message
        # The end mark may be cut by this read: its possible beginning is kept apart.
        keep = len(data)
        for size in range(min(len(PASTE_END) - 1, len(data)), 0, -1):
            if PASTE_END.startswith(data[-size:]):
                keep = len(data) - size
                break
        self._paste.append(data[:keep])
        self._begun = data[keep:]
        return "", None

    def _end_paste(self, rest: str) -> events.Paste:
        assert self._paste is not None
        text = "".join([*self._paste, rest]).replace("\x00", "")
        self._paste = None
        return events.Paste(text)

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        if (key := NEWLINE_SEQUENCES.get(sequence)) is not None:
            yield events.Key(key, None)
            return
        yield from super()._sequence_to_key_events(as_kitty(sequence), alt)


class TerminalParser(GuardedParser):
    """The parser of this process's terminal."""

    latest: ClassVar[TerminalParser | None] = None

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        TerminalParser.latest = self


async def unfinished_paste(comes: Callable[[], bool]) -> str:
    """Read no more of what the terminal sends; return what has come of a paste whose end has not, mostly nothing.

    `comes`: as in `GuardedParser.stop`.
    """
    parser = TerminalParser.latest
    return "" if parser is None else await parser.stop(comes)


def install() -> None:
    """Make Textual's terminal drivers use the guarded parser. Calling it again changes nothing."""
    import sys

    if sys.platform == "win32":  # pragma: no cover - the drivers of one platform exist only there
        from textual.drivers import win32 as driver_module
    else:
        from textual.drivers import linux_driver as driver_module
    driver_module.XTermParser = TerminalParser  # type: ignore[attr-defined]
