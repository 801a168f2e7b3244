"""The persona's name, description, tags and model settings, one field a line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message
from textual.timer import Timer

from tui.settings.validation import LEVELS
from tui.widgets.plain_text import LiteralLabel
from tui.widgets.text import document_editor as text_editor
from tui.widgets.text.line_input_undo import FieldPast

if TYPE_CHECKING:
    from textual.widgets import Input

    from personas.persona import Persona
    from personas.versions.undo import Retrace
    from tui.widgets.text.line_input import Field

FIELDS = (
    ("name", "Name", "the id"),
    ("description", "Description", "what it is for"),
    ("tags", "Tags", "work, demo"),
    ("model", "Model", "which model answers"),
    ("effort", "Effort", "how long it thinks"),
    ("max_tokens", "Max tokens", "the longest answer"),
)


CHOICES = {"effort": LEVELS}
"""What a field may hold beside nothing, for those where that is one of a few things."""
OF_ANSWERS = "For its answers, not for the agent:"
"""Stands above the fields that say how the persona is tried: they do not govern the agent that edits it."""
NOT_SET = "not set: the model decides"
NO_CHOICE = "not a level"


class SettingsPane(VerticalScroll, can_focus=False):
    """The settings of the open persona."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    @dataclass
    class Changed(Message):
        """A field was left or confirmed with another value than is stored; `field` as in `FIELDS`."""

        field: str
        value: str

    @dataclass
    class Paused(Message):
        """The person paused while typing in a field."""

        field: str

    @dataclass
    class Met(Message):
        """A field that is being typed in was changed elsewhere, to `theirs`."""

        title: str
        theirs: str

    @dataclass
    class ChoiceWanted(Message):
        """The person wants to choose what a field holds: one of `CHOICES`."""

        field: str

    def __init__(self, id: str = "settings") -> None:
        super().__init__(id=id)
        self._stored = {field: "" for field, _, _ in FIELDS}
        self._sent: dict[str, list[str]] = {}  # what is on its way into the file
        self._waiting: dict[str, tuple[str, str]] = {}
        self._put_off: set[str] = set()
        self._pause: Timer | None = None
        self._typing = ""  # the field in which something was typed that is not kept yet
        self._typing_since = 0.0
        self._pasts: dict[str, FieldPast] = {}
        self._shown: Persona | None = None
        self._locked = False
        self._filled = False  # while the fields are being mounted they are empty, whatever is stored
        self.border_title = "Settings"

    async def fill(self) -> None:
        """Mount the fields; done after the first paint, which they would hold up."""
        from tui.widgets.text.line_input import Field

        rows = [
            Horizontal(
                LiteralLabel(title),
                Field(hint=hint, id=f"setting-{field}"),
                *([LiteralLabel(NO_CHOICE, classes="setting-note")] if field in CHOICES else ()),
                classes="setting",
            )
            for field, title, hint in FIELDS
        ]
        of_answers = [field for field, _, _ in FIELDS].index("model")
        await self.mount_all(
            [*rows[:of_answers], LiteralLabel(OF_ANSWERS, classes="setting-for"), *rows[of_answers:]]
        )
        for name, choices in CHOICES.items():
            self.field(name).tooltip = f"One of {', '.join(choices)}, or empty. Enter or a click shows them."
        self._filled = True
        waiting = dict(self._waiting)
        self.show(self._shown, fresh=True)
        for name, (base, text) in waiting.items():
            self.put_back(name, base, text)

    def field(self, name: str) -> Field:
        """Return one field."""
        return self.query_one(f"#setting-{name}")  # type: ignore[return-value]

    @property
    def first_field(self) -> Field | None:
        """The first field, once there are any."""
        return self.field("name") if self._filled else None

    def show(self, persona: Persona | None, *, fresh: bool = False) -> None:
        """Show a persona's settings; a field being typed in keeps its text unless `fresh`.

        Where the file breaks, the field with the keys takes them on until it is left; the others take none.
        """
        self._shown = persona
        stored = values_of(persona)
        if fresh:
            self._put_off.clear()
            self._waiting.clear()
            self._sent.clear()
            self._pasts.clear()
        if not self._filled:
            self._stored = stored
            return
        broken = persona is not None and persona.error is not None
        self._locked = persona is None or broken
        for name, value in stored.items():
            field = self.field(name)
            if broken and not fresh and self._has_keys(field):
                continue
            if fresh or field.raw in (_in_one_line(self._stored[name]), _in_one_line(value)):
                field.raw = value
                self._put_off.discard(name)
            elif broken:
                continue  # what is stored, nobody knows
            elif value != self._stored[name] and not {value, field.raw.strip()} & {*self._sent.get(name, ())}:
                title = next(title for key, title, _ in FIELDS if key == name)
                self.post_message(self.Met(title, value))
                if not field.has_focus:
                    self._put_off.add(name)
            self._stored[name] = value
        for name, _, hint in FIELDS:
            field = self.field(name)
            field.disabled = self._locked and not (broken and not fresh and self._has_keys(field))
            field.placeholder = "" if field.disabled else hint  # nobody knows what would hold
        for name, choices in CHOICES.items():
            for note in self.field(name).parent.query(".setting-note"):  # type: ignore[union-attr]
                note.display = not broken and stored[name] not in ("", *choices)

    def _has_keys(self, field: Field) -> bool:
        """Whether the keys go to a field, also if they do so only once the terminal has its focus back."""
        return not field.disabled and field in (self.screen.focused, self.app._last_focused_on_app_blur)

    def put_back(self, name: str, base: str, text: str) -> None:
        """Put a text into a field that was typed there when `base` was stored, and could not be saved.

        Where something else is stored by now, it is not stored before the person has been in the field.
        """
        if name not in self._stored:
            return
        if not self._filled:
            self._waiting[name] = base, text
            return
        self._stored[name], self.field(name).raw = base, text
        self.show(self._shown)

    def note_sent(self, name: str, value: str) -> None:
        """A value is on its way into the file."""
        self._sent.setdefault(name, []).append(value)

    def note_arrived(self, name: str, value: str) -> None:
        """What came of that value has been taken in, or it could not be stored: a change made elsewhere will meet it."""
        if value in (sent := self._sent.get(name, [])):
            sent.remove(value)

    def note_stored(self, name: str, value: str) -> None:
        """A value has been stored: show it as it is stored, unless something else is typed by now."""
        if self.field(name).raw.strip() == value:
            self.field(name).raw = self._stored[name]

    # -- undo -----------------------------------------------------------------------------------------

    @property
    def focused_field(self) -> str:
        """The name of the field that has the focus, empty for none."""
        return next((name for name in self._stored if self._filled and self.field(name).has_focus), "")

    def step(self, name: str, operation: Retrace) -> bool:
        """Undo or redo what was typed in a field and not stored; returns whether there was any."""
        field, stored = self.field(name), self._stored[name]
        value = self._past(name).step(operation, field.raw, stored, unsaved=name in dict(self.unsaved()))
        if value is None:
            return False
        field.raw = value
        field.cursor_position = len(field.value)
        return True

    def _past(self, name: str) -> FieldPast:
        return self._pasts.setdefault(name, FieldPast())

    def reset(self, name: str) -> None:
        """Show what is stored again."""
        self.field(name).raw = self._stored[name]

    def on_click(self, event: events.Click) -> None:
        for row in self.query(".setting"):
            if event.widget is not None and row in event.widget.ancestors_with_self:
                field: Field = row.query_one("Field")  # type: ignore[assignment]
                if not field.disabled and not field.has_focus:
                    field.focus()
                self._offer_choice(field)

    # Named, not decorated: the module of fields is loaded when the fields are made.

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if not self._offer_choice(event.input):
            self._tell(event.input)

    def _offer_choice(self, field: Input) -> bool:
        """Where a field holds one of a few things, and nothing is typed in it, ask for them to be shown."""
        name = _name_of(field)
        wanted = (
            name in CHOICES and not field.disabled and name not in {typed for typed, _, _ in self.typed()}
        )
        if wanted:
            self.post_message(self.ChoiceWanted(name))
        return wanted

    def on_input_blurred(self, event: Input.Blurred) -> None:
        event.stop()
        self._tell(event.input)
        if self._locked and not self._has_keys(event.input):  # type: ignore[arg-type]
            event.input.disabled = True

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        name = _name_of(event.input)
        if not event.input.has_focus or event.input.disabled:
            return  # not typed
        self._put_off.discard(name)
        self._past(name).typing(self.field(name).raw)
        if self._pause is not None:
            self._pause.stop()
        now = text_editor.clock()
        if name != self._typing:
            self._typing, self._typing_since = name, now
        left = max(text_editor.PAUSE, text_editor.LONGEST) - (now - self._typing_since)
        if left <= 0:
            self._paused(name)
        else:
            self._pause = self.set_timer(min(text_editor.PAUSE, left), partial(self._paused, name))

    def _paused(self, name: str) -> None:
        """What was typed in a field is to be kept now: the person paused, or has typed for long."""
        self._typing = ""
        self.post_message(self.Paused(name))

    def _tell(self, field: Input) -> None:
        name = _name_of(field)
        self._put_off.discard(name)
        if self._locked and any(changed == name for changed, _, _ in self.typed()):
            self._paused(name)  # it is kept, and stored once that can be done
        for changed, value in self.unsaved():
            if changed == name:
                self.post_message(self.Changed(name, value))

    def unsaved(self) -> list[tuple[str, str]]:
        """Return (field, value) of every field that differs from what is stored and can be stored now."""
        if not self._filled or self._locked:
            return []
        return [(name, value) for name, _, value in self.typed() if name not in self._put_off]

    def typed(self) -> list[tuple[str, str, str]]:
        """Return (field, what it grew from, value) of every field that differs from what is stored."""
        if not self._filled:
            return [(name, base, text) for name, (base, text) in self._waiting.items()]
        texts = {name: self.field(name).raw.strip() for name in self._stored}
        return [
            (name, self._stored[name], text)
            for name, text in texts.items()
            if text != _in_one_line(self._stored[name]).strip()
        ]

    def on_key(self, event: events.Key) -> None:
        step = {"down": 1, "up": -1}.get(event.key)
        fields = [self.field(name) for name in self._stored]
        if step is not None and self.screen.focused in fields:
            place = fields.index(self.screen.focused) + step
            if 0 <= place < len(fields):
                event.stop()
                fields[place].focus()


def _in_one_line(value: str) -> str:
    """Return a stored value as a field of one line holds it."""
    return " ".join(value.splitlines()) if "\n" in value or "\r" in value else value


def _name_of(field: Input) -> str:
    return (field.id or "").removeprefix("setting-")


def values_of(persona: Persona | None) -> dict[str, str]:
    """Return what the fields hold for a persona, by their names."""
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
