"""What is selected on a screen: in the editor or line that has the keys, else anywhere."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen
from textual.widgets import Input, TextArea

from tui.terminal.visible_controls import from_shown
from tui.widgets.text.document_editor import DocumentEditor


def selected_text(screen: Screen[Any]) -> str:
    """Return the selected text; empty for none."""
    focused = screen.focused
    if isinstance(focused, DocumentEditor) and focused.selected_text:
        return from_shown(focused.selected_text)
    if isinstance(focused, TextArea) and focused.selected_text:
        return focused.selected_text
    if isinstance(focused, Input) and not focused.selection.is_empty:
        return focused.selected_text
    return screen.get_selected_text() or ""
