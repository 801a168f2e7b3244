"""The base classes of entries: parts are made and drawn when they become visible. No widget."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, Generic, Protocol, TypeVar

from agent.core.turns import Turn
from tui.terminal.sanitise import clip
from tui.widgets.conversation.lines import UNICODE, Glyphs, Line, TextRun
from tui.widgets.conversation.render_parts import Part
from tui.widgets.conversation.search import Query, SearchableText

INDENT: list[TextRun] = [("  ", 0)]
TRY = "try"
"""At the end of the first line of a change of the prompt: a click shows what its run did to the outputs."""
DRAWN_AT_ONCE = 100
"""Parts that arrived together and are drawn at once: more than a screen has rows."""


class Entry:
    """One item of the conversation on the screen.

    Attributes:
        key: the id of its turn.
        foldable: whether a click on its first line opens and closes it.
        opened: whether it is open.
        opens_run: whether the person said it: what the agent does then belongs to that.
        changed_prompt: whether it is a change of the prompt, whose first line ends with `TRY`.
    """

    foldable = False
    opens_run = False
    changed_prompt = False

    def __init__(self, key: str, glyphs: Glyphs = UNICODE) -> None:
        self.key = key
        self.glyphs = glyphs
        self.opened = False
        self._parts: list[Part] | None = None
        self._starts: list[int] = []
        self._starts_width = 0
        self._weight: tuple[int, int] | None = None
        self._searchable: SearchableText | None = None

    @property
    def is_measured(self) -> bool:
        """Whether its parts are known (its height may still be an estimate)."""
        return self._parts is not None

    def parts(self) -> list[Part]:
        """Return its parts, made when first asked for."""
        if self._parts is None:
            self._parts = self.make_parts()
            self.changed()
        return self._parts

    def starts(self, width: int) -> list[int]:
        """Return the row each part begins at, within the entry, and at last where the entry ends."""
        if self._starts_width != width:
            self._starts = [0, *accumulate(part.height(width) for part in self.parts())]
            self._starts_width = width
        return self._starts

    def height(self, width: int) -> int:
        """Return its rows at `width`, an estimate where nothing was drawn yet."""
        if self._parts is None:
            if self._weight is None:
                self._weight = self.weight()
            characters, breaks = self._weight
            return breaks + 1 + (characters // max(width, 1) if breaks >= 0 else 0)
        return self.starts(width)[-1]

    def changed(self) -> None:
        """Its parts or their heights changed."""
        self._starts_width = 0

    def remake(self) -> None:
        """Its content changed: make its parts again."""
        self._parts = self._searchable = None
        self.changed()
        self.parts()

    def toggle(self) -> bool:
        """Open or close it; return whether it did."""
        if not self.foldable:
            return False
        self.opened = not self.opened
        self.remake()
        return True

    def make_parts(self) -> list[Part]:
        """Return its parts as it is now."""
        raise NotImplementedError

    def weight(self) -> tuple[int, int]:
        """Return characters and line ends, to estimate the height; -1 line ends when it has no line."""
        return 0, 0

    def text(self) -> str:
        """Return its whole text, sanitised, for copying."""
        return ""

    def searchable(self) -> SearchableText:
        """Return the text to search: its own, and what is drawn for it when it is open."""
        return SearchableText([self.text()])

    def contains(self, query: Query) -> bool:
        """Return whether the query occurs in it. Its searchable text is cached unless it still grows."""
        sought = self._searchable or self.searchable()
        self._searchable = None if self.grows else sought
        return sought.contains(query)

    @property
    def grows(self) -> bool:
        """Whether more of its text may arrive."""
        return False

    @property
    def turn(self) -> Turn | None:
        """The turn it shows, None for what is no turn."""
        return None


class TextStream(Protocol):
    """Text that arrives in deltas: `MarkdownStream` or `PlainStream`."""

    tail: Any

    @property
    def has_pending(self) -> bool: ...

    def advance(self, width: int) -> tuple[list[Part], int]: ...


_StreamT = TypeVar("_StreamT", bound=TextStream)


class GrowingEntry(Entry, Generic[_StreamT]):
    """An entry whose text may still be arriving: its last part is then the tail of `stream`."""

    stream: _StreamT | None = None

    def advance(self, width: int) -> tuple[list[Part], int]:
        """Draw the deltas that wait.

        If many parts are finished at once, only the last of them are drawn now.

        Returns:
            The parts that were finished and drawn, and the first row within the entry that changed.
        """
        if self.stream is None or self._parts is None:
            return [], 0
        starts = self.starts(width)
        done, changed = self.stream.advance(width)
        tail_at = starts[-2]
        first = tail_at + changed
        self._parts[-1:] = [*done, self.stream.tail]
        # Only what changed is added up again: the cost does not grow with the answer.
        del starts[-1]
        new = self._parts[-1 - len(done) :]
        for part in new[-DRAWN_AT_ONCE:]:
            part.draw(width)
        for part in new:
            tail_at += part.height(width)
            starts.append(tail_at)
        return new[-DRAWN_AT_ONCE:-1], first


def one_line_of(width: int, text: str, ink: int) -> list[Line]:
    """Return `text` as the one line of a part, cut to `width`."""
    return [Line([(clip(text, width), ink)])]
