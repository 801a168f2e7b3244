"""Recorded runs: their classes, reading them from a session file, and a model that replays the answers.

Only the person's messages and the model's answers are taken from a recording. The loop, the tools and the files are the
real ones, so a tool's result is that of the replay.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agent.core.model import BlockDelta, BlockEvent, Model, Request, Usage
from agent.core.turns import (
    AssistantTextTurn,
    ThinkingTurn,
    ToolCallTurn,
    ToolResultTurn,
    UserTurn,
    thaw,
)
from agent.models.scripted import Cue, Pause, Script, ScriptedModel, Thought, ToolUse, answer
from agent.tools import REGISTRY
from agent.transcript.turn_records import from_record
from personas.errors import BrokenFile
from personas.files.journal import Journal

if TYPE_CHECKING:
    from typing import Any

FIRST_LOOK = Path(__file__).parent / "demos" / "first-look.jsonl"
"""The recording that comes with the program."""

Block = AssistantTextTurn | ThinkingTurn | ToolCallTurn
TASK_TOOLS = frozenset(spec.name for spec in REGISTRY.values() if spec.offered == "in tasks")
"""The tools that are offered only in tasks."""
LARGEST = 64 * 1024 * 1024
"""Bytes of the largest recording."""
Step = tuple[Block, ...]
"""One answer of the model: its blocks in order."""


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A message and the model's answers until the run ended.

    Attributes:
        message: the person's message.
        steps: the answers.
        replies: the person's answers to questions, by the id of the call that asked.
    """

    message: str
    steps: tuple[Step, ...]
    replies: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_task(self) -> bool:
        """Whether it called a tool that only tasks have."""
        calls = (block for step in self.steps for block in step if isinstance(block, ToolCallTurn))
        return any(call.tool_name in TASK_TOOLS for call in calls)


@dataclass(frozen=True, slots=True)
class Recording:
    """The runs of one conversation, in order.

    Attributes:
        persona_id: the persona's id.
        runs: the runs.
        session_id: the conversation's own id, empty where the file has none.
        name, prompt: the persona as the agent read it first; None where it did not.
    """

    persona_id: str
    runs: tuple[RecordedRun, ...]
    session_id: str = ""
    name: str | None = None
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class PlaybackSpeed:
    """How fast a recording plays, in seconds.

    Attributes:
        before_answer: pause before each answer.
        word: pause after each word.
    """

    before_answer: float = 0.7
    word: float = 0.04


HUMAN = PlaybackSpeed()
"""The pace of a real model."""
AT_ONCE = PlaybackSpeed(0.0, 0.0)
"""Everything without delay."""


def read_recording(path: Path) -> Recording:
    """Read a session file as a recording. Results of tools, notices and unknown records are left out.

    Raises:
        BrokenFile: the file is not there, is too large, or holds no session or no run.
        PersonaError: it cannot be read at all.
    """
    try:
        size = path.stat().st_size
    except (OSError, ValueError):
        raise BrokenFile(f"There is no recording {path}.") from None
    if size > LARGEST:
        raise BrokenFile(f"{path} is too large for a recording: {size // 2**20} MB.")
    records = Journal(path).read().records
    persona_id = records[0].get("persona_id") if records and records[0].get("type") == "session" else None
    if not isinstance(persona_id, str):
        raise BrokenFile(f"{path} holds no recorded session.")
    reader = _RecordingReader()
    for record in records[1:]:
        reader.read(record)
    if not reader.runs:
        raise BrokenFile(f"{path} holds no recorded run.")
    runs = tuple(
        RecordedRun(message, tuple(map(tuple, steps)), replies) for message, steps, replies in reader.runs
    )
    session_id = records[0].get("id")
    return Recording(
        persona_id, runs, session_id if isinstance(session_id, str) else "", *reader.name_and_prompt
    )


class _RecordingReader:
    """Collects the runs of a session, record by record."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, list[list[Block]], dict[str, str]]] = []
        """Of each run: its message, steps and replies."""
        self.name_and_prompt: tuple[str | None, str | None] = (None, None)
        self._tools: dict[str, str] = {}  # the name of the tool by the id of the call
        self._step_over = True

    def read(self, record: Mapping[str, Any]) -> None:
        """Take the next record; one that cannot be read is skipped."""
        if record.get("type") == "step_end":
            self._step_over = True
            return
        try:
            turn = from_record(record)
        except ValueError:
            return
        if isinstance(turn, UserTurn):
            self.runs.append((turn.content, [], {}))
            self._step_over = True
        elif isinstance(turn, Block):
            self._read_block(turn)
        elif isinstance(turn, ToolResultTurn):
            self._step_over = True
            self._read_result(turn)

    def _read_block(self, block: Block) -> None:
        if isinstance(block, ToolCallTurn):
            self._tools[block.tool_use_id] = block.tool_name
        if self.runs:
            steps = self.runs[-1][1]
            if self._step_over:
                steps.append([])
            steps[-1].append(block)
        self._step_over = False

    def _read_result(self, result: ToolResultTurn) -> None:
        tool = self._tools.get(result.tool_use_id)
        if tool == "ask_user" and not result.is_error and self.runs:
            self.runs[-1][2][result.tool_use_id] = result.output
        elif tool == "get_persona" and self.name_and_prompt == (None, None):
            self.name_and_prompt = _persona_in(result.output)


def _persona_in(output: str) -> tuple[str | None, str | None]:
    """Return name and prompt from a result of `get_persona`."""
    try:
        read = json.loads(output)
    except (ValueError, RecursionError):
        return None, None
    if not isinstance(read, dict):
        return None, None
    name, prompt = read.get("name"), read.get("system_prompt")
    return (name if isinstance(name, str) else None, prompt if isinstance(prompt, str) else None)


def script_of(step: Step, pace: PlaybackSpeed = AT_ONCE) -> Script:
    """Return one answer as a script for a `ScriptedModel`: text in words, at this pace."""
    # A replay uses no tokens.
    events = answer(*(_part(block) for block in step), usage=Usage())
    return list(_paced(events, pace))


def _part(block: Block) -> str | Thought | ToolUse:
    match block:
        case AssistantTextTurn():
            return block.content
        case ThinkingTurn():
            return Thought(block.content, block.signature, block.redacted)
        case ToolCallTurn():
            return ToolUse(block.tool_name, thaw(block.input), block.tool_use_id)


def _paced(events: Script, pace: PlaybackSpeed) -> Iterator[BlockEvent | Cue]:
    if pace.before_answer:
        yield Pause(pace.before_answer)
    for event in events:
        if not isinstance(event, BlockDelta):
            yield event
            continue
        for word in _words(event.text):
            yield BlockDelta(event.block, word)
            if pace.word:
                yield Pause(pace.word)


def _words(text: str) -> Iterator[str]:
    """Cut a text before each word."""
    start = 0
    for place in range(1, len(text)):
        if text[place - 1].isspace() and not text[place].isspace():
            yield text[start:place]
            start = place
    if text:
        yield text[start:]


_END = AssistantTextTurn(content="The recording ends here.")
"""The answer where a recording ends with a tool call."""


class ReplayModel:
    """Replays the answers of a recording while the messages are the recorded ones; then another model answers.

    Args:
        recording: what to replay.
        otherwise: the model for all other requests.
        pace: how fast.

    Attributes:
        left: whether a message differed from the recording.
    """

    def __init__(self, recording: Recording, otherwise: Model, pace: PlaybackSpeed = HUMAN) -> None:
        self._runs = iter(recording.runs)
        self._next: RecordedRun | None = next(self._runs, None)
        self._steps: Iterator[Step] = iter(())
        self._otherwise = otherwise
        self._pace = pace
        self.left = False

    @property
    def name(self) -> str:
        """What the person sees as the model's name."""
        return "recorded"

    @property
    def endpoint(self) -> str:
        """Where it lives."""
        return "embedded"

    async def stream(self, request: Request) -> AsyncIterator[BlockEvent]:
        """Stream the next recorded answer, or the other model's."""
        script = self._script(request)
        model: Model = self._otherwise if script is None else ScriptedModel([script])
        async for event in model.stream(request):
            yield event

    def _script(self, request: Request) -> Script | None:
        """Return the answer to this request; None where the recording has none."""
        if self.left:
            return None
        said = _said(request.messages)
        if said:
            if self._next is None or _as_sent(self._next.message) not in said:
                self.left = True
                return None
            self._steps = iter(self._next.steps)
            self._next = next(self._runs, None)
        step = next(self._steps, None)
        return script_of(step if step is not None else (_END,), self._pace)


def _said(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the texts of the last message, without tool results."""
    content = messages[-1].get("content", "") if messages else ""
    if isinstance(content, str):
        return [_as_sent(content)]
    return [_as_sent(str(block.get("text", ""))) for block in content if block.get("type") == "text"]


def _as_sent(text: str) -> str:
    """Return a message as it is sent to a model, stripped; characters that UTF-8 cannot encode are replaced."""
    from agent.core.messages import sendable

    return sendable(text).strip()
