"""A one-line field for text of any origin."""

from __future__ import annotations

from rich.text import Text
from textual import events
from textual.widgets import Input

from tui.editable import from_shown, to_shown, with_signs


class Field(Input):
    """An `Input` that holds hidden characters as stand-ins and takes a paste as one line."""

    def __init__(
        self, text: str = "", *, hint: str = "", id: str | None = None, compact: bool = True
    ) -> None:
        super().__init__(
            to_shown(_line(text)), placeholder=hint, id=id, compact=compact, select_on_focus=False
        )

    @property
    def _value(self) -> Text:
        return Text(with_signs(self.value), no_wrap=True, overflow="ignore", end="")

    @property
    def raw(self) -> str:
        """The text as it is to be stored."""
        return from_shown(self.value)

    @raw.setter
    def raw(self, text: str) -> None:
        self.value = to_shown(_line(text))

    def validate_value(self, value: str) -> str:
        return to_shown(_line(value))

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert_text_at_cursor(to_shown(_line(event.text)))


def _line(text: str) -> str:
    return " ".join(text.splitlines()) if "\n" in text or "\r" in text else text
