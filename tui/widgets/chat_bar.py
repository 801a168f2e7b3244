"""The chat bar: the input for messages to the agent, its buttons (Send, Stop, Reply …) and the status.

The input keeps the focus and the draft whatever happens around it; only Enter or the button sends.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Button, TextArea

from tui.chat.chat_bar_labels import HINT, WORKING, Mode, action_label, placeholder, toggle_label
from tui.chat.input_history import InputHistory, without_repeats
from tui.chat.view import Queued
from tui.commands import slash
from tui.terminal.sanitise import one_line
from tui.terminal.secrets import SendTwiceGuard, is_key
from tui.widgets.chat_input import ChatInput
from tui.widgets.command_list import CommandList
from tui.widgets.plain_text import LiteralButton, LiteralLabel
from tui.widgets.queued_messages import QueuedMessageList
from tui.widgets.virtual_list import VirtualList


class ChatBar(Vertical):
    """The bar at the bottom of the screen.

    Args:
        ascii_only: use no sign outside ASCII.
        switch: the word on the switch.
        while_working: shown in the empty input during a run.

    Attributes:
        offers_switch: whether the switch is shown.
    """

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    class Submitted(Message):
        """The person sends `text`; `mode` says whether it opens a run, steers one or answers a question."""

        def __init__(self, bar: ChatBar, text: str, mode: Mode) -> None:
            super().__init__()
            self.bar = bar
            self.text = text
            self.mode = mode

        @property
        def control(self) -> ChatBar:
            return self.bar

    class FollowUp(Message):
        """The person queues `text` for when the run is over."""

        def __init__(self, bar: ChatBar, text: str) -> None:
            super().__init__()
            self.bar = bar
            self.text = text

        @property
        def control(self) -> ChatBar:
            return self.bar

    class ApiKeyFound(Message):
        """The draft looks like an API key: it is not sent unless the person sends it again."""

    class Picked(Message):
        """A key for the options of the question; `enter` also from the Reply button."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    class TakeBack(Message):
        """A queued message is to be edited again, or removed."""

        def __init__(self, key: str, edit: bool) -> None:
            super().__init__()
            self.key = key
            self.edit = edit

    class StopPressed(Message):
        """The Stop button was pressed."""

    class TaskModePressed(Message):
        """The button that switches task mode was pressed."""

    class ShowOutputPressed(Message):
        """The "Show output" button was pressed."""

    class Paged(Message):
        """Scroll the agent's output by so many pages, up when negative; 0: to its end."""

        def __init__(self, pages: int) -> None:
            super().__init__()
            self.pages = pages

    def __init__(
        self, *, ascii_only: bool = False, switch: str = "task", while_working: str = WORKING, **options: Any
    ) -> None:
        super().__init__(**options)
        self._ascii_only, self._switch, self._while_working = ascii_only, switch, while_working
        self.offers_switch = True
        self._mode: Mode = "idle"
        self._question = ""
        self._asked = ""
        self._draft_is_older = False
        self._live = True
        self._hint = HINT
        self._can_continue = False
        self._begins_tasks = False
        self._buttons = ("", "")
        self._second_thought = SendTwiceGuard()
        self._act_button = LiteralButton("Send", focusable=False, classes="chat--act")
        self._task_button = LiteralButton("", focusable=False, classes="chat--task")
        # These are seen now and then. Each is mounted when it is first shown, which makes the first paint faster.
        self.commands = CommandList(classes="chat--commands")
        """The list of commands, shown while one is being written."""
        self.queued = QueuedMessageList(ascii_only=ascii_only, classes="chat--queued")
        self.trace = LiteralLabel("", classes="chat--trace")
        self.status = LiteralLabel("", classes="chat--status")
        self.stop_button = LiteralButton("Stop", focusable=False, classes="chat--stop")
        self._show_button = LiteralButton("Show output", focusable=False, classes="chat--show")

    def compose(self) -> ComposeResult:
        with Horizontal(classes="chat--row"):
            yield LiteralLabel("> " if self._ascii_only else "› ", classes="chat--glyph")
            yield ChatInput(classes="chat--input")
            yield self._act_button
            yield self._task_button

    def on_mount(self) -> None:
        self.input.commands = self.commands
        self.input.send = self.submit
        self._show_mode()

    def on_resize(self) -> None:
        """Fit the list of commands into the new size."""
        self.commands.place()

    @cached_property
    def input(self) -> ChatInput:
        """The text area."""
        return self.query_one(ChatInput)

    @property
    def has_keys(self) -> bool:
        """Whether what is typed goes there."""
        return self.screen.focused is self.input

    @property
    def draft(self) -> str:
        """What is written and not sent."""
        return self.input.text

    @property
    def sent(self) -> InputHistory:
        """What Up brings back."""
        return self.input.sent

    @property
    def unsent(self) -> str:
        """All unsent text, also the draft while Up shows an earlier message."""
        return self.sent.unsent(self.draft)

    @property
    def mode(self) -> Mode:
        """What sending does now. A draft begun before a question came does not answer it."""
        return "running" if self._draft_is_older else self._mode

    @property
    def shown_mode(self) -> Mode:
        """What the bar says that sending does; the same as `mode`, but for a question of another program's task."""
        return self.mode if self._live else self._mode

    @property
    def asked(self) -> str:
        """The id of the open question, empty for none."""
        return self._asked

    def set_draft(self, text: str, *, older: bool = False) -> None:
        """Replace the text of the input; that can be undone.

        Args:
            text: the draft.
            older: it was begun before the question that is asked now, so Enter does not give it as the answer.
        """
        if older and text and self._mode == "asking":
            self._draft_is_older = True
            self._show_mode()
        self.input.show(text)

    def begin_draft(self, text: str) -> None:
        """Show the draft of another conversation, with an empty undo history."""
        self.sent.begin()
        self.set_draft(text)
        self.input.history.clear()

    def stash(self) -> bool:
        """Clear the draft into the history; return whether there was any."""
        return self.input.stash()

    def take_kept_ups(self) -> None:
        """The history is loaded: handle the Up keys that were pressed before."""
        self.input.take_kept_ups()

    def set_sent(self, messages: list[str]) -> None:
        """Set the history of sent messages, oldest first, as typed; the draft stays."""
        draft = self.draft
        if (text := self.sent.replace_messages(without_repeats(messages), draft)) != draft:
            self.set_draft(text)

    def set_mode(
        self,
        mode: Mode,
        question: str = "",
        *,
        asked: str = "",
        options: bool = False,
        mine: bool = False,
        live: bool = True,
    ) -> None:
        """Set what sending does: begin a run, steer one, or answer `question`. The draft stays.

        Args:
            mode: what sending does.
            question: the words of the question.
            asked: the id of the question; a draft begun before it came does not answer it.
            options: whether there is something to choose from.
            mine: the draft was begun for this question.
            live: the task that asks runs in this program, and can be steered.
        """
        self._live = live
        if mode != "asking":
            self._draft_is_older = False
        elif asked != self._asked:
            self._draft_is_older = bool(asked and self.draft) and not mine
        self._asked = asked if mode == "asking" else ""
        self._mode = mode
        self._question = question if mode == "asking" else ""
        self.input.has_options = mode == "asking" and options
        self._say_what_edits()
        self._show_mode()

    def set_queued(self, queued: list[Queued]) -> None:
        """Show the queued messages, oldest first."""
        self._show_part(self.queued, bool(queued), before=".chat--row")
        self.queued.show(queued)
        self.input.has_queued = bool(queued)
        self.sent.leave_out(slash.as_typed(one.text) for one in queued)
        self._say_what_edits()

    def _say_what_edits(self) -> None:
        """Show which key edits the newest queued message: Up, unless Up has another use now."""
        other = self.input.has_options or not self.input.is_empty
        self.queued.set_key("Shift+Up" if other else "Up")

    def restore_message(self, text: str, *, mine: bool = False) -> None:
        """Put an unsent message back, before the draft.

        Args:
            text: what comes back.
            mine: it was meant for the question that is asked; else Enter does not give it as the answer.
        """
        draft = self.draft
        if self._mode == "asking" and text and not mine:
            self._draft_is_older = True
            self._show_mode()
        self.set_draft(f"{text}\n{draft}" if draft.strip() else text)

    def set_task_mode(self, on: bool) -> None:
        """Set whether messages begin tasks."""
        self._begins_tasks = on
        self._show_mode()

    def set_hint(self, text: str, *, can_continue: bool = False) -> None:
        """Show `text` in the empty input when nothing is asked; `can_continue`: the button then sends /continue."""
        self._hint = text
        self._can_continue = can_continue
        self._show_mode()

    def set_status(self, text: str) -> None:
        """Show `text` at the right end (model, tokens, cost): one line."""
        line = one_line(text, 60)
        self._show_part(self.status, bool(line), after=self.query_one(".chat--row").children[-1])
        self.status.update(line)

    def set_trace(self, text: str) -> None:
        """Show `text` above the input (what the agent last did); "" hides it."""
        line = one_line(text, 200)
        self._show_part(self.trace, bool(line), before=0)
        self.trace.update(line)

    def show_output_button(self, shown: bool) -> None:
        """Offer "Show output", or not, the output being on the screen."""
        self._show_part(self._show_button, shown, after=".chat--task")

    def close_commands(self) -> bool:
        """Close the list of commands until another is begun; return whether it was open."""
        shown = self.commands.chosen is not None
        if shown:
            self.commands.close()
        return shown

    def take_tab(self) -> bool:
        """Handle Tab in the input: complete the offered command, else queue the draft during a run.

        Returns:
            False when Tab has nothing to do here and may go to the next pane.
        """
        area = self.input
        text = area.text
        self.commands.offer(text)
        if (offer := self.commands.chosen) is not None:
            area.write_command(offer)
            return True
        if self.mode == "running" and text.strip():
            rest = area.sent.unsent()
            if self._may_go(text):
                area.show(rest)
                self.post_message(self.FollowUp(self, text))
            return True
        return False

    def submit(self, text: str | None = None) -> bool:
        """Send the draft, or `text` that was chosen for it, as Enter does; return whether there was any."""
        text = self.draft if text is None else text
        if not text.strip():
            return False
        rest = self.sent.unsent()
        if not self._may_go(text):
            return True
        mode = self.mode
        self.input.begin(rest)
        self.commands.offer("")
        if self._draft_is_older:
            self._draft_is_older = False
            self._show_mode()
        self.post_message(self.Submitted(self, text, mode))
        return True

    def _may_go(self, text: str) -> bool:
        """Add a text to the history and return whether to send it. An API key is not added, and sent only on the second try."""
        if not is_key(text):
            self.sent.add(text)
        elif not text.startswith("/") and not self._second_thought.lets(text, monotonic()):
            self.post_message(self.ApiKeyFound())
            return False
        else:
            self.sent.begin()
        return True

    def contains_screen(self, x: int, y: int) -> bool:
        """Whether a point of the screen is on the bar, or on the list above it."""
        on_list = self.commands.display and self.commands.region.contains(x, y)
        return on_list or self.region.contains(x, y)

    @on(VirtualList.Highlighted)
    def _went_over(self, event: VirtualList.Highlighted) -> None:
        event.stop()

    @on(VirtualList.Chosen)
    def _clicked_command(self, event: VirtualList.Chosen) -> None:
        event.stop()
        if (offer := self.commands.chosen) is not None:
            if offer.more:
                self.input.write_command(offer)
            else:
                self.submit(offer.line)

    @on(ChatInput.Paged)
    def _paged(self, event: ChatInput.Paged) -> None:
        event.stop()
        self.post_message(self.Paged(event.pages))

    @on(Button.Pressed, ".chat--act")
    def _act(self, event: Button.Pressed) -> None:
        event.stop()
        if self._mode == "running":
            self.post_message(self.StopPressed())
        elif self._offers_to_continue:
            self.submit("/continue")
        elif not self.submit() and self.input.has_options:
            self.post_message(self.Picked("enter"))

    @on(Button.Pressed, ".chat--stop")
    def _stop(self, event: Button.Pressed) -> None:
        event.stop()
        self.post_message(self.StopPressed())

    @on(Button.Pressed, ".chat--task")
    def _task_mode(self, event: Button.Pressed) -> None:
        event.stop()
        self.post_message(self.TaskModePressed())

    @on(ChatInput.Picked)
    def _picked(self, event: ChatInput.Picked) -> None:
        event.stop()
        self.post_message(self.Picked(event.key))

    @on(ChatInput.TakeBack)
    def _take_back(self, event: ChatInput.TakeBack) -> None:
        event.stop()
        if queued := self.queued.queued:
            self.post_message(self.TakeBack(queued[-1].key, True))

    @on(QueuedMessageList.Wanted)
    def _wanted(self, event: QueuedMessageList.Wanted) -> None:
        event.stop()
        self.post_message(self.TakeBack(event.key, event.edit))

    @on(TextArea.Changed)
    def _written(self) -> None:
        self.commands.offer(self.draft)
        self._show_part(self.commands, self.commands.display, before=0)
        self._say_what_edits()
        if self._draft_is_older and not self.draft:
            self._draft_is_older = False
            self._show_mode()
        elif self._can_continue:
            self._show_mode()

    @on(Button.Pressed, ".chat--show")
    def _show_output(self, event: Button.Pressed) -> None:
        event.stop()
        self.post_message(self.ShowOutputPressed())

    @property
    def _offers_to_continue(self) -> bool:
        return self._can_continue and self._mode == "idle" and not self.draft.strip()

    def _show_mode(self) -> None:
        if not self.is_mounted:
            return
        act, switch = self._act_button, self._task_button
        word = action_label(
            self._mode,
            begins_tasks=self._begins_tasks and self._switch == "task",
            continues=self._offers_to_continue,
            steers=self._draft_is_older and self._live,
        )
        _relabel(act, word)
        switch.display = self._mode == "idle" and self.offers_switch
        _relabel(switch, toggle_label(self._switch, self._begins_tasks, ascii_only=self._ascii_only))
        switch.set_class(self._begins_tasks, "-on")
        act.set_class(self._mode == "running", "-stop")
        self._show_part(self.stop_button, self._mode == "asking", after=".chat--act")
        if (buttons := (word, self._mode)) != self._buttons:
            self._buttons = buttons
            # Textual 8.2 does not always draw what a button leaves uncovered when others move in the same moment.
            self.call_after_refresh(self.query_one(".chat--row").refresh)
        self.input.set_placeholder(
            placeholder(
                self._mode,
                self._hint,
                self._question,
                working=self._while_working,
                ascii_only=self._ascii_only,
            )
        )

    def _show_part(self, part: Widget, shown: bool, **place: Any) -> None:
        """Show a part that is not always there, or not; `place`: where it is mounted, as for `mount`."""
        if shown and part.parent is None:
            self.mount(part, **place)
        part.display = shown


def _relabel(button: LiteralButton, word: str) -> None:
    """Write another word on a button, which may be of another width."""
    if str(button.label) != word:
        button.set_label(word)
        button.refresh(layout=True)
