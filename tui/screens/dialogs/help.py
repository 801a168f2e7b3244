"""The keys and what they do, from the list of commands."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content

from tui.commands.registry import COMMANDS, Keymap, binding, bindings, help_rows
from tui.screens.dialogs.base import Dialog
from tui.terminal.sanitise import sanitise
from tui.widgets.plain_text import LiteralStatic

ABOUT = (
    "Talk to the agent in the chat bar: it changes the persona's file, and you see each change at once. "
    "Every change can be undone. Your own edits are saved by themselves."
)

CONNECT = """The agent's model is {model}.
offline is built in: it understands plain requests such as "replace X with Y", and says so when it does not. \
/model connects another at once: with a key, on a server of this machine, or anywhere that speaks the Messages API. \
For every start set ANTHROPIC_API_KEY, or base_url and model in {settings}. /settings shows all that can be set."""


DIALOG = 72
"""Columns of a dialog that has room."""
NAMES = "What the commands are called, for other keys in [keys] of the settings file"


class Help(Dialog[None]):
    """All keys on one page, and which model answers.

    Args:
        model: the name of the agent's model.
        settings: where the settings file lies, any text.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        binding("help", "cancel", priority=True),
        *bindings("page"),
    ]

    def __init__(self, model: str = "", settings: str = "") -> None:
        super().__init__()
        self._model, self._settings = model, settings

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog tall") as box:
            box.border_title = "Help"
            box.border_subtitle = self.closes
            yield LiteralStatic(f"{ABOUT}\n", classes="dialog-text")
            yield LiteralStatic(_page(self.keymap, self._columns()), id="help-keys")
            yield LiteralStatic(CONNECT.format(model=self._model, settings=self._settings), id="help-model")
            yield LiteralStatic(_names(self._columns()), id="help-names")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(VerticalScroll).focus()

    def on_resize(self) -> None:
        super().on_resize()
        self.query_one("#help-keys", LiteralStatic).update(_page(self.keymap, self._columns()))
        self.query_one("#help-names", LiteralStatic).update(_names(self._columns()))

    def _columns(self) -> int:
        """Return the columns a line has here: the dialog's without frame, blanks and scrollbar."""
        return min(DIALOG, self.app.size.width * 94 // 100) - 8


def _page(keymap: Keymap, columns: int) -> Content:
    """Return the keys and what they do."""
    rows = help_rows(keymap)
    width = max(len(keys) for _, lines in rows for keys, _ in lines)
    parts: list[Content | tuple[str, str] | str] = []
    for heading, lines in rows:
        parts.append((f"{heading}\n", "bold $text-accent"))
        for keys, title in lines:
            parts += _row(sanitise(keys), title, width, columns)
        parts.append("\n")
    return Content.assemble(*parts)


def _names(columns: int) -> Content:
    """Return the ids of the commands and what they do."""
    width = max(len(command.id) for command in COMMANDS)
    parts: list[Content | tuple[str, str] | str] = [(f"\n{NAMES}\n", "bold $text-accent")]
    for command in COMMANDS:
        parts += _row(command.id, command.title, width, columns)
    return Content.assemble(*parts)


def _row(name: str, title: str, width: int, columns: int) -> list[tuple[str, str] | str]:
    """Return a name, `width` columns wide, and what it is; what is longer than a line goes on below itself."""
    from textwrap import wrap

    text = f"\n{' ' * (width + 4)}".join(wrap(title, max(12, columns - width - 4)))
    return [(f"  {name:<{width}}  ", "bold"), f"{text}\n"]
