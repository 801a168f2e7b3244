"""Playing a recording in the real program: messages are typed, and changes are opened to be read.

It ends with the recording, or as soon as the person types or opens another persona.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.core.events import AgentEnd, ToolEnd
from tui.commands.slash import as_typed

if TYPE_CHECKING:
    from tui.chat.conversation_state import Conversation
    from tui.recording.recorded_session import RecordedRun, Recording, ReplayModel
    from tui.screens.main.screen import MainScreen

LABEL = "recorded run"
MOST_KEYS = 150
"""Keys for one message: a longer one is typed several characters at once."""
POLL_INTERVAL = 0.05
"""Seconds between two checks of what the person does and whether the run is over."""


@dataclass(frozen=True, slots=True)
class TypingPace:
    """How fast a recording is typed and read, in seconds.

    Attributes:
        before_message: pause before typing a message.
        key: pause between two keys.
        reading: pause for reading a change.
    """

    before_message: float = 2.0
    key: float = 0.035
    reading: float = 4.0


DEMO_TYPING = TypingPace()
"""The pace of the demo."""


async def play(
    screen: MainScreen, recording: Recording, model: ReplayModel, hands: TypingPace = DEMO_TYPING
) -> bool:
    """Play the recording on the open persona; return whether it was played to its end.

    Args:
        screen: the main screen of a running program, whose model is `model`.
        recording: what to play.
        model: the model that replays the same recording.
        hands: how fast.
    """
    controller = screen.conversation
    await controller.settled.wait()
    conversation = controller.current
    if conversation is None:
        return False
    screen.chat_bar.set_status(LABEL)
    screen.turns.add_notice("This is a recorded run. The changes are real, in a temporary folder.")
    whole = await _play_runs(screen, recording, model, conversation, hands)
    screen.chat_bar.set_status("")
    return whole


async def _play_runs(
    screen: MainScreen,
    recording: Recording,
    model: ReplayModel,
    conversation: Conversation,
    hands: TypingPace,
) -> bool:
    controller = screen.conversation
    for run in recording.runs:
        if not await play_run(screen, run, conversation, hands):
            return False
        if model.left or not _completed(conversation) or not await _wait(screen, conversation, 0.0):
            return False
        controller.panel_controller.panel_event("show_output")
        if not await _wait(screen, conversation, hands.reading) or not await _show_change(
            screen, conversation, hands.reading
        ):
            return False
    return True


async def play_run(
    screen: MainScreen, run: RecordedRun, conversation: Conversation, hands: TypingPace = DEMO_TYPING
) -> bool:
    """Send the message of a recorded run and wait for its end; return False when the person acts first.

    A question gets its recorded answer; one without an answer is left to the person.
    """
    controller, bar = screen.conversation, screen.chat_bar
    if not await _wait(screen, conversation, hands.before_message) or not await _type(
        screen, run.message, hands.key
    ):
        return False
    bar.input.sent.add(as_typed(run.message))
    bar.input.load_text("")
    await controller.send(run.message, kind="task" if run.is_task else "chat")
    while conversation.running:
        question = conversation.question
        reply = run.replies.get(question.tool_use_id) if question is not None else None
        if question is not None and reply is not None and await _wait(screen, conversation, hands.reading):
            now = conversation.question
            if now is not None and now.id == question.id:  # not answered by the person meanwhile
                await controller.questions.answer(question.id, reply)
        await asyncio.sleep(POLL_INTERVAL)  # a run that fails to begin posts no event
    return True


async def _wait(screen: MainScreen, conversation: Conversation, seconds: float) -> bool:
    """Wait; return False at once when the person types or opens another persona."""
    end = time.monotonic() + seconds
    while not screen.chat_bar.draft and screen.conversation.current is conversation:
        left = end - time.monotonic()
        if left <= 0:
            return True
        await asyncio.sleep(min(left, POLL_INTERVAL))
    return False


async def _type(screen: MainScreen, text: str, pause: float) -> bool:
    """Type into the chat bar; return False when the person types, and leave only their text."""
    bar = screen.chat_bar
    typed = ""  # as the input has it: it may change what it is given
    at_once = -(-len(text) // MOST_KEYS)
    for start in range(0, len(text) + at_once, at_once or 1):
        if bar.draft != typed:
            if bar.draft.startswith(typed):
                bar.set_draft(bar.draft[len(typed) :])
            return False
        if start < len(text):
            bar.input.insert(text[start : start + at_once])
            typed = bar.draft
            await asyncio.sleep(pause)
    return True


def _completed(conversation: Conversation) -> bool:
    """Whether the last run completed."""
    last = conversation.events[-1] if conversation.events else None
    return isinstance(last, AgentEnd) and last.outcome == "completed"


async def _show_change(screen: MainScreen, conversation: Conversation, seconds: float) -> bool:
    """Open the first diff of the last run for a moment; return False as `_wait` does."""
    view = screen.turns
    place = first_change(screen, conversation)
    if place is None or not view.toggle(place):
        return True
    if not await _wait(screen, conversation, seconds):
        return False
    if view.layout_model.entries[place].opened:
        view.toggle(place)
        view.follow()
    return True


def first_change(screen: MainScreen, conversation: Conversation) -> int | None:
    """Return the number of the entry with the first change of the last run; None if it changed nothing."""
    calls = [event.call.id for event in conversation.events if isinstance(event, ToolEnd) and event.details]
    entries = screen.turns.layout_model.entries
    return next((index for index, entry in enumerate(entries) if entry.key in calls), None)
