"""`persona chat --to`: one message to the agents of several personas, a job each, whose changes are one unit of undo."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from personas.errors import PersonaError
from personas.files.slug import command
from tui.app.signals import handle_signals
from tui.cli.exit_codes import FAILED, OF_SIGNAL, WAITS
from tui.cli.options import require_persona
from tui.cli.printing import print_diff, print_json, print_text, summarise
from tui.cli.stderr import print_error, print_note
from tui.terminal.sanitise import one_line
from tui.terminal.secrets import safe_message

if TYPE_CHECKING:
    from agent.chat.chat import Chat
    from agent.core.model import Model
    from agent.jobs.agent_jobs import AgentJobs
    from agent.jobs.job import AgentKind, Job
    from personas.store import Store
    from tui.cli.group import Invocation


@dataclass
class AgentResult:
    """What came of the message for one persona.

    Attributes:
        persona_id: whose.
        outcome: of the run (`AgentEnd.outcome`); `failed` where it could not begin, `waiting` where it asks something.
        text: what the agent said.
        changes: what was changed, or is proposed: a unified diff by document.
        proposal: its name, None for none.
        error: why it failed.
        notices: what else is to be known.
    """

    persona_id: str
    outcome: str = "failed"
    text: str = ""
    changes: dict[str, str] = field(default_factory=dict)
    proposal: str | None = None
    error: str = ""
    notices: list[str] = field(default_factory=list)

    def to_record(self) -> dict[str, Any]:
        """Return the JSON-ready form."""
        added = {} if self.proposal is None else {"proposal": self.proposal}
        failed = {"error": self.error} if self.error else {}
        return {
            "type": "persona",
            "id": self.persona_id,
            "outcome": self.outcome,
            "text": self.text,
            "diff": "".join(self.changes.values()),
            **added,
            **failed,
        }


def ids_named(store: Store, to: str | None) -> list[str]:
    """Return the ids of the personas that `--to` names, all where it is None.

    Raises:
        UnknownPersona: there is none of that id.
    """
    if to is None:
        return store.ids()
    ids = [*dict.fromkeys(one for name in to.split(",") if (one := name.strip()))]
    for one in ids:
        store.get(require_persona(one))
    return ids


def chat_with_many(
    invocation: Invocation,
    ids: Sequence[str],
    message: str,
    *,
    kind: AgentKind,
    fresh: bool,
    proposes: bool,
    as_json: bool,
) -> int:
    """Say something to the agent of each persona, print what came of it, and return the exit code.

    Raises:
        PersonaError: nothing could begin.
    """
    from agent.core.turns import new_id
    from agent.jobs.agent_jobs import AgentJobs
    from agent.jobs.saved_approvals import SavedApprovals
    from personas.versions.undo import run_together
    from tui.cli.logging_setup import log_to, set_up
    from tui.settings.model_factory import build_model, close_model, connection, task_options

    set_up()
    settings, store = invocation.agent_settings, invocation.store
    log_to(store.home)
    model, message_id = build_model(connection(settings)), new_id("message")
    received: list[signal.Signals] = []
    results: list[AgentResult] = []

    async def work() -> None:
        jobs = AgentJobs(task_options(settings), grants=SavedApprovals.of_person())
        loop = asyncio.get_running_loop()

        def stop(number: signal.Signals) -> None:
            received.append(number)
            for persona_id in ids:
                jobs.stop(persona_id, f"stopped by {number.name}")

        def leave_waiting(job: Job) -> None:
            if job.is_waiting:  # nobody is there to answer
                loop.call_soon(jobs.suspend, job.persona_id)

        async def one(persona_id: str) -> None:
            async with jobs.turn(persona_id):
                if received:
                    return
                result = AgentResult(persona_id)
                start = partial(
                    jobs.start,
                    text=message,
                    kind=kind,
                    proposes=proposes,
                    job_id=run_together(message_id, persona_id),
                )
                try:
                    await _send(invocation, jobs, model, result, start, fresh=fresh)
                except PersonaError as error:
                    result.outcome, result.error = "failed", safe_message(str(error))
                results.append(result)
                _print(result, as_json)

        for number in handle_signals(OF_SIGNAL):
            with contextlib.suppress(NotImplementedError, ValueError):  # a platform or thread without signals
                loop.add_signal_handler(number, stop, number)
        jobs.observe(leave_waiting)
        try:
            await asyncio.gather(*map(one, ids))
        finally:
            await jobs.close()
            await close_model(model)

    asyncio.run(work())
    _print_end(results, as_json)
    if received:
        return OF_SIGNAL[received[0]]
    if any(result.error for result in results):
        return FAILED
    return WAITS if any(result.outcome == "waiting" for result in results) else 0


async def _send(
    invocation: Invocation,
    jobs: AgentJobs,
    model: Model,
    result: AgentResult,
    start: Callable[[Chat], Awaitable[Job]],
    *,
    fresh: bool,
) -> None:
    """Run one persona's job to its end, or until it asks, and put into `result` what came of it.

    Raises:
        PersonaError: it could not begin, or be kept.
    """
    from agent.chat.chat import Chat
    from agent.core.turns import AssistantTextTurn
    from agent.jobs.recovery import leave_task
    from agent.models.anthropic.error_mapping import with_next_step
    from personas.proposals import preview
    from tui.settings.model_factory import agent_outputs, chat_options

    store, settings, persona_id = invocation.store, invocation.agent_settings, result.persona_id
    outputs = agent_outputs(store, persona_id, settings)
    chat = Chat(
        store,
        persona_id,
        model,
        options=chat_options(settings),
        on_wait=lambda why: print_note(f"({persona_id}: {why})"),
        outputs=outputs,
    )
    try:
        if fresh:
            if left := await asyncio.to_thread(leave_task, store, persona_id):
                result.notices.append(left)
            await asyncio.to_thread(chat.clear)
        else:
            await asyncio.to_thread(chat.load)
        result.notices += summarise(chat.problems)
        job = await start(chat)
        end = await jobs.wait(persona_id)
        job = jobs.job(persona_id) or job
        result.outcome = "waiting" if end is None or job.is_waiting else end.outcome
        if end is not None:
            result.text = "\n".join(turn.content for turn in end.turns if isinstance(turn, AssistantTextTurn))
            if end.outcome == "failed":
                result.error = safe_message(with_next_step(end.error))
        if job.pending is not None:
            result.notices.append(
                f'it asks: {job.pending.text} Answer with: {command("reply", persona_id)} "…"'
            )
        result.proposal = await asyncio.to_thread(lambda: chat.proposal)
        if result.proposal is None:
            result.changes = await asyncio.to_thread(_changes, store, job)
        else:
            found = await asyncio.to_thread(preview, store, persona_id, result.proposal)
            result.changes = {one.key: one.diff for one in found}
    finally:
        await asyncio.to_thread(chat.session.close)
        if outputs is not None:
            await outputs.close()


def _changes(store: Store, job: Job) -> dict[str, str]:
    """Return what a job has changed of its persona and the library: a unified diff by document. Blocking."""
    from personas.versions.merge import unified_diff
    from personas.versions.undo import key_of_run
    from personas.versions.unit_index import UnitIndex

    found = {}
    for key in UnitIndex(store.home).documents(key_of_run(job.session_id, job.id)):
        if key == job.persona_id or "/" in key:
            made = [version for version in store.log(key)[::-1] if version.by.run_id == job.id]
            before = store.text_before(key, made[0]) if made else ""
            after = store.version_text(key, made[-1]) if made else ""
            if before != after:
                found[key] = unified_diff(before, after, f"{key}.toml (before)", f"{key}.toml (after)")
    return found


def _print(result: AgentResult, as_json: bool) -> None:
    """Print what came of the message for one persona."""
    if as_json:
        print_json(result.to_record())
    else:
        ended = "" if result.outcome == "completed" else f" ({result.outcome})"
        print_text(f"── {result.persona_id}{ended}")
        if result.text:
            print_text(result.text.rstrip("\n"))
        for diff in result.changes.values():
            print_diff(diff)
    sys.stdout.flush()
    for notice in result.notices:
        print_note(f"({result.persona_id}: {one_line(notice, 400)})")
    if result.error and not as_json:
        print_error(f"{result.persona_id}: {result.error}")


def _print_end(results: Sequence[AgentResult], as_json: bool) -> None:
    """Print what came of the message for all."""
    changed = [*dict.fromkeys(key for one in results if one.proposal is None for key in one.changes)]
    failed = [result.persona_id for result in results if result.error]
    proposals = {result.persona_id: result.proposal for result in results if result.proposal is not None}
    if as_json:
        print_json({"type": "done", "changed": changed, "proposals": proposals, "failed": failed})
        return
    said = [f"Changed {_many(len(changed))}; {command('undo', changed[0])} undoes it."] if changed else []
    if proposals:
        said.append(
            "Nothing is written. Keep proposals with these commands; --edit changes one first, --refuse drops it:"
        )
        said += [f"  {command('restore', key)} {name}" for key, name in proposals.items()]
    if not said and not failed:
        said.append("Nothing was changed.")
    print_text("\n".join(said + ([f"Failed: {', '.join(failed)}."] if failed else [])))


def _many(number: int) -> str:
    return f"{number} document{'' if number == 1 else 's'}"
