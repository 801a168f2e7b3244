"""A terminal that is too small shows only that: nothing that is not seen is answered, sent, changed or pressed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.events import Key, MouseDown, MouseUp, Paste
from textual.widgets._toast import Toast

from agent.models.scripted import answer
from tests.support.dialogs import DIALOGS
from tests.support.program import Program, make_store, program
from tests.support.screen import drawn
from tests.support.task_screen import ASK, ASK_ALL, DONE, EDIT, asked, box, over, task
from tui.screens.dialogs.base import Dialog
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.conflict import ConflictDialog
from tui.screens.dialogs.picker import Picker
from tui.screens.dialogs.text_prompt import AskLine
from tui.widgets.text.line_input import LineInput

SMALL, ENOUGH = (40, 10), (80, 24)


async def shrink(p: Program) -> None:
    await p.pilot.resize_terminal(*SMALL)
    await p.until(lambda: p.main.has_class("-too-small"))


async def grow(p: Program) -> None:
    await p.pilot.resize_terminal(*ENOUGH)
    await p.until(lambda: not p.main.has_class("-too-small"))


@pytest.mark.parametrize(("made", "seen_before"), [(ASK, False), (EDIT, True)], ids=["question", "approval"])
async def test_nothing_answers_what_is_not_seen(tmp_path: Path, made: object, seen_before: bool) -> None:
    async with program(
        make_store(tmp_path), answer(made), answer(DONE), settings=ASK_ALL, size=ENOUGH, frames=True
    ) as p:
        p.main.chat_bar.set_draft("/task go")
        await p.press("enter")
        if seen_before:
            await asked(p)
            await p.press("1")
        await shrink(p)
        await p.until(lambda: p.main.conversation.question is not None and task(p).is_waiting)
        question = p.main.conversation.question
        await p.until(lambda: p.main.chat_bar.asked == question.id)
        assert box(p)._appeared is None, "the time of grace begins when it is seen"
        await p.press("1", "enter", "y", "enter", "down", "enter", "ctrl+o", "1", "enter")
        p.app.post_message(Paste("yes"))
        await p.press("enter")
        assert p.main.conversation.question is question and p.main.chat_bar.draft == ""
        await grow(p)
        await asked(p)
        assert (box(p).choices.picked == 0) == seen_before
        await p.press("1", "enter")
        await over(p)
        assert task(p).status == "completed"


async def test_what_is_written_is_kept_and_not_sent(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer("Yes."), size=ENOUGH) as p:
        await shrink(p)
        await p.write("dra")
        p.app.post_message(Paste("ft"))
        for key in ("enter", "tab", "f4", "ctrl+p", "ctrl+g", "up", "f1", "escape"):
            p.app.post_message(Key(key, None))
        await p.press("f8")
        assert p.main.chat_bar.draft == "draft" and p.main.focused is p.main.chat_bar.input
        assert p.app.screen is p.main and not p.main.conversation.running and p.main.panes.front == "prompt"
        await grow(p)
        await p.press("enter")
        await p.until(lambda: "Yes." in drawn(p.app.screen))


async def test_no_pane_is_written_in_and_nothing_pressed_but_ctrl_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.screens.main.program_actions.QUIT_WITHIN", 600.0)
    async with program(make_store(tmp_path), size=ENOUGH) as p:
        p.main.action_go("tests")
        await p.press("ctrl+o")
        shown = p.main.conversation.panel.state
        await shrink(p)
        p.main.set_focus(p.main.prompt)
        await p.write("blind")
        p.app.post_message(Paste("blind"))
        p.main._forward_event(MouseDown(p.main, 3, 3, 0, 0, 1, False, False, False, 3, 3))
        await p.pilot.pause()
        assert "blind" not in p.prompt.text and p.main.conversation.panel.state is shown
        await p.press("ctrl+c")
        await p.notified("again to quit")
        await p.press("ctrl+c")
        await p.until(lambda: p.app.return_code is not None)


def covered(dialog: Dialog[Any]) -> bool:
    return any(cover.display for cover in dialog.query("#too-small"))


async def test_a_dialog_is_neither_seen_nor_answered_and_is_there_again(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), size=SMALL, frames=True) as p:
        for kind in (
            Confirm,
            ConflictDialog,
            AskLine,
            Picker,
        ):  # the first one is opened where it is too small
            dialog = DIALOGS[kind]("Some words", tmp_path)
            p.main.start(p.main.ask(dialog))
            await p.until(lambda dialog=dialog: p.app.screen is dialog and dialog.focused)  # type: ignore[misc]
            focused = dialog.focused
            if kind is not Confirm:
                await p.until(lambda dialog=dialog: dialog._appeared is not None)  # type: ignore[misc]
            await p.pilot.resize_terminal(*SMALL)
            await p.until(lambda dialog=dialog: covered(dialog))  # type: ignore[misc]
            await p.pilot.pause()
            assert [row.strip() for row in drawn(dialog).splitlines() if row.strip()] == [
                "40×10 is too small: at least 60×15"
            ]
            await p.press("y", "n", "1", "enter", "tab", "escape", "ctrl+c", "ctrl+l")
            p.app.post_message(Paste("yes"))
            for mouse in (MouseDown, MouseUp):
                p.app.post_message(mouse(None, 0, 0, 0, 0, 1, False, False, False, 0, 0))
            await p.pilot.pause()
            assert p.app.screen is dialog and dialog._appeared is None, (
                "its time of grace begins when it is seen"
            )
            assert "yes" not in [field.value for field in dialog.query(LineInput)]
            await p.pilot.resize_terminal(*ENOUGH)
            await p.until(lambda dialog=dialog: not covered(dialog) and dialog._appeared is not None)  # type: ignore[misc]
            await p.pilot.pause()
            assert dialog.focused is focused
            assert "too small" not in drawn(dialog)
            dialog._appeared = float("-inf")
            await p.press("escape")
            await p.until(lambda: p.app.screen is p.main)


async def test_what_is_told_covers_nothing_and_is_told_once_it_is_seen(tmp_path: Path) -> None:
    only = ["30×8", "is", "too", "small:", "at", "least", "60×15"]
    async with program(make_store(tmp_path), size=ENOUGH, frames=True) as p:
        p.app.notify("It went wrong.", severity="error", timeout=600)
        await p.until(lambda: "It went wrong." in drawn(p.main))
        await p.pilot.resize_terminal(30, 8)
        await p.until(lambda: drawn(p.main).split() == only)
        p.app.notify("Short.", timeout=600)
        p.app.notify("It went wrong too.", severity="error", timeout=600)
        await p.notified("wrong too")
        await p.until(lambda: len(p.main.query(Toast)) >= 2)
        await p.pilot.pause()
        assert drawn(p.main).split() == only
        p.app.clear_notifications()  # their time went by
        await p.until(lambda: not p.main.query(Toast))
        await p.pilot.resize_terminal(*ENOUGH)
        await p.until(lambda: {"It went wrong.", "It went wrong too."} == set(p.messages))
        await p.until(lambda: "It went wrong." in drawn(p.main) and "wrong too" in drawn(p.main))
        p.app.clear_notifications()
        await shrink(p)
        p.app.notify("Told below a dialog.", timeout=600)
        await p.notified("below")
        dialog = Confirm("Sure?", action="Do")
        p.main.start(p.main.ask(dialog))
        await p.until(lambda: p.app.screen is dialog)
        await grow(p)
        p.app.clear_notifications()
        dialog.dismiss(None)
        await p.notified("Told below a dialog.")
