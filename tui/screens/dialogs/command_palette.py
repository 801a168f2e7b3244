"""The switcher: personas by name, `>` commands, `#` test inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Input

from tui.commands.registry import binding, first_key, palette
from tui.commands.text_matching import fold, match_all, words_of
from tui.screens.dialogs.base import Dialog, choosing
from tui.widgets.persona_list import SIGNS, PersonaEntry, ids_with_shared_names
from tui.widgets.text.line_input import LineInput
from tui.widgets.virtual_list import Row, VirtualList

TITLES = {"persona": "Switch persona", "command": "Commands", "test": "Test inputs"}
NOTHING, READING = "Nothing matches.", "Reading…"
MOST = 16
"""Rows that are shown at once at most."""


@dataclass(frozen=True, slots=True)
class Picked:
    """What was chosen: a persona's id, a command's action, or a test input's id."""

    kind: Literal["persona", "command", "test"]
    key: str


class CommandPaletteDialog(Dialog[Picked]):
    """One field and the list of what matches it.

    Args:
        entries: the personas, in order.
        news: by id, what its task is (`tui.talking.Badge`).
        current: the open persona.
        inputs: (id, content) of its test inputs.
        query: what stands in the field at first.
        is_read: whether all names are read; until then Enter chooses what comes to match.
        choose: whether the persona that is called as the query says is to be chosen once the names are read.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        binding("dialog.up"),
        binding("dialog.down"),
        binding("dialog.page_up", "step(-8)", priority=True),
        binding("dialog.page_down", "step(8)", priority=True),
        binding("persona.switch", "cancel"),
    ]

    def __init__(
        self,
        entries: Sequence[PersonaEntry],
        news: Mapping[str, str],
        current: str | None,
        inputs: Sequence[tuple[str, str]],
        query: str = "",
        *,
        is_read: bool = True,
        choose: bool = False,
    ) -> None:
        super().__init__()
        self._entries, self._news, self._current = entries, news, current
        self._inputs, self._query = inputs, query
        self._is_read = is_read
        self._chosen = (
            query if choose else None
        )  # the query for which Enter was pressed before the names were read

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog switcher") as box:
            box.border_title = TITLES["persona"]
            yield LineInput(self._query, hint="a name · > commands · # test inputs", id="query")
            yield VirtualList(
                empty=NOTHING if self._is_read else READING, id="matches", classes="gives", lit=True
            )
            yield self.hint("Enter opens", choosing(self.keymap), "> commands", ("dialog.close", "closes"))

    def on_mount(self) -> None:
        super().on_mount()
        rows = self.query_one(VirtualList)
        rows.can_focus = False
        field = self.query_one(LineInput)
        field.focus()
        field.cursor_position = len(field.value)
        self._match(self._query)

    def show_entries(self, entries: Sequence[PersonaEntry], is_read: bool) -> None:
        """Show what is known of the personas by now; the cursor stays on its row."""
        self._entries, self._is_read = entries, is_read
        self.__dict__.pop("_persona_rows", None)
        if not self.is_mounted or self not in self.app.screen_stack:
            return
        query, rows = self.query_one(LineInput).value, self.query_one(VirtualList)
        rows.empty = NOTHING if is_read else READING
        if query[:1] not in (">", "#"):
            key = rows.key
            self._match(query)
            rows.select(key or "")
        if is_read and self._chosen is not None:
            if query == self._chosen:
                self._pick(rows.key)
            self._chosen = None

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self._match(event.value)

    def _match(self, query: str) -> None:
        rows = self.query_one(VirtualList)
        sign, words = query[:1], words_of(query.lstrip(">#"))
        kind = {">": "command", "#": "test"}.get(sign, "persona")
        found = {"command": self._commands, "test": self._tests, "persona": self._personas}[kind](words)
        self.query_one(".dialog").border_title = TITLES[kind]
        rows.set_rows(found)
        rows.cursor = 0
        rows.styles.height = min(MOST, max(1, len(found)))

    def _commands(self, words: list[str]) -> list[Row]:
        keys = {command.id: first_key(command.id, self.keymap) for command in palette()}
        width = max(map(len, keys.values()))
        return [
            Row(f"command {command.action}", command.title, keys[command.id], head_cells=width)
            for command in palette()
            if match_all(words, fold(f"{command.title} /{command.slash}"))
        ]

    def _tests(self, words: list[str]) -> list[Row]:
        return [row for folded, row in self._test_rows if match_all(words, folded)]

    def _personas(self, words: list[str]) -> list[Row]:
        return [row for entry, row in self._persona_rows if entry.matches(words)]

    # Made once, not for each key: there may be ten thousand.

    @cached_property
    def _test_rows(self) -> list[tuple[str, Row]]:
        """The row of each test input, with the text that words are looked for in."""
        return [
            (fold(f"{key} {content}"), Row(f"test {key}", content, head=key)) for key, content in self._inputs
        ]

    @cached_property
    def _persona_rows(self) -> list[tuple[PersonaEntry, Row]]:
        shared = ids_with_shared_names(self._entries)
        return [(entry, self._row_of(entry, shared)) for entry in self._entries]

    def _row_of(self, entry: PersonaEntry, shared: set[str]) -> Row:
        return Row(
            f"persona {entry.id}",
            entry.name,
            tail=" ".join(filter(None, (entry.id if entry.id in shared else "", self._sign(entry)))),
            tone="error" if entry.error else "",
            current=entry.id == self._current,
        )

    def _sign(self, entry: PersonaEntry) -> str:
        return SIGNS.get(self._news.get(entry.id, ""), "") or ("broken" if entry.error else "")

    def desired_rows(self, part: Widget) -> int:
        return MOST

    def action_step(self, by: int) -> None:
        self.query_one(VirtualList).cursor += by

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        key = self.query_one(VirtualList).key
        if key is None and not self._is_read:
            self._chosen = event.value
        self._pick(key)

    @on(VirtualList.Chosen)
    def _clicked(self, event: VirtualList.Chosen) -> None:
        event.stop()
        self._pick(event.key)

    def _pick(self, key: str | None) -> None:
        if key is not None:
            kind, _, rest = key.partition(" ")
            self.dismiss(Picked(kind, rest))  # type: ignore[arg-type]
