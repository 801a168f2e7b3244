"""Fields of a document, one a line; each shows a slot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widget import Widget

from tui.document.text_slot import TextSlot
from tui.drafts.draft import FIELD
from tui.terminal.textual_compat.screen_hooks import has_keys
from tui.widgets.plain_text import LiteralLabel, in_one_line
from tui.widgets.text.line_input_undo import LineInputUndo

if TYPE_CHECKING:
    from textual.widgets import Input

    from tui.document.document import OpenDocument
    from tui.document.undo import Operation
    from tui.widgets.text.line_input import LineInput

Field = tuple[str, str, str]
"""Name, title, and what it is for, shown while it is empty."""


class FieldView:
    """Connects a slot with the field that shows it."""

    def __init__(self, field: LineInput, slot: TextSlot) -> None:
        self._field, self._slot = field, slot
        self.showing = False
        """Whether the field is being changed by the slot."""

    def slot_changed(self, source: str | None) -> None:
        """Show the slot's text, unless the field has the focus and already shows it."""
        if self._field.raw.strip() != in_one_line(self._slot.text).strip() or not self._field.has_focus:
            self.showing = True
            self._field.raw = self._slot.text
            self.showing = False


class FieldForm(VerticalScroll, can_focus=False):
    """Fields of the open document.

    Attributes:
        fields: which they are.
        choices: by name, the values of the fields that have a fixed set of them; empty is allowed too.
        no_choice: what is said beside a value that is none of them.
    """

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    fields: Sequence[Field] = ()
    choices: Mapping[str, Sequence[str]] = {}
    no_choice = ""

    class FieldBlurred(Message):
        """A field lost the focus or was confirmed: its text should be saved now."""

        def __init__(self, slot: TextSlot) -> None:
            super().__init__()
            self.slot = slot

    class ChoiceRequested(Message):
        """The person wants to choose one of the `choices` of a field."""

        def __init__(self, field: str) -> None:
            super().__init__()
            self.field = field

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self._document: OpenDocument | None = None
        self._bound: dict[str, TextSlot] = {}
        self._undos: dict[str, LineInputUndo] = {}
        self._locked = False
        self._filled = False  # the fields are mounted after the first paint

    async def fill(self) -> None:
        """Mount the fields; done after the first paint, which they would hold up."""
        await self.mount_all(self.rows())
        for name, choices in self.choices.items():
            self.field(name).tooltip = f"One of {', '.join(choices)}, or empty. Enter or a click shows them."
        self._filled = True
        self.show(self._document, fresh=True)

    def rows(self) -> list[Widget]:
        """Return what the grid holds."""
        return self.block(self.fields)

    def block(self, fields: Sequence[Field]) -> list[Widget]:
        """Return the titles of some fields, and the fields beside them; one with choices has its note behind it."""
        from tui.widgets.text.line_input import LineInput

        titles = LiteralLabel("\n".join(title for _, title, _ in fields), classes="setting-titles")
        titles.styles.row_span = len(fields)
        cells: list[Widget] = [titles]
        for field, _, hint in fields:
            cells.append(LineInput(hint=hint, name=field, id=f"setting-{field}"))
            if field in self.choices:
                cells.append(LiteralLabel(self.no_choice, name=field, classes="setting-note"))
        return cells

    def field(self, name: str) -> LineInput:
        """Return one field."""
        return self.query_one(f"#setting-{name}")  # type: ignore[return-value]

    @property
    def focus_target(self) -> LineInput | None:
        """What gets the keys: the first field, once there are any."""
        return self.field(self.fields[0][0]) if self._filled else None

    def show(self, document: OpenDocument | None, *, fresh: bool = False) -> None:
        """Show a document's fields; `fresh`: it is another one.

        If the file is broken, all fields are disabled, the focused one only once it loses the focus.
        """
        self._document = document
        if fresh:
            self._undos.clear()
        if not self._filled:
            return
        persona = document.persona if document is not None else None
        broken = persona is not None and persona.error is not None
        self._locked = document is None or broken
        for name, _, hint in self.fields:
            field = self.field(name)
            if fresh:
                self._bind(name, field)
            field.disabled = self._locked and not (broken and not fresh and self._has_keys(field))
            field.placeholder = "" if persona is None or field.disabled else hint
        for note in self.query(".setting-note"):
            name = note.name or ""
            note.display = not broken and self.slot(name).base not in ("", *self.choices[name])
            self.field(name).styles.column_span = 1 if note.display else 2

    def slot(self, name: str) -> TextSlot:
        """Return the slot of a field; one without a document where none is shown."""
        slot_id = self.slot_id(name)
        return self._document.slot(slot_id) if self._document is not None else TextSlot(slot_id)

    def slot_id(self, name: str) -> str:
        """Return the id of the slot that a field shows."""
        return FIELD + name

    def _bind(self, name: str, field: LineInput) -> None:
        """Connect a field with its slot in the open document."""
        if (before := self._bound.get(name)) is not None:
            before.view = None
        slot = self._bound[name] = self.slot(name)
        slot.view = view = FieldView(field, slot)
        field.typed = partial(self._typed, name, view)
        view.slot_changed("")

    def _typed(self, name: str, view: FieldView) -> None:
        if not view.showing:
            self._undo_of(name).typing(self.field(name).raw)
            self._take(name)

    def _has_keys(self, field: LineInput) -> bool:
        """Whether a field has the focus, or will have it once the terminal has its focus back."""
        return not field.disabled and has_keys(field, self.screen)

    # -- undo -----------------------------------------------------------------------------------------

    @property
    def focused_field(self) -> str:
        """The name of the field that has the focus, empty for none."""
        return next((name for name, _, _ in self.fields if self._filled and self.field(name).has_focus), "")

    def step(self, name: str, operation: Operation) -> bool:
        """Undo or redo what was typed in a field and not stored; returns whether there was any."""
        field, slot = self.field(name), self.slot(name)
        value = self._undo_of(name).step(operation, field.raw, slot.base, unsaved=slot.dirty)
        if value is None:
            return False
        field.raw = value
        field.cursor_position = len(field.value)
        return True

    def _undo_of(self, name: str) -> LineInputUndo:
        return self._undos.setdefault(name, LineInputUndo())

    def on_click(self, event: events.Click) -> None:
        for name, _, _ in self.fields if event.widget in self.children else ():
            field = self.field(name)
            if field.region.y == int(event.screen_y):  # also beside it, on its title or its note
                if not field.disabled and not field.has_focus:
                    field.focus()
                self._offer_choice(field)

    # Named, not decorated: the module of fields is loaded when the fields are made.

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if not self._offer_choice(event.input):
            self._notify_left(event.input)

    def _offer_choice(self, field: Input) -> bool:
        """Ask for the list of choices, if the field has one and its text is saved; return whether that was asked."""
        name = field.name or ""
        wanted = name in self.choices and not field.disabled and not self.slot(name).dirty
        if wanted:
            self.post_message(self.ChoiceRequested(name))
        return wanted

    def on_input_blurred(self, event: Input.Blurred) -> None:
        event.stop()
        self._notify_left(event.input)
        if self._locked and not self._has_keys(event.input):  # type: ignore[arg-type]
            event.input.disabled = True

    def _take(self, name: str) -> None:
        """Copy the text of a field into its slot."""
        slot, typed = self.slot(name), self.field(name).raw.strip()
        slot.edit(slot.base if typed == in_one_line(slot.base).strip() else typed)

    def _notify_left(self, field: Input) -> None:
        if (name := field.name or "") in self._bound:
            self._take(name)
            self.post_message(self.FieldBlurred(self._bound[name]))

    def on_key(self, event: events.Key) -> None:
        step = {"down": 1, "up": -1}.get(event.key)
        fields = [self.field(name) for name, _, _ in self.fields]
        if step is not None and self.screen.focused in fields:
            place = fields.index(self.screen.focused) + step
            if 0 <= place < len(fields):
                event.stop()
                fields[place].focus()
