"""Playing a recording in the real interface: the person's messages are typed, and the changes are opened to be read.

It ends with the recording, or as soon as the person does something else; then the program is theirs.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.core.events import AgentEnd, ToolEnd
from tui.commands.slash import as_typed

if TYPE_CHECKING:
    from tui.chat.conversation_state import Talk
    from tui.recording.recorded_session import RecordedRun, Recording, ReplayModel
    from tui.screens.main.screen import MainScreen

LABEL = "recorded run"
MOST_KEYS = 150
"""Keys for one message: a long one is typed in larger pieces."""
LOOK_EVERY = 0.05
"""Seconds between two looks at what the person does, and whether the run is over."""


@dataclass(frozen=True, slots=True)
class Hands:
    """How fast the recorded person is, in seconds.

    Attributes:
        before_message: before they begin to type.
        key: between two keys.
        reading: that they read what was done.
    """

    before_message: float = 2.0
    key: float = 0.035
    reading: float = 4.0


AT_EASE = Hands()
"""As somebody who shows what they do."""


async def play(screen: MainScreen, recording: Recording, model: ReplayModel, hands: Hands = AT_EASE) -> bool:
    """Play the recording on the open persona; return whether it was played to its end.

    Args:
        screen: the main screen of a running program, whose model is `model`.
        recording: what to play.
        model: the model that replays the same recording.
        hands: how fast.
    """
    conversing = screen.conversing
    await conversing.settled.wait()
    talk = conversing.talk
    if talk is None:
        return False
    screen.chat_bar.set_status(LABEL)
    conversing.view.add_notice("This is a recorded run. The changes are real, in a temporary folder.")
    whole = await _play_runs(screen, recording, model, talk, hands)
    screen.chat_bar.set_status("")
    return whole


async def _play_runs(
    screen: MainScreen, recording: Recording, model: ReplayModel, talk: Talk, hands: Hands
) -> bool:
    conversing = screen.conversing
    for run in recording.runs:
        if not await play_run(screen, run, talk, hands):
            return False
        if model.left or not _completed(talk) or not await _wait(screen, talk, 0.0):
            return False
        conversing.panel_event("show_output")
        if not await _wait(screen, talk, hands.reading) or not await _show_change(
            screen, talk, hands.reading
        ):
            return False
    return True


async def play_run(screen: MainScreen, run: RecordedRun, talk: Talk, hands: Hands = AT_EASE) -> bool:
    """Say what opened a recorded run and wait until it is over; return False when the person acts first.

    A question is answered as it was then; one that has no recorded answer is left to the person.
    """
    conversing, bar = screen.conversing, screen.chat_bar
    if not await _wait(screen, talk, hands.before_message) or not await _type(screen, run.message, hands.key):
        return False
    bar.input.sent.add(as_typed(run.message))
    bar.input.load_text("")
    await conversing.send(run.message, kind="task" if run.is_task else "chat")
    while talk.running:
        question = talk.question
        reply = run.replies.get(question.tool_use_id) if question is not None else None
        if question is not None and reply is not None and await _wait(screen, talk, hands.reading):
            now = talk.question
            if now is not None and now.id == question.id:  # not answered by the person meanwhile
                await conversing.answer(question.id, reply)
        await asyncio.sleep(LOOK_EVERY)  # a run that fails to begin tells nobody of its end
    return True


async def _wait(screen: MainScreen, talk: Talk, seconds: float) -> bool:
    """Let `seconds` go by; return False at once when the person writes something or opens another persona."""
    end = time.monotonic() + seconds
    while not screen.chat_bar.draft and screen.conversing.talk is talk:
        left = end - time.monotonic()
        if left <= 0:
            return True
        await asyncio.sleep(min(left, LOOK_EVERY))
    return False


async def _type(screen: MainScreen, text: str, pause: float) -> bool:
    """Type into the chat bar; return False when the person writes there themselves, who then finds only that."""
    bar = screen.chat_bar
    typed = ""  # as the input has it: it may keep something else than it is given
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


def _completed(talk: Talk) -> bool:
    """Whether the last run came to its end by itself."""
    last = talk.events[-1] if talk.events else None
    return isinstance(last, AgentEnd) and last.outcome == "completed"


async def _show_change(screen: MainScreen, talk: Talk, seconds: float) -> bool:
    """Open what the last run changed first, so that its diff is read, and close it again; False as in `_wait`."""
    view = screen.conversing.view
    place = first_change(screen, talk)
    if place is None or not view.toggle(place):
        return True
    if not await _wait(screen, talk, seconds):
        return False
    if view.layout_model.entries[place].opened:
        view.toggle(place)
        view.follow()
    return True


def first_change(screen: MainScreen, talk: Talk) -> int | None:
    """Return the number of the entry with the first change of the last run; None if it changed nothing."""
    calls = [event.call.id for event in talk.events if isinstance(event, ToolEnd) and event.details]
    entries = screen.conversing.view.layout_model.entries
    return next((index for index, entry in enumerate(entries) if entry.key in calls), None)
