"""Printing a run while it happens: JSON lines for programs, sanitised text for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent.core.events import (
    AgentEnd,
    Event,
    ModelNotice,
    RetryWait,
    ToolStart,
    TurnDelta,
    TurnEnd,
    TurnStart,
)
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
from tui.cli.agent.tasks import question_fields
from tui.cli.printing import drop
from tui.cli.stderr import print_error, print_note, write
from tui.terminal.diff_view import diff_lines
from tui.terminal.sanitise import Sanitiser, one_line, sanitise, spelled_out

if TYPE_CHECKING:
    from agent.jobs.job import Question

STOP_REASONS = {"truncated": "max_tokens", "refused": "refusal", "limit": "limit", "cancelled": "cancelled"}


class Printer:
    """Prints the events of one run on stdout, until its reader goes away or the disk is full; then drops the rest.

    Attributes:
        reader_gone: whether the reader of stdout went away.
        unwritable: why stdout cannot be written, if it cannot.
        on_reader_gone: called once when either happens.
    """

    def __init__(self) -> None:
        self.reader_gone = False
        self.unwritable: OSError | None = None
        self.on_reader_gone: Callable[[], None] = lambda: None
        self._muted = False

    def feed(self, event: Event) -> None:
        """Print one event."""
        raise NotImplementedError

    def settled(self, call: ToolCallTurn, result: ToolResultTurn) -> None:
        """Print the result of a call that an earlier program left open."""
        raise NotImplementedError

    def notice(self, message: str) -> None:
        """Print a note about the conversation that is no event."""
        raise NotImplementedError

    def question(self, question: Question) -> None:
        """Print a task's question; of an approval, also what the call would do."""
        raise NotImplementedError

    def finish(self, end: AgentEnd, proposal: str | None = None) -> None:
        """Print how the run ended, and the name of what it proposes."""
        raise NotImplementedError

    def close(self, message: str) -> None:
        """Print that a task was stopped without a run."""
        raise NotImplementedError

    def advise(self, message: str) -> None:
        """Tell a person what they can do next; for programs, nothing."""

    def fail(self, message: str) -> None:
        """Print why there was no run."""
        raise NotImplementedError

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


class JsonPrinter(Printer):
    """One JSON object a line; exactly one `done` or `error` ends the stream."""

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[str, str] = {}
        self._ended = False
        self._silent = False  # whether a notice about the model's silence was printed

    def feed(self, event: Event) -> None:
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
            case NoticeTurn() if _is_printed(turn):
                self.notice(turn.content)
            case _:
                pass

    def settled(self, call: ToolCallTurn, result: ToolResultTurn) -> None:
        self._turn(result)

    def notice(self, message: str) -> None:
        self._line(type="notice", content=message)

    def finish(self, end: AgentEnd, proposal: str | None = None) -> None:
        if end.outcome == "failed":
            self.fail(with_next_step(end.error))
            return
        reason = STOP_REASONS.get(end.outcome) or end.stop_reason or "end_turn"
        if reason == DECLINED:
            reason = "refusal"  # an ordinary answer for the core, a refusal for a script
        if end.outcome == "completed" and reason == "tool_use":
            reason = "end_turn"  # a task ends with a tool call
        proposed = {} if proposal is None else {"proposal": proposal}
        self._end(type="done", stop_reason=reason, usage=end.usage.to_record(), **proposed)

    def question(self, question: Question) -> None:
        self._line(type="question", **question_fields(question))

    def close(self, message: str) -> None:
        self._end(type="done", stop_reason="cancelled", usage=Usage().to_record())

    def fail(self, message: str) -> None:
        self._end(type="error", message=message)

    def _end(self, **fields: Any) -> None:
        """Print the last line, unless there is one."""
        if not self._ended:
            self._ended = True
            let_stream_end()
            self._line(**fields)

    def _line(self, **fields: Any) -> None:
        self._write(json.dumps(fields, ensure_ascii=True) + "\n")


class TextPrinter(Printer):
    """The answer on stdout, sanitised; what the tools did and what went wrong on stderr."""

    def __init__(self) -> None:
        super().__init__()
        self._text: dict[str, Sanitiser] = {}
        self._calls: dict[str, ToolCallTurn] = {}
        self._open_line = False
        self._counted = ""  # the line that counts the seconds of the model's silence, while it is shown

    def feed(self, event: Event) -> None:
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
                self._print(self._text[turn_id].feed(text))
            case TurnEnd(turn=AssistantTextTurn() as turn) if turn.id in self._text:
                self._print(self._text.pop(turn.id).flush())
                self._end_line()
            case ToolStart(call=call):
                self._calls[call.tool_use_id] = call
            case TurnEnd(turn=ToolResultTurn() as turn):
                self._tool(turn)
            case TurnEnd(turn=NoticeTurn() as turn) if _is_printed(turn):
                self.notice(turn.content)
            case RetryWait():
                self.notice(f"{event.error.message} Trying again in {event.delay:.0f} s.")
            case ModelNotice(message=message):
                self.notice(message)
            case _:
                pass

    def _count(self, message: str) -> None:
        """Print how long the model has been silent: on a terminal in place, else once; within an answer not at all."""
        if self._open_line or self._muted:
            return
        shown, self._counted = self._counted, f"({message})"
        if sys.stderr.isatty():
            write(f"\r{self._counted}")
        elif not shown:
            print_note(self._counted)

    def _print_report(self, turn: ToolCallTurn) -> None:
        """Print what the agent reports to the person in a call (`send_update`, `task_complete`)."""
        report = turn.input.get({"send_update": "text", "task_complete": "summary"}.get(turn.tool_name, ""))
        if isinstance(report, str) and report:
            self._end_line()
            self._print(sanitise(report))
            self._end_line()

    def _tool(self, turn: ToolResultTurn) -> None:
        call = self._calls.get(turn.tool_use_id)
        if call is not None and is_control(call.tool_name) and not turn.is_error:
            self._print_report(call)
            return
        details = turn.details or {}
        added, removed = details.get("added"), details.get("removed")
        counts = f"  +{added} -{removed}" if added or removed else ""
        outcome = f"  error: {turn.output}" if turn.is_error else counts
        self._print_aside(f"> {call.tool_name if call is not None else 'tool'}{outcome}")

    def settled(self, call: ToolCallTurn, result: ToolResultTurn) -> None:
        self._calls[call.tool_use_id] = call
        self._tool(result)

    def notice(self, message: str) -> None:
        self._print_aside(f"({message})")

    def question(self, question: Question) -> None:
        self._end_line()
        if (approval := question.approval) is not None:
            lines = diff_lines(approval.diff.rstrip("\n")) if approval.diff else []
            self._print("\n".join([*lines, *filter(None, [spelled_out(approval.note)])]))
            self._end_line()
        self._print(sanitise(f"? {question.text}"))
        self._end_line()
        for number, option in enumerate(question.options, 1):
            self._print(f"  {number}. {one_line(option, 400)}\n")

    def close(self, message: str) -> None:
        self._print_aside(f"({message})")

    def advise(self, message: str) -> None:
        # Also when muted: it goes to stderr.
        print_note(f"({one_line(message, 400)})")

    def finish(self, end: AgentEnd, proposal: str | None = None) -> None:
        self._end_line()
        if end.outcome == "failed":
            self.fail(with_next_step(end.error))
        elif end.outcome != "completed" and not (self.reader_gone or self.unwritable):
            self._print_aside(f"({STOP_REASONS.get(end.outcome, end.outcome)})")

    def fail(self, message: str) -> None:
        self._end_line()
        print_error(message)

    def _print(self, text: str) -> None:
        if text:
            self._write(text)
            self._open_line = not text.endswith("\n")

    def _end_line(self) -> None:
        if self._open_line:
            self._write("\n")
            self._open_line = False

    def _print_aside(self, message: str) -> None:
        if self._muted:
            return
        self._end_line()
        print_note(one_line(message, 400))


def is_silence(event: Event) -> bool:
    """Whether an event reports that the model sends nothing."""
    return isinstance(event, ModelNotice) and event.waiting is not None


def _is_printed(notice: NoticeTurn) -> bool:
    """Whether a notice is printed: not one for the model, nor the reason of a failure, which ends the stream."""
    return not notice.is_nudge and notice.kind != FAILED
