"""The list of personas: filter, marks, broken files; what to do with one is told by messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message

from tui.commands.fuzzy import are_in, fold, words_of
from tui.commands.registry import bindings, keymap_of, sentence
from tui.widgets.plain_text import label
from tui.widgets.virtual_list import Row, RowList

if TYPE_CHECKING:
    from textual.widgets import Input

    from personas.persona import Persona

SIGNS: Mapping[str, str] = {"working": "●", "waiting": "?", "done": "✓", "failed": "!"}
"""The signs of `tui.talking.Badge`: told apart by their shape, not by a colour."""


def sign_of(badges: Collection[str]) -> str:
    """Return the one sign for several personas: that of what asks most for a look; empty for none."""
    return next((SIGNS[badge] for badge in ("waiting", "failed", "done", "working") if badge in badges), "")


@dataclass(frozen=True)
class Entry:
    """What the list knows of a persona; before its file is read that is the id alone."""

    id: str
    name: str
    description: str = ""
    error: str = ""
    tags: tuple[str, ...] = ()

    @classmethod
    def of(cls, persona: Persona) -> Entry:
        """Return the entry of a persona that was read."""
        return cls(
            persona.id,
            persona.name,
            persona.description,
            persona.error.message if persona.error else "",
            tuple(persona.tags),
        )

    def matches(self, words: Sequence[str]) -> bool:
        """Whether every word occurs in id, name, description or tags."""
        return are_in(words, self._folded)

    @cached_property
    def _folded(self) -> str:
        return fold(" ".join((self.id, self.name, self.description, *self.tags)))


def names_shared(entries: Iterable[Entry]) -> set[str]:
    """Return the ids of those whose name another has as well: only the id tells them apart."""
    known = list(entries)
    counts = Counter(entry.name.casefold() for entry in known)
    return {entry.id for entry in known if counts[entry.name.casefold()] > 1}


class PersonaList(Vertical):
    """The personas of the home."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("personas")]

    @dataclass(eq=False, repr=False)
    class Opened(Message):
        """A persona was chosen."""

        persona_id: str

    @dataclass(eq=False, repr=False)
    class Wanted(Message):
        """Something is to be done: `new`, `duplicate`, `rename`, `delete`, `restore`; `marked` have a mark."""

        deed: str
        persona_id: str | None
        marked: tuple[str, ...] = ()

    def __init__(self, id: str = "personas") -> None:
        super().__init__(id=id)
        self._entries: dict[str, Entry] = {}
        self._current: str | None = None
        self._news: dict[str, str] = {}
        self._words: list[str] = []
        self._count = ""
        self.on_news: Callable[[], None] | None = None
        """Called when there is something new in `entries`, for a dialog that shows them too."""
        self.border_title = "Personas"

    def compose(self) -> ComposeResult:
        yield RowList(empty="Reading…", id="persona-rows")

    @cached_property
    def rows(self) -> RowList:
        """The list itself."""
        return self.query_one(RowList)

    @property
    def entries(self) -> dict[str, Entry]:
        """What is known, by id, in order."""
        return self._entries

    def name_of(self, persona_id: str) -> str:
        """Return what a persona is called in a sentence: its name, with the id where another has the name too."""
        entry = self._entries.get(persona_id)
        name = entry.name or persona_id if entry else persona_id
        return f"{name} ({persona_id})" if persona_id in names_shared(self._entries.values()) else name

    def show_ids(self, ids: Sequence[str]) -> None:
        """Show these personas; what is known of them stays."""
        self._entries = {key: self._entries.get(key) or Entry(key, key) for key in ids}
        none_yet = sentence(
            "list.new", keymap_of(self.app), "None yet: {} makes one", "None yet: /new makes one"
        )
        self.rows.empty = none_yet if not ids else "Nothing matches."
        self._draw_news()

    def show_entries(self, entries: Sequence[Entry]) -> None:
        """Show what was read."""
        news = [entry for entry in entries if self._entries.get(entry.id, entry) != entry]
        for entry in news:
            self._entries[entry.id] = entry
        if news:
            self._draw_news()

    def show_badges(self, current: str | None, news: Mapping[str, str]) -> None:
        """Show which persona is open, and by id what the others' tasks are (`tui.talking.Badge`)."""
        if current != self._current or news != self._news:
            moved = current != self._current
            self._current, self._news = current, dict(news)
            self._draw(current if moved else None)

    def _draw_news(self) -> None:
        self._draw()
        if self.on_news is not None:
            self.on_news()

    def _draw(self, key: str | None = None) -> None:
        shared = names_shared(self._entries.values())
        shown = [entry for entry in self._entries.values() if entry.matches(self._words)]
        self.rows.set_rows(
            [
                Row(
                    entry.id,
                    entry.name or entry.id,
                    head=entry.id if entry.id in shared else "",
                    tail=SIGNS.get(self._news.get(entry.id, ""), "") or ("broken" if entry.error else ""),
                    tone="error" if entry.error else "",
                    current=entry.id == self._current,
                )
                for entry in shown
            ],
            key=key,
        )
        count = len(self._entries)
        self._count = (f"{len(shown)} of {count}" if self._words else str(count)) if count else ""
        self._say_below()

    def _say_below(self) -> None:
        """Below the list stands how many there are; while the cursor is on a broken one, what is wrong with it."""
        entry = self._entries.get(self.rows.key or "") if self.rows.has_focus else None
        self.border_subtitle = label(
            (entry.error if entry else "") or self._count, max(8, self.size.width - 4)
        )

    def on_descendant_focus(self) -> None:
        self._say_below()

    def on_descendant_blur(self) -> None:
        self._say_below()

    @on(RowList.Chosen)
    def _open(self, event: RowList.Chosen) -> None:
        event.stop()
        self.post_message(self.Opened(event.key))

    @on(RowList.Highlighted)
    def _tell_error(self, event: RowList.Highlighted) -> None:
        event.stop()
        entry = self._entries.get(event.key)
        self.rows.tooltip = label(entry.error or entry.description) if entry else None
        self._say_below()

    async def action_filter(self) -> None:
        from tui.widgets.text.line_input import Field

        if not self.filter_open:
            await self.mount(Field(hint="filter", id="persona-filter"), before=0)
        self.query_one(Field).focus()

    # Named, not decorated: the module of fields is loaded when the first one is needed.

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._words = words_of(event.value)
        self._draw()

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.screen.set_focus(self.rows)  # at once: what is typed behind the key goes on from there
        if len(self.rows.rows) == 1:
            await self.app.run_action("choose", self.rows)

    @property
    def filter_open(self) -> bool:
        """Whether the field of the filter is there."""
        return bool(self.query("#persona-filter"))

    def close_filter(self) -> None:
        """Take the filter away."""
        for field in self.query("#persona-filter"):
            if field.has_focus:
                # At once: a key behind the one that closes it is for the list.
                self.screen.set_focus(self.rows)
            field.remove()
        self._words = []
        self._draw()

    def _want(self, deed: str) -> None:
        self.post_message(self.Wanted(deed, self.rows.key, tuple(self.rows.marked)))

    def action_mark(self) -> None:
        self.rows.toggle_mark()

    def action_new(self) -> None:
        self._want("new")

    def action_duplicate(self) -> None:
        self._want("duplicate")

    def action_rename(self) -> None:
        self._want("rename")

    def action_delete(self) -> None:
        self._want("delete")

    def action_restore(self) -> None:
        self._want("restore")
