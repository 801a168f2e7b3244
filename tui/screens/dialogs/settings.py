"""The settings of the program: each with what it is for, where its value comes from, and a way to change it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Input

from personas.errors import PersonaError
from tui.commands.registry import bindings, sentence
from tui.screens.dialogs.base import Dialog
from tui.screens.dialogs.picker import Picker
from tui.settings import help_text
from tui.settings.loader import BrokenSettings
from tui.settings.schema import all_rules
from tui.terminal.secrets import redact
from tui.widgets.plain_text import LiteralStatic, label
from tui.widgets.text.ellipsis import EllipsisStatic
from tui.widgets.text.line_input import LineInput
from tui.widgets.virtual_list import Row, VirtualList

if TYPE_CHECKING:
    from tui.app.app import PersonaApp
    from tui.settings.live_settings import LiveSettings

HINT = (
    ("rows.open", "changes"),
    ("program.default", "default"),
    ("program.file", "edits file"),
    ("dialog.close", "closes"),
)
TABLE = "A table of the file: {} opens it in $EDITOR."
ODD = "{} opens the file in $EDITOR."
_ODD = "!"
"""How the keys of the rows begin that say what is wrong in the file."""


class ProgramSettings(Dialog[None]):
    """All settings on one page.

    Args:
        preferences: the settings and where they are stored.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("program")]

    def __init__(self, preferences: LiveSettings) -> None:
        super().__init__()
        self._preferences = preferences
        self._asked = ""  # the setting whose value is in the field

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog tall wide program-settings") as box:
            box.border_title = "Settings of the program"
            box.border_subtitle = label(str(self._preferences.path), 90)
            yield VirtualList(id="settings-rows")
            yield EllipsisStatic("", id="setting-help")
            yield LineInput(id="setting-value")
            yield EllipsisStatic("", id="setting-trouble")
            yield self.hint(*HINT)

    def on_mount(self) -> None:
        super().on_mount()
        self._field.display = False
        self._draw()
        self._rows.focus()
        self._program.main.start(self._program.look_at_settings())

    def show_settings(self) -> None:
        """The file was changed elsewhere: show what holds now."""
        self._draw()

    # -- parts --------------------------------------------------------------------------------------------

    @property
    def _rows(self) -> VirtualList:
        return self.query_one(VirtualList)

    @property
    def _field(self) -> LineInput:
        return self.query_one("#setting-value", LineInput)

    @property
    def _program(self) -> PersonaApp:
        return self.app  # type: ignore[return-value]

    @property
    def _chosen(self) -> str:
        return self._rows.key or "model"

    @property
    def _wrong(self) -> str:
        """What is wrong in the file, where the cursor is on a row that says so; else empty."""
        key = self._chosen
        odd = self._preferences.warnings
        return odd[int(key[1:])] if key.startswith(_ODD) and int(key[1:]) < len(odd) else ""

    @property
    def _value(self) -> Any:
        return getattr(self._preferences.settings, self._chosen)

    def _draw(self) -> None:
        settings = self._preferences.settings
        names = help_text.names()
        width = max(map(len, names))
        about_file = f"{self._preferences.path}:"
        self._rows.set_rows(
            [
                Row(
                    f"{_ODD}{place}",
                    f"line {odd.removeprefix(about_file)}" if odd.startswith(about_file) else odd,
                    head="wrong",
                    head_cells=width,
                    tone="error",
                )
                for place, odd in enumerate(self._preferences.warnings)
            ]
            + [
                Row(
                    name,
                    redact(help_text.shown(getattr(settings, name))),
                    head=name,
                    head_cells=width,
                    tail="" if (source := self._preferences.source(name)) == "default" else source,
                )
                for name in names
            ]
        )
        self._explain()

    def _explain(self) -> None:
        name = self._chosen
        if wrong := self._wrong:
            self.query_one("#setting-help", LiteralStatic).update(
                "\n".join(filter(None, (wrong, self._opens(ODD))))
            )
            return
        said = [help_text.explanations().get(name, "").replace("`", "")]
        if help_text.kind(name) == "table":
            said.append(self._opens(TABLE))
        if over := self._preferences.overruled(name):
            said.append(f"At the next start {over} overrides the file." if over[0] in "-$" else "")
        if name in help_text.AT_NEXT_MESSAGE:
            said.append("A change applies from your next message on.")
        self.query_one("#setting-help", LiteralStatic).update("\n".join(filter(None, said)))

    def _opens(self, template: str) -> str:
        return sentence("rows.open", self.keymap, template)

    def _trouble(self, text: str) -> None:
        self.query_one("#setting-trouble", LiteralStatic).update(text)

    @on(VirtualList.Highlighted)
    def _moved(self, event: VirtualList.Highlighted) -> None:
        event.stop()
        if self._field.display and event.key != self._asked:
            self._close_field()  # what is written there is for no other setting
        self._trouble("")
        self._explain()

    # -- changing -----------------------------------------------------------------------------------------

    @on(VirtualList.Chosen)
    def _change(self, event: VirtualList.Chosen) -> None:
        event.stop()
        if self._wrong:
            self.action_open_file()
            return
        name, value = self._chosen, self._value
        choices = self._choices(name)
        if help_text.kind(name) == "switch":
            self._store(name, not value)
        elif choices:
            rows = [Row(choice, choice, current=choice == value) for choice in choices]
            self.app.push_screen(Picker(name, rows, filter=len(rows) > 12), self._picked)
        elif help_text.kind(name) == "table":
            self.action_open_file()
        else:
            field, self._asked = self._field, name
            field.raw = "" if value == "" else help_text.shown(value)
            field.display = True
            field.focus()
            field.cursor_position = len(field.value)
            self.say_hint("Enter saves", ("dialog.close", "leaves it as it was"))

    def _choices(self, name: str) -> list[str]:
        if name == "theme":
            return ["dark", "light", *sorted(self.app.available_themes)]
        return list(all_rules()[name].choices)

    def _picked(self, choice: str | None) -> None:
        if choice is not None:
            self._store(self._chosen, choice)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        event.stop()
        try:
            value = help_text.written(self._asked, self._field.raw)
        except PersonaError as error:
            self._trouble(str(error))
            return
        self._close_field()
        self._store(self._asked, value)

    def action_cancel(self) -> None:
        if self._field.display:
            self._close_field()
            self._trouble("")
        else:
            super().action_cancel()

    def _close_field(self) -> None:
        self._field.display = False
        self._rows.focus()
        self.say_hint(*HINT)

    def action_default(self) -> None:
        if not (self._field.display or self._wrong) and help_text.kind(self._chosen) != "table":
            name = self._chosen
            self._program.main.start(self._changed(lambda: self._preferences.unset(name)))

    def _store(self, name: str, value: Any) -> None:
        self._program.main.start(self._changed(lambda: self._preferences.store({name: value})))

    async def _changed(self, change: Callable[[], None]) -> None:
        had_key = self._preferences.settings.api_key_in_keyring
        await self._stored(change)
        if had_key and not self._preferences.settings.api_key_in_keyring:
            from tui.settings.keyring import forget_key

            try:
                await asyncio.to_thread(forget_key)
            except PersonaError as error:
                if self.is_attached:
                    self._trouble(str(error))

    def action_open_file(self) -> None:
        if not self._field.display:
            self._program.main.start(self._open_file())

    async def _open_file(self) -> None:
        from tui.external_editor.process import EditorFailed
        from tui.screens.editor_launcher import edit_settings

        failure = ""
        try:
            if not await edit_settings(self._program, self._preferences.path):
                return
        except EditorFailed as error:
            failure = f"{error} The saved settings are in use."
        except PersonaError as error:
            if self.is_attached:
                self._trouble(str(error))
            return
        await self._stored(self._preferences.read_again, failure)

    async def _stored(self, change: Callable[[], None], failure: str = "") -> None:
        trouble = failure
        try:
            await asyncio.to_thread(change)
            odd = self._preferences.warnings
            summary = f"{len(odd)} problems in the file, see above." if len(odd) > 1 else "".join(odd)
            trouble = " ".join(filter(None, (summary, failure)))
            await self._program.apply_settings()
        except BrokenSettings as error:
            trouble = f"{error} {sentence('program.file', self.keymap, '{} edits it.')}".strip()
        except PersonaError as error:
            trouble = str(error)
        if self.is_attached:
            self._draw()
            self._trouble(trouble)
