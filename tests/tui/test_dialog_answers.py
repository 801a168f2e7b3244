"""The first answer of a dialog counts, and it is the only one: what is on its way behind it meets nothing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.program import make_store, program
from tests.support.screen import at_once
from tui.document import merge
from tui.document.merge import Choice, MergeConflict
from tui.screens.dialogs import conflict
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.text_prompt import AskLine


async def test_a_dialog_that_is_answered_under_another_goes_when_that_one_has_gone(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        answers: list[object] = []
        lower, upper = AskLine("Lower?"), Confirm("Upper?", action="Do")
        p.app.push_screen(lower, answers.append)
        p.app.push_screen(upper, answers.append)
        await p.dialog(Confirm)
        lower.dismiss("late")
        await p.pilot.pause()
        assert p.app.screen is upper and not answers
        upper.dismiss(True)
        await p.until(lambda: p.app.screen is p.main)
        assert answers == [True, "late"]


async def test_a_text_is_put_together_beside_the_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = []

    def resolve(clash: MergeConflict, choices: Sequence[Choice]) -> str:
        threads.append(threading.current_thread())
        return merge.resolve(clash, choices)

    monkeypatch.setattr(conflict, "resolve", resolve)
    met = merge.merge_texts("a\n", "b\n", "c\n")
    assert isinstance(met, MergeConflict)
    async with program(make_store(tmp_path)) as p:
        chosen = asyncio.ensure_future(p.main.view.choose(met, "Yours", "On disk"))
        await p.dialog(conflict.ConflictDialog)
        await p.press("3", "3")
        await p.until(chosen.done)
        assert chosen.result() == "b\nc\n"
    assert threads[0] is not threading.main_thread()
    assert len(threads) == 1


async def test_a_key_pressed_twice_answers_no_place_that_was_not_seen(tmp_path: Path) -> None:
    lines = [f"line {number}\n" for number in range(20)]
    ours, theirs = (
        "".join(f"{side} {line}" if number in (3, 12) else line for number, line in enumerate(lines))
        for side in ("our", "their")
    )
    met = merge.merge_texts("".join(lines), ours, theirs)
    assert isinstance(met, MergeConflict)
    async with program(make_store(tmp_path)) as p:
        chosen = asyncio.ensure_future(p.main.view.choose(met, "Yours", "On disk"))
        dialog = await p.dialog(conflict.ConflictDialog)
        at_once(p, "1", "1")
        await p.until(lambda: dialog._choices)
        await p.until(lambda: dialog._appeared is not None)
        assert dialog._choices == ["ours"]
        await p.dialog(conflict.ConflictDialog)
        await p.press("2")
        await p.until(chosen.done)
        assert "our line 3" in chosen.result()
        assert "their line 12" in chosen.result()
