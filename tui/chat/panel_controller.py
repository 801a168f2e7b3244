"""The agent's panel: its state machine, its timer, and reading mode."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from tui.chat.panel_state import Panel, PanelState
from tui.commands.registry import first_key, sentence

if TYPE_CHECKING:
    from tui.chat.context import ChatContext
    from tui.chat.view import PanelView, Timer, TurnsView
    from tui.settings.schema import Settings


IN_THE_BAR = "Answer in the chat bar"


class PanelController:
    """Reports what happens to the state machine and keeps the panel in line with it."""

    def __init__(self, context: ChatContext) -> None:
        self._context = context
        self.machine = Panel()
        """The panel's state machine."""
        self._timer: Timer | None = None
        self.panel_view: PanelView | None = None
        self.reading = False
        self._called = False  # the person has just called for the panel

    def attach(self, panel: PanelView) -> None:
        """Take the panel; before, nothing can be said."""
        self.panel_view = panel

    def use_times(self, settings: Settings) -> None:
        """Go by the person's settings for how long the panel stays."""
        self.machine.delay = settings.panel_seconds
        self.machine.reading_rate = settings.reading_rate

    @property
    def view(self) -> TurnsView:
        """The turns on the screen."""
        assert self.panel_view is not None
        return self.panel_view.conversation

    def lies_over(self, keys: bool) -> None:
        """The panel is laid out; `keys`: it covers the pane that has the keys. Nobody types under it."""
        called, self._called = self._called, False
        if not keys:
            return
        if called:  # who calls for it wants to see it, not what lies under it
            self._context.screen.focus_chat()
        elif not self.machine.asking:  # a question stays; told of it, this would be asked again, for ever
            self.panel_event("covers_keys")

    @property
    def _keys_in_pane(self) -> bool:
        return self.panel_view is not None and self.panel_view.keys_in_pane

    def make_room(self) -> None:
        """Leave the panes room while the keys are in one of them."""
        in_pane = self._keys_in_pane
        if in_pane:
            self.machine.pane_has_keys()
        if self.panel_view is not None:
            self.panel_view.leave_room(in_pane)

    def keys_moved(self) -> None:
        """A widget got the keys: the turns have them no longer, and the panel does not lie over it."""
        self.end_reading()
        if self.machine.shown:
            self._context.sync()

    def arm(self) -> None:
        if self.panel_view is not None:
            self.machine.stands(at_end=self.view.following)
        deadline = self.machine.next_deadline()
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if deadline is not None:
            self._timer = self._context.screen.set_timer(max(0.01, deadline - time.monotonic()), self._ring)

    def _ring(self) -> None:
        self._timer = None
        self.machine.expire()
        self._context.sync()

    def grown(self, characters: int) -> None:
        """New content was drawn."""
        self.machine.stream_active(characters)
        if self.panel_view is not None:
            self.panel_view.cover_soon()
        if not self.machine.in_flight:
            self.arm()

    def interacted(self) -> None:
        """The person did something in the panel or the chat bar."""
        self.machine.interacted()
        self.arm()

    def followed(self) -> None:
        """The view has left its end, or came back to it."""
        self.arm()

    def hovered(self) -> None:
        """The mouse is over the panel."""
        self.machine.hovered()
        self.arm()

    def key_pressed(self) -> None:
        """Any key."""
        if self.machine.shown:
            self.machine.key_pressed()
            self.arm()

    def focus_changed(self, has_focus: bool) -> None:
        """The terminal lost or got the focus."""
        (self.machine.focus_gained if has_focus else self.machine.focus_lost)()
        self.arm()

    def clicked_chat_bar(self) -> None:
        """The mouse went down on the chat bar, or on the keys below it."""
        self.machine.clicked_chat_bar()
        self.arm()

    def clicked_away(self) -> None:
        """The mouse went down away from the panel and the chat bar."""
        if self.machine.shown:
            self.machine.clicked_away()
            self._context.sync()

    def panel_event(self, name: str, *arguments: Any) -> None:
        """Report an event of `tui.panel.Panel` by its name."""
        getattr(self.machine, name)(*arguments)
        self._context.sync()

    @property
    def panel_shown(self) -> bool:
        """Whether the panel is on the screen."""
        return self.machine.shown

    def escape_panel(self) -> None:
        """Esc in the idle chat bar."""
        self.panel_event("escape")

    def enlarge(self) -> None:
        """Show the panel in full height, until it is put away; or, where it is, as high as what it holds."""
        if self._keys_in_pane:
            self._context.screen.focus_chat()  # all panes are about to be covered
        self.panel_event("enlarge")

    def cycle_output(self) -> None:
        """Hidden, then pinned, then reading, then hidden."""
        if self.machine.state is not PanelState.PINNED:
            self._called = True
            self.panel_event("show_output")
        elif not self.reading:
            self.start_reading()
        else:
            self.stop_reading()
            self.panel_event("dismiss")

    def show_way_back(self) -> None:
        """While the keys go to the turns or a pane, let an open question say how one comes back to it."""
        if self.panel_view is not None:
            keymap, bar = self._context.screen.program.settings.keys, self._context.bar
            way_back = ""
            if self.reading:
                key = first_key("output.toggle", keymap) or first_key("back", keymap)
                digits = self.panel_view.has_answers and not bar.draft
                way_back = f"{key}{' or a digit' if digits else ''} goes back to answer" if key else ""
            elif not bar.has_keys:
                way_back = sentence("pane.next", keymap, f"{IN_THE_BAR}: {{}} cycles to it", IN_THE_BAR)
            self.panel_view.show_way_back(way_back)

    # -- reading mode ----------------------------------------------------------------------------------

    def start_reading(self) -> None:
        """Let the panel take the keys; the draft stays."""
        self.machine.show_output()
        self.reading = True
        self._context.screen.set_focus(None)
        self.view.start_reading()
        self._context.sync()

    def stop_reading(self) -> None:
        """Give the keys back to the chat bar."""
        if self.reading:
            self._context.screen.focus_chat()

    def end_reading(self) -> None:
        """The keys go elsewhere."""
        if self.reading:
            self.reading = False
            self.view.stop_reading()
            self._context.sync()
