"""The agent's panel on the main screen: its state machine, its timer, reading mode, and what it covers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from textual.timer import Timer

from tui.chat.panel_state import Panel, PanelState
from tui.commands.registry import first_key, sentence

if TYPE_CHECKING:
    from tui.chat.context import ChatContext
    from tui.settings.schema import Settings
    from tui.widgets.agent_panel import AgentPanel
    from tui.widgets.conversation import ConversationView


IN_THE_BAR = "Answers go into the chat bar"
LEAST = 3
"""Rows in which one line of a pane can be seen, with its border."""

MOST_WAITS = 100
"""How often is looked again whether the panel has the place and the height that it was given."""


class PanelController:
    """Reports what happens to the state machine and keeps the widget in line with it."""

    def __init__(self, context: ChatContext) -> None:
        self._context = context
        self.machine = Panel()
        """The panel's state machine."""
        self._timer: Timer | None = None
        self.widget: AgentPanel | None = None
        self.reading = False
        self._waits = 0
        self._called = False  # the person has just called for the panel

    def attach(self, panel: AgentPanel) -> None:
        """Take the panel; before, nothing can be said."""
        self.widget = panel

    def use_times(self, settings: Settings) -> None:
        """Go by the person's settings for how long the panel stays."""
        self.machine.delay = settings.panel_seconds
        self.machine.reading_rate = settings.reading_rate

    @property
    def view(self) -> ConversationView:
        """The turns on the screen."""
        assert self.widget is not None
        return self.widget.conversation

    def cover(self) -> None:
        """Tell the editors how many of their rows lie under the panel; let nobody type under it."""
        widget, focused = self.widget, self._context.screen.focused
        if widget is not None and self.machine.shown and not widget.region:
            self._cover_later()  # it has no place yet
            return
        top = (
            widget.region.y if widget is not None and self.machine.shown else self._context.screen.size.height
        )
        for editor in (self._context.screen.prompt, self._context.screen.tests.editor):
            covered = editor.region.bottom - max(editor.region.y, top)
            editor.cover(max(0, min(covered, editor.region.height - 1)))
        self._lift_settings(top)
        if self.machine.enlarged and self._keys_in_pane:
            return  # it gives up the full height first, once it is heard who has the keys
        called, self._called = self._called, False
        if focused is None or not self._keys_in_pane or not focused.region or focused.region.y < top:
            self._waits = 0
            return
        if widget is not None and widget.is_about_to_shrink and self._cover_later():
            return  # it covers all of the stage for this moment only
        self._waits = 0
        if called:  # who calls for it wants to see it, not what lies under it
            self._context.screen.focus_chat()
        elif not self.machine.asking:  # a question stays; told of it, this would be asked again, for ever
            self.panel_event("covers_keys")

    def cover_again(self) -> None:
        """The panel has another place now."""
        self._context.screen.call_after_refresh(self.cover)

    def _lift_settings(self, top: int) -> None:
        """Bring the field with the keys above a panel that stays, since it asks; `top`: where the panel begins."""
        settings, side = self._context.screen.settings, self._context.screen.query_one("#side")
        focused = self._context.screen.focused
        is_there = self.machine.asking and focused is not None and settings in focused.ancestors
        room = self._context.screen.query_one(
            "#panes"
        ).region  # not the side's own, which its padding may have stretched
        rows = max(0, min(room.bottom - top, room.height - LEAST)) if is_there else 0
        if side.styles.padding.bottom == rows:
            return
        side.styles.padding = (0, 0, rows, 0)
        if rows:
            settings.styles.max_height = max(LEAST, room.height - rows)
        else:
            settings.styles.clear_rule("max_height")
        if focused is not None:
            self._context.screen.call_after_refresh(focused.scroll_visible, animate=False)
            self._context.screen.call_after_refresh(self.cover)

    def _cover_later(self) -> bool:
        """Look again in a moment, if that was not done too often; return whether it is."""
        if self._waits >= MOST_WAITS:
            self._waits = 0
            return False
        self._waits += 1
        self._context.screen.set_timer(0.05, self.cover)
        return True

    @property
    def _keys_in_pane(self) -> bool:
        focused = self._context.screen.focused
        return focused is not None and any(each.id == "panes" for each in focused.ancestors)

    def make_room(self) -> None:
        """Leave the panes room while the keys are in one of them."""
        in_pane = self._keys_in_pane
        if in_pane:
            self.machine.pane_has_keys()
        if self.widget is not None:
            self.widget.leave_room(in_pane)

    def keys_moved(self) -> None:
        """A widget got the keys: the turns have them no longer, and the panel does not lie over it."""
        self.end_reading()
        if self.machine.shown:
            self._context.sync()

    def arm(self) -> None:
        if self.widget is not None:
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
        self._context.screen.call_after_refresh(self.cover)
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

    def mouse_down(self, x: int, y: int) -> None:
        """The mouse went down somewhere: in the panel, on the bar or the keys below it, or away from all of these."""
        if self.widget is None or self.widget.contains_screen(x, y):
            return  # the panel tells of it itself
        keys = self._context.screen.query_one("#keys").region
        if self._context.screen.chat_bar.contains_screen(x, y) or keys.contains(x, y):
            self.machine.clicked_chat_bar()
            self.arm()
        elif self.machine.shown:
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
        if self.widget is not None:
            keymap = self._context.screen.program.settings.keys
            told = ""
            if self.reading:
                key = first_key("output.toggle", keymap) or first_key("back", keymap)
                digits = self.widget.box.choices.count > 0 and not self._context.screen.chat_bar.draft
                told = f"{key}{' or a digit' if digits else ''} goes back to answer" if key else ""
            elif self._context.screen.focused is not self._context.screen.chat_bar.input:
                told = sentence("pane.next", keymap, f"{IN_THE_BAR}: {{}} leads round to it", IN_THE_BAR)
            self.widget.box.show_way_back(told)

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
