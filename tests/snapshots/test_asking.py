"""The panel while it asks: a question with options, and a call to agree to with what it would change."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.models.scripted import ToolUse, answer
from tests.snapshots.conftest import Check
from tests.snapshots.scenes import HOSTILE, SCENES, running, settle
from tui.panel import PanelState

TINY, SMALL, LARGE = (60, 15), (80, 24), (160, 50)
LOOKS = [
    ("plain", SMALL, "dark"),
    ("plain", LARGE, "light"),
    ("wide", LARGE, "dark"),
    ("wide", TINY, "light"),
    ("hostile", SMALL, "light"),
    ("hostile", TINY, "dark"),
]
looks = pytest.mark.parametrize(
    ("scene", "size", "theme"),
    LOOKS,
    ids=[f"{scene}-{size[0]}x{size[1]}-{theme}" for scene, size, theme in LOOKS],
)
Size = tuple[int, int]

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


@looks
async def test_question(scene: str, size: Size, theme: str, tmp_path: Path, looks_as_before: Check) -> None:
    text, options = QUESTIONS[scene]
    asking = answer(
        "I read it. One thing first.", ToolUse("ask_user", {"question": text, "options": options})
    )
    async with running(SCENES[scene], tmp_path, size, theme, asking) as p:
        await p.main.conversing.send(SCENES[scene].run.message, mode="task")
        await p.until(lambda: p.main.conversing.talk.question is not None)
        await settle(p)
        assert p.main.conversing.panel.state is PanelState.PINNED
        looks_as_before(p)


@looks
async def test_approval(scene: str, size: Size, theme: str, tmp_path: Path, looks_as_before: Check) -> None:
    change = answer("This is what I would do.", ToolUse("edit_system_prompt", CHANGES[scene]))
    async with running(SCENES[scene], tmp_path, size, theme, change, approval="ask-all") as p:
        await p.main.conversing.send(SCENES[scene].run.message)
        await p.until(lambda: p.main.conversing.talk.question is not None)
        await settle(p)
        assert p.main.conversing.panel.state is PanelState.PINNED
        looks_as_before(p)
