"""Where things stand on the main screen: by the size of the terminal, and which pane is in front."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.screen import Screen
from textual.widget import Widget

from tui.widgets.literal import LiteralStatic
from tui.widgets.pane_tabs import PaneTabs

if TYPE_CHECKING:
    from tui.screens.main import MainScreen
else:
    MainScreen = Any

PANES = {"prompt": "Prompt", "tests": "Test inputs", "settings": "Settings", "personas": "Personas"}
SMALLEST = (60, 15)
WIDE = 100
"""Columns from which all panes stand side by side."""
ROOMY = 130
LAYOUTS = frozenset({"-wide", "-narrow", "-roomy", "-too-small"})


class PaneLayout(Screen[None]):
    """The panes of the main screen."""

    pane = "prompt"

    @property
    def _main(self) -> MainScreen:
        return self  # type: ignore[return-value]

    # -- layout -------------------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        self.lay_out()

    def classes_for(self, width: int, height: int) -> set[str]:
        """Return the classes that say how panes stand at this size."""
        classes = {f"-pane-{self.pane}", "-wide" if width >= WIDE else "-narrow"}
        if width >= ROOMY:
            classes.add("-roomy")
        if width < SMALLEST[0] or height < SMALLEST[1]:
            classes.add("-too-small")
        return classes

    def lay_out(self, *, restyle: bool = True) -> None:
        """Stand as the size of the terminal and the pane in front ask for."""
        width, height = self.app.size
        wanted = self.classes_for(width, height)
        known = {name for name in self.classes if name.startswith("-pane-") or name in LAYOUTS}
        if wanted != known:
            # One pass over the styles for all of them: each costs as much as drawing the screen.
            self.remove_class(*(known - wanted), update=False)
            self.add_class(*(wanted - known), update=False)
            if restyle:
                self.update_node_styles(animate=False)
        if not restyle:
            return
        if "-too-small" in wanted:
            self.query_one("#too-small", LiteralStatic).update(
                f"{width}×{height} is too small: at least {SMALLEST[0]}×{SMALLEST[1]}"
            )
        elif self.focused is None or not self.focused.is_on_screen:
            self.call_after_refresh(self._keep_focus)

    def _keep_focus(self) -> None:
        if self.is_current and (self.focused is None or not self.focused.display):
            self._main.focus_chat()

    def show_pane(self, pane: str) -> None:
        """Bring a pane to the front where only one has room."""
        self.pane = pane
        self.lay_out()
        self._main.show_marks()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.call_later(self._main.show_keys)

    @on(PaneTabs.Chosen)
    def _tab_chosen(self, event: PaneTabs.Chosen) -> None:
        self.action_go(event.pane)

    # -- going from pane to pane --------------------------------------------------------------------------

    def _target(self, pane: str) -> Widget:
        targets: dict[str, Widget] = {
            "prompt": self._main.prompt,
            "tests": self._main.tests.rows,
            "settings": self._main.settings.first_field or self._main.chat_bar.input,
            "personas": self._main.personas.rows,
        }
        return targets[pane]

    def _here(self) -> str:
        """Return the pane that has the focus, or `chat`."""
        chain = self.focused.ancestors_with_self if self.focused else []
        for pane, widget in (
            ("prompt", self._main.prompt.parent),
            ("tests", self._main.tests),
            ("settings", self._main.settings),
            ("personas", self._main.personas),
        ):
            if widget in chain:
                return pane
        return "chat"

    def action_go(self, pane: str) -> None:
        self.show_pane(pane)
        self._target(pane).focus()

    def _step_pane(self, by: int) -> None:
        order = ["chat", *PANES]
        pane = order[(order.index(self._here()) + by) % len(order)]
        if pane == "chat":
            self._main.focus_chat()
        else:
            self.action_go(pane)

    def action_next_pane(self) -> None:
        if self._here() == "chat" and self._main.chat_bar.take_tab():
            return  # a completion was accepted, or the draft queued
        self._step_pane(1)

    def action_previous_pane(self) -> None:
        self._step_pane(-1)
