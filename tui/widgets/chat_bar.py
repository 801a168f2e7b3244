"""The chat bar: where a person writes to the agent, with Send or Stop or Reply and a word on how things are.

The input keeps the focus and the draft whatever happens around it; nothing but Enter or the button sends.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Button, TextArea

from tui.sanitise import one_line, sanitise
from tui.widgets.literal import LiteralButton, LiteralLabel
from tui.widgets.queued_lines import Queued, QueuedLines
from tui.widgets.sent_messages import SentMessages
from tui.widgets.text_area import GuardedTextArea

Mode = Literal["idle", "running", "asking"]

HINT = "Ask for a change…"
NEWLINE_KEYS = frozenset(
    {"ctrl+j", "shift+enter", "alt+enter", "ctrl+enter", "shift+alt+enter", "alt+shift+enter"}
)


class ChatInput(GuardedTextArea):
    """The text a person is writing: Enter sends it, the newline keys do not."""

    @dataclass
    class Entered(Message):
        """Enter was pressed on `text`."""

        text: str

    @dataclass
    class Paged(Message):
        """PageUp (-1) or PageDown (1) was pressed: it scrolls the agent's output, not the draft."""

        pages: int

    @dataclass
    class Picked(Message):
        """With nothing written, a key that chooses from options: `up`, `down`, a number, `enter`."""

        key: str

    class TakeBack(Message):
        """Up was pressed with nothing written, and a message is queued."""

    def __init__(self, **options: Any) -> None:
        super().__init__(soft_wrap=True, highlight_cursor_line=False, tab_behavior="focus", **options)
        self.sent = SentMessages()
        self.has_options = False
        self.has_queued = False
        self._digits = ""

    def show(self, text: str) -> None:
        """Replace what is written by `text`, as one step of undo, and go to its end."""
        self.history.checkpoint()
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end)
        self.history.checkpoint()

    async def _on_key(self, event: events.Key) -> None:
        if self._pick_key(event) or self._take_key(event.key):
            event.stop()
            event.prevent_default()

    def _pick_key(self, event: events.Key) -> bool:
        """With options to choose from and nothing written, let a key choose; return whether it did."""
        digits, self._digits = self._digits, ""
        if not self.has_options or self.text:
            return False
        key = event.key
        if event.character is not None and event.character in "0123456789":
            self._digits = digits + event.character
            self.post_message(self.Picked(self._digits))
            return True
        if key in ("up", "down", "enter"):
            self.post_message(self.Picked(key))
            return True
        if digits and event.is_printable:
            self._replace_via_keyboard(digits, *self.selection)  # it was the beginning of a text
        return False

    def _take_key(self, key: str) -> bool:
        """Do what a key does here and nowhere else; return False to leave it to the base class."""
        match key:
            case "enter":
                self._enter()
            case _ if key in NEWLINE_KEYS:
                self._replace_via_keyboard("\n", *self.selection)
            case "up" if self.has_queued and not self.text:
                self.post_message(self.TakeBack())
            case "up" if self._at_edge(first=True):
                self._recall(self.sent.previous(self.text))
            case "down" if self._at_edge(first=False):
                self._recall(self.sent.following(self.text))
            case "pageup" | "pagedown":
                self.post_message(self.Paged(-1 if key == "pageup" else 1))
            case _:
                return False
        return True

    def _enter(self) -> None:
        """Send; after a backslash at the end of a line, begin a new line instead."""
        row, column = self.cursor_location
        line = self.document.get_line(row)
        no_selection = self.selection.start == self.selection.end
        if no_selection and column == len(line) and line.endswith("\\"):
            self._replace_via_keyboard("\n", (row, column - 1), (row, column))
        else:
            self.post_message(self.Entered(self.text))

    def _at_edge(self, *, first: bool) -> bool:
        """Whether Up (or Down) has no further line to go to within the text."""
        if self.selection.start != self.selection.end:
            return False
        navigator = self.navigator
        if first:
            return navigator.is_first_wrapped_line(self.cursor_location)
        return navigator.is_last_wrapped_line(self.cursor_location)

    def _recall(self, text: str | None) -> None:
        if text is not None:
            self.show(text)


class ChatBar(Vertical):
    """The bar at the bottom of the screen.

    Args:
        ascii_only: use no sign outside ASCII.
    """

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    @dataclass
    class Submitted(Message):
        """The person sends `text`; `mode` says whether it opens a run, steers one or answers a question."""

        bar: ChatBar
        text: str
        mode: Mode

        @property
        def control(self) -> ChatBar:
            return self.bar

    @dataclass
    class FollowUp(Message):
        """The person queues `text` for when the run is over."""

        bar: ChatBar
        text: str

        @property
        def control(self) -> ChatBar:
            return self.bar

    @dataclass
    class Picked(Message):
        """A key for the options of the question; `enter` also from the Reply button."""

        key: str

    @dataclass
    class TakeBack(Message):
        """A queued message is to be edited again, or removed."""

        key: str
        edit: bool

    class StopPressed(Message):
        """The Stop button was pressed."""

    class ShowOutputPressed(Message):
        """The "Show output" button was pressed."""

    @dataclass
    class Paged(Message):
        """Scroll the agent's output by so many pages, up when negative."""

        pages: int

    def __init__(self, *, ascii_only: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self._ascii_only = ascii_only
        self._mode: Mode = "idle"
        self._question = ""
        self._asked = ""
        self._draft_is_older = False
        self._hint = HINT

    def compose(self) -> ComposeResult:
        yield LiteralLabel("", classes="chat--trace")
        yield QueuedLines(ascii_only=self._ascii_only, classes="chat--queued")
        with Horizontal(classes="chat--row"):
            yield LiteralLabel("> " if self._ascii_only else "› ", classes="chat--glyph")
            yield ChatInput(classes="chat--input", compact=True)
            yield LiteralButton("Send", focusable=False, classes="chat--act", compact=True)
            yield LiteralButton("Show output", focusable=False, classes="chat--show", compact=True)
            yield LiteralLabel("", classes="chat--status")

    def on_mount(self) -> None:
        """Begin with nothing to say."""
        self.query_one(".chat--trace").display = False
        self.query_one(".chat--status").display = False
        self._show_mode()

    @property
    def input(self) -> ChatInput:
        """The text area."""
        return self.query_one(ChatInput)

    @property
    def draft(self) -> str:
        """What is written and not sent."""
        return self.input.text

    @property
    def mode(self) -> Mode:
        """What sending does now. What was begun before a question came does not answer it."""
        return "running" if self._draft_is_older else self._mode

    def set_draft(self, text: str) -> None:
        """Write `text` into the input, in place of what is there; that can be undone."""
        self.input.show(text)

    def set_sent(self, messages: list[str]) -> None:
        """Take the messages that were sent before, oldest first."""
        self.input.sent = SentMessages(messages)

    def put_draft_aside(self) -> bool:
        """Empty the input, the draft being what Up brings back; return whether there was one."""
        text = self.draft
        if not text:
            return False
        self.input.sent.add(text)
        self.input.show("")
        return True

    def set_mode(
        self, mode: Mode, question: str = "", *, asked: str = "", options: bool = False, mine: bool = False
    ) -> None:
        """Say what sending does: open a run, steer one, or answer `question`. The draft stays.

        Args:
            mode: what sending does.
            question: the words of the question.
            asked: what names the question; a draft that was begun before it came is no answer to it.
            options: whether there is something to choose from.
            mine: the draft was begun for this question.
        """
        if mode != "asking":
            self._draft_is_older = False
        elif asked != self._asked:
            self._draft_is_older = bool(asked and self.draft) and not mine
        self._asked = asked if mode == "asking" else ""
        self._mode = mode
        self._question = question if mode == "asking" else ""
        self.input.has_options = mode == "asking" and options
        self._show_mode()

    def set_queued(self, queued: list[Queued]) -> None:
        """Show what was said and is not delivered yet, oldest first."""
        self.query_one(QueuedLines).show(queued)
        self.input.has_queued = bool(queued)

    def put_back(self, text: str) -> None:
        """Put a text that was sent before what is written: nothing is lost on either side."""
        draft = self.draft
        self.set_draft(f"{text}\n{draft}" if draft.strip() else text)

    def set_hint(self, text: str) -> None:
        """Show `text` in the empty input when nothing is asked."""
        self._hint = text
        self._show_mode()

    def set_status(self, text: str) -> None:
        """Show `text` at the right end (model, tokens, cost): one line."""
        self._show_label(".chat--status", text, 60)

    def set_trace(self, text: str) -> None:
        """Show `text` above the input (what the agent last did); "" takes it away."""
        self._show_label(".chat--trace", text, 200)

    def show_output_button(self, shown: bool) -> None:
        """Offer "Show output", or not, the output being on the screen."""
        self.query_one(".chat--show").display = shown

    def set_completion(self, text: str) -> None:
        """Offer `text` as what could follow the cursor; Tab and Right accept it. "" offers nothing."""
        self.input.suggestion = one_line(text, 200)

    def take_tab(self) -> bool:
        """Tab was pressed in the input: accept the completion, else queue the draft during a run.

        Returns:
            False when Tab has nothing to do here and may go to the next pane.
        """
        area = self.input
        if area.suggestion:
            area.insert(area.suggestion)
            return True
        text = area.text
        if self.mode == "running" and text.strip():
            area.sent.add(text)
            area.show("")
            self.post_message(self.FollowUp(self, text))
            return True
        return False

    def submit(self) -> bool:
        """Send the draft as Enter does; return whether there was something to send."""
        text = self.draft
        if not text.strip():
            return False
        mode = self.mode
        self.input.sent.add(text)
        self.input.load_text("")
        if self._draft_is_older:
            self._draft_is_older = False
            self._show_mode()
        self.post_message(self.Submitted(self, text, mode))
        return True

    def contains_screen(self, x: int, y: int) -> bool:
        """Whether a place on the screen is on the bar."""
        return self.region.contains(x, y)

    @on(ChatInput.Entered)
    def _entered(self, event: ChatInput.Entered) -> None:
        event.stop()
        self.submit()

    @on(ChatInput.Paged)
    def _paged(self, event: ChatInput.Paged) -> None:
        event.stop()
        self.post_message(self.Paged(event.pages))

    @on(Button.Pressed, ".chat--act")
    def _act(self, event: Button.Pressed) -> None:
        event.stop()
        if self._mode == "running":
            self.post_message(self.StopPressed())
        elif not self.submit() and self.input.has_options:
            self.post_message(self.Picked("enter"))

    @on(ChatInput.Picked)
    def _picked(self, event: ChatInput.Picked) -> None:
        event.stop()
        self.post_message(self.Picked(event.key))

    @on(ChatInput.TakeBack)
    def _take_back(self, event: ChatInput.TakeBack) -> None:
        event.stop()
        if queued := self.query_one(QueuedLines).queued:
            self.post_message(self.TakeBack(queued[-1].key, True))

    @on(QueuedLines.Wanted)
    def _wanted(self, event: QueuedLines.Wanted) -> None:
        event.stop()
        self.post_message(self.TakeBack(event.key, event.edit))

    @on(TextArea.Changed)
    def _written(self) -> None:
        if self._draft_is_older and not self.draft:
            self._draft_is_older = False
            self._show_mode()

    @on(Button.Pressed, ".chat--show")
    def _show_output(self, event: Button.Pressed) -> None:
        event.stop()
        self.post_message(self.ShowOutputPressed())

    def _show_mode(self) -> None:
        if not self.is_mounted:
            return
        act = self.query_one(".chat--act", LiteralButton)
        word = "Send" if self._draft_is_older else {"idle": "Send", "running": "Stop", "asking": "Reply"}[self._mode]
        if str(act.label) != word:
            act.set_label(word)
            act.refresh(layout=True)
        act.set_class(self._mode == "running", "-stop")
        steer = "Add something while it works…"
        hint = {"idle": self._hint, "running": steer, "asking": self._question or "Your answer…"}[self._mode]
        own = self._mode != "asking" or not self._question
        self.input.set_placeholder(hint.replace("…", "...") if own and self._ascii_only else hint)

    def _show_label(self, selector: str, text: str, limit: int) -> None:
        label = self.query_one(selector, LiteralLabel)
        line = one_line(text, limit)
        label.update(Content(sanitise(line)))
        label.display = bool(line)
