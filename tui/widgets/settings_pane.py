"""The persona's name, description, tags and model settings, one field a line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message

from tui.widgets.literal import LiteralLabel

if TYPE_CHECKING:
    from textual.widgets import Input

    from personas.persona import Persona
    from tui.widgets.field import Field

FIELDS = (
    ("name", "Name", "the id"),
    ("description", "Description", "what it is for"),
    ("tags", "Tags", "work, demo"),
    ("model", "Model", "the usual one"),
    ("effort", "Effort", "the usual"),
    ("max_tokens", "Max tokens", "the model's own"),
)


class SettingsPane(VerticalScroll, can_focus=False):
    """The settings of the open persona."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    @dataclass
    class Changed(Message):
        """A field was left or confirmed with another value than is stored; `field` as in `FIELDS`."""

        field: str
        value: str

    def __init__(self, id: str = "settings") -> None:
        super().__init__(id=id)
        self._stored = {field: "" for field, _, _ in FIELDS}
        self._shown: Persona | None = None
        self.border_title = "Settings"

    async def fill(self) -> None:
        """Mount the fields; done after the first paint, which they would hold up."""
        from tui.widgets.field import Field

        await self.mount_all(
            Horizontal(LiteralLabel(title), Field(hint=hint, id=f"setting-{field}"), classes="setting")
            for field, title, hint in FIELDS
        )
        self.show(self._shown, fresh=True)

    def field(self, name: str) -> Field:
        """Return one field."""
        return self.query_one(f"#setting-{name}")  # type: ignore[return-value]

    @property
    def first_field(self) -> Field | None:
        """The first field, once there are any."""
        return self.field("name") if self.children else None

    def show(self, persona: Persona | None, *, fresh: bool = False) -> None:
        """Show a persona's settings; a field being typed in keeps its text unless `fresh`."""
        self._shown = persona
        stored = _values(persona)
        if not self.children:
            self._stored = stored
            return
        for name, value in stored.items():
            field = self.field(name)
            if fresh or field.raw == self._stored[name] or field.raw == value:
                field.raw = value
        self._stored = stored
        for name in stored:
            self.field(name).disabled = persona is None or persona.error is not None

    def reset(self, name: str) -> None:
        """Show what is stored again, after a value was refused."""
        self.field(name).raw = self._stored[name]

    # Named, not decorated: the module of fields is loaded when the fields are made.

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._tell(event.input)

    def on_input_blurred(self, event: Input.Blurred) -> None:
        event.stop()
        self._tell(event.input)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()

    def _tell(self, field: Input) -> None:
        name = (field.id or "").removeprefix("setting-")
        for changed, value in self.unsaved():
            if changed == name:
                self.post_message(self.Changed(name, value))

    def unsaved(self) -> list[tuple[str, str]]:
        """Return (field, value) of every field that differs from what is stored."""
        if not self.children or self.field("name").disabled:
            return []
        values = {name: self.field(name).raw.strip() for name in self._stored}
        return [(name, value) for name, value in values.items() if value != self._stored[name]]

    def on_key(self, event: events.Key) -> None:
        step = {"down": 1, "up": -1}.get(event.key)
        fields = [self.field(name) for name in self._stored]
        if step is not None and self.screen.focused in fields:
            place = fields.index(self.screen.focused) + step
            if 0 <= place < len(fields):
                event.stop()
                fields[place].focus()


def _values(persona: Persona | None) -> dict[str, str]:
    if persona is None:
        return {field: "" for field, _, _ in FIELDS}
    model = persona.model
    return {
        "name": persona.name,
        "description": persona.description,
        "tags": ", ".join(persona.tags),
        "model": model.name or "",
        "effort": model.effort or "",
        "max_tokens": str(model.max_tokens) if model.max_tokens is not None else "",
    }
