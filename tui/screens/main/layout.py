"""Where things stand on the main screen: by the size of the terminal, and which pane is in front."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.screen import Screen
from textual.widget import Widget

from tui.app.notifications import LOW
from tui.terminal.textual_compat.ordered_keys import OrderedKeys
from tui.widgets.pane_tabs import PaneTabs
from tui.widgets.plain_text import LiteralStatic

if TYPE_CHECKING:
    from tui.screens.main.screen import MainScreen
else:
    MainScreen = Any

PANES = {"prompt": "Prompt", "tests": "Test inputs", "settings": "Settings", "personas": "Personas"}
SMALLEST = (60, 15)
WIDE = 100
"""Columns from which all panes stand side by side."""
ROOMY = 130
WIDTHS = {"personas": (24, 28, 14), "side": (40, 48, 22)}
"""Columns of the panes beside the prompt: by default, by default where it is roomy, and the least."""
PROMPT_WIDTH = 34
"""Columns the prompt keeps when panes are resized."""
STEP = 4
LAYOUTS = frozenset({"-wide", "-narrow", "-roomy", "-low", "-too-small"})


class PaneLayout(Screen[None]):
    """The panes of the main screen."""

    pane = "prompt"

    def __init__(self) -> None:
        super().__init__()
        self._layouts: dict[str, dict[str, int]] = {}
        self._dragging = ""

    @property
    def _main(self) -> MainScreen:
        return self  # type: ignore[return-value]

    # -- layout -------------------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        self.lay_out()
        self.call_after_refresh(self._main.program.place_told)

    def classes_for(self, width: int, height: int) -> set[str]:
        """Return the classes that say how panes stand at this size."""
        classes = {f"-pane-{self.pane}", "-wide" if width >= WIDE else "-narrow"}
        if width >= ROOMY:
            classes.add("-roomy")
        if height < LOW:
            classes.add("-low")
        if width < SMALLEST[0] or height < SMALLEST[1]:
            classes.add("-too-small")
        return classes | {f"-no-{name}" for name in WIDTHS if width >= WIDE and not self._width(name)}

    def lay_out(self, *, restyle: bool = True) -> None:
        """Stand as the size of the terminal and the pane in front ask for."""
        width, height = self.app.size
        wanted = self.classes_for(width, height)
        known = {name for name in self.classes if name.startswith(("-pane-", "-no-")) or name in LAYOUTS}
        if wanted != known:
            # One pass over the styles for all of them: each costs as much as drawing the screen.
            self.remove_class(*(known - wanted), update=False)
            self.add_class(*(wanted - known), update=False)
            if restyle:
                self.update_node_styles(animate=False)
        if not restyle:
            return
        self._set_widths()
        self._main.program.tell_when_seen()
        if "-too-small" in wanted:
            self.query_one("#too-small", LiteralStatic).update(too_small(width, height))
        elif self.focused is None or not self.focused.is_on_screen:
            self.call_after_refresh(self._keep_focus)

    # -- sizes of panes -----------------------------------------------------------------------------------

    @property
    def layouts(self) -> Mapping[str, Mapping[str, int]]:
        """By class of terminal size, the widths of panes that the person chose; 0 is hidden."""
        return {name: dict(sizes) for name, sizes in self._layouts.items() if sizes}

    def take_layouts(self, layouts: Mapping[str, Mapping[str, int]]) -> None:
        """Stand as was remembered."""
        self._layouts = {name: dict(sizes) for name, sizes in layouts.items()}
        if self._layouts:
            self.lay_out()

    def _here_sizes(self) -> dict[str, int]:
        """Return the chosen widths for terminals of this size."""
        return self._layouts.setdefault("roomy" if self.app.size.width >= ROOMY else "wide", {})

    def _width(self, name: str) -> int:
        """Return the columns a pane beside the prompt has here, 0 when it is hidden."""
        roomy = self.app.size.width >= ROOMY
        chosen = self._layouts.get("roomy" if roomy else "wide", {}).get(name)
        if chosen is None:
            return WIDTHS[name][1 if roomy else 0]
        return min(chosen, max(0, self.app.size.width - PROMPT_WIDTH))

    def _set_widths(self) -> None:
        sizes = self._layouts.get("roomy" if self.app.size.width >= ROOMY else "wide", {})
        for name in WIDTHS:
            pane = self.query_one(f"#{name}")
            if self.app.size.width >= WIDE and sizes.get(name):
                pane.styles.width = self._width(name)
            else:
                pane.styles.clear_rule("width")

    def _side_by_side(self) -> bool:
        if self.app.size.width < WIDE:
            self._main.tell(f"Panes stand side by side from {WIDE} columns on.")
        return self.app.size.width >= WIDE

    def _resize(self, name: str, width: int) -> None:
        """Give a pane beside the prompt as many columns as there are for it; below its least it is hidden."""
        least = WIDTHS[name][2]
        other = next(self._width(key) for key in WIDTHS if key != name)
        most = max(least, self.app.size.width - other - PROMPT_WIDTH)
        self._here_sizes()[name] = min(width, most) if width >= least else 0
        self.lay_out()
        self._leave_hidden()

    def action_resize_pane(self, by: int) -> None:
        """Make the pane with the focus wider or narrower; the prompt gives and takes from the panes beside it."""
        if not self._side_by_side():
            return
        here = self._here()
        if here in ("tests", "settings"):
            self._resize("side", self._width("side") + STEP * by)
        elif here == "personas":
            self._resize("personas", self._width("personas") + STEP * by)
        else:
            name = "side" if self._width("side") or not self._width("personas") else "personas"
            now = self._width(name)
            self._resize(name, (now - STEP * by) if now else WIDTHS[name][2] if by < 0 else 0)

    def action_hide_pane(self, name: str) -> None:
        if self._side_by_side():
            self._show(name, not self._width(name))

    def action_prompt_alone(self) -> None:
        if self._side_by_side():
            shown = any(self._width(name) for name in WIDTHS)
            for name in WIDTHS:
                self._show(name, not shown)

    def _show(self, name: str, shown: bool) -> None:
        """Show a pane beside the prompt with the width it had, or hide it."""
        sizes = self._here_sizes()
        if shown:
            sizes[name] = sizes.pop(f"{name}.before", 0)
            if not sizes[name]:
                del sizes[name]
        elif self._width(name):
            sizes[f"{name}.before"], sizes[name] = sizes.get(name, 0), 0
        self.lay_out()
        self._leave_hidden()

    def _leave_hidden(self) -> None:
        """Take the focus out of a pane that is hidden now."""
        if self._hidden(self._here()):
            self._main.focus_chat()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        panes = self.query_one("#panes")
        if self.app.size.width < WIDE or not panes.region.contains(event.screen_x, event.screen_y):
            return
        personas, side = self.query_one("#personas").region, self.query_one("#side").region
        if self._width("personas") and event.screen_x in (personas.right - 1, personas.right):
            self._dragging = "personas"
        elif self._width("side") and event.screen_x in (side.x - 1, side.x):
            self._dragging = "side"
        if self._dragging:
            panes.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragging and not event.button:
            self._let_go()  # its button was let go where nobody told of it: over a dialog, outside the window
        if self._dragging:
            edge = event.screen_x
            width = edge + 1 if self._dragging == "personas" else self.app.size.width - edge
            self._resize(self._dragging, max(WIDTHS[self._dragging][2], int(width)))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._dragging:
            self._let_go()

    def _let_go(self) -> None:
        self._dragging = ""
        self.query_one("#panes").release_mouse()

    # -- focus and the pane in front ----------------------------------------------------------------------

    def _keep_focus(self) -> None:
        if self._main.conversing.panel_controller.reading:
            return  # the turns have the keys, and keep them whatever else happens
        if self.is_current and (self.focused is None or not self.focused.display):
            self._main.focus_chat()

    def _reset_focus(self, widget: Widget, avoiding: list[Widget] | None = None) -> None:
        # Textual gives the keys to what stands beside a widget that vanishes: a list would take letters for commands.
        if self.focused is not widget or avoiding or not isinstance(widget, OrderedKeys):
            super()._reset_focus(widget, avoiding)
        elif self.has_class("-too-small") or self._is_there(widget):
            return  # it was out of sight only, and may be told of that when it is seen again
        else:
            self._main.focus_chat()

    @staticmethod
    def _is_there(widget: Widget) -> bool:
        shown = all(node.display for node in widget.ancestors_with_self if isinstance(node, Widget))
        return shown and widget.focusable

    def on_screen_resume(self) -> None:
        if self.query(PaneTabs):  # not before everything is there
            self._keep_focus()
            self._main.program.tell_when_seen()

    def show_pane(self, pane: str) -> None:
        """Bring a pane to the front where only one has room."""
        self.pane = pane
        self.lay_out()
        self._main.show_badges()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if self.focused is not None:
            self._main.conversing.panel_controller.keys_moved()  # reading is the state in which no widget has the keys
        self._main.conversing.panel_controller.show_way_back()
        if self.app.size.width >= WIDE and (pane := self._here()) != "chat":
            self.pane = pane  # it stays in sight when the terminal gets narrow
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

    def _beside(self, pane: str) -> str:
        """Return which of the panes beside the prompt a pane is in, empty for none."""
        return {"personas": "personas", "tests": "side", "settings": "side"}.get(pane, "")

    def _hidden(self, pane: str) -> bool:
        name = self._beside(pane)
        return bool(name) and self.app.size.width >= WIDE and not self._width(name)

    def _takes_keys(self, pane: str) -> bool:
        """Whether a pane is shown, or can be, and has something that takes keys: settings of no persona do not."""
        return not self._hidden(pane) and self._target(pane).focusable

    def action_go(self, pane: str) -> None:
        if self._hidden(pane):
            self._show(self._beside(pane), True)
        self.show_pane(pane)
        self.set_focus(self._target(pane))  # at once: what is typed behind the key goes there

    def _step_pane(self, by: int) -> None:
        here = self._here()
        order = ["chat", *(pane for pane in PANES if pane == here or self._takes_keys(pane))]
        pane = order[(order.index(here) + by) % len(order)]
        if pane == "chat":
            self._main.focus_chat()
        else:
            self.action_go(pane)

    def action_next_pane(self) -> None:
        # What Tab does in the chat bar depends on what is written, and that may just be arriving.
        if self._main.conversing.bar_focused:
            self._main.chat_bar.input.after_typing(self._leave_chat)
        else:
            self._step_pane(1)

    def _leave_chat(self) -> None:
        if not self._main.chat_bar.take_tab():  # else a completion was accepted, or the draft queued
            self._step_pane(1)

    def action_previous_pane(self) -> None:
        self._step_pane(-1)


def too_small(width: int, height: int) -> str:
    """Say that a terminal of this size is too small, in as many words as it has room for."""
    needed = f"{SMALLEST[0]}×{SMALLEST[1]}"
    for text in (f"{width}×{height} is too small: at least {needed}", f"at least {needed}"):
        rows = wrap(text, max(1, width), break_long_words=False)
        if len(rows) <= height and max(map(len, rows)) <= width:
            return text
    return needed
