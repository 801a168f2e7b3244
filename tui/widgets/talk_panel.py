"""The panel of a talk with personas themselves: answers in columns where there is room, else one below the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Button

from agent.core.turns import FAILED, NoticeTurn, Turn, UserTurn
from tui.chat.persona_talk import TalkLine
from tui.widgets.conversation import ConversationView, Glyphs
from tui.widgets.conversation.entries import SpokenTurn
from tui.widgets.plain_text import LiteralButton, LiteralLabel

COLUMN = 36
"""Cells that an answer needs beside another one."""


class TalkPanel(Vertical, can_focus=False):
    """What is said in a talk; it stands below the panes, and takes no focus.

    Args:
        frames_per_second: how often arriving text is drawn at most.
        glyphs: Unicode or ASCII signs.
        press: does what a button is for: `test`, `clear` or `leave`.
    """

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    def __init__(self, *, frames_per_second: float, glyphs: Glyphs, press: Callable[[str], object]) -> None:
        super().__init__()
        self._press = press
        self._options: dict[str, Any] = {"frames_per_second": frames_per_second, "glyphs": glyphs}
        self._ascii = glyphs.bar == "|"
        self.set_class(self._ascii, "-ascii")
        self._speakers: tuple[str, ...] = ()
        self._lines: list[TalkLine] = []
        self._views: dict[str, ConversationView] = {}
        self._at = ""  # the column that is read

    def compose(self) -> ComposeResult:
        with Horizontal(classes="talk--bar"):
            yield LiteralLabel("", classes="talk--title")
            leave = "x" if self._ascii else "×"
            for name, word in (("test", "+ Test input"), ("clear", "Clear"), ("leave", leave)):
                yield LiteralButton(word, focusable=False, name=name)
        yield Horizontal(classes="talk--columns")

    def set_title(self, title: str) -> None:
        """Show whom the talk is with, any text."""
        self.query_one(".talk--title", LiteralLabel).update(title.replace("\n", " "), layout=False)

    # -- lines ----------------------------------------------------------------------------------------------

    def show_lines(self, speakers: Sequence[str], lines: list[TalkLine]) -> None:
        """Show these lines of these personas and no others."""
        self._speakers, self._lines = tuple(speakers), lines
        self._stand()
        for key, view in self._views.items():
            self._fill(key, view)

    def begin(self, line: TalkLine) -> None:
        """A line is new, the last of them."""
        for view in self._views_of(line):
            view.stop_reading()
            view.begin_turn(_turn(line)) if line.state == "arriving" else view.end_turn(_turn(line))

    def extend(self, line: TalkLine, text: str) -> None:
        """More text of a line arrived."""
        for view in self._views_of(line):
            view.extend_turn(line.key, text)

    def end(self, line: TalkLine) -> None:
        """A line is whole now, or was stopped."""
        for view in self._views_of(line):
            view.end_turn(_turn(line))

    def _views_of(self, line: TalkLine) -> list[ConversationView]:
        if not any(one is line for one in self._lines):
            return []  # of a talk that was left
        return [view for key, view in self._views.items() if line.persona_id in ("", key) or not key]

    def _fill(self, key: str, view: ConversationView) -> None:
        mine = [line for line in self._lines if line.persona_id in ("", key) or not key]
        view.load(_turn(line) for line in mine if line.state != "arriving")
        for line in mine:
            if line.state == "arriving":
                view.begin_turn(_turn(line))

    # -- columns --------------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """There may be room for columns now, or none any more."""
        if self._stand():
            for key, view in self._views.items():
                self._fill(key, view)

    def _stand(self) -> bool:
        """Have one column for each persona where there is room, else one for all; return whether that is another."""
        several = len(self._speakers) > 1 and self.size.width >= COLUMN * len(self._speakers)
        wanted = self._speakers if several else ("",)
        if tuple(self._views) == wanted:
            return False
        self._views = {
            key: ConversationView(**self._options, classes="-further" * bool(place))
            for place, key in enumerate(wanted)
        }
        self._at = wanted[0]
        columns = self.query_one(".talk--columns")
        columns.remove_children()
        columns.mount(*self._views.values())
        return True

    # -- reading --------------------------------------------------------------------------------------------

    @property
    def is_laid_out(self) -> bool:
        """Whether it has a size, and so columns that can be read."""
        return bool(self._views)

    @property
    def reading(self) -> ConversationView:
        """The column that is read, or would be."""
        return self._views[self._at]

    def read_column(self, by: int) -> None:
        """Read the column beside."""
        keys = list(self._views)
        self.reading.stop_reading()
        self._at = keys[(keys.index(self._at) + by) % len(keys)]
        self.reading.start_reading()

    def stop_reading(self) -> None:
        """Show no cursor."""
        for view in self._views.values():  # none before it has a size
            view.stop_reading()

    def page(self, pages: int) -> None:
        """Scroll all columns by so many pages, up when negative; 0: to the end."""
        for view in self._views.values():
            view.page(pages) if pages else view.follow()

    @property
    def chosen(self) -> TalkLine | None:
        """The line under the cursor; None where there is no cursor."""
        entry = self.reading.cursor_entry() if self._views else None
        return next((line for line in self._lines if entry is not None and line.key == entry.key), None)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """A press on a line puts the cursor there."""
        for key, view in self._views.items():
            if view.region.contains(int(event.screen_x), int(event.screen_y)):
                row = int(event.screen_y) - view.region.y + view.scroll_offset.y
                self.stop_reading()
                self._at = key
                if (place := view.layout_model.entry_at(row)) is not None:
                    view.start_reading(view.layout_model.entries[place].key)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self._press(event.button.name or "")


def _turn(line: TalkLine) -> Turn:
    """Return a line as the turn that is drawn."""
    if line.state in ("notice", "error"):
        return NoticeTurn(id=line.key, content=line.text, kind=FAILED if line.state == "error" else "")
    if not line.persona_id:
        return UserTurn(id=line.key, content=line.text)
    stopped = line.state == "stopped"
    return SpokenTurn(id=line.key, content=line.text, speaker=line.name, interrupted=stopped)
