"""Jobs whose changes are a proposal: what the agent reads, what is stored, and how one goes on in another program."""

from __future__ import annotations

from typing import Any

import pytest

from agent.chat.chat import Chat
from agent.jobs.agent_jobs import AgentJobs
from agent.jobs.approval_policy import ApprovalRules
from agent.jobs.options import JobOptions
from agent.models.scripted import ToolUse, answer
from personas.changes import EditPrompt
from personas.proposals import keep, open_proposals
from personas.store import Store
from personas.versions.authorship import USER
from tests.support.task_bench import ASK, COMPLETE, EDIT, PROMPT, Bench

REPLACE = ToolUse("update_system_prompt", {"system_prompt": "Sometimes.\nNever.\n"})
READ = ToolUse("get_persona", {})


async def run(bench: Bench, text: str = "Do it.", kind: Any = "chat") -> None:
    await bench.runner.start(bench.chat, text, kind=kind, proposes=True)
    await bench.runner.wait("kept")


async def test_the_agent_reads_what_it_proposes_and_the_file_stays(store: Store) -> None:
    changes: list[object] = []
    first = [answer(REPLACE), answer(READ), answer("Proposed.")]
    bench = Bench(store, [*first, answer(READ), answer(EDIT), answer("Done.")])
    bench.chat = Chat(store, "kept", bench.model, on_change=changes.append)
    text = store.text("kept")
    await run(bench)
    assert "Sometimes." in bench.results()[1]
    assert "## Proposals" in bench.model.requests[0].system
    assert store.text("kept") == text and changes == []
    (proposal,) = open_proposals(store, "kept")
    assert (proposal.name, proposal.by.run_id, proposal.by.request) == (
        bench.chat.proposal, bench.task.id, "Do it.",
    )  # fmt: skip
    store.change("kept", EditPrompt("To the end.", "Until the end."), revision=None, by=USER)
    await bench.runner.start(
        bench.chat, "And now really.", kind="chat"
    )  # the next run writes, and reads what is there
    await bench.runner.wait("kept")
    assert bench.chat.proposal is None and "Until the end" in bench.results()[2]
    assert bench.prompt == "You are kept.\nSometimes.\nUntil the end.\n" and len(changes) == 1


@pytest.mark.parametrize("before_asking", [True, False])
async def test_a_task_that_asked_goes_on_in_another_program_with_its_proposal(
    store: Store, before_asking: bool
) -> None:
    first = [answer(EDIT)] if before_asking else []
    bench = Bench(store, [*first, answer(ASK)])
    await bench.runner.start(bench.chat, "Do it.", kind="task", proposes=True)
    await bench.until("waiting_user")
    bench.runner.suspend("kept")
    await bench.runner.wait("kept")
    await bench.chat.close()

    later = Bench(store, [answer(READ), *([] if before_asking else [answer(EDIT)]), answer(COMPLETE)])
    later.chat.load()
    later.runner = AgentJobs(bench.options)
    await later.runner.respond(later.chat, "the first")
    await later.runner.wait("kept")
    assert later.task.status == "completed"
    assert ("Sometimes" in later.results()[-2 if before_asking else -3]) == before_asking
    assert later.prompt == PROMPT and later.chat.proposal == "proposal-1"
    assert keep(store, "kept", "proposal-1").persona.system_prompt == PROMPT.replace("Always", "Sometimes")
    assert store.undo("kept").run_id == later.task.id


async def test_a_call_that_waits_for_approval_is_agreed_to_as_it_meets_the_proposal(store: Store) -> None:
    options = JobOptions(request_pause=0, approval=ApprovalRules("ask-all"))
    again = ToolUse("edit_system_prompt", {"old": "Sometimes.", "new": "Never."})
    bench = Bench(store, [answer(EDIT), answer(again)], options)
    await bench.runner.start(bench.chat, "Do it.", kind="task", proposes=True)
    await bench.until("waiting_approval")
    await bench.runner.respond(bench.chat, "once")
    await bench.until("thinking")
    await bench.until("waiting_approval")
    bench.runner.suspend("kept")
    await bench.runner.wait("kept")
    await bench.chat.close()

    later = Bench(store, [answer(COMPLETE)], options)
    later.chat.load()
    later.runner = AgentJobs(options, is_trusted=lambda _home: True)
    await later.runner.respond(later.chat, "once")
    await later.runner.wait("kept")
    assert later.task.status == "completed" and later.prompt == PROMPT
    assert keep(store, "kept", "proposal-1").persona.system_prompt == PROMPT.replace("Always", "Never")
