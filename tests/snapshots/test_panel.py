"""The panel in each of its states: at two sizes, light and dark, with plain, wide and hostile text.

A program goes through several states; each is looked at four times.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agent.models.scripted import Script, ToolUse, answer
from tests.snapshots.conftest import Check
from tests.snapshots.scenes import HOSTILE, SCENES, Scene, cut, open_change, overloaded, play_to_end, running
from tests.snapshots.shots import LARGE, MIDDLE, SMALL, TEXTS, TINY, looks, settle, take, wait
from tests.tui.program import Program
from tui.chat.panel_state import PanelState
from tui.recording.recorded_session import script_of

States = AsyncIterator[tuple[str, PanelState]]
HIDDEN, VISIBLE, PINNED = PanelState.HIDDEN, PanelState.VISIBLE, PanelState.PINNED

QUESTIONS = {
    "plain": ("Which tone do you want?", ["Warm and short", "Dry", "As it is"]),
    "wide": ("どの文体にしますか？ 👩‍👩‍👧", ["温かく 🍵", "그대로", "קצר ולעניין"]),
    "hostile": (HOSTILE.run.message, [HOSTILE.run.message, "[/] \x1b[2J", "x" * 300]),
}
CHANGES = {
    "plain": {"old": "in one sentence", "new": "in one short, honest sentence"},
    "wide": {"old": "短く、温かく答えてください。", "new": "古い友人のように、短く温かく答えてください。🍵"},
    "hostile": {"old": "\nshort\n", "new": "\nshort \u202egnp\u200b\x9dhidden\x9c\u2028 as it was\n"},
}


def run_answers(text: str) -> list[Script]:
    """The recorded run, and then a server that has no time."""
    return [*map(script_of, SCENES[text].run.steps), overloaded()]


def cut_answers(text: str) -> list[Script]:
    """The last answer of the recorded run never ends."""
    steps = [script_of(step) for step in SCENES[text].run.steps]
    return [*steps[:-1], cut(steps[-1], 4)]


def asking_answers(text: str) -> list[Script]:
    """The agent asks something, and then whether it may change the prompt."""
    question, options = QUESTIONS[text]
    return [
        answer(
            "I read it. One thing first.", ToolUse("ask_user", {"question": question, "options": options})
        ),
        answer("This is what I would do.", ToolUse("edit_system_prompt", CHANGES[text])),
    ]


# -- the ways through the states: each yields the name of what is on the screen, and the panel's state ---------


async def around_a_run(p: Program, scene: Scene) -> States:
    await play_to_end(p, scene)
    yield "visible", VISIBLE
    await open_change(p)
    yield "pinned", PINNED
    await p.press("ctrl+o", "f")
    await wait(lambda: p.main.conversing.panel.enlarged)
    yield "enlarged", PINNED
    p.main.conversing.enlarge()
    p.main.focus_chat()
    await p.press("escape")
    yield "hidden", HIDDEN
    await play_to_end(p, scene)
    yield "error", VISIBLE


async def before_the_end(p: Program, scene: Scene) -> States:
    await p.press("ctrl+o")
    yield "empty", PINNED
    await p.press("escape")
    await p.say(scene.run.message)
    talk = p.main.conversing.talk
    assert talk is not None
    await wait(lambda: [event.type for event in talk.events[-4:]] == ["turn_delta"] * 4)
    yield "streaming", VISIBLE


async def asking(p: Program, scene: Scene) -> States:
    conversing = p.main.conversing
    talk = conversing.talk
    assert talk is not None
    await conversing.send(scene.run.message, kind="task")
    await wait(lambda: talk.question is not None)
    yield "question", PINNED
    asked = talk.question
    assert asked is not None
    await conversing.answer(asked.id, "As it is")
    await wait(lambda: talk.question not in (None, asked))
    yield "approval", PINNED


WAYS: dict[str, tuple[Callable[[Program, Scene], States], Callable[[str], list[Script]]]] = {
    "around-a-run": (around_a_run, run_answers),
    "before-the-end": (before_the_end, cut_answers),
    "asking": (asking, asking_answers),
}
SIZES = {"enlarged": (TINY, MIDDLE), "question": (TINY, LARGE), "approval": (TINY, LARGE)}
"""The two sizes of a state; of the others SMALL and MIDDLE."""


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("way", WAYS)
async def test_panel(way: str, text: str, tmp_path: Path, looks_as_before: Check) -> None:
    go, answers = WAYS[way]
    pictures: dict[str, str] = {}
    approval = "ask-all" if way == "asking" else "auto"
    async with running(SCENES[text], tmp_path, SMALL, *answers(text), approval=approval) as p:
        async for state, expected in go(p, SCENES[text]):
            await settle(p)
            assert p.main.conversing.panel.state is expected
            taken = await take(p, looks(*SIZES.get(state, (SMALL, MIDDLE))))
            pictures |= {f"{state}-{look}": picture for look, picture in taken.items()}
            assert p.main.conversing.panel.state is expected
    looks_as_before(pictures)
