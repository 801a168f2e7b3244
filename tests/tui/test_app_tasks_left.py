"""Tasks that were left in the middle: all that was asked for comes up, what can be continued stays so, and is seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.models.scripted import Hang, ToolUse, answer
from personas.files import trust
from tests.support.drafts import recall
from tests.support.program import Program, make_store, program
from tests.support.task_bench import leave_waiting
from tests.support.task_screen import (
    ASK_ALL,
    DONE,
    EDIT,
    QUICK,
    asked,
    label,
    leave,
    over,
    queued,
    task,
    texts,
)
from tests.tui.test_queued_messages import copy_of
from tui.widgets.footer import KeyLine

pytestmark = pytest.mark.usefixtures("own_settings_file")


def keys(p: Program) -> list[tuple[str, str]]:
    """What the last line of the screen says."""
    return list(p.main.query_one(KeyLine)._keys)


NAME = ToolUse("update_persona_name", {"name": "Other"})


async def test_every_call_beside_one_that_waited_is_asked_for_in_the_next_program(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    trust.trust(store.home.root)
    await leave_waiting(store, answer(EDIT, NAME))
    async with program(store, answer(DONE), settings=ASK_ALL) as p:
        first = await asked(p)
        await p.press("1", "enter")
        await p.until(lambda: p.main.conversation.question not in (None, first))
        second = await asked(p)
        assert second.approval.tool == "update_persona_name"
        assert "better line" in p.on_disk("one") and store.get("one").name == "One"
        await p.until(lambda: "+better line" in "\n".join(texts(p)))
        assert not any("Not run" in text for text in texts(p))
        await p.press("1", "enter")
        await p.until(lambda: task(p).status == "completed")
        await over(p)
        assert store.get("one").name == "Other"


async def test_what_is_said_beside_a_found_question_is_queued_edited_and_heard_once_it_is_answered(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    trust.trust(store.home.root)
    await leave_waiting(store, answer(EDIT))
    async with program(store, answer(DONE), answer(DONE), settings=ASK_ALL) as p:
        await asked(p)
        p.main.chat_bar.set_draft("from before", older=True)
        await p.until(lambda: ("Tab", "queue") in keys(p))
        await p.press("tab")
        await p.until(lambda: queued(p) == [("from before", True)] and ("Enter", "answer") in keys(p))
        lines = p.main.chat_bar.queued
        await p.until(lambda: "Shift+Up edits" in lines.render_line(0).text)
        await p.press("up")
        await p.pilot.pause()
        assert queued(p) == [("from before", True)], "Up picks an answer"
        await p.press("shift+up")
        await p.until(lambda: queued(p) == [] and p.main.chat_bar.draft == "from before")
        await p.press("tab")
        await p.until(lambda: queued(p) == [("from before", True)])
        await p.press("1", "enter")
        await p.until(lambda: task(p).status == "completed")
        await over(p)
        assert "better line" in p.on_disk("one") and "from before" in texts(p)


async def test_an_answer_written_before_a_restart_is_given_by_the_first_enter(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    trust.trust(store.home.root)
    async with program(store, answer(EDIT), settings=ASK_ALL) as p:
        await p.say("/task go")
        question = await asked(p)
        p.main.chat_bar.set_draft("no because X")
        await p.until(lambda: recall(store.home).answers == {"one": question.id})
        await leave(p)
    async with program(store, answer(DONE), settings=ASK_ALL) as p:
        await asked(p)
        await p.until(lambda: label(p) == "Reply" and p.main.chat_bar.mode == "asking")
        await p.open("two")
        await p.open("one")
        await p.until(lambda: p.main.conversation.questions.may_answer)
        await p.press("enter")
        await p.until(lambda: task(p).status == "completed")
        await over(p)
        assert any("because X" in str(turn) for turn in p.main.conversation.current.chat.turns)
        assert "better line" not in p.on_disk("one")


async def test_a_hand_edit_is_one_line_that_opens(tmp_path: Path) -> None:
    evil = ToolUse("edit_system_prompt", {"old": "second", "new": 'a "better" \x1b[31m'})
    answers = [answer(evil), answer("Done."), answer("I see."), answer("Yes.")]
    async with program(make_store(tmp_path), *answers, settings=QUICK) as p:
        await p.run_to_end("hi")
        await p.press("f8")
        await p.until(lambda: "second" in p.on_disk("one"))
        await p.run_to_end("look")
        view = p.main.conversation.view
        place = next(at for at, text in enumerate(texts(p)) if text.startswith("You changed the file"))
        entry = view.layout_model.entries[place]
        (head,) = entry._head(60)  # type: ignore[attr-defined]
        assert "".join(text for text, *_ in head.runs) == "▸ you changed the file  +1 −1"
        assert view.toggle(place)
        await p.pilot.pause()
        shown = entry.text()
        assert "+second line" in shown and "\x1b" not in shown and "{" not in shown
        assert "\\n" not in shown and "]" not in shown.rsplit("\n", 1)[-1]


async def test_an_answer_in_the_middle_of_which_the_program_was_killed_is_said_to_be_cut(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    async with program(store, [*answer("Many words")[:2], Hang()], settings=QUICK) as p:
        await p.say("tell me")
        await p.until(lambda: "Many" in "".join(texts(p)))
        killed = copy_of(store, tmp_path / "killed" / "home")
        p.main.conversation.tasks.stop()
        await over(p)
    said = "during this answer"
    async with program(killed, answer("Again."), settings=QUICK) as p:
        await p.until(lambda: said in "".join(texts(p)))
        await p.run_to_end("once more")
        await p.open("two")
        await p.open("one")
        assert said not in "".join(texts(p))
    async with program(store, settings=QUICK) as p:
        await p.pilot.pause()
        assert said not in "".join(texts(p)) and "Many" in "".join(texts(p))
