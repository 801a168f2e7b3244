"""The panel over the panes: a title, a pinned mark, buttons for its height and to dismiss it, and the conversation.

It lies on its own layer at the bottom of the stage, takes no focus, and is as high as what it holds up to a
share of the stage, or as the stage. When it is shown is decided by the state machine (`tui.chat.panel_state`), not by the widget.
"""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Button

from tui.chat.panel_state import PanelState
from tui.widgets.conversation import ConversationView, Glyphs
from tui.widgets.conversation.lines import UNICODE
from tui.widgets.plain_text import LiteralButton, LiteralLabel
from tui.widgets.question_box import QuestionBox

if TYPE_CHECKING:
    from agent.jobs.job import Question

FRAME_ROWS = 3
"""Border and title."""
LOW = 20
"""Rows of the stage below which a question takes all of it."""
ASKING_SHARE = 0.85
"""How much of the stage's height the panel may take while something is asked."""


class AgentPanel(Vertical, can_focus=False):
    """What the agent says and does, over the panes.

    Args:
        frames_per_second: how often arriving text is drawn at most.
        glyphs: Unicode or ASCII signs.
        share: how much of the stage's height it may take, 0 to 1.
    """

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    class DismissPressed(Message):
        """The dismiss button was pressed."""

    class EnlargePressed(Message):
        """The button for the height was pressed, or the title double-clicked: switch between full and fitting height."""

    class Resized(Message):
        """Its first row moved."""

    class Pressed(Message):
        """The mouse went down in the panel, not on the dismiss button."""

    class Hovered(Message):
        """The mouse moved over the panel, or its wheel turned."""

    def __init__(
        self,
        *,
        frames_per_second: float = 20.0,
        glyphs: Glyphs = UNICODE,
        share: float = 0.6,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._glyphs = glyphs
        self.share = share
        self._title = "Agent"
        self._enlarged = self._leaves_room = False
        self._state = PanelState.HIDDEN
        self.set_class(glyphs.bar == "|", "-ascii")
        self._title_label = LiteralLabel(self._title, classes="panel--title")
        self._mark = LiteralLabel(classes="panel--mark")
        self._size_button = LiteralButton(self._sign, focusable=False, classes="panel--enlarge")
        dismiss = "x" if glyphs.bar == "|" else "×"
        self._dismiss_button = LiteralButton(dismiss, focusable=False, classes="panel--dismiss")
        buttons = (self._size_button, self._dismiss_button)
        # These are seen now and then. Each is mounted when it is first shown, which makes the start faster.
        self._bar = Horizontal(self._title_label, self._mark, *buttons, classes="panel--bar")
        self.box = QuestionBox()
        self.conversation = ConversationView(frames_per_second=frames_per_second, glyphs=glyphs)

    def compose(self) -> ComposeResult:
        yield self.conversation

    def on_mount(self) -> None:
        """Begin hidden."""
        self.show_state(self._state)
        self._set_height()

    def set_title(self, text: str) -> None:
        """Show `text` as the title: one line, plain."""
        if text != self._title:
            self._title = text
            self._title_label.update(text.replace("\n", " "), layout=False)

    def ask(self, question: Question | None) -> None:
        """Show a question below the conversation; None hides it."""
        if question is not None and not self.box.is_attached:
            self.mount(self.box)
        self.box.ask(question)
        self._set_height()
        self._fit_box()

    @property
    def has_answers(self) -> bool:
        """Whether the question has answers to pick from."""
        return self.box.choices.count > 0

    @property
    def may_answer(self) -> bool:
        """Whether the question was visible long enough for a key to be meant for it."""
        return self.box.ready

    def ask_reason(self) -> None:
        """No was picked: show how to give a reason."""
        self.box.ask_reason()

    def press(self, key: str) -> None:
        """Take a key of the empty chat bar for the answers."""
        self.box.press(key)

    def scroll_question(self, pages: int) -> bool:
        """Scroll a question that is longer than its room; return whether it is."""
        return self.box.scroll_text(pages)

    def show_way_back(self, text: str) -> None:
        """Say in the question how one comes back to it; empty for what is said else."""
        self.box.show_way_back(text)

    def enlarge(self, enlarged: bool) -> None:
        """Take the full height of the stage, or fit the content."""
        if enlarged != self._enlarged:
            self._enlarged = enlarged
            self.set_class(enlarged, "-full")
            self._size_button.set_label(self._sign)
            self._set_height()
            self._fit_box()
            self.call_after_refresh(self.conversation.keep_cursor_visible)

    @property
    def is_about_to_shrink(self) -> bool:
        """Whether it still has more rows than it may have now."""
        rows = self.parent.size.height if isinstance(self.parent, Widget) else 0
        return self.region.height > ceil(rows * self._share_now()) + 1

    def leave_room(self, leave: bool) -> None:
        """Limit the panel to its normal share of the stage even for a question, or end that limit."""
        if leave != self._leaves_room:
            self._leaves_room = leave
            self._set_height()
            self._fit_box()

    @property
    def _sign(self) -> str:
        return ("^v" if self._glyphs.bar == "|" else "▲▼")[self._enlarged]

    def show_state(self, state: PanelState) -> None:
        """Show or hide the panel, and show whether it is pinned."""
        self._state = state
        self.display = state is not PanelState.HIDDEN
        if self.display and not self._bar.is_attached:
            self.mount(self._bar)
        self.set_class(state is PanelState.PINNED, "-pinned")
        self._mark.update("pinned" if state is PanelState.PINNED else "")

    def contains_screen(self, x: int, y: int) -> bool:
        """Whether the panel is shown and a point of the screen is on it."""
        return self.display and self.region.contains(x, y)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """A press in the panel pins it; the dismiss button has its own message."""
        if not self._dismiss_button.region.contains(int(event.screen_x), int(event.screen_y)):
            self.post_message(self.Pressed())

    def on_mouse_move(self) -> None:
        """Moving the mouse over it is an interaction."""
        self.post_message(self.Hovered())

    def on_click(self, event: events.Click) -> None:
        """Two clicks on the title change the height."""
        title = self._title_label.region
        if event.chain == 2 and title.contains(int(event.screen_x), int(event.screen_y)):
            self.post_message(self.EnlargePressed())

    @on(Button.Pressed, ".panel--enlarge")
    def _enlarge(self, event: Button.Pressed) -> None:
        event.stop()
        self.post_message(self.EnlargePressed())

    @on(Button.Pressed, ".panel--dismiss")
    def _dismiss(self, event: Button.Pressed) -> None:
        event.stop()
        self.post_message(self.DismissPressed())

    def on_resize(self) -> None:
        """The stage may be higher or lower now."""
        if self.box.question is not None:
            self._set_height()
            self._fit_box()
            self.post_message(self.Resized())

    def _share_now(self) -> float:
        """How much of the stage the panel may take now."""
        if self._enlarged or self.box.question is None or self._leaves_room:
            return 1.0 if self._enlarged else self.share
        rows = self.parent.size.height if isinstance(self.parent, Widget) else 0
        return 1.0 if rows < LOW else max(self.share, ASKING_SHARE)

    def _set_height(self) -> None:
        self.styles.max_height = f"{round(self._share_now() * 100)}%"

    def _fit_box(self) -> None:
        """Leave the conversation a few rows above the question."""
        if self.box.question is not None and isinstance(self.parent, Widget):
            rows = int(self.parent.size.height * self._share_now()) - FRAME_ROWS
            self.box.fit(rows - (3 if rows > LOW - FRAME_ROWS else 1))
