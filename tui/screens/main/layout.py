"""Where the panes stand: by the size of the terminal, the widths that the person chose, and the pane in front."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, cast

from textual.containers import Vertical
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

from tui.app.notifications import LOW
from tui.commands.panes import BY_ID, COLUMNS, PANES, ColumnName, Pane, min_width
from tui.screens.too_small import TooSmallOverlay, is_too_small, too_small
from tui.widgets.pane_tabs import PaneTabs

if TYPE_CHECKING:
    from tui.app.host import Host
    from tui.widgets.chat_bar import ChatBar

WIDE = 100
"""Columns from which all panes stand side by side."""
ROOMY = 130
PROMPT_WIDTH = min_width("prompt")
"""Columns the prompt keeps when panes are resized."""
STEP = 4
CLASSES = frozenset({"-wide", "-narrow", "-roomy", "-low", "-too-small"})

W = TypeVar("W", bound=Widget)


class PaneLayout:
    """The panes of the registry, made and laid out.

    Args:
        screen: the screen that they stand on.
        host: the same, for messages and the focus.
        bar: gives the chat bar; the way of Tab goes through it too.
        laid_out: called when the panes stand otherwise.
        front_changed: called when another pane is in front.
    """

    def __init__(
        self,
        screen: Screen[Any],
        host: Host,
        bar: Callable[[], ChatBar],
        *,
        laid_out: Callable[[], None],
        front_changed: Callable[[], None],
    ) -> None:
        self._screen, self._host, self._bar = screen, host, bar
        self._laid_out, self._front_changed = laid_out, front_changed
        self._layouts: dict[str, dict[str, int]] = {}
        self.front = PANES[0].id
        self.widgets: dict[str, Widget] = {pane.id: _made(pane) for pane in PANES}
        self._columns: dict[ColumnName, Widget] = {}
        self._cover = TooSmallOverlay(id="too-small")
        self.tabs = PaneTabs([(pane.id, pane.title) for pane in PANES])
        """The names of the panes, where they do not stand side by side."""
        self.over_prompt: Widget | None = None
        """What stands in the place of the prompt, see `cover_prompt`."""
        for name in ("personas", "prompt", "side"):
            stack = [self.widgets[pane.id] for pane in PANES if pane.column == name]
            self._columns[name] = stack[0] if len(stack) == 1 else Vertical(*stack, id=name)

    @property
    def columns(self) -> list[Widget]:
        """The columns, from left to right."""
        return list(self._columns.values())

    def widget(self, kind: type[W]) -> W:
        """Return the pane of this class."""
        return next(widget for widget in self.widgets.values() if isinstance(widget, kind))

    # -- layout -------------------------------------------------------------------------------------------

    @property
    def _size(self) -> Size:
        return self._screen.app.size

    @property
    def is_wide(self) -> bool:
        """Whether the panes stand side by side."""
        return self._size.width >= WIDE

    def _classes(self) -> set[str]:
        """Return the classes that say how much room there is."""
        classes = {"-wide" if self.is_wide else "-narrow"}
        if self._size.width >= ROOMY:
            classes.add("-roomy")
        if self._size.height < LOW:
            classes.add("-low")
        if is_too_small(self._size):
            classes.add("-too-small")
        return classes

    def lay_out(self, *, restyle: bool = True) -> None:
        """Stand as the size of the terminal and the pane in front ask for."""
        screen, wanted = self._screen, self._classes()
        known = screen.classes & CLASSES
        if wanted != known:
            # One pass over the styles for all of them: each costs as much as drawing the screen.
            screen.remove_class(*(known - wanted), update=False)
            screen.add_class(*(wanted - known), update=False)
            if restyle:
                screen.update_node_styles(animate=False)
        self._show_and_size()
        if restyle:
            if not self.is_wide and self.tabs.parent is None:
                screen.query_one("#stage").mount(self.tabs, before=0)  # as late as `_cover`
            self._cover.display = "-too-small" in wanted
            if self._cover.display:
                if self._cover.parent is None:
                    screen.mount(self._cover)  # when first needed, which makes the first paint faster
                self._cover.update(too_small(self._size))
            self._laid_out()

    def _show_and_size(self) -> None:
        is_wide, front = self.is_wide, BY_ID[self.front]
        shown: dict[Widget, bool] = {self.widgets[pane.id]: is_wide or pane is front for pane in PANES}
        shown[self.tabs] = not is_wide
        for name, column in self._columns.items():
            shown[column] = (name == "prompt" or bool(self._width(name))) if is_wide else name == front.column
            if name == "prompt":
                continue
            if is_wide and self._chosen.get(name):
                column.styles.width = self._width(name)
            else:
                column.styles.clear_rule("width")
        if (over := self.over_prompt) is not None:
            prompt = self._columns["prompt"]
            shown[over], shown[prompt] = shown[prompt], False
        for widget, is_shown in shown.items():
            if widget.display != is_shown:
                widget.display = is_shown

    # -- widths -------------------------------------------------------------------------------------------

    @property
    def layouts(self) -> Mapping[str, Mapping[str, int]]:
        """By class of terminal size, the widths of columns that the person chose; 0 is hidden."""
        return {name: dict(sizes) for name, sizes in self._layouts.items() if sizes}

    def take_layouts(self, layouts: Mapping[str, Mapping[str, int]]) -> None:
        """Stand as was remembered."""
        self._layouts = {name: dict(sizes) for name, sizes in layouts.items()}
        if self._layouts:
            self.lay_out()

    @property
    def _chosen(self) -> dict[str, int]:
        """The chosen widths for terminals of this size."""
        return self._layouts.setdefault("roomy" if self._size.width >= ROOMY else "wide", {})

    def _width(self, name: str) -> int:
        """Return how wide a column beside the prompt is here, 0 when it is hidden."""
        column = COLUMNS[cast("ColumnName", name)]
        chosen = self._chosen.get(name)
        if chosen is None:
            return column.roomy_width if self._size.width >= ROOMY else column.width
        return min(chosen, max(0, self._size.width - PROMPT_WIDTH))

    def _side_by_side(self) -> bool:
        if not self.is_wide:
            self._host.show_message(f"Panes are side by side from {WIDE} columns on.")
        return self.is_wide

    def _resize(self, name: str, width: int) -> None:
        """Give a column beside the prompt as much as there is for it; below its least it is hidden."""
        least = min_width(cast("ColumnName", name))
        others = sum(self._width(key) for key in COLUMNS if key != name)
        most = max(least, self._size.width - others - PROMPT_WIDTH)
        self._chosen[name] = min(width, most) if width >= least else 0
        self.lay_out()
        self._leave_hidden()

    def action_resize_pane(self, by: int) -> None:
        """Make the pane with the focus wider or narrower; the prompt gives and takes from the panes beside it."""
        if not self._side_by_side():
            return
        if name := self._beside(self.here):
            self._resize(name, self._width(name) + STEP * by)
        else:
            name = "side" if self._width("side") or not self._width("personas") else "personas"
            now = self._width(name)
            self._resize(name, (now - STEP * by) if now else min_width("side") if by < 0 else 0)

    def action_hide_pane(self, name: str) -> None:
        if self._side_by_side():
            self._show(name, not self._width(name))

    def action_prompt_alone(self) -> None:
        if self._side_by_side():
            shown = any(self._width(name) for name in COLUMNS)
            for name in COLUMNS:
                self._show(name, not shown)

    def _show(self, name: str, shown: bool) -> None:
        """Show a column beside the prompt with the width it had, or hide it."""
        sizes = self._chosen
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
        if self._is_hidden(self.here):
            self._host.focus_chat()

    def border_at(self, x: int) -> str:
        """Return which column's border is at a column of the screen, empty for none."""
        if not self.is_wide:
            return ""
        personas, side = self._columns["personas"].region, self._columns["side"].region
        if self._width("personas") and x in (personas.right - 1, personas.right):
            return "personas"
        return "side" if self._width("side") and x in (side.x - 1, side.x) else ""

    def drag_border(self, name: str, x: int) -> None:
        """Give a column the border that the mouse is at."""
        width = x + 1 if name == "personas" else self._size.width - x
        self._resize(name, max(min_width(cast("ColumnName", name)), width))

    def cover_prompt(self, widget: Widget | None) -> None:
        """Let a widget stand in the place of the prompt, which has what panes have; None shows the prompt again."""
        prompt = self._columns["prompt"]
        if self.over_prompt is not None:
            self.over_prompt.display = False
        if widget is not None and widget.parent is None:
            prompt.parent.mount(widget, after=prompt)  # type: ignore[union-attr]
        self.over_prompt = widget
        self.show_pane("prompt" if widget is not None else self.front)

    # -- going from pane to pane --------------------------------------------------------------------------

    def show_pane(self, pane: str) -> None:
        """Bring a pane to the front where only one has room."""
        self.front = pane
        self.lay_out()
        self._front_changed()

    def leave_front(self, pane: str) -> None:
        """Bring the first pane to the front in place of this one, where only one has room."""
        if not self.is_wide and self.front == pane:
            self.show_pane(PANES[0].id)

    def focus_moved(self) -> None:
        """What has the focus stays in sight when the terminal gets narrow."""
        if self.is_wide and (here := self.here) != "chat":
            self.front = here

    @property
    def nothing_focused(self) -> bool:
        """Whether no widget has the keys."""
        return self._screen.focused is None

    @property
    def here(self) -> str:
        """The pane that has the focus, or `chat`."""
        focused = self._screen.focused
        chain = focused.ancestors_with_self if focused else []
        return next((pane for pane in self.widgets if self._widget(pane) in chain), "chat")

    @property
    def focus_area(self) -> Any:
        """What the key hints are for where the focus is."""
        here = self.here
        return "prompt" if here == "chat" else getattr(self._widget(here), "focus_area", "anywhere")

    @property
    def tab_marks(self) -> dict[str, str]:
        """The short signs behind the titles of panes."""
        return {pane: getattr(widget, "tab_mark", "") for pane, widget in self.widgets.items()}

    def _widget(self, pane: str) -> Widget:
        """Return what stands in the place of a pane."""
        return self.over_prompt if pane == "prompt" and self.over_prompt is not None else self.widgets[pane]

    def _target(self, pane: str) -> Widget:
        widget = self._widget(pane)
        target: Widget | None = getattr(widget, "focus_target", widget)
        return self._bar().input if target is None else target

    def _beside(self, pane: str) -> str:
        """Return which of the columns beside the prompt a pane is in, empty for none."""
        column = BY_ID[pane].column if pane in BY_ID else "prompt"
        return column if column in COLUMNS else ""

    def _is_hidden(self, pane: str) -> bool:
        name = self._beside(pane)
        return bool(name) and self.is_wide and not self._width(name)

    def _takes_keys(self, pane: str) -> bool:
        """Whether a pane is shown, or can be, and has something that takes keys: settings of no persona do not."""
        return not self._is_hidden(pane) and self._target(pane).focusable

    def action_go(self, pane: str) -> None:
        if pane == "prompt" and self.over_prompt is not None:
            self.cover_prompt(None)
        self._go(pane)

    def _go(self, pane: str) -> None:
        if self._is_hidden(pane):
            self._show(self._beside(pane), True)
        self.show_pane(pane)
        self._screen.set_focus(self._target(pane))  # at once: what is typed behind the key goes there

    def _step_pane(self, by: int) -> None:
        here = self.here
        order = ["chat", *(pane.id for pane in PANES if pane.id == here or self._takes_keys(pane.id))]
        pane = order[(order.index(here) + by) % len(order)]
        if pane == "chat":
            self._host.focus_chat()
        else:
            self._go(pane)

    def action_next_pane(self) -> None:
        # What Tab does in the chat bar depends on what is written, and that may just be arriving.
        if self._screen.focused is (field := self._bar().input):
            field.after_typing(self._leave_chat)
        else:
            self._step_pane(1)

    def _leave_chat(self) -> None:
        if not self._bar().take_tab():  # else a completion was accepted, or the draft queued
            self._step_pane(1)

    def action_previous_pane(self) -> None:
        self._step_pane(-1)


def _made(pane: Pane) -> Widget:
    module, name = pane.widget.split(":")
    made: Widget = getattr(import_module(module), name)()
    return made
