"""The screen beside another program that works on the same persona: it is seen, and never mixed up with one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.chat.chat import Chat
from agent.core.events import AgentStart
from agent.core.turns import UserTurn
from agent.jobs.agent_jobs import AgentJobs
from agent.jobs.approval_policy import ApprovalRules
from agent.jobs.options import JobOptions
from agent.jobs.recovery import find_job
from agent.models.scripted import ScriptedModel, ToolUse, answer
from agent.transcript.session_store import open_session, start_session
from personas.errors import StorageError
from personas.files import trust
from personas.files.journal import Journal
from personas.store import Store
from tests.support.program import Gate, GatedModel, Program, make_store, program
from tests.support.task_bench import leave_waiting
from tests.support.task_screen import ASK, ASK_ALL, DONE, EDIT, QUICK, asked, badge, label, over, task, texts
from tui.settings.schema import Settings

pytestmark = pytest.mark.usefixtures("own_settings_file")

LAST = ToolUse("ask_user", {"question": "Delete everything?", "options": ["yes", "no"]})


class Other:
    """Another program on the same home, in this process."""

    def __init__(self, store: Store, *answers: Any, model: Any = None) -> None:
        options = JobOptions(ApprovalRules("ask-all"), request_pause=0)
        self.chat = Chat(store, "one", model or ScriptedModel(answers))
        self.runner = AgentJobs(options, is_trusted=lambda _home: True)

    async def leave_waiting(self, p: Program) -> None:
        await p.until(
            lambda: (now := self.runner.job("one")) is not None and now.pending_question is not None
        )
        self.runner.suspend("one")
        await self.runner.wait("one")


async def test_a_question_that_another_program_asks_is_seen_and_its_task_at_work_is_left_alone(
    tmp_path: Path,
) -> None:
    async with program(make_store(tmp_path), answer("Hi."), answer(DONE), settings=QUICK) as p:
        await p.run_to_end("hello")
        await leave_waiting(p.store, answer(ASK), prompt="From elsewhere.")
        await asked(p)
        assert texts(p)[:3] == ["hello", "Hi.", "From elsewhere."] and badge(p, "one") == "?"
        await p.press("1", "enter")
        await p.until(lambda: task(p).status == "completed")
        await over(p)
        assert [text for text in texts(p) if text == "From elsewhere."] == ["From elsewhere."]

        gate = Gate()
        other_model = GatedModel([answer("First."), [gate, *answer(DONE)]])
        other = Other(p.store, model=other_model)
        await other.runner.start(other.chat, "From elsewhere.")
        await p.until(lambda: badge(p, "one") == "●" and "First." in texts(p))
        assert "Another program" in str(p.main.chat_bar.input.placeholder)
        p.main.action_stop_agent()
        await p.notified("stopped there")
        assert p.app.screen is p.main
        gate.set()
        await other.runner.wait("one")
        await p.until(lambda: badge(p, "one") == "" and texts(p)[-1].startswith("Task complete"))
        assert "Another program" not in str(p.main.chat_bar.input.placeholder)


@pytest.mark.parametrize("made", [ASK, EDIT], ids=["question", "approval"])
async def test_an_answer_to_what_was_answered_elsewhere_comes_back(tmp_path: Path, made: ToolUse) -> None:
    store = make_store(tmp_path)
    trust.trust(store.home.root)
    async with program(store, settings=ASK_ALL) as p:
        await leave_waiting(p.store, answer(made), prompt="From elsewhere.")
        shown = await asked(p)
        p.main.conversation.history.catching_up = True  # what the screen shows stays what it was
        other = Other(store, answer(LAST, ids="later"))
        await other.runner.respond(other.chat, "no")
        await p.until(
            lambda: (
                (now := other.runner.job("one")) is not None and now.pending_question == "Delete everything?"
            )
        )
        await other.leave_waiting(p)
        assert p.main.conversation.question == shown
        await p.say("no, not that")
        await p.until(lambda: p.main.chat_bar.draft == "no, not that")
        await p.notified("no longer open")
        await p.until(
            lambda: (
                p.main.conversation.question is not None
                and p.main.conversation.question.text == "Delete everything?"
            )
        )
        assert p.main.chat_bar.mode != "asking", "it is no answer to that one"
        found = find_job(store, "one")
        assert found is not None and found.pending_question == "Delete everything?"


async def test_a_message_from_before_the_question_does_not_become_its_answer(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    trust.trust(store.home.root)
    async with program(store, answer(DONE), settings=ASK_ALL) as p:
        p.main.conversation.history.catching_up = True  # the screen knows nothing of it
        await leave_waiting(p.store, answer(EDIT), prompt="From elsewhere.")
        assert p.main.conversation.question is None
        await p.say("ok")
        await p.until(lambda: p.main.conversation.question is not None and p.main.chat_bar.draft == "ok")
        await over(p)
        await asked(p)
        assert label(p) == "Reply"
        await p.press("enter")
        await p.notified("Enter sends this as the answer")
        found = find_job(store, "one")
        assert found is not None and found.is_waiting and "second line" in p.on_disk("one")


async def test_what_another_program_says_is_shown_and_the_conversation_that_it_began(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    session = open_session(store, "one", start_session(store, "one"))
    session.record(AgentStart(run_id="run_1", seq=0, at=0.0))
    session.add(UserTurn(content="go"))
    session.close()
    async with program(store, answer("Here.")) as p:
        await p.until(lambda: any("during this answer" in text for text in texts(p)))
        await Other(store, answer("Whole.")).chat.send("again")
        await p.until(lambda: "Whole." in texts(p))
        await p.until(lambda: texts(p) == ["go", "again", "Whole."])  # no longer that an answer was cut

        other = Other(p.store, answer("New."), answer("More."))
        other.chat.load()
        new = other.chat.clear()
        await other.chat.send("from elsewhere")
        await p.until(lambda: texts(p) == ["from elsewhere", "New."])
        await other.chat.send("and on")
        await p.until(lambda: texts(p) == ["from elsewhere", "New.", "and on", "More."])
        talk = p.main.conversation.current
        assert talk is not None and talk.chat is not None and talk.chat.session_id == new
        await p.main.conversation.history.load_older()
        await p.run_to_end("from here")
        assert texts(p)[-2:] == ["from here", "Here."] and "go" not in texts(p)


async def test_the_words_that_began_a_refused_task_come_back_as_they_were_typed(tmp_path: Path) -> None:
    gate = Gate()
    model = GatedModel([[gate, *answer("Hi.")]])
    one_at_once = Settings(task_pause=0.0, tasks_at_once=1)
    async with program(make_store(tmp_path), model=model, settings=one_at_once, persona_id="one") as p:
        await p.say("hello")
        await p.until(lambda: model.requests)
        await p.open("two")
        await p.until(lambda: p.main.conversation.current is not None)
        await p.say("/task improve it")
        await p.until(lambda: p.main.chat_bar.draft == "/task improve it")
        gate.set()
        await p.until(lambda: not p.main.conversation.runs.working)


async def test_a_disk_that_is_full_takes_neither_question_nor_answer_and_gives_nothing_back_that_has_arrived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: Any, **_options: Any) -> None:
        raise StorageError("Could not write: the disk is full")

    gate = Gate()
    model = GatedModel(
        [answer(ASK), answer(DONE, ids="done"), answer("One."), [gate, *answer(EDIT, ids="last")]]
    )
    async with program(make_store(tmp_path), model=model, settings=QUICK) as p:
        await p.say("/task go")
        await asked(p)
        with monkeypatch.context() as full:
            full.setattr(Journal, "append", refuse)
            await p.say("my own answer")
            await p.until(lambda: p.main.chat_bar.draft == "my own answer")
            assert p.main.conversation.question is not None and label(p) == "Reply"
        await p.press("enter")
        await p.until(lambda: task(p).status == "completed")
        await over(p)
        assert p.main.chat_bar.draft == ""

        await p.say("/task go")
        await p.until(lambda: len(model.requests) == 4)
        monkeypatch.setattr(Journal, "append", lambda *_a, **_o: (_ for _ in ()).throw(StorageError("full")))
        gate.set()
        await over(p)
        assert p.main.chat_bar.draft == ""
        monkeypatch.undo()
