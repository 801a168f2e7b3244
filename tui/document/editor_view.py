"""What the parts that keep the open persona need of the screen."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from personas.versions.undo import Retrace
    from tui.document.field_autosave import Outcome
    from tui.document.merge import Clash
    from tui.widgets.persona_fields import SettingsPane
    from tui.widgets.test_input_list import TestInputs
    from tui.widgets.text.document_editor import TextEditor


class Desk(Protocol):
    """The screen, as `tui.editing` and its parts see it."""

    @property
    def prompt(self) -> TextEditor: ...
    @property
    def tests(self) -> TestInputs: ...
    @property
    def settings(self) -> SettingsPane: ...

    def tell(self, message: str, *, error: bool = False) -> None:
        """Say something for a moment."""

    def name_of(self, persona_id: str) -> str:
        """Return what a persona is called in a sentence."""

    def stepped(self, operation: Retrace, run_id: str | None) -> None:
        """The store took a step back or forth; `run_id`: the agent's run that it was of, None for none."""

    def show_state(self) -> None:
        """The open persona, or how it is saved, changed."""

    async def choose(self, clash: Clash, ours: str, theirs: str, told: str = "") -> str | None:
        """Let the person choose between two texts; None for not now. `told`: what was said of it, which goes."""

    async def set_field(self, field: str, value: str) -> Outcome:
        """Store a field of the settings; returns what became of it."""

    def start(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run something beside the screen."""
