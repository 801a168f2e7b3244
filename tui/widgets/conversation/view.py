"""The widget that shows a conversation: it is fed turns or events; drawing waits for the next frame."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.message import Message
from textual.timer import Timer

from agent.core.turns import (
    FAILED,
    AssistantTextTurn,
    NoticeTurn,
    ThinkingTurn,
    ToolCallTurn,
    ToolResultTurn,
    Turn,
)
from tui.widgets.conversation.cursor import ReadableScrollView
from tui.widgets.conversation.entries import AnswerEntry, NoticeEntry, ThinkingEntry, entry_for
from tui.widgets.conversation.entry import Entry, GrowingEntry
from tui.widgets.conversation.scroll_view import EMPTY
from tui.widgets.conversation.search import NO_QUERY
from tui.widgets.conversation.tool_entry import ToolEntry

if TYPE_CHECKING:
    from agent.core.events import Event


@dataclass(frozen=True, slots=True)
class ViewState:
    """The scroll position of a view and which entries are open.

    Attributes:
        top: the key of the entry at its top, None while it followed the end.
        rows: how many rows of that entry were above the top.
        opened: the keys of the open entries.
    """

    top: str | None
    rows: int
    opened: frozenset[str]


STOPPED = "Stopped before an answer came. Up in the chat bar brings your message back."


class ConversationView(ReadableScrollView, can_focus=False):
    """The turns of one conversation, from the first to the one that is arriving: one `ScrollView` in the Line API.

    It never takes the focus. Where it is asked for frames, glyphs and the like, see `EntryScrollView`.
    """

    class Grown(Message):
        """New content was drawn: `characters` of it arrived since the last of these messages."""

        def __init__(self, view: ConversationView, characters: int) -> None:
            super().__init__()
            self.view = view
            self.characters = characters

        @property
        def control(self) -> ConversationView:
            return self.view

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._by_key: dict[str, int] = {}
        self._calls: dict[str, int] = {}
        self._frame_timer: Timer | None = None
        self._last_frame = 0.0
        self._arrived = 0
        self._retrying = False

    # Feeding

    def load(self, turns: Iterable[Turn]) -> None:
        """Show these turns and no others, from the end; the reading cursor stays on its entry."""
        read = self.cursor_entry()
        self.clear()
        entries: list[Entry] = []
        for turn in turns:
            if _is_hidden(turn):
                continue
            if isinstance(turn, ToolResultTurn) and turn.tool_use_id in self._calls:
                entry = entries[self._calls[turn.tool_use_id]]
                if isinstance(entry, ToolEntry):
                    entry.result = turn
                    entry.ended = (turn.output, turn.is_error, turn.details)
                    self._by_key[turn.id] = self._calls[turn.tool_use_id]
                    continue
            entry = entry_for(turn, self.glyphs, first=not entries)
            self._register(turn, len(entries))
            entries.append(entry)
        self.layout_model.fill(entries)
        self._refresh_all()
        if read is not None:
            self.start_reading(read.key)

    def view_state(self) -> ViewState:
        """Return the scroll position and the open entries, for `restore_view_state`."""
        layout = self.layout_model
        index = None if self._following else layout.entry_at(self.scroll_offset.y)
        opened = frozenset(entry.key for entry in layout.entries if entry.opened)
        if index is None:
            return ViewState(None, 0, opened)
        return ViewState(layout.entries[index].key, self.scroll_offset.y - layout.top_of(index), opened)

    def restore_view_state(self, kept: ViewState) -> None:
        """Restore the state of the view; entries that no longer exist are ignored."""
        layout, top = self.layout_model, None
        for index, entry in enumerate(layout.entries):
            if entry.key in kept.opened and not entry.opened and entry.toggle():
                layout.update(index)
            if entry.key == kept.top:
                top = index
        if top is not None:
            self._following = False
            self._update_rows(layout.top_of(top) + kept.rows)
        else:
            self._update_rows()
        self.refresh(layout=True)

    def clear(self) -> None:
        """Show nothing."""
        self._stop_frame()
        self.layout_model.fill([])
        self.when_empty = EMPTY
        self._by_key.clear()
        self._calls.clear()
        self._streaming.clear()
        self._following, self._new_below = True, False
        self._cursor = self._wanted = None
        self._query = NO_QUERY
        self._found.clear()
        self._arrived = 0
        self._strips.clear()
        self._drop_selection()
        self._refresh_all()

    def feed(self, event: Event) -> None:
        """Show an event of a run."""
        # Imported here: the first paint does not need it.
        from agent.core import events
        from agent.models.anthropic import error_mapping

        match event:
            case events.TurnStart(turn=turn):
                self._retrying = False
                self.begin_turn(turn)
            case events.TurnDelta(turn_id=turn_id, text=text):
                self.extend_turn(turn_id, text)
            case events.TurnEnd(turn=ended):
                self.end_turn(ended)
            case events.ToolProgress(call_id=call_id, text=text):
                self.show_progress(call_id, text)
            case events.ToolEnd(call=call, output=output, is_error=is_error, details=details):
                index = self._calls.get(call.tool_use_id)
                entry = self._entry(index)
                if index is not None and isinstance(entry, ToolEntry):
                    entry.finish(output, is_error, details)
                    self._entry_changed(index)
            case events.RetryWait(attempt=attempt, delay=delay, error=error):
                self._retrying = True
                self.add_notice(f"Trying again in {delay:.0f} s (attempt {attempt}): {error.message}")
            case events.ModelNotice(message=message, waiting=None):  # silence is counted by the activity line
                self.add_notice(message)
            case events.AgentEnd(outcome=outcome, error=failure, turns=turns):
                self._end_streams()
                if outcome == "failed" and not (turns and _is_failure(turns[-1])):
                    self.add_notice(error_mapping.with_next_step(failure), error=True)
                elif outcome == "cancelled" and (self._retrying or not turns or turns[-1].type == "user"):
                    self.add_notice(STOPPED)
                self._retrying = False

    def begin_turn(self, turn: Turn) -> None:
        """A turn begins; its text may follow by `extend_turn`. One that is known already is taken as its end."""
        if _is_hidden(turn):
            return
        if turn.id in self._by_key:
            self.end_turn(turn)
            return
        if isinstance(turn, ToolResultTurn):
            self._end_tool(turn)
            return
        streaming = isinstance(turn, AssistantTextTurn | ThinkingTurn)
        entry = entry_for(turn, self.glyphs, first=not self.layout_model.entries, streaming=streaming)
        index = self._append(turn, entry)
        if streaming:
            self._streaming.add(index)

    def extend_turn(self, turn_id: str, text: str) -> None:
        """More text of a turn that began. Costs next to nothing: drawing waits for the next frame."""
        index = self._by_key.get(turn_id)
        entry = self._entry(index)
        if isinstance(entry, AnswerEntry) and entry.stream is not None:
            entry.stream.add(text)
        elif isinstance(entry, ThinkingEntry):
            entry.add(text)
        else:
            return
        self._arrived += len(text)
        self._ask_frame()

    def end_turn(self, turn: Turn) -> None:
        """A turn is over; `turn` is what it became. One that never began is simply shown."""
        index = self._by_key.get(turn.id)
        entry = self._entry(index)
        if _is_hidden(turn):
            return
        if isinstance(turn, ToolResultTurn):
            self._end_tool(turn)
        elif index is None or entry is None:
            self._append(turn, entry_for(turn, self.glyphs, first=not self.layout_model.entries))
        else:
            self._streaming.discard(index)
            match entry, turn:
                case (AnswerEntry(), AssistantTextTurn()):
                    entry.end(turn)
                case (ThinkingEntry(), ThinkingTurn()):
                    entry.end(turn)
                case (ToolEntry(), ToolCallTurn()):
                    entry.set_call(turn)
                    self._calls[turn.tool_use_id] = index
            self._entry_changed(index)

    def show_progress(self, call_id: str, text: str) -> None:
        """A tool says how far it is; `call_id` is the call's tool_use_id or the id of its turn."""
        index = self._calls.get(call_id, self._by_key.get(call_id))
        entry = self._entry(index)
        if index is not None and isinstance(entry, ToolEntry):
            entry.show_progress(text)
            self._entry_changed(index)

    def add_notice(self, text: str, *, error: bool = False) -> None:
        """Show something that is no turn: dim, or as an error."""
        self._append(None, NoticeEntry(text, self.glyphs, error=error))

    # Drawing what arrived

    def draw_frame(self) -> None:
        """Draw all text that arrived since the last frame."""
        self._stop_frame()
        self._last_frame = time.monotonic()
        layout = self.layout_model
        for index in sorted(self._streaming):
            entry = layout.entries[index]
            if not isinstance(entry, GrowingEntry) or entry.stream is None or not entry.stream.has_pending:
                continue
            done, first = entry.advance(layout.width)
            for part in done:
                layout.mark_used(part)
            layout.update(index)
            self._content_grew(layout.top_of(index) + first)
        if self._arrived:
            self.post_message(self.Grown(self, self._arrived))
            self._arrived = 0

    def on_unmount(self) -> None:
        """Let no timer outlive the widget."""
        self._stop_frame()

    # Internal

    def _register(self, turn: Turn | None, index: int) -> None:
        if turn is not None:
            self._by_key[turn.id] = index
            if isinstance(turn, ToolCallTurn):
                self._calls[turn.tool_use_id] = index

    def _append(self, turn: Turn | None, entry: Entry) -> int:
        index = self.layout_model.append(entry)
        self._register(turn, index)
        self._content_grew(self.layout_model.top_of(index))
        return index

    def _end_tool(self, turn: ToolResultTurn) -> None:
        index = self._calls.get(turn.tool_use_id)
        entry = self._entry(index)
        if index is None or not isinstance(entry, ToolEntry):
            if turn.id not in self._by_key:
                self._append(turn, entry_for(turn, self.glyphs, first=not self.layout_model.entries))
            return
        entry.result = turn
        self._by_key[turn.id] = index
        entry.finish(turn.output, turn.is_error, turn.details)
        self._entry_changed(index)

    def _end_streams(self) -> None:
        """The run is over: what has not ended by now ends as it is."""
        for index in sorted(self._streaming):
            entry = self.layout_model.entries[index]
            if isinstance(entry, AnswerEntry | ThinkingEntry):
                self.end_turn(entry.unfinished())

    def _ask_frame(self) -> None:
        if self._frame_timer is None and self.is_attached:
            wait = self._last_frame + 1 / self.frames_per_second - time.monotonic()
            self._frame_timer = self.set_timer(max(wait, 0.001), self._frame_due)

    def _frame_due(self) -> None:
        self._frame_timer = None
        self.draw_frame()

    def _stop_frame(self) -> None:
        if self._frame_timer is not None:
            self._frame_timer.stop()
            self._frame_timer = None


def _is_hidden(turn: Turn) -> bool:
    """Whether a turn is not shown: a message from the program to the model."""
    return isinstance(turn, NoticeTurn) and turn.is_nudge


def _is_failure(turn: Turn) -> bool:
    """Whether a turn says why its run failed."""
    return isinstance(turn, NoticeTurn) and turn.kind == FAILED
