"""Tasks while they run: the table of states, questions, approvals, stop, limits, and many at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest

from agent.chat.chat import Chat
from agent.core.events import Event, TurnEnd
from agent.core.model import Usage
from agent.core.turns import NUDGE, AssistantTextTurn, NoticeTurn, ToolCallTurn, UserTurn
from agent.jobs.agent_jobs import AgentJobs
from agent.jobs.approval_policy import ApprovalRules
from agent.jobs.job import OVER, TRANSITIONS, ForbiddenTransition, Job, Status, move, way
from agent.jobs.messages import task_diff
from agent.jobs.options import JobOptions, Stopwatch
from agent.models.anthropic.client import AnthropicModel
from agent.models.scripted import Act, Hang, Pause, ScriptedModel, ToolUse, answer
from personas.changes import EditPrompt
from personas.errors import Busy, InvalidValue, PersonaError
from personas.store import Store
from personas.versions.authorship import USER
from tests.support.messages_rules import violations
from tests.support.messages_server import MessagesServer, call
from tests.support.task_bench import ASK, COMPLETE, EDIT, PROMPT, Bench

# -- the table -----------------------------------------------------------------------------------------------

SEED_EDGES = {
    ("running", "thinking"),
    ("thinking", "running"),
    ("thinking", "tool_executing"),
    ("tool_executing", "thinking"),
    ("thinking", "waiting_user"),
    ("waiting_user", "thinking"),
    ("thinking", "completed"),
    ("running", "cancelled"),
    ("thinking", "cancelled"),
    ("tool_executing", "cancelled"),
    ("waiting_user", "cancelled"),
    ("thinking", "error"),
    ("tool_executing", "error"),
}
ADDED = {"waiting_approval", "limit", "interrupted"}


def a_task(status: Status = "running") -> Job:
    return Job(persona_id="kept", session_id="s", original_prompt="x", status=status)


def test_the_table_is_the_diagram_and_the_edges_of_the_three_added_states() -> None:
    edges = {(start, end) for start, ends in TRANSITIONS.items() for end in ends}
    assert {edge for edge in edges if not ADDED & set(edge)} == SEED_EDGES
    assert all(not TRANSITIONS[status] for status in OVER)


@pytest.mark.parametrize("start", TRANSITIONS)
def test_nothing_but_the_table_can_happen(start: Status) -> None:
    for end in TRANSITIONS:
        if end in TRANSITIONS[start]:
            assert move(a_task(start), end).status == end
        else:
            with pytest.raises(ForbiddenTransition):
                move(a_task(start), end)


def test_a_way_goes_along_edges_only_and_at_most_through_thinking() -> None:
    for start in TRANSITIONS:
        for end in TRANSITIONS:
            try:
                steps = way(start, end)
            except ForbiddenTransition:
                continue
            assert len(steps) <= 2 and set(steps[:-1]) <= {"thinking"}
            for before, after in zip((start, *steps), steps, strict=False):
                assert after in TRANSITIONS[before]


def test_a_task_survives_its_record() -> None:
    task = a_task().with_note("n").model_copy(update={"usage": Usage(1, 2), "cost": None, "step_count": 3})
    assert Job.model_validate(task.to_record()) == task


# -- task mode -----------------------------------------------------------------------------------------------


async def test_a_task_goes_on_after_words_alone_and_ends_with_task_complete(store: Store) -> None:
    bench = Bench(store, [answer("I begin.", EDIT), answer("Thinking aloud."), answer(COMPLETE)])
    task = await bench.run()
    assert (task.status, task.summary, task.step_count) == ("completed", "All done.", 3)
    assert bench.states == [
        "running", "thinking", "tool_executing", "thinking", "running", "thinking", "completed",
    ]  # fmt: skip
    assert bench.prompt == PROMPT.replace("Always.", "Sometimes.")
    assert task.usage.output_tokens == 3 and task.cost is None and task.ended_at is not None
    told = bench.model.requests[2].messages[-1]
    assert told["role"] == "user" and "task_complete" in told["content"][-1]["text"]
    assert not any(violations({"messages": request.messages}) for request in bench.model.requests)


async def test_every_change_is_an_update_along_the_table(store: Store) -> None:
    bench = Bench(store, [answer(EDIT, ASK), answer("Aloud."), answer(COMPLETE)])
    await bench.runner.start(bench.chat, "Do it.")
    await bench.until("waiting_user")
    await bench.runner.respond(bench.chat, "the first")
    await bench.runner.wait("kept")
    states = bench.states
    assert states[0] == "running" and states[-1] == "completed"
    assert all(after in TRANSITIONS[before] for before, after in pairwise(states))
    tool = next(task.current_tool for task in bench.seen if task.status == "tool_executing")
    assert tool == "edit_system_prompt"


async def test_the_prompt_and_the_tools_of_task_mode_are_there_in_task_mode_only(store: Store) -> None:
    bench = Bench(store, [answer(COMPLETE), answer("Just words.")])
    await bench.run()
    await bench.run("And you?", kind="chat")
    as_task, as_chat = bench.model.requests
    control = {"task_complete", "ask_user", "send_update"}
    assert control <= {tool.name for tool in as_task.tools}
    assert not control & {tool.name for tool in as_chat.tools}
    assert as_task.system.startswith(as_chat.system) and "Task mode" in as_task.system
    assert bench.task.kind == "chat" and bench.task.status == "completed"


async def test_three_idle_answers_in_a_row_end_it_with_a_notice_and_it_can_go_on(store: Store) -> None:
    bench = Bench(
        store, [answer("a"), answer("b", EDIT), answer("c"), answer("d"), answer("e"), answer(COMPLETE)]
    )
    task = await bench.run()
    assert (task.status, task.step_count, task.can_continue) == ("limit", 5, True)
    assert bench.notices() == ["nudge", "nudge", "nudge", "limit"]
    await bench.runner.resume(bench.chat)
    await bench.runner.wait("kept")
    assert bench.task.status == "completed" and bench.task.step_count == 6
    assert bench.task.id == task.id


async def test_what_the_person_says_between_starts_the_count_of_idle_answers_anew(store: Store) -> None:
    bench = Bench(store, [*(answer("Hm.") for _ in range(5)), answer(COMPLETE)])
    said: list[str] = []

    def speak(task: Job) -> None:
        if task.idle_steps == 2 and not said:
            said.append("Go on.")
            bench.runner.steer("kept", "Go on.")

    bench.runner.observe(speak)
    assert (await bench.run()).status == "completed" and said


async def test_task_complete_does_not_end_a_task_whose_other_call_failed(store: Store) -> None:
    bad = ToolUse("edit_system_prompt", {"old": "not there", "new": ""})
    task = await Bench(store, [answer(bad, COMPLETE), answer(COMPLETE)]).run()
    assert task.status == "completed" and task.step_count == 2


async def test_a_report_is_kept_and_does_not_stop_it(store: Store) -> None:
    update = ToolUse("send_update", {"text": "Half of it is done."})
    bench = Bench(store, [answer(update), answer(COMPLETE)])
    task = await bench.run()
    assert task.status == "completed" and task.scratchpad == ("Half of it is done.",)


async def test_a_message_becomes_a_task_by_itself_only_where_the_settings_allow(store: Store) -> None:
    begin = [answer(ToolUse("begin_task")), answer("aloud"), answer(COMPLETE)]
    bench = Bench(store, begin, JobOptions(begin_by_themselves=True))
    task = await bench.run("Do many things.", kind="chat")
    assert (task.kind, task.status, task.step_count) == ("task", "completed", 3)
    plain = Bench(store, [answer("Hello.")])
    await plain.run("Hello", kind="chat")
    assert "begin_task" not in {tool.name for tool in plain.model.requests[0].tools}


async def test_steering_is_heard_and_a_follow_up_waits_until_the_task_is_done(store: Store) -> None:
    bench = Bench(store, [])
    bench.model._answers = iter(
        [
            answer(EDIT, Act(lambda: bench.runner.steer("kept", "Mind the tone."))),
            answer("Words.", Act(lambda: bench.runner.steer("kept", "And then?", later=True))),
            answer(COMPLETE),
            answer(COMPLETE, ids="then"),
        ]
    )
    assert (await bench.run()).status == "completed"
    said = [turn.content for turn in bench.chat.turns if isinstance(turn, UserTurn)]
    assert said == ["Do it.", "Mind the tone.", "And then?"]
    kinds = [turn.type for turn in bench.chat.turns]
    nudge = next(turn for turn in bench.chat.turns if isinstance(turn, NoticeTurn) and turn.kind == NUDGE)
    assert bench.chat.turns.index(nudge) < len(kinds) - 1 - kinds[::-1].index("user")


# -- questions -----------------------------------------------------------------------------------------------


async def test_a_question_waits_and_its_answer_is_the_result_of_the_call(store: Store) -> None:
    bench = Bench(store, [answer(ASK), answer(COMPLETE)])
    await bench.runner.start(bench.chat, "Do it.")
    task = await bench.until("waiting_user")
    assert task.pending_question == "Which one?"
    assert task.pending is not None and task.pending.options == ("the first", "the second")
    with pytest.raises(InvalidValue, match="no longer open"):
        await bench.runner.respond(bench.chat, "x", question_id="question_of_yesterday")
    with pytest.raises(InvalidValue, match="empty"):
        await bench.runner.respond(bench.chat, "  ")
    await bench.runner.respond(bench.chat, "the second", question_id=task.pending.id)
    with pytest.raises(InvalidValue, match="is not asking anything"):
        await bench.runner.respond(bench.chat, "again")
    await bench.runner.wait("kept")
    assert bench.results()[0] == "the second"
    assert bench.task.pending is None and "the second" in bench.task.scratchpad[0]


class HandClock:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.time = 0.0
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def now(self) -> float:
        return self.time

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Any:
        entry = (self.time + seconds, callback)
        self.timers.append(entry)
        timers = self.timers

        class Timer:
            def cancel(self) -> None:
                if entry in timers:
                    timers.remove(entry)

        return Timer()

    def pass_time(self, seconds: float) -> None:
        self.time += seconds
        for entry in [entry for entry in self.timers if entry[0] <= self.time]:
            self.timers.remove(entry)
            entry[1]()


async def test_waiting_for_hours_costs_no_time_of_the_task(store: Store) -> None:
    clock = HandClock()
    bench = Bench(
        store, [answer(ASK), answer("go on"), answer(Hang())], JobOptions(request_pause=0, max_seconds=600)
    )
    bench.runner = AgentJobs(bench.options, clock=clock)
    await bench.runner.start(bench.chat, "Do it.")
    await bench.until("waiting_user")
    clock.pass_time(12 * 3600)
    await bench.runner.respond(bench.chat, "the first")
    async with asyncio.timeout(120):
        while len(bench.model.requests) < 3:
            await asyncio.sleep(0)
    clock.pass_time(599)
    assert bench.task.is_working
    clock.pass_time(2)
    end = await bench.runner.wait("kept")
    assert end is not None and end.outcome == "limit"
    assert (bench.task.status, bench.task.worked_seconds) == ("limit", 601)
    assert bench.notices()[-1] == "limit" and bench.chat.turns[-1].type == "notice"


def test_a_stopwatch_counts_work_only() -> None:
    clock, rung = HandClock(), []
    watch = Stopwatch(clock, 10, lambda: rung.append(clock.time))
    watch.go()
    clock.pass_time(4)
    watch.halt()
    clock.pass_time(100)
    watch.go()
    clock.pass_time(5)
    assert watch.worked == 9 and not rung
    clock.pass_time(1)
    assert rung == [110]


# -- stop and limits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["thinking", "waiting_user", "waiting_approval"])
async def test_stop_ends_it_at_once_says_where_and_leaves_what_was_done_as_one_unit(
    store: Store, state: Status
) -> None:
    third = {
        "thinking": answer("A word", Hang()),
        "waiting_user": answer(ASK),
        "waiting_approval": answer(ToolUse("update_persona_name", {"name": "Other"})),
    }[state]
    options = JobOptions(ApprovalRules("auto", {"update_persona_name": "ask"}), request_pause=0)
    second = ToolUse("edit_system_prompt", {"old": "To the end.", "new": "To the beginning."})
    bench = Bench(store, [answer(EDIT), answer(second), third], options)
    await bench.runner.start(bench.chat, "Do it.")
    async with asyncio.timeout(120):
        while len(bench.model.requests) < 3:
            await asyncio.sleep(0)
    await bench.until(state)
    assert bench.runner.stop("kept")
    await bench.runner.wait("kept")
    assert bench.task.status == "cancelled" and bench.chat.turns[-1].type == "notice"
    notice = bench.chat.turns[-1]
    assert isinstance(notice, NoticeTurn) and notice.kind == "stopped" and "step 3" in notice.content
    assert "beginning" in bench.prompt
    store.undo("kept", by=USER)
    assert bench.prompt == PROMPT
    bench.model._answers = iter([answer(COMPLETE)])
    assert (await bench.run("Again.")).status == "completed"


async def test_stop_before_the_first_event_still_stops(store: Store) -> None:
    bench = Bench(store, [answer(Hang())])
    starting = asyncio.create_task(bench.runner.start(bench.chat, "Do it."))
    while not bench.runner.is_live("kept"):
        await asyncio.sleep(0)
    bench.runner.stop("kept")
    await starting
    await bench.runner.wait("kept")
    assert bench.task.status == "cancelled" and bench.model.requests == []


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (JobOptions(max_steps=2, request_pause=0), "2 steps"),
        (JobOptions(max_tokens=2, request_pause=0), "tokens"),
    ],
)
async def test_limits_end_it_with_a_notice_and_continue_is_offered(
    store: Store, options: JobOptions, word: str
) -> None:
    bench = Bench(store, [answer(EDIT), answer(ToolUse("get_persona")), answer(COMPLETE)], options)
    task = await bench.run()
    assert (task.status, task.can_continue, task.step_count) == ("limit", True, 2)
    notice = bench.chat.turns[-1]
    assert isinstance(notice, NoticeTurn) and notice.kind == "limit" and word in notice.content
    await bench.runner.resume(bench.chat, "Go on, please.")
    await bench.runner.wait("kept")
    assert bench.task.status == "completed"


async def test_cost_is_summed_and_its_budget_holds(store: Store) -> None:
    thousand = Usage(input_tokens=100_000, output_tokens=10_000)
    script = [answer(ToolUse("get_persona"), usage=thousand, ids=f"c{n}") for n in range(9)]
    bench = Bench(store, script, JobOptions(max_cost=0.7, request_pause=0))
    bench.model._name, bench.model._endpoint = "claude-sonnet-5-5", "https://api.anthropic.com"
    task = await bench.run()
    assert task.cost == pytest.approx(0.9) and task.status == "limit" and task.step_count == 3


# -- beginning -----------------------------------------------------------------------------------------------


async def test_one_task_a_persona_and_so_many_at_once(store: Store) -> None:
    store.create("Other", system_prompt=PROMPT)
    bench = Bench(store, [answer(ASK)], JobOptions(at_once=1))
    await bench.runner.start(bench.chat, "Do it.")
    with pytest.raises(Busy, match="at work"):
        await bench.runner.start(bench.chat, "And this.")
    with pytest.raises(Busy, match="as many"):
        await bench.runner.start(Chat(store, "other", ScriptedModel()), "This too.")
    await bench.runner.close()
    assert not bench.runner.is_live("kept")


async def test_a_task_that_cannot_begin_raises_and_leaves_nothing(store: Store) -> None:
    store.path("kept").write_text("name = [", encoding="utf-8")
    bench = Bench(store, [])
    with pytest.raises(PersonaError, match="broken"):
        await bench.runner.start(bench.chat, "Do it.")
    assert bench.runner.job("kept") is None and bench.seen == []


async def test_an_observer_that_fails_does_not_end_the_task(store: Store) -> None:
    bench = Bench(store, [answer(COMPLETE)])

    def fail(_task: Job) -> None:
        raise RuntimeError("a screen")

    bench.runner.observe(fail)
    assert (await bench.run()).status == "completed"


# -- ten at once ---------------------------------------------------------------------------------------------


def _script(name: str) -> list[Any]:
    edit = ToolUse("edit_system_prompt", {"old": "Always.", "new": f"I am {name}."})
    return [
        answer(f"{name} begins.", Pause(0.001), edit, chunk=3),
        answer(f"{name} thinks aloud.", chunk=2),
        answer(ToolUse("ask_user", {"question": f"Is it {name}?"})),
        answer(f"{name} ends.", COMPLETE),
    ]


def _brain(body: dict[str, Any]) -> Any:
    """The same task over the wire: what comes next is read from the request."""
    name = next(part for part in body["messages"][0]["content"][0]["text"].split() if part.startswith("P"))
    results = sum(block["type"] == "tool_result" for m in body["messages"] for block in m["content"])
    if results == 0:
        edit = {"old": "Always.", "new": f"I am {name}."}
        return call("edit_system_prompt", edit, text=f"{name} begins.", delta=3)
    if results == 1:
        return call("ask_user", {"question": f"Is it {name}?"})
    return call("task_complete", {"summary": "All done."}, text=f"{name} ends.")


@pytest.fixture(params=["scripted", "loopback"])
def make_model(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Any]]:
    if request.param == "scripted":
        yield lambda name: ScriptedModel(_script(name))
        return
    with MessagesServer(_brain) as server:
        yield lambda _name: AnthropicModel(api_key=server.key, base_url=server.url)
        assert server.refusals == []


async def test_ten_personas_at_once_each_get_exactly_their_own_turns(
    store: Store, make_model: Callable[[str], Any]
) -> None:
    names = [f"P{number}" for number in range(10)]
    for name in names:
        store.create(name, system_prompt=PROMPT)
    chats = {name: Chat(store, name.lower(), make_model(name)) for name in names}
    runner = AgentJobs(JobOptions(request_pause=0))
    waiting: list[Awaitable[Any]] = []

    def see(task: Job) -> None:
        if task.status == "waiting_user" and task.pending is not None and task.pending.answer is None:
            name = task.persona_id.upper()
            assert task.pending.text == f"Is it {name}?"
            if name == "P7":
                runner.stop("p7")
            else:
                loop = asyncio.get_running_loop()
                said = f"Yes, {name}."
                loop.call_soon(lambda: waiting.append(loop.create_task(runner.respond(chats[name], said))))

    runner.observe(see)
    await asyncio.gather(*(runner.start(chats[name], f"Work on {name} now") for name in names))
    async with asyncio.timeout(120):
        await asyncio.gather(*(runner.wait(name.lower()) for name in names))
    for name in names:
        task = runner.job(name.lower())
        assert task is not None and task.status == ("cancelled" if name == "P7" else "completed")
        reread = Chat(store, name.lower(), ScriptedModel())
        reread.load()
        assert [turn.id for turn in reread.turns] == [turn.id for turn in chats[name].turns]
        words = [
            str(getattr(turn, "content", "")) + str(dict(getattr(turn, "input", {})))
            for turn in reread.turns
            if isinstance(turn, UserTurn | AssistantTextTurn | ToolCallTurn)
        ]
        others = [other for other in names if other != name and any(other in word for word in words)]
        assert others == [] and f"I am {name}." in store.get(name.lower()).system_prompt
        assert f"{name} begins." in " ".join(words)
        assert (f"{name} ends." in " ".join(words)) == (name != "P7")


async def test_nobody_is_told_of_a_turn_before_the_log_has_it_in_a_first_conversation_too(
    store: Store,
) -> None:
    bench = Bench(store, [answer("Words."), answer(COMPLETE)])
    kept: list[bool] = []

    def look(event: Event) -> None:
        if isinstance(event, TurnEnd):
            path = store.home.sessions / f"{store.session_of('kept')}.jsonl"
            kept.append(event.turn.id in path.read_text(encoding="utf-8"))

    bench.chat.subscribe(look)
    await bench.run()
    assert kept and all(kept)


async def test_the_diff_of_a_whole_task_is_what_it_changed_and_nothing_later(store: Store) -> None:
    second = ToolUse("edit_system_prompt", {"old": "To the end.", "new": "To the beginning."})
    bench = Bench(store, [answer(EDIT), answer(second), answer(COMPLETE), answer("Hello.")])
    task = await bench.run()
    store.keep("kept", EditPrompt("You are", "They were"), by=USER, reason="kept, and never in the file")
    store.change("kept", EditPrompt("You are", "We are"), revision=None, by=USER)
    whole = task_diff(store, task)
    assert whole is not None and (whole.added, whole.removed) == (2, 2)
    assert "+Sometimes.\n+To the beginning.\n" in whole.diff
    assert "We are" not in whole.diff and "They were" not in whole.diff
    assert task_diff(store, await bench.run("Hello", kind="chat")) is None
