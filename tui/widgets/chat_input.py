"""The text area of the chat bar and its keys, some of which go to the list of commands or to a question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual import events
from textual.message import Message
from textual.widgets.text_area import Edit, EditResult

from tui.chat.input_history import InputHistory
from tui.commands.slash import Completion
from tui.widgets.command_list import CommandList
from tui.widgets.text.safe_text_area import SafeTextArea

NEWLINE_KEYS = frozenset(
    {
        *("ctrl+j", "shift+enter", "alt+enter", "ctrl+enter", "shift+alt+enter", "alt+shift+enter"),
        *("ctrl+shift+enter", "ctrl+alt+enter", "ctrl+shift+alt+enter"),
    }
)


class ChatInput(SafeTextArea):
    """The text a person is writing: Enter sends it, the newline keys do not."""

    class Paged(Message):
        """PageUp (-1) or PageDown (1) was pressed: it scrolls the agent's output, not the draft.

        0: End was pressed in the empty input: scroll to the end of the output.
        """

        def __init__(self, pages: int) -> None:
            super().__init__()
            self.pages = pages

    class Picked(Message):
        """With nothing written, a key that chooses from options: `up`, `down`, a number, `enter`."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    class TakeBack(Message):
        """Shift+Up was pressed and a message is queued; or Up, with nothing written and no answer to pick."""

    class PathPasted(Message):
        """A line was pasted, and stands in the draft, that may be the path of a file."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, **options: Any) -> None:
        super().__init__(soft_wrap=True, highlight_cursor_line=False, tab_behavior="focus", **options)
        self.sent = InputHistory()
        self.send: Callable[[str], object] = lambda _text: None
        self.commands: CommandList | None = None
        self.has_options = False
        self.has_queued = False
        self.knows_sent: Callable[[], bool] = lambda: True  # whether the history is loaded
        self._ups = 0
        self._ups_in = ""
        self._digits = ""
        self._passed_on = 0  # undo steps since the last edit that went to the persona

    def watch_has_focus(self, has_focus: bool) -> None:
        """Style nothing anew, as Textual does for each change of the focus: only the cursor tells it."""

    @property
    def undoes(self) -> bool:
        """Whether undo has an effect: on the draft or, if it is empty, on the persona."""
        return self.is_empty or bool(self.history.undo_stack)

    def edit(self, edit: Edit) -> EditResult:
        """Perform an edit."""
        self._passed_on = 0
        return super().edit(edit)

    async def action_undo(self) -> None:  # type: ignore[override]
        """Undo in the draft; if that is empty, in the persona."""
        if self.is_empty and not self.history.undo_stack:
            self._passed_on += 1
            await self.app.run_action("undo", self.screen)
        else:
            self.undo()

    async def action_redo(self) -> None:  # type: ignore[override]
        """Redo where the last undo was made."""
        if self._passed_on or (self.is_empty and not self.history.redo_stack):
            self._passed_on = max(0, self._passed_on - 1)
            await self.app.run_action("redo", self.screen)
        else:
            self.redo()

    def show(self, text: str) -> None:
        """Replace the draft by `text`, as one undo step, with the cursor at its end. No command is offered."""
        if self.commands is not None:
            self.commands.close(text)
        self.history.checkpoint()
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end)
        self.history.checkpoint()

    def begin(self, text: str) -> None:
        """Load `text` with an empty undo history."""
        self.load_text(text)
        self.move_cursor(self.document.end)

    def stash(self) -> bool:
        """Clear the draft into the history, where Up finds it; return whether there was any.

        Text that was pushed aside by a recalled message is shown again.
        """
        text, rest = self.text, self.sent.unsent()
        if not text:
            return False
        self.sent.add(text)
        self.show(rest)
        return True

    def recall(self, message: str) -> None:
        """Show a sent message; Down goes back to the draft."""
        self.show(self.sent.recall(message, self.text))

    async def _on_key(self, event: events.Key) -> None:
        if event.key != "up":
            self._ups = 0
        if self._pick_key(event) or self._command_key(event.key) or self._take_key(event.key):
            event.stop()
            event.prevent_default()

    def take_kept_ups(self) -> None:
        """The history is loaded: apply the presses of Up that came before, unless something was typed since."""
        ups, self._ups = self._ups, 0
        for _ in range(ups if self.text == self._ups_in else 0):
            self._recall(self.sent.previous(self.text))

    def _keep_up(self) -> bool:
        """Remember an Up pressed before the history is loaded; return whether it was remembered."""
        if self.knows_sent():
            return False
        self._ups, self._ups_in = self._ups + 1, self.text
        return True

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
            self._replace_via_keyboard(digits, *self.selection)  # it began a text
        return False

    async def _on_paste(self, event: events.Paste) -> None:
        # Comes before the handler of the base class, which inserts the text.
        digits, self._digits = self._digits, ""
        if digits and self.has_options and not self.text:
            self._replace_via_keyboard(digits, *self.selection)  # they began the text
        line = event.text.strip()
        if "/" in line and "\n" not in line:
            self.post_message(self.PathPasted(line))

    def take_digit(self, digit: str) -> None:
        """Begin the number of an option, as if the digit had been pressed here."""
        self._digits = digit
        self.post_message(self.Picked(digit))

    def _command_key(self, key: str) -> bool:
        """While commands are offered, let a key choose one of them; return whether it did."""
        commands = self.commands
        if commands is None or key not in ("up", "down", "enter"):
            return False
        commands.offer(self.text)
        if (offer := commands.chosen) is None:
            return False
        if key != "enter":
            commands.step(-1 if key == "up" else 1)
        elif offer.more and self.text.rstrip() != offer.line:
            self.write_command(offer)
        else:
            self.send(offer.line)
        return True

    def on_blur(self) -> None:
        """The input lost the focus: offer nothing until something is typed again."""
        if self.commands is not None:
            self.commands.close(self.text)

    def write_command(self, offer: Completion) -> None:
        """Write an offered command out."""
        self.show(offer.line + " " * offer.more)

    def _take_key(self, key: str) -> bool:
        """Handle a key of the chat bar; return False to leave it to the base class."""
        match key:
            case "enter":
                self._enter()
            case _ if key in NEWLINE_KEYS:
                self._replace_via_keyboard("\n", *self.selection)
            case "shift+up" if self.has_queued:
                self.post_message(self.TakeBack())
            case "up" if self.has_queued and not self.text:
                self.post_message(self.TakeBack())
            case "up" if self._at_edge(first=True):
                if (earlier := self.sent.previous(self.text)) is not None or not self._keep_up():
                    self._recall(earlier)
            case "down" if self._at_edge(first=False):
                self._recall(self.sent.following(self.text))
            case "pageup" | "pagedown":
                self.post_message(self.Paged(-1 if key == "pageup" else 1))
            case "end" if not self.text:
                self.post_message(self.Paged(0))
            case _:
                return False
        return True

    def after_typing(self, callback: Callable[[], object]) -> None:
        """Call `callback` once all earlier keys in the queue are handled."""
        if self.message_queue_size or self._pending_message is not None:
            self.call_later(callback)
        else:
            callback()

    def _enter(self) -> None:
        """Send; after a backslash at the end of a line, begin a new line instead."""
        row, column = self.cursor_location
        line = self.document.get_line(row)
        no_selection = self.selection.start == self.selection.end
        if no_selection and column == len(line) and line.endswith("\\"):
            self._replace_via_keyboard("\n", (row, column - 1), (row, column))
        else:
            self.send(self.text)  # at once: the next letter begins another message

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
