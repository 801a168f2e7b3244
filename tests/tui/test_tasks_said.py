"""What a person is told of a task on the way: reports, answers, steps, and what the program says to the model alone."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from agent.core.turns import NoticeTurn
from agent.jobs.messages import GO_ON_TASK
from agent.models.scripted import ToolUse, answer
from personas.files import trust
from tests.support.messages_server import Answer, Call, MessagesServer, call, say
from tests.support.persona_agent import Backend, Workplace
from tests.support.program import Gate, GatedModel, Program, make_store, program
from tui.chat.export import as_markdown
from tui.cli import error_handling
from tui.screens.dialogs.quit_dialog import QuitDialog
from tui.settings.schema import Settings
from tui.widgets.footer import KeyLine

QUICK = Settings(task_pause=0.0)
ASK = ToolUse("ask_user", {"question": "Which colour do you like?"})
DONE = ToolUse("task_complete", {"summary": "All done."})
REPORT = (
    "Read the whole persona, found three weak sentences in the second part, and now begin to write each of them "
    "anew, one after the other."
)


@pytest.fixture(autouse=True)
def own_settings(own_settings_file: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.toml").write_text("task_pause = 0\n", encoding="utf-8")


def drawn(p: Program) -> list[str]:
    """The lines of the conversation as they are drawn."""
    layout = p.main.conversation.view.layout_model
    return [
        "".join(run for run, _ in line.runs).rstrip()
        for index in range(len(layout.entries))
        for part in layout.draw_entry(index)
        for line in part.draw(layout.width)
    ]


async def over(p: Program, status: str = "completed") -> None:
    await p.until(lambda: p.main.conversation.current.task is not None)  # type: ignore[union-attr]
    await p.until(lambda: p.main.conversation.current.task.status == status)  # type: ignore[union-attr]
    await p.until(lambda: not p.main.conversation.running)


# -- in the panel ------------------------------------------------------------------------------------------


async def test_a_report_on_the_way_is_read_in_full_and_what_tells_the_model_to_go_on_is_not(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    update = answer(ToolUse("send_update", {"text": REPORT}))

    def check(p: Program) -> None:
        shown = drawn(p)
        assert REPORT in " ".join(shown) and not any("send_update" in line for line in shown)
        assert any("Thinking aloud." in line for line in shown)
        assert not any("still open" in line for line in shown)

    answers = [update, answer("Thinking aloud."), answer(DONE, ids="done")]
    async with program(store, *answers, settings=QUICK, size=(80, 24)) as p:
        await p.say("/task go")
        await over(p)
        check(p)
        talk = p.main.conversation.current
        assert talk is not None and talk.chat is not None
        turns = list(talk.chat.turns)
        assert any(isinstance(turn, NoticeTurn) and turn.content == GO_ON_TASK for turn in turns)
        assert "still open" not in as_markdown(turns)
    async with program(store, size=(80, 24)) as p:
        check(p)  # likewise when it is read again


async def test_a_report_that_was_not_taken_is_an_error_like_any_other(tmp_path: Path) -> None:
    answers = [answer(ToolUse("send_update", {"text": REPORT})), answer("Well.")]
    async with program(make_store(tmp_path), *answers, settings=QUICK) as p:
        await p.run_to_end("hello")
        assert any("send_update" in line for line in drawn(p))


async def test_the_answer_to_a_question_stands_behind_it(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store, answer(ASK), answer(DONE, ids="done"), settings=QUICK, size=(80, 24)) as p:
        await p.say("/task go")
        await p.until(lambda: p.main.conversation.question is not None)
        assert not any("you  " in line for line in drawn(p)[1:])
        question = p.main.conversation.question
        assert question is not None
        await p.main.conversation.questions.answer(question.id, "deep [b]blue[/b]")
        await over(p)
        shown = drawn(p)
        place = next(number for number, line in enumerate(shown) if "Which colour do you like?" in line)
        assert shown[place + 1] == "  you  deep [b]blue[/b]"


async def test_a_task_that_asks_while_the_program_is_to_end_says_so(tmp_path: Path) -> None:
    gate = Gate()
    model = GatedModel([[gate, *answer(ASK)], answer(DONE, ids="done")])
    async with program(make_store(tmp_path), model=model, settings=QUICK, size=(120, 30)) as p:
        await p.say("/task go")
        await p.until(lambda: model.requests)
        p.main.action_leave()
        await p.dialog(QuitDialog)
        await p.press("w")
        await p.until(lambda: "quits when done" in p.main.query_one(KeyLine)._note)
        gate.set()
        await p.notified("One has a question. The program quits after")
        question = p.main.conversation.question
        assert question is not None and p.app.is_running
        await p.main.conversation.questions.answer(question.id, "blue")
        await p.until(lambda: p.app._exit)


# -- in commands -------------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    place = Workplace(tmp_path / "home", Backend("loopback", {}))
    place.store.create("Kept", system_prompt="You are kept.\n")
    return place


@pytest.fixture
def run(place: Workplace) -> Iterator[Any]:
    """Run a command against a server with these answers; gives code, stdout and stderr."""

    def run(answers: list[Answer], *arguments: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with MessagesServer(answers) as server:
            env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key}
            with (
                open(os.devnull) as nothing,
                mock.patch("sys.stdin", nothing),
                mock.patch.dict(os.environ, place.environment(env), clear=True),
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
                pytest.raises(SystemExit) as left,
            ):
                error_handling.run(list(arguments))
            assert server.refusals == []
        return int(left.value.code or 0), out.getvalue(), err.getvalue()

    yield run


def test_the_summary_of_a_task_that_is_not_done_is_not_told_as_its_end(run: Any) -> None:
    fails = Call("edit_system_prompt", {"old": "nowhere", "new": "x"})
    too_soon = Answer((fails, Call("task_complete", {"summary": "The work is complete."})))
    code, out, err = run(
        [too_soon, say("Oh, it failed."), call("task_complete", {"summary": "Really done."})],
        *("chat", "kept", "go", "--task"),
    )
    assert code == 0 and out.splitlines() == ["Oh, it failed.", "Really done."]
    assert "> task_complete error:" in err


def test_an_invented_end_of_a_plain_message_tells_no_summary(run: Any) -> None:
    invented = call("task_complete", {"summary": "The work is complete."})
    code, out, err = run([invented, say("I cannot do that.")], "chat", "kept", "go")
    assert code == 0 and out.splitlines() == ["I cannot do that."] and "> task_complete error:" in err


def test_reports_are_told_when_they_were_taken(run: Any) -> None:
    code, out, _ = run(
        [call("send_update", {"text": REPORT}), call("task_complete", {"summary": "Done."})],
        *("chat", "kept", "go", "--task"),
    )
    assert code == 0 and out.splitlines() == [REPORT, "Done."]


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_no_command_tells_what_is_meant_for_the_model(run: Any, place: Workplace, as_json: bool) -> None:
    answers = [say("Thinking aloud."), call("task_complete", {"summary": "Done."})]
    code, out, err = run(answers, "chat", "kept", "go", "--task", *(["--json"] if as_json else []))
    assert code == 0 and "Thinking aloud." in out
    assert "still open" not in out + err
    assert b"still open" not in place.run_here("history", "kept").stdout
    stored = json.loads(place.run_here("history", "kept", "--json").stdout)["turns"]
    assert [turn["content"] for turn in stored if turn["type"] == "notice"] == [GO_ON_TASK], "the log has it"


def test_what_to_do_with_an_approval_in_a_strange_home_begins_with_trust(
    run: Any, place: Workplace, tmp_path: Path
) -> None:
    (tmp_path / "config.toml").write_text('task_pause = 0\napproval = "ask-all"\n', encoding="utf-8")
    renames = [call("update_persona_name", {"name": "Other"})]
    code, _, err = run(renames, "chat", "kept", "go", "--task")
    assert code == 3 and "(answer with: persona reply kept" in err
    place.run_here("reply", "kept", "--stop")
    trust.distrust(place.home)
    code, _, err = run(renames, "chat", "kept", "go", "--task")
    assert code == 3 and "persona trust" in err and "persona reply kept" in err.partition("persona trust")[2]
    place.run_here("reply", "kept", "--stop")
    code, _, err = run([call("ask_user", {"question": "Which?"})], "chat", "kept", "go", "--task")
    assert code == 3 and "persona trust" not in err, "a plain question needs no trust"
