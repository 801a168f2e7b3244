"""The registry of panes: layout, tabs, the order of Tab, sizes and the commands that lead to a pane follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

ColumnName = Literal["personas", "prompt", "side"]


class Pane(NamedTuple):
    """A pane of the main screen.

    Attributes:
        id: stable name, as in `go('…')` and for the keymap.
        title: its tab, where only one pane has room.
        widget: its class, as `module:Class`, made without arguments. What of these it has is used: `focus_target` is
            the widget that gets the keys (None while there is none), `focus_area` what the key hints are for then,
            `tab_mark` a short sign behind the title.
        min_width: the fewest columns it can be seen in; narrower it is hidden.
        column: which of the columns it stands in.
        go: the title of the command that leads there.
        key: the key of that command.
    """

    id: str
    title: str
    widget: str
    min_width: int
    column: ColumnName
    go: str
    key: str = ""


PANES: tuple[Pane, ...] = (
    Pane("prompt", "Prompt", "tui.widgets.prompt_pane:PromptPane", 34, "prompt", "Go to the system prompt", "f3"),
    Pane("tests", "Test inputs", "tui.widgets.test_input_list:TestInputList", 22, "side", "Go to the test inputs", "f4"),
    Pane("composition", "Composition", "tui.widgets.composition_pane:CompositionPane", 22, "side",
         "Go to the composition"),
    Pane("settings", "Settings", "tui.widgets.persona_fields:SettingsPane", 22, "side", "Go to the persona's settings"),
    Pane("personas", "Personas", "tui.widgets.persona_list:PersonaList", 14, "personas", "Go to the persona list"),
)  # fmt: skip
"""In the order of the tabs, and of Tab."""

BY_ID: Mapping[str, Pane] = {pane.id: pane for pane in PANES}


class Column(NamedTuple):
    """A column beside the prompt, which can be resized and hidden.

    Attributes:
        width: its columns by default.
        roomy_width: the same in a terminal with much room.
        hide: the title of the command that hides it.
    """

    width: int
    roomy_width: int
    hide: str


COLUMNS: Mapping[ColumnName, Column] = {
    "personas": Column(24, 28, "Hide or show the persona list"),
    "side": Column(40, 48, "Hide or show test inputs, composition and settings"),
}


def min_width(column: ColumnName) -> int:
    """Return the fewest columns in which every pane of a column can be seen."""
    return max(pane.min_width for pane in PANES if pane.column == column)
