"""The switcher: personas by name, `>` commands, `#` test inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from tui.commands import NO_KEYMAP, Keymap, first_key, palette
from tui.screens.dialog import Dialog
from tui.widgets.field import Field
from tui.widgets.literal import LiteralStatic
from tui.widgets.persona_list import SIGNS, Entry
from tui.widgets.row_list import Row, RowList


@dataclass(frozen=True, slots=True)
class Picked:
    """What was chosen: a persona's id, a command's action, or a test input's id."""

    kind: Literal["persona", "command", "test"]
    key: str


class Switcher(Dialog[Picked]):
    """One field and the list of what matches it.

    Args:
        entries: the personas, in order.
        news: by id, what its task is (`tui.talking.Badge`).
        current: the open persona.
        inputs: (id, content) of its test inputs.
        query: what stands in the field at first.
        keymap: the person's own keys.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "step(-1)", show=False, priority=True),
        Binding("down", "step(1)", show=False, priority=True),
        Binding("pageup", "step(-8)", show=False, priority=True),
        Binding("pagedown", "step(8)", show=False, priority=True),
        Binding("ctrl+p,f2", "cancel", show=False, priority=True),
    ]

    def __init__(
        self,
        entries: Sequence[Entry],
        news: Mapping[str, str],
        current: str | None,
        inputs: Sequence[tuple[str, str]],
        query: str = "",
        keymap: Keymap = NO_KEYMAP,
    ) -> None:
        super().__init__()
        self._entries, self._news, self._current = entries, news, current
        self._inputs, self._query, self._keymap = inputs, query, keymap

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog switcher") as box:
            box.border_title = "Switch persona"
            yield Field(self._query, hint="a name · > commands · # test inputs", id="query")
            yield RowList(empty="Nothing matches.", id="matches", lit=True)
            yield LiteralStatic("Enter opens · ↑ ↓ choose · Esc closes", classes="dialog-hint")

    def on_mount(self) -> None:
        super().on_mount()
        rows = self.query_one(RowList)
        rows.can_focus = False
        field = self.query_one(Field)
        field.focus()
        field.cursor_position = len(field.value)
        self._match(self._query)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self._match(event.value)

    def _match(self, query: str) -> None:
        rows = self.query_one(RowList)
        kind, words = query[:1], query.lstrip(">#").casefold().split()
        if kind == ">":
            found = [
                Row(f"command {command.action}", command.title, first_key(command.id, self._keymap))
                for command in palette()
                if all(word in command.title.casefold() for word in words)
            ]
        elif kind == "#":
            found = [
                Row(f"test {key}", content, head=key)
                for key, content in self._inputs
                if all(word in f"{key} {content}".casefold() for word in words)
            ]
        else:
            found = [
                Row(
                    f"persona {entry.id}",
                    entry.name,
                    SIGNS.get(self._news.get(entry.id, ""), "") or ("broken" if entry.error else ""),
                    tone="error" if entry.error else "",
                    current=entry.id == self._current,
                )
                for entry in self._entries
                if entry.matches(words)
            ]
        rows.set_rows(found)
        rows.cursor = 0
        rows.styles.height = min(16, max(1, len(found)))

    def action_step(self, by: int) -> None:
        self.query_one(RowList).cursor += by

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._pick(self.query_one(RowList).key)

    @on(RowList.Chosen)
    def _clicked(self, event: RowList.Chosen) -> None:
        event.stop()
        self._pick(event.key)

    def _pick(self, key: str | None) -> None:
        if key is not None:
            kind, _, rest = key.partition(" ")
            self.dismiss(Picked(kind, rest))  # type: ignore[arg-type]
