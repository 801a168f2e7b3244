"""A run on stdout, as it happens: JSON lines for programs, harmless text for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from agent.core.events import AgentEnd, Event, ModelNotice, RetryWait, TurnDelta, TurnEnd, TurnStart
from agent.core.model import DECLINED, Usage
from agent.core.turns import (
    FAILED,
    AssistantTextTurn,
    NoticeTurn,
    ThinkingTurn,
    ToolCallTurn,
    ToolResultTurn,
    thaw,
)
from agent.models.anthropic.error_mapping import with_next_step
from agent.tools import is_control
from tui.cli import let_stream_end
from tui.cli.output import drop
from tui.cli.stderr import complain, remark, write
from tui.cli.tasks import question_fields
from tui.terminal.diff_view import diff_lines
from tui.terminal.sanitise import Sanitiser, one_line, sanitise, spelled_out

if TYPE_CHECKING:
    from agent.jobs.job import Question

STOP_REASONS = {"truncated": "max_tokens", "refused": "refusal", "limit": "limit", "cancelled": "cancelled"}


class Printer(Protocol):
    """Prints the events of one run."""

    reader_gone: bool
    unwritable: OSError | None
    on_reader_gone: Callable[[], None]

    def feed(self, event: Event) -> None:
        """Print one event."""

    def settled(self, call: ToolCallTurn, result: ToolResultTurn) -> None:
        """Print the result of a call that an earlier program left open."""

    def notice(self, message: str) -> None:
        """Print something about the conversation that is no event."""

    def question(self, question: Question) -> None:
        """Print what a task asks."""

    def finish(self, end: AgentEnd) -> None:
        """Print how the run ended."""

    def close(self, message: str) -> None:
        """Print that a task is given up, without a run."""

    def advise(self, message: str) -> None:
        """Tell a person what they can do next; nothing for programs."""

    def mute(self) -> None:
        """Print nothing more, whatever happens."""

    def fail(self, message: str) -> None:
        """Print why there was no run."""


class _Output:
    """Writes to stdout until its reader goes away or the disk is full; then says so once and drops the rest."""

    def __init__(self) -> None:
        self.reader_gone = False
        self.unwritable: OSError | None = None
        self.on_reader_gone: Callable[[], None] = lambda: None
        self._muted = False

    def mute(self) -> None:
        """Print nothing more, whatever happens."""
        self._muted = True

    def _write(self, text: str) -> None:
        if self.reader_gone or self.unwritable or self._muted or not text:
            return
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                self.reader_gone = True
            else:
                self.unwritable = error
            drop(sys.stdout)
            self.on_reader_gone()


class JsonPrinter(_Output):
    """One JSON object a line; exactly one `done` or `error` ends the stream."""

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[str, str] = {}
        self._ended = False
        self._silent = False  # the model is, and that was said

    def feed(self, event: Event) -> None:
        """Print an event of the run, if it has a line; of a silence of the model only the first one has."""
        was_silent, self._silent = self._silent, is_silence(event)
        match event:
            case TurnStart(turn=AssistantTextTurn() as turn):
                self._kinds[turn.id] = "text_delta"
            case TurnStart(turn=ThinkingTurn() as turn):
                self._kinds[turn.id] = "thinking_delta"
            case TurnDelta(turn_id=turn_id, text=text) if turn_id in self._kinds:
                self._line(type=self._kinds[turn_id], content=text)
            case TurnEnd(turn=turn):
                self._kinds.pop(turn.id, None)
                self._turn(turn)
            case RetryWait():
                self._line(
                    type="retry",
                    attempt=event.attempt,
                    delay=round(event.delay, 3),
                    message=event.error.message,
                )
            case ModelNotice(message=message) if not (was_silent and self._silent):
                self.notice(message)
            case _:
                pass

    def _turn(self, turn: Any) -> None:
        match turn:
            case AssistantTextTurn():
                self._line(type="text_complete", id=turn.id, content=turn.content)
            case ToolCallTurn():
                self._line(
                    type="tool_call",
                    id=turn.id,
                    tool_use_id=turn.tool_use_id,
                    tool_name=turn.tool_name,
                    input=thaw(turn.input),
                )
            case ToolResultTurn():
                self._line(
                    type="tool_result",
                    id=turn.id,
                    tool_use_id=turn.tool_use_id,
                    output=turn.output,
                    is_error=turn.is_error,
                )
            case NoticeTurn() if _is_told(turn):
                self.notice(turn.content)
            case _:
                pass

    def settled(self, call: ToolCallTurn, result: ToolResultTurn) -> None:
        """Print the `tool_result` line of a call that an earlier program left open."""
        self._turn(result)

    def notice(self, message: str) -> None:
        """Print a `notice` line."""
        self._line(type="notice", content=message)

    def finish(self, end: AgentEnd) -> None:
        """Print the last line, `done` or `error`."""
        if end.outcome == "failed":
            self.fail(with_next_step(end.error))
            return
        reason = STOP_REASONS.get(end.outcome) or end.stop_reason or "end_turn"
        if reason == DECLINED:
            reason = "refusal"  # for the core an ordinary answer, for a script none that did anything
        if end.outcome == "completed" and reason == "tool_use":
            reason = "end_turn"  # a task ends with a call, and yet by itself
        self._end(type="done", stop_reason=reason, usage=end.usage.to_record())

    def question(self, question: Question) -> None:
        """Print a `question` line; one that asks to agree to a call says what the call would do."""
        self._line(type="question", **question_fields(question))

    def close(self, message: str) -> None:
        """Print the `done` line of a task that was given up."""
        self._end(type="done", stop_reason="cancelled", usage=Usage().to_record())

    def advise(self, message: str) -> None:
        """Nothing: a program knows what it can do next."""

    def fail(self, message: str) -> None:
        """Print the `error` line, unless the stream has ended."""
        self._end(type="error", message=message)

    def _end(self, **fields: Any) -> None:
        """Print the last line, unless there is one."""
        if not self._ended:
            self._ended = True
            let_stream_end()
            self._line(**fields)

    def _line(self, **fields: Any) -> None:
        self._write(json.dumps(fields, ensure_ascii=True) + "\n")


class TextPrinter(_Output):
    """The answer on stdout, sanitised; what the tools did and what went wrong on stderr."""

    def __init__(self) -> None:
        super().__init__()
        self._text: dict[str, Sanitiser] = {}
        self._calls: dict[str, ToolCallTurn] = {}
        self._open_line = False
        self._counted = ""  # what counts the seconds of a silence of the model, where it still stands

    def feed(self, event: Event) -> None:
        """Print an event of the run, if a person wants to see it."""
        if is_silence(event):
            self._count(event.message)  # type: ignore[union-attr]
            return
        if self._counted and sys.stderr.isatty():
            write(f"\r{' ' * len(self._counted)}\r")
        self._counted = ""
        match event:
            case TurnStart(turn=AssistantTextTurn() as turn):
                self._text[turn.id] = Sanitiser()
            case TurnDelta(turn_id=turn_id, text=text) if turn_id in self._text:
                self._say(self._text[turn_id].feed(text))
            case TurnEnd(turn=AssistantTextTurn() as turn) if turn.id in self._text:
                self._say(self._text.pop(turn.id).flush())
                self._end_line()
            case TurnEnd(turn=ToolCallTurn() as turn):
                self._calls[turn.tool_use_id] = turn
            case TurnEnd(turn=ToolResultTurn() as turn):
                self._tool(turn)
            case TurnEnd(turn=NoticeTurn() as turn) if _is_told(turn):
                self.notice(turn.content)
            case RetryWait():
                self.notice(f"{event.error.message} Trying again in {event.delay:.0f} s.")
            case ModelNotice(message=message):
                self.notice(message)
            case _:
                pass

    def _count(self, message: str) -> None:
        """Say how long the model is silent: on a terminal in one place, else once. Within an answer nothing is said."""
        if self._open_line or self._muted:
            return
        told, self._counted = self._counted, f"({message})"
        if sys.stderr.isatty():
            write(f"\r{self._counted}")
        elif not told:
            remark(self._counted)

    def _say_report(self, turn: ToolCallTurn) -> None:
        """What the agent reports with a call is meant for the person, once the call was taken."""
        report = turn.input.get({"send_update": "text", "task_complete": "summary"}.get(turn.tool_name, ""))
        if isinstance(report, str) and report:
            self._end_line()
            self._say(sanitise(report))
            self._end_line()

    def _tool(self, turn: ToolResultTurn) -> None:
        call = self._calls.get(turn.tool_use_id)
        if call is not None and is_control(call.tool_name) and not turn.is_error:
            self._say_report(call)
            return
        details = turn.details or {}
        added, removed = details.get("added"), details.get("removed")
        counts = f"  +{added} -{removed}" if added or removed else ""
        outcome = f"  error: {turn.output}" if turn.is_error else counts
        self._aside(f"> {call.tool_name if call is not None else 'tool'}{outcome}")

    def settled(self, call: ToolCallTurn, result: ToolResultTurn) -> None:
        """Say what became of a call that an earlier program left open."""
        self._calls[call.tool_use_id] = call
        self._tool(result)

    def notice(self, message: str) -> None:
        """Print a remark on stderr."""
        self._aside(f"({message})")

    def question(self, question: Question) -> None:
        """Print the question, what it is about, and what can be picked."""
        self._end_line()
        if (approval := question.approval) is not None:
            lines = diff_lines(approval.diff.rstrip("\n")) if approval.diff else []
            self._say("\n".join([*lines, *filter(None, [spelled_out(approval.note)])]))
            self._end_line()
        self._say(sanitise(f"? {question.text}"))
        self._end_line()
        for number, option in enumerate(question.options, 1):
            self._say(f"  {number}. {one_line(option, 400)}\n")

    def close(self, message: str) -> None:
        """Say on stderr what became of the task."""
        self._aside(f"({message})")

    def advise(self, message: str) -> None:
        """Say on stderr what can be done next, even when muted."""
        remark(f"({one_line(message, 400)})")

    def finish(self, end: AgentEnd) -> None:
        """Say on stderr how the run ended, unless it just completed."""
        self._end_line()
        if end.outcome == "failed":
            self.fail(with_next_step(end.error))
        elif end.outcome != "completed" and not (self.reader_gone or self.unwritable):
            self._aside(f"({STOP_REASONS.get(end.outcome, end.outcome)})")

    def fail(self, message: str) -> None:
        """Print the error on stderr."""
        self._end_line()
        complain(message)

    def _say(self, text: str) -> None:
        if text:
            self._write(text)
            self._open_line = not text.endswith("\n")

    def _end_line(self) -> None:
        if self._open_line:
            self._write("\n")
            self._open_line = False

    def _aside(self, message: str) -> None:
        if self._muted:
            return
        self._end_line()
        remark(one_line(message, 400))


def is_silence(event: Event) -> bool:
    """Whether an event says that nothing comes from the model."""
    return isinstance(event, ModelNotice) and event.waiting is not None


def _is_told(notice: NoticeTurn) -> bool:
    """Whether a notice has a line of its own: not what is meant for the model, nor why a run failed, which ends it."""
    return not notice.is_nudge and notice.kind != FAILED
