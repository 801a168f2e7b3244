"""The persona's name, description, tags and model settings."""

from __future__ import annotations

from pathlib import Path

from textual.widget import Widget

from tui.settings.validation import LEVELS
from tui.widgets.field_form import FieldForm
from tui.widgets.plain_text import LiteralLabel

FIELDS = (
    ("name", "Name", "the id"),
    ("description", "Description", "what it is for"),
    ("tags", "Tags", "work, demo"),
    ("model", "Model", "which model answers"),
    ("effort", "Effort", "how long it thinks"),
    ("max_tokens", "Max tokens", "the longest answer"),
)


CHOICES = {"effort": LEVELS}
"""The values of the fields that have a fixed set of them; empty is allowed too."""
OF_ANSWERS = "For its answers, not for the agent:"
"""The heading of the fields for testing the persona; they do not change the agent that edits it."""
NOT_SET = "not set: the model decides"
NO_CHOICE = "not a level"


class SettingsPane(FieldForm):
    """The settings of the open persona."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    fields = FIELDS
    choices = CHOICES
    no_choice = NO_CHOICE
    focus_area = "settings"

    def __init__(self, id: str = "settings") -> None:
        super().__init__(id)
        self.border_title = "Settings"

    def rows(self) -> list[Widget]:
        of_answers = [field for field, _, _ in FIELDS].index("model")
        heading = LiteralLabel(OF_ANSWERS, classes="setting-for")
        return [*self.block(FIELDS[:of_answers]), heading, *self.block(FIELDS[of_answers:])]
