"""What the conversation controller asks of the screen that it is shown on. No screen is imported here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from tui.app.host import Host

if TYPE_CHECKING:
    from personas.persona import Persona
    from tui.outputs.controller import OutputsController
    from tui.widgets.chat_bar import ChatBar
    from tui.widgets.persona_fields import SettingsPane
    from tui.widgets.persona_list import PersonaList
    from tui.widgets.test_input_list import TestInputList
    from tui.widgets.text.document_editor import DocumentEditor


class ConversationHost(Host, Protocol):
    """The main screen, as the conversation knows it. What is described nowhere is as in Textual's `Screen`."""

    @property
    def focused(self) -> Any: ...

    @property
    def size(self) -> Any: ...

    @property
    def query_one(self) -> Any: ...

    @property
    def call_after_refresh(self) -> Any: ...

    @property
    def set_focus(self) -> Any: ...

    @property
    def set_interval(self) -> Any: ...

    @property
    def set_timer(self) -> Any: ...

    @property
    def chat_bar(self) -> ChatBar:
        """Where messages are written."""

    @property
    def talk_draft(self) -> str:
        """What is written in the bar of a talk with a persona and not sent."""

    @property
    def prompt(self) -> DocumentEditor:
        """The editor of the system prompt."""

    @property
    def tests(self) -> TestInputList:
        """The list of test inputs."""

    @property
    def settings(self) -> SettingsPane:
        """The fields of the persona."""

    @property
    def personas(self) -> PersonaList:
        """The list of personas."""

    @property
    def outputs(self) -> OutputsController:
        """What the open persona answered."""

    @property
    def layouts(self) -> Mapping[str, Mapping[str, int]]:
        """The widths of panes that the person chose."""

    def take_layouts(self, layouts: Mapping[str, Mapping[str, int]]) -> None:
        """Give the panes the widths that were remembered."""

    def show_badges(self) -> None:
        """Show which personas have news, and what keys do now."""

    def note_persona(self, persona: Persona) -> None:
        """Another persona than the open one changed."""
