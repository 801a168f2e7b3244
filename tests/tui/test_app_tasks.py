"""Tasks on the screen: steering, what is queued, questions and approvals, leaving and coming back, limits."""

from __future__ import annotations

import re
import time
from itertools import pairwise
from pathlib import Path

import pytest
from textual.events import Key

from agent.core.model import Usage
from agent.jobs.job import Job
from agent.models.scripted import Hang, ToolUse, answer
from agent.transcript.session_store import start_session
from tests.support.drafts import leave_chat
from tests.support.program import Gate, GatedModel, Program, make_store, program
from tests.support.task_bench import leave_waiting, log_event
from tests.support.task_screen import (
    ASK,
    ASK_ALL,
    DONE,
    EDIT,
    QUICK,
    asked,
    badge,
    box,
    label,
    over,
    queued,
    task,
    texts,
)
from tui.chat.panel_state import PanelState
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.quit_dialog import QuitDialog
from tui.settings.schema import Settings
from tui.widgets.agent_panel import AgentPanel
from tui.widgets.footer import KeyLine
from tui.widgets.text.document_editor import DocumentEditor

pytestmark = pytest.mark.usefixtures("own_settings_file")


# -- from beginning to end --------------------------------------------------------------------------------


async def test_a_task_goes_on_until_it_is_complete_task_mode_is_a_switch_and_esc_stops_a_task(
    tmp_path: Path,
) -> None:
    again = ToolUse("edit_system_prompt", {"old": "third line", "new": "last line"})
    answers = [
        *(answer("Looking."), answer(EDIT), answer(DONE, usage=Usage(input_tokens=1200, output_tokens=34))),
        *(answer("A."), answer(DONE, ids="second"), answer("B.")),
        *(answer(again, ids="third"), [*answer("And")[:2], Hang()]),
    ]
    async with program(make_store(tmp_path), *answers, settings=QUICK) as p:
        await p.say("/task make it better")
        await p.until(lambda: task(p) is not None and task(p).status == "completed")
        await over(p)
        shown = texts(p)
        assert shown[0] == "make it better"
        assert shown[1] == "step 1"
        assert [text for text in shown if text.startswith("step ")] == ["step 1", "step 2", "step 3"]
        ending = shown[-1]
        assert re.match(r"Task complete · 3 steps · \d+ s · 1\.2k tok", ending)
        assert "All [b]done." in ending and "+better line" in ending and "-second line" in ending
        place = len(shown) - 1
        assert p.main.conversation.view.toggle(place), "the diff of the whole task opens"

        await p.say("/task")
        await p.run_to_end("first")
        assert (task(p).kind, task(p).status) == ("task", "completed")
        p.main.action_task_mode()
        await p.run_to_end("second")
        assert (task(p).kind, task(p).status) == ("chat", "completed")

        await p.say("/task go")
        await p.until(lambda: "last line" in p.on_disk("one") and task(p).step_count == 2)
        assert label(p) == "Stop"
        await p.press("escape")
        await over(p)
        assert task(p).status == "cancelled" and label(p) == "Send"
        assert any("Stopped at step 2" in text for text in texts(p))
        assert "last line" in p.on_disk("one")
        await p.press("f8")
        await p.until(lambda: "third line" in p.on_disk("one"))


async def test_a_task_stopped_by_a_limit_and_an_answer_that_was_cut_short_can_be_continued(
    tmp_path: Path,
) -> None:
    short = Settings(max_steps=1, task_pause=0.0)
    answers = [
        *(answer("Half", stop_reason="max_tokens"), answer("Whole.")),
        *(answer(EDIT, ids="1"), answer("It was the second line."), answer(DONE, ids="2")),
        *(answer(ToolUse("get_persona", {}), ids="3"), answer(DONE, ids="4")),
    ]
    async with program(make_store(tmp_path), *answers, settings=short) as p:

        def placeholder() -> str:
            return str(p.main.chat_bar.input.placeholder)

        async def limit() -> None:
            await p.say("/task go")
            await p.until(lambda: task(p).status == "limit")
            await over(p)
            assert "/continue" in placeholder()

        await p.run_to_end("go")
        assert "/continue" in placeholder()
        await p.say("/continue")
        await p.until(lambda: texts(p)[-1] == "Whole.")
        await over(p)
        assert "/continue" not in placeholder()

        await limit()
        await p.run_to_end("what did you change?")
        await over(p)
        await p.until(lambda: "/continue" in placeholder())  # a message between does not take it away
        await p.until(lambda: label(p) == "Continue")
        p.main.focus_chat()
        await p.write("x")
        await p.until(lambda: label(p) == "Send")
        await p.press("backspace")
        await p.until(lambda: label(p) == "Continue")
        await p.pilot.click(p.main.chat_bar.query_one(".chat--act"))
        await p.until(lambda: task(p).status == "completed")
        await over(p)
        await p.until(lambda: label(p) == "Send")
        assert len([text for text in texts(p) if text.startswith("Task stopped by a limit")]) == 1

        await limit()
        await p.say("/continue and finish")
        await p.until(lambda: task(p).status == "completed")
        await over(p)
        assert "and finish" in texts(p)


# -- what is said meanwhile -------------------------------------------------------------------------------


def at_once(p: Program, text: str, key: str) -> None:
    """Type `text` and press `key`, as fast as they come in one read."""
    for character in text:
        p.app.post_message(Key("space" if character == " " else character, character))
    p.app.post_message(Key(key, None))


async def test_what_is_queued_is_shown_edited_removed_and_comes_back_and_quitting_can_wait_for_the_agent(
    tmp_path: Path,
) -> None:
    gate, last = Gate(), Gate()
    begun = [*answer("I begin")[:2], Hang()]
    model = GatedModel([[gate, *answer("First.")], answer("Second."), begun, [last, *answer("Ready.")]])
    async with program(make_store(tmp_path), model=model) as p:
        await p.say("go")
        await p.until(lambda: model.requests)
        await p.say("sooner")
        at_once(p, "then this", "tab")
        await p.until(lambda: queued(p) == [("sooner", False), ("then this", True)])
        assert p.main.focused is p.main.chat_bar.input and p.main.chat_bar.draft == ""
        await p.press("up")
        await p.until(lambda: queued(p) == [("sooner", False)])
        assert p.main.chat_bar.draft == "then this"
        await p.write("!")
        await p.press("enter")
        await p.until(lambda: queued(p) == [("sooner", False), ("then this!", False)])
        lines = p.main.chat_bar.queued
        await p.pilot.click(lines, offset=(lines.size.width - 1, 0))
        await p.until(lambda: queued(p) == [("then this!", False)])
        p.main.focus_chat()
        await p.press("tab")
        assert p.main.focused is not p.main.chat_bar.input, "with nothing written it goes to the next pane"
        gate.set()
        await over(p)
        assert queued(p) == [] and p.main.chat_bar.draft == ""
        assert [text for text in texts(p) if text in ("sooner", "then this!")] == ["then this!"]
        p.main.focus_chat()
        at_once(p, "draft", "ctrl+c")
        await p.notified("Draft cleared")
        assert p.main.chat_bar.draft == ""

        await p.say("go on")
        await p.until(lambda: p.main.conversation.running)
        await p.say("one more")
        await p.write("and")
        await p.press("escape")
        await over(p)
        assert p.main.chat_bar.draft == "one more\nand", (
            "what was not delivered is before what is being written"
        )

        await p.say("go")
        await p.until(lambda: len(model.requests) == 4)
        p.main.action_leave()
        await p.dialog(QuitDialog)
        await p.press("w")
        await p.until(lambda: p.app.screen is p.main)
        assert p.app.return_code is None
        last.set()
        await p.until(lambda: p.app.return_code == 0)


# -- questions --------------------------------------------------------------------------------------------


async def test_a_question_is_answered_by_keyboard_by_mouse_or_in_own_words(tmp_path: Path) -> None:
    turns = [answer(one, ids=f"{n}") for n in range(3) for one in (ASK, DONE)]
    last = [*(answer(ASK, ids=f"last{n}") for n in range(3)), answer(Hang())]
    async with program(make_store(tmp_path), *turns, *last, settings=QUICK, size=(80, 24)) as p:

        async def answered(words: str) -> None:
            await p.until(lambda: task(p).status == "completed")
            await over(p)
            assert words in [text for text in texts(p) if text.startswith("ask_user")][-1]

        assert not p.main.chat_bar.stop_button.display
        await p.say("/task go")
        await asked(p)
        panel = p.main.conversation.panel_controller.panel_view
        assert panel is not None and p.main.conversation.panel.state is PanelState.PINNED
        assert str(p.main.chat_bar.input.placeholder) == "Which [/] one?" and label(p) == "Reply"
        await p.until(lambda: panel._title == "Agent · waits for your answer")
        await p.press("enter")
        assert p.main.conversation.question is not None, "nothing is picked before somebody picks"
        p.main.action_go("prompt")
        await p.press("1")
        assert isinstance(p.main.focused, DocumentEditor) and box(p).choices.picked is None
        p.main.focus_chat()
        await p.press("down", "down", "up", "2", "enter")
        await answered("the second")

        await p.say("/task by mouse")
        await asked(p)
        await p.pilot.pause()
        await p.pilot.click(".ask--choices", offset=(3, 0))
        await p.until(lambda: box(p).choices.picked == 0)
        await p.pilot.click(".chat--act")
        await answered("the first")

        await p.say("/task in own words")
        await asked(p)
        await p.write("2 of them")
        assert p.main.chat_bar.draft == "2 of them"
        await p.press("enter")
        await answered("2 of them")

        await p.say("/task again")
        await asked(p)
        await p.pilot.click(".panel--dismiss")
        await p.pilot.pause()
        assert p.main.conversation.panel.state is PanelState.PINNED, "it goes not while something is asked"
        await p.press("escape")
        await over(p)
        assert task(p).status == "cancelled" and not box(p).display

        await p.say("/task is stopped by mouse alone")
        await asked(p)
        await p.pilot.pause()
        assert await p.pilot.click(".chat--stop")
        await over(p)
        assert task(p).status == "cancelled" and not p.main.chat_bar.stop_button.display

        await p.say("/task takes its time")  # that of waiting is none of work
        await asked(p)
        talk = p.main.conversation.current
        assert talk is not None
        now = time.monotonic()
        assert talk.time.seconds(now + 3600) == talk.time.seconds(now) < 20
        await p.press("1", "enter")
        await p.until(lambda: task(p).status == "thinking")
        now = time.monotonic()
        assert talk.time.seconds(now + 60) == pytest.approx(talk.time.seconds(now) + 60)


# -- approvals --------------------------------------------------------------------------------------------


async def test_an_approval_shows_the_exact_change_and_is_refused_and_given_by_keyboard(
    tmp_path: Path,
) -> None:
    sly = ToolUse("edit_system_prompt", {"old": "second line", "new": "-- second line\n++ and obey me"})
    turns = [
        *(answer(sly, ids="0"), answer(DONE, ids="d0"), answer(EDIT, ids="1"), answer(DONE, ids="d1")),
        *(answer(EDIT, ids="2"), answer(DONE, ids="d2"), answer(EDIT, ids="3")),
        *(answer(EDIT, ids="4"), answer(DONE, ids="d4")),
    ]
    async with program(make_store(tmp_path), *turns, settings=ASK_ALL) as p:

        def diff() -> str:
            return str(box(p).query_one(".ask--diff").render())

        async def answered(words: str) -> None:
            await p.until(lambda: task(p).status == "completed")
            await over(p)
            assert any(words in text for text in texts(p)) and "second line" in p.on_disk("one")

        await p.say("/task looks like the head of a diff")
        await asked(p)
        assert "+-- second line" in diff() and "+++ and obey me" in diff() and "-second line" in diff()
        await p.say("perhaps later")
        await p.until(lambda: p.main.chat_bar.draft == "perhaps later")
        assert p.main.conversation.question is not None and any("Answer once" in text for text in p.messages)
        await p.say("no, keep that line")
        await answered("the owner said no: keep that line")

        for reason, told in ("it is good", "no: it is good"), ("", "no."):
            await p.say("/task go")
            await asked(p)
            await p.press("4", "enter")
            await p.write(reason)
            assert p.main.conversation.question is not None, "nothing is answered before Enter"
            assert "Enter alone: no reason" in str(box(p).query_one(".ask--hint").render())
            await p.press("enter")
            await answered(f"the owner said {told}")

        await p.say("/task is stopped")
        await asked(p)
        await p.press("4", "enter", "escape")
        await over(p)
        assert p.main.chat_bar.draft == ""

        await p.say("/task at last")
        question = await asked(p)
        assert "-second line" in diff() and "+better line" in diff() and '"""' not in diff()
        assert question.approval.diff and "second line" in p.on_disk("one")
        await p.press("1", "enter")
        await p.until(lambda: task(p).status == "completed")
        await over(p)
        assert "better line" in p.on_disk("one")


async def test_an_approval_is_answered_by_mouse_but_by_no_key_that_was_pressed_before_it_was_seen(
    tmp_path: Path,
) -> None:
    gate = Gate()
    best = ToolUse("edit_system_prompt", {"old": "better line", "new": "best line"})
    again = ToolUse("edit_system_prompt", {"old": "third line", "new": "last line"})
    turns = [answer(EDIT, ids="0"), [gate, *answer(EDIT, ids="1")], answer(DONE, ids="d1")]
    turns += [answer(best, ids="2"), answer(again, ids="3"), answer(DONE, ids="d2")]
    model = GatedModel(turns)
    async with program(make_store(tmp_path), model=model, settings=ASK_ALL, size=(140, 40)) as p:
        await p.say("/task go")
        await asked(p, seen=False)
        for keys in ["enter"], ["down", "enter"], ["1", "enter"], ["o", "k", "enter"]:
            await p.press(*keys)
            await p.pilot.pause()
            assert p.main.conversation.question is not None and "second line" in p.on_disk("one")
        assert await p.pilot.click(".chat--stop")
        await over(p)
        assert task(p).status == "cancelled" and "second line" in p.on_disk("one")
        assert not p.main.chat_bar.stop_button.display

        await p.say("/task a draft begun before is no answer, however late it is sent")
        await p.until(lambda: len(model.requests) == 2)
        await p.write("ok")
        gate.set()
        await asked(p)
        assert label(p) == "Send"
        await p.press("enter")
        await p.until(lambda: queued(p) == [("ok", False)])
        assert p.main.conversation.question is not None and "second line" in p.on_disk("one")
        await p.until(lambda: label(p) == "Reply")
        await p.write("ok")
        await p.press("enter")
        await p.until(lambda: "better line" in p.on_disk("one"))
        await over(p)

        await p.say("/task by mouse, for all of it")
        await asked(p)
        await p.pilot.pause()
        await p.pilot.click(".ask--choices", offset=(12, 0))
        await p.until(lambda: box(p).choices.picked == 1)
        await p.pilot.click(".ask--choices", offset=(12, 0))
        await p.until(lambda: task(p).status == "completed")
        await over(p)
        assert "best line" in p.on_disk("one")
        assert "last line" in p.on_disk("one"), "the second call of the tool is not asked for"


# -- leaving and coming back ------------------------------------------------------------------------------


async def test_badges_tell_working_waiting_done_and_failed(tmp_path: Path) -> None:
    gates = [Gate(), Gate(), Gate()]
    model = GatedModel(
        [
            [gates[0], *answer(ASK)],
            [gates[1], *answer("Done.")],
            [gates[2], *answer("Half", stop_reason="max_tokens")],
        ]
    )
    files = {name: f'name = "{name}"\nsystem_prompt = "x"\n' for name in ("a", "b", "c", "d")}
    async with program(make_store(tmp_path, files), model=model, settings=QUICK, persona_id="a") as p:
        await p.say("/task ask")
        await p.until(lambda: len(model.requests) == 1)
        await p.open("b")
        await p.until(lambda: p.main.conversation.current is not None)
        await p.say("talk")
        await p.until(lambda: len(model.requests) == 2)
        await p.open("c")
        await p.until(lambda: p.main.conversation.current is not None)
        await p.say("/task long")
        await p.until(lambda: len(model.requests) == 3)
        await p.open("d")
        assert [badge(p, key) for key in "abcd"] == ["●", "●", "●", ""]
        for gate in gates:
            gate.set()
        await p.until(lambda: [badge(p, key) for key in "abcd"] == ["?", "✓", "!", ""])
        await p.open("b")
        await p.until(lambda: badge(p, "b") == "")


async def test_coming_back_shows_everything_in_place(tmp_path: Path) -> None:
    long = "\n\n".join(f"line {number}" for number in range(80))
    gate = Gate()
    model = GatedModel([answer(long), [gate, *answer(EDIT)], answer("Ready.")])
    async with program(make_store(tmp_path), model=model, frames=True) as p:
        await p.run_to_end("tell me")
        p.main.conversation.panel_controller.panel_event("show_output")
        await p.pilot.pause()
        await p.say("go on")
        await p.until(lambda: len(model.requests) == 2)
        p.main.conversation.view.page(-2)
        await p.pilot.pause()
        stood = p.main.conversation.view.view_state()
        assert stood.top is not None
        await p.open("two")
        gate.set()
        await p.until(lambda: badge(p, "one") == "✓")
        await p.open("one")
        await p.until(lambda: p.main.conversation.current is not None)
        await p.pilot.pause()
        assert p.main.conversation.view.view_state() == stood
        assert texts(p)[0] == "tell me" and texts(p)[-1] == "Ready."
        assert len(set(texts(p))) == len(texts(p))


async def test_an_approval_found_in_a_home_shows_in_the_list_and_asks_for_trust_first(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    await leave_waiting(store, answer(EDIT))
    async with program(store, answer(DONE), settings=ASK_ALL, persona_id="two") as p:
        await p.until(lambda: badge(p, "one") == "?")
        assert p.main.conversation.question is None
        await p.open("one")
        await asked(p)
        await p.press("1", "enter")
        await p.dialog(Confirm)
        await p.press("n")
        await p.until(lambda: p.app.screen is p.main)
        assert p.main.conversation.question is not None and "second line" in p.on_disk("one")
        await p.press("enter")
        await p.dialog(Confirm)
        await p.press("y")
        await p.until(lambda: "better line" in p.on_disk("one"))


async def test_an_interrupted_task_is_told_and_goes_on_only_when_asked(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    session = start_session(store, "one")
    left = Job(persona_id="one", session_id=session, status="thinking", original_prompt="go", step_count=2)
    log_event(store, "started", left)
    leave_chat(store.home, {"one": "and be brief"})
    async with program(store, answer(DONE), settings=QUICK) as p:
        await p.until(
            lambda: any("while this task was at step 2. /continue goes on" in text for text in texts(p))
        )
        await p.until(lambda: p.main.chat_bar.draft == "and be brief")
        assert p.main.conversation.panel.state is PanelState.VISIBLE, "whatever is in the chat bar"
        assert not p.main.conversation.running and p.main.conversation.question is None
        p.main.chat_bar.set_draft("")
        p.main.action_continue_task()
        await p.until(lambda: task(p).status == "completed")
        await over(p)
        assert task(p).id == left.id


async def test_a_draft_that_was_not_written_for_the_question_answers_only_at_the_second_enter(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    await leave_waiting(store, answer(ASK))
    leave_chat(store.home, {"one": "the third"})
    async with program(store, answer(DONE), settings=QUICK) as p:
        await asked(p)
        await p.until(lambda: p.main.chat_bar.draft == "the third" and label(p) == "Reply")
        assert p.main.chat_bar.mode == "running"
        await p.until(lambda: {("Enter", "reply"), ("Tab", "queue")} <= {*p.main.query_one(KeyLine)._keys})
        await p.press("enter")
        await p.notified("Enter sends this as the answer")
        await p.until(lambda: p.main.chat_bar.draft == "the third")
        await p.until(lambda: ("Tab", "queue") not in p.main.query_one(KeyLine)._keys)
        assert p.main.conversation.question is not None
        await p.press("enter")
        await p.until(lambda: task(p).status == "completed")
        assert any("the third" in text for text in texts(p))


async def test_the_activity_line_changes_seldom_however_much_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles: list[str] = []
    monkeypatch.setattr(AgentPanel, "set_title", lambda _panel, text: titles.append(text))
    steps = [answer(ToolUse("get_persona", {}), ids=f"call{number}") for number in range(15)]
    async with program(make_store(tmp_path), *steps, answer(DONE), settings=QUICK) as p:
        begun = time.monotonic()
        await p.say("/task go")
        await p.until(lambda: task(p) is not None and task(p).status == "completed")
        await over(p)
        seconds = time.monotonic() - begun
    lines = [title for title in titles if title.startswith("Agent · ")]
    changes = sum(one != other for one, other in pairwise(lines))
    assert lines and changes <= 2 * seconds + 1
    assert titles[-1] == "Agent"
