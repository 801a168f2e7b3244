"""The list of personas, with a filter and marks; operations on a persona are posted as messages."""

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

from tui.commands.registry import bindings, keymap_of, sentence
from tui.commands.text_matching import fold, match_all, words_of
from tui.widgets.plain_text import label
from tui.widgets.virtual_list import Row, VirtualList

if TYPE_CHECKING:
    from textual.widgets import Input

    from personas.persona import Persona

SIGNS: Mapping[str, str] = {"working": "●", "waiting": "?", "done": "✓", "failed": "!"}
"""The signs of the badges of tasks; they differ in shape, not only in colour."""


def sign_of(badges: Collection[str]) -> str:
    """Return one sign for several personas, that of the most urgent badge; empty for none."""
    return next((SIGNS[badge] for badge in ("waiting", "failed", "done", "working") if badge in badges), "")


@dataclass(frozen=True)
class PersonaEntry:
    """What the list shows of a persona; before its file is read, the id alone."""

    id: str
    name: str
    description: str = ""
    error: str = ""
    tags: tuple[str, ...] = ()

    @classmethod
    def of(cls, persona: Persona) -> PersonaEntry:
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
        return match_all(words, self._folded)

    @cached_property
    def _folded(self) -> str:
        return fold(" ".join((self.id, self.name, self.description, *self.tags)))


def ids_with_shared_names(entries: Iterable[PersonaEntry]) -> set[str]:
    """Return the ids of the personas that share their name with another."""
    known = list(entries)
    counts = Counter(entry.name.casefold() for entry in known)
    return {entry.id for entry in known if counts[entry.name.casefold()] > 1}


class PersonaList(Vertical):
    """The personas of the home."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("personas")]

    class Opened(Message):
        """A persona was chosen."""

        def __init__(self, persona_id: str) -> None:
            super().__init__()
            self.persona_id = persona_id

    class OperationRequested(Message):
        """The person asks for `new`, `duplicate`, `rename`, `delete` or `restore`; `marked` are the marked personas."""

        def __init__(self, operation: str, persona_id: str | None, marked: tuple[str, ...] = ()) -> None:
            super().__init__()
            self.operation = operation
            self.persona_id = persona_id
            self.marked = marked

    def __init__(self, id: str = "personas") -> None:
        super().__init__(id=id)
        self._entries: dict[str, PersonaEntry] = {}
        self._current: str | None = None
        self._badges: dict[str, str] = {}
        self._words: list[str] = []
        self._count = ""
        self.on_entries_changed: Callable[[], None] | None = None
        """Called when `entries` changed, for a dialog that shows them too."""
        self.border_title = "Personas"

    def compose(self) -> ComposeResult:
        yield VirtualList(empty="Reading…", id="persona-rows", mark_on_click=True)

    @cached_property
    def rows(self) -> VirtualList:
        """The list itself."""
        return self.query_one(VirtualList)

    @property
    def focus_target(self) -> VirtualList:
        """What gets the keys."""
        return self.rows

    @property
    def focus_area(self) -> str:
        """What the key hints are for while the focus is here."""
        return "personas" if self.rows.has_focus else "filter"

    @property
    def tab_mark(self) -> str:
        """The most urgent sign of the others' tasks, for the tab."""
        return sign_of([badge for key, badge in self._badges.items() if key != self._current])

    @property
    def entries(self) -> dict[str, PersonaEntry]:
        """What is known, by id, in order."""
        return self._entries

    def name_of(self, persona_id: str) -> str:
        """Return the name of a persona for a sentence, with its id if another has the same name."""
        entry = self._entries.get(persona_id)
        name = entry.name or persona_id if entry else persona_id
        return (
            f"{name} ({persona_id})" if persona_id in ids_with_shared_names(self._entries.values()) else name
        )

    def show_ids(self, ids: Sequence[str]) -> None:
        """Show these personas, with what is known of them."""
        self._entries = {key: self._entries.get(key) or PersonaEntry(key, key) for key in ids}
        none_yet = sentence(
            "list.new", keymap_of(self.app), "None yet: {} makes one", "None yet: /new makes one"
        )
        self.rows.empty = none_yet if not ids else "Nothing matches."
        self._draw_changed()

    def show_entries(self, entries: Sequence[PersonaEntry]) -> None:
        """Show what was read."""
        changed = [entry for entry in entries if self._entries.get(entry.id, entry) != entry]
        for entry in changed:
            self._entries[entry.id] = entry
        if changed:
            self._draw_changed()

    def show_badges(self, current: str | None, changed: Mapping[str, str]) -> None:
        """Show which persona is open, and the badges of the others' tasks by id."""
        if current != self._current or changed != self._badges:
            moved = current != self._current
            self._current, self._badges = current, dict(changed)
            self._draw(current if moved else None)

    def _draw_changed(self) -> None:
        self._draw()
        if self.on_entries_changed is not None:
            self.on_entries_changed()

    def _draw(self, key: str | None = None) -> None:
        shared = ids_with_shared_names(self._entries.values())
        shown = [entry for entry in self._entries.values() if entry.matches(self._words)]
        self.rows.set_rows(
            [
                Row(
                    entry.id,
                    entry.name or entry.id,
                    head=entry.id if entry.id in shared else "",
                    tail=SIGNS.get(self._badges.get(entry.id, ""), "") or ("broken" if entry.error else ""),
                    tone="error" if entry.error else "",
                    current=entry.id == self._current,
                )
                for entry in shown
            ],
            key=key,
        )
        count = len(self._entries)
        self._count = (f"{len(shown)} of {count}" if self._words else str(count)) if count else ""
        self._show_subtitle()

    def _show_subtitle(self) -> None:
        """Show below the list the count, or the error of the broken persona under the cursor."""
        entry = self._entries.get(self.rows.key or "") if self.rows.has_focus else None
        self.border_subtitle = label(
            (entry.error if entry else "") or self._count, max(8, self.size.width - 4)
        )

    def on_descendant_focus(self) -> None:
        self._show_subtitle()

    def on_descendant_blur(self) -> None:
        self._show_subtitle()

    @on(VirtualList.Chosen)
    def _open(self, event: VirtualList.Chosen) -> None:
        event.stop()
        self.post_message(self.Opened(event.key))

    @on(VirtualList.Highlighted)
    def _show_error(self, event: VirtualList.Highlighted) -> None:
        event.stop()
        entry = self._entries.get(event.key)
        self.rows.tooltip = label(entry.error or entry.description) if entry else None
        self._show_subtitle()

    async def action_filter(self) -> None:
        from tui.widgets.text.line_input import LineInput

        if not self.filter_open:
            await self.mount(LineInput(hint="filter", id="persona-filter"), before=0)
        self.query_one(LineInput).focus()

    # Named, not decorated: the module of fields is loaded when the first one is needed.

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._words = words_of(event.value)
        self._draw()

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.screen.set_focus(self.rows)  # at once: the next key is for the list
        if len(self.rows.rows) == 1:
            await self.app.run_action("choose", self.rows)

    @property
    def filter_open(self) -> bool:
        """Whether the field of the filter is there."""
        return bool(self.query("#persona-filter"))

    def close_filter(self) -> None:
        """Remove the filter."""
        for field in self.query("#persona-filter"):
            if field.has_focus:
                # At once: the next key is for the list.
                self.screen.set_focus(self.rows)
            field.remove()
        self._words = []
        self._draw()

    def _request(self, operation: str) -> None:
        self.post_message(self.OperationRequested(operation, self.rows.key, tuple(self.rows.marked)))

    def action_mark(self) -> None:
        self.rows.toggle_mark()

    def action_mark_all(self) -> None:
        self.rows.mark_all()

    async def action_message(self) -> None:
        await self.app.run_action("message_marked", self.screen)

    def action_new(self) -> None:
        self._request("new")

    def action_duplicate(self) -> None:
        self._request("duplicate")

    def action_rename(self) -> None:
        self._request("rename")

    def action_delete(self) -> None:
        self._request("delete")

    def action_restore(self) -> None:
        self._request("restore")
