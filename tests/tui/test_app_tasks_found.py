"""Tasks after a restart of the program: what waits looks and acts as before, what is over is told as it was."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from agent.core.model import Usage
from agent.jobs.agent_jobs import AgentJobs
from agent.jobs.job import Job
from agent.models.scripted import ToolUse, answer
from agent.transcript.older_task_log import SUFFIX
from personas.files import trust
from personas.store import Store
from tests.support.program import Program, make_store, program
from tests.support.task_bench import leave_waiting, logged, session_file
from tests.support.task_screen import (
    ASK,
    ASK_ALL,
    DONE,
    EDIT,
    QUICK,
    asked,
    badge,
    label,
    leave,
    over,
    queued,
    task,
    texts,
)
from tui.chat.activity import activity_line
from tui.chat.conversation_state import Conversation
from tui.screens.dialogs.confirm import Confirm
from tui.settings.schema import Settings
from tui.widgets.footer import KeyLine

pytestmark = pytest.mark.usefixtures("own_settings_file")


def look(p: Program) -> dict[str, Any]:
    """What the screen says of a task that waits."""
    widget = p.main.conversation.panel_controller.panel_view
    assert widget is not None
    entries = p.main.conversation.view.layout_model.entries
    call = entries[-1]
    return {
        "texts": texts(p),
        "call": "".join(text for text, *_ in call._head(70)[0].runs),  # type: ignore[attr-defined]
        "title": widget._title,
        "esc": ("Esc", "stop") in p.main.query_one(KeyLine)._keys,
        "label": label(p),
        "stop": p.main.chat_bar.stop_button.display,
        "panel": p.main.conversation.panel.state,
    }


@pytest.mark.parametrize(("made", "size"), [(ASK, (80, 24)), (EDIT, (140, 40))], ids=["question", "approval"])
async def test_what_waits_looks_as_before_the_restart(
    tmp_path: Path, made: Any, size: tuple[int, int]
) -> None:
    store = make_store(tmp_path)
    trust.trust(store.home.root)
    async with program(store, answer(made), settings=ASK_ALL, size=size) as p:
        await p.say("/task go")
        await asked(p)
        await p.until(lambda: look(p)["title"] == "Agent · waits for your answer")
        before = look(p)
        assert before["esc"] and "Not run" not in before["call"] and "unknown" not in before["call"]
        await leave(p)
    path, lines, of_jobs = job_lines(store)
    worked = {**json.loads(of_jobs[-1]), "worked_seconds": 100.0}
    path.write_text("".join([*lines, json.dumps(worked) + "\n"]), "utf-8")
    async with program(store, answer(DONE), settings=ASK_ALL, size=size) as p:
        await asked(p)
        await p.until(lambda: look(p) == before)
        assert badge(p, "one") == "?"
        await p.press("1", "enter")
        await p.until(lambda: task(p).status == "completed")
        await over(p)
        (call,) = [text for text in texts(p) if text.startswith(made.name)]
        assert "Not run" not in call and "unknown" not in call
        assert made is EDIT or "the first" in call
        talk = p.main.conversation.current
        assert isinstance(talk, Conversation)
        assert talk.time.before >= 100, "time that was worked in an earlier program counts"
        assert "1 min 4" in texts(p)[-1]


async def test_what_was_found_waiting_is_given_up_by_key_and_mouse_and_what_was_queued_comes_back(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    await leave_waiting(store, answer(ASK))
    async with program(store, answer("Hi."), settings=QUICK) as p:
        await asked(p)
        p.main.chat_bar.set_draft("kept", older=True)
        await p.press("tab")
        await p.until(lambda: queued(p) == [("kept", True)])
        for how, key in ("escape", "n"), ("ctrl+c", "n"), ("mouse", "y"):
            if how == "mouse":
                assert await p.pilot.click(".chat--stop")
            else:
                await p.press(how)
            await p.dialog(Confirm)
            assert p.main.conversation.question is not None
            await p.press(key)
            await p.until(lambda: p.app.screen is p.main)
        await p.until(lambda: task(p).status == "cancelled" and p.main.conversation.question is None)
        await p.until(lambda: p.main.chat_bar.draft == "kept" and queued(p) == [])
        await p.until(lambda: texts(p)[-1].startswith("Task stopped · 1 step"))
        assert ("Esc", "stop") not in p.main.query_one(KeyLine)._keys
        await p.run_to_end("hello")
        assert texts(p)[-1] == "Hi."
        shown = texts(p)
        await leave(p)
    async with program(store, settings=QUICK) as p:
        assert texts(p) == shown


ENDS = [
    *(answer("Looking."), answer(EDIT), answer(DONE, usage=Usage(input_tokens=1200, output_tokens=34))),
    answer("A plain answer."),
    answer(ToolUse("edit_system_prompt", {"old": "better line", "new": "best line"}), ids="second"),
    answer(ToolUse("task_complete", {"summary": "And again."}), ids="third"),
]


async def play(p: Program) -> list[str]:
    """Two tasks with a plain message between them; return what is shown."""
    for text, count in (("/task first", 1), ("hello", 2), ("/task second", 3)):
        await p.say(text)
        await p.until(
            lambda text=text, count=count: (  # type: ignore[misc]
                task(p) is not None and task(p).status == "completed" and task(p).original_prompt in text
            )
        )
        await over(p)
    return texts(p)


def job_lines(store: Store) -> tuple[Path, list[str], list[str]]:
    """The log of the conversation, its lines, and those of them that tell of jobs."""
    path = session_file(store, "one")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return path, lines, [line for line in lines if json.loads(line)["type"] == "job"]


async def test_steps_and_ends_of_all_earlier_tasks_are_told_by_the_next_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    async with program(store, *ENDS, settings=QUICK) as p:
        shown = await play(p)
        assert [text for text in shown if text.startswith("step ")] == [
            *("step 1", "step 2", "step 3"),
            *("step 1", "step 2"),
        ]
        first, second = [text for text in shown if text.startswith("Task complete")]
        assert "+better line" in first and "best" not in first and "-better line" in second
        await leave(p)
    path, lines, of_jobs = job_lines(store)
    tasks, _ = logged(store, "one")
    held = asyncio.Event()
    begin = AgentJobs.start

    async def later(*given: Any, **named: Any) -> Job:
        await held.wait()
        return await begin(*given, **named)

    async with program(store, answer(DONE, ids="new"), settings=QUICK) as p:
        assert texts(p) == shown
        monkeypatch.setattr(AgentJobs, "start", later)
        await p.say("/task third")
        talk = p.main.conversation.current
        assert talk is not None and talk.running
        now = time.monotonic()
        said = activity_line(talk.activity, talk.task, talk.time.seconds(now), now)
        assert said.startswith("thinking"), "a task that begins is not taken for the one before"
        held.set()
        await over(p)
        await leave(p)

    damaged = [
        f'{{"type":"job","id":{number}}}\n' if line in of_jobs[2:] else line
        for number, line in enumerate(lines)
    ]
    path.write_text("".join(damaged), encoding="utf-8")
    async with program(store) as p:
        assert set(texts(p)) <= set(shown) and "A plain answer." in texts(p)
        await leave(p)

    # A log of an earlier version, in which tasks had a file of their own.
    older = "".join(
        json.dumps({"type": "task", **task.to_record()}) + "\n" for task in tasks if task.kind == "task"
    )
    path.write_text("".join(line for line in lines if line not in of_jobs), encoding="utf-8")
    path.with_name(f"{path.stem}{SUFFIX}").write_text(older, encoding="utf-8")
    async with program(store) as p:
        assert texts(p) == [
            text for text in shown if text == "step 1" or not text.startswith(("step ", "Task "))
        ]


async def test_a_task_that_went_on_after_its_limit_and_why_one_failed_are_told_by_the_next_program_too(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    more = ToolUse("edit_system_prompt", {"old": "third line", "new": "last line"})
    short = Settings(max_steps=2, task_pause=0.0)
    steps = [answer(EDIT), answer("Words."), answer(more, ids="more"), answer(DONE, ids="done")]
    steps += [answer(ToolUse("get_persona", {}), ids="of the one that fails")]
    async with program(store, *steps, settings=short) as p:
        await p.say("/task go")
        await p.until(lambda: task(p) is not None and task(p).status == "limit")
        await over(p)
        await p.say("/continue")
        await p.until(lambda: task(p).status == "completed")
        await over(p)
        await p.say("/task go")
        await p.until(lambda: task(p).status == "error")
        await over(p)
        await p.until(lambda: texts(p)[-1].startswith("Task failed · 2 steps"))
        shown = texts(p)
        await leave(p)
    (why,) = [text for text in shown if "The script has no further answer." in text]
    assert why.startswith("The task failed at step 2: ")
    assert [text for text in shown if text.startswith("Task stopped by a limit · 2 steps")]
    async with program(store) as p:
        assert texts(p) == shown
        limit = next(text for text in texts(p) if text.startswith("Task stopped by a limit"))
        assert "+better line" in limit and "last line" not in limit
