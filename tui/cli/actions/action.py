"""The commands on actions: list, show, new, edit, approve, cancel, rm, runs; `run` is in `action_run`."""

from __future__ import annotations

import contextlib
import sys
from datetime import datetime, timedelta
from typing import Any

import click

from agent.actions import consent, run_log
from agent.actions.listing import ListedAction, idle_warning, list_actions, listed
from agent.actions.run_log import ActionRun
from agent.actions.summary import summary_lines
from agent.actions.templates import TEMPLATES
from agent.actions.times import zone_here
from personas.action_document import action_ids, key_of
from personas.action_store import create_action, delete_action, get_action
from personas.actions.document import KINDS, Action
from personas.actions.schedule import require_ahead
from personas.errors import PersonaError
from personas.external_writes import know
from personas.files import trust
from personas.files.slug import command
from personas.store import Store, utc_now
from tui.cli.actions.action_run import run_command
from tui.cli.group import Invocation
from tui.cli.options import RESULT, json_option
from tui.cli.personas.manage import describe, read_stdin, with_lf
from tui.cli.printing import columns, print_json, print_text
from tui.cli.stderr import print_error
from tui.terminal.sanitise import spelled_out

action_argument = click.argument("action_id", metavar="ID")

_SHORT = "%Y-%m-%d %H:%M"


@click.group()
def action() -> None:
    """Scheduled, unattended work.

    Done by the agent, by the persona itself, or as a run of its test inputs; once, on a schedule, or by hand.

    \b
    persona action new "Nightly check" --persona mentor --kind test --cron "0 3 * * 1-5"
    persona action approve nightly-check
    persona action run nightly-check
    """


action.add_command(run_command)


@action.command("list")
@json_option("Print a JSON array.")
@click.pass_obj
def list_command(invocation: Invocation, as_json: bool) -> None:
    """List the actions, broken ones too: state, when one is due next or ran last, and why it does not run.

    \b
    persona action list
    persona action list --json | jq '.[] | select(.state == "waiting").id'
    """
    home, now = invocation.store.home, utc_now()
    rows = list_actions(home, now=now)
    if warning := idle_warning(home, rows, now=now):
        print_error(warning)
    if as_json:
        print_json([row.to_record() for row in rows], indent=2)
        return
    for line in columns([_row(row) for row in rows]):
        print_text(line)
    if not rows:
        print_text("No actions yet. Make one with: persona action new TITLE --persona ID")


@action.command()
@action_argument
@json_option("Print the action with its state as JSON.")
@click.pass_obj
def show(invocation: Invocation, action_id: str, as_json: bool) -> None:
    """Show an action, its state, and what it does.

    \b
    persona action show nightly-check
    """
    home, now = invocation.store.home, utc_now()
    found = get_action(invocation.store, action_id)
    row = listed(home, found, now=now, last_look=run_log.last_look(home))
    if warning := idle_warning(home, [row], now=now):
        print_error(warning)
    if as_json:
        print_json({**found.to_record(), **row.to_record()}, indent=2)
        return
    if found.error is not None:
        mend = command("action edit", action_id)
        print_text(f"broken: {describe(found.error)}; fix it with: {mend}")
    why = f": {row.why}" if row.why else ""
    print_text(f"state: {row.state}{why}")
    times = (("due", row.due), ("next", row.next), ("last due", row.last_due), ("last run", row.last_run))
    for label, time in times:
        if time:
            print_text(f"{label}: {_local(time)}")
    last: ActionRun | None = None
    with contextlib.suppress(PersonaError):  # which `state` tells
        last = next(iter(run_log.runs(home, action_id)), None)
    if last is not None and last.asks:
        print_text(f'answer with: {command("reply", last.id)} "…"')
    _print_summary(found, now)
    if last is not None and last.output.strip():
        print_text("  output of the last run:")
        for line in last.output.strip().splitlines():
            print_text(f"    {line}")


@action.command()
@click.argument("title")
@click.option("--persona", "persona_id", metavar="ID", required=True, help="The persona it is about.")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    help="The agent works, the persona itself answers, or its test inputs are run.",
)
@click.option(
    "--instructions", metavar="TEXT|-", help="What to do; `-` reads stdin. Without it, the title says it."
)
@click.option("--at", metavar="TIME", help="When it is due once, as in 2026-12-01T09:00.")
@click.option("--cron", metavar="EXPR", help='When it is due again and again, as in "0 3 * * 1-5".')
@click.option(
    "--from", "template", type=click.Choice(tuple(TEMPLATES)), help="Begin with a ready-made action."
)
@click.option("--timezone", metavar="ZONE", help="Of --at and --cron; without it, this machine's.")
@json_option(RESULT)
@click.pass_obj
def new(
    invocation: Invocation,
    title: str,
    persona_id: str,
    kind: str | None,
    instructions: str | None,
    at: str | None,
    cron: str | None,
    template: str | None,
    timezone: str | None,
    as_json: bool,
) -> None:
    """Make an action and print its id. It runs by itself only when you approve it.

    \b
    persona action new "Nightly check" --persona mentor --kind test --cron "0 3 * * 1-5"
    persona action new "Say which test inputs are missing" --persona mentor
    persona action new "Nightly tests" --persona mentor --from nightly-tests
    """
    if at and cron:
        raise click.UsageError("--at and --cron do not go together")
    if instructions is not None:
        instructions = read_stdin() if instructions == "-" else with_lf(instructions)
    values: dict[str, Any] = {"title": title, "persona": persona_id, "kind": kind, "schedule": cron}
    ready = dict(TEMPLATES[template]) if template else {}
    if instructions or (kind != "test" and not ready):
        values["instructions"] = instructions or title
    if at:
        values["at"] = _time(at)
        ready.pop("schedule", None)
    if at or cron or timezone or ready:
        values["timezone"] = timezone or zone_here()
    if at:
        require_ahead(values["at"], values["timezone"], utc_now())
    given = {**ready, **{key: value for key, value in values.items() if value is not None}}
    made = create_action(invocation.store, given)
    _result(invocation.store, made, f"created action {made.id}", as_json, plain=made.id)
    print_error(_next_step(made))


@action.command()
@action_argument
@click.pass_obj
def edit(invocation: Invocation, action_id: str) -> None:
    """Edit an action in $VISUAL or $EDITOR, even a broken one. It then needs your approval again."""
    from tui.cli.personas.edit import edit_document

    home, before = invocation.store.home, get_action(invocation.store, action_id)
    edit_document(invocation.store, key_of(action_id))
    edited = get_action(invocation.store, action_id)
    if (
        edited.revision != before.revision
        and consent.approval_of(home, edited) is None
        and edited.error is None
    ):
        print_error(_next_step(edited))


@action.command()
@click.argument("action_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--yes", "agreed", is_flag=True, help="Do not ask.")
@json_option("Print [{id, approved, next, why}].")
@click.pass_obj
def approve(invocation: Invocation, action_ids: tuple[str, ...], agreed: bool, as_json: bool) -> None:
    """Let actions run unattended, as they are now; any change revokes that.

    Shows what each of them does first, and asks. Also starts what waits because it costs more than confirm_dollars.

    \b
    persona action approve nightly-check
    persona action approve nightly-check weekly-review --yes
    """
    home, now = invocation.store.home, utc_now()
    found = [get_action(invocation.store, action_id) for action_id in dict.fromkeys(action_ids)]
    for one in found:
        consent.require_whole(one)
        know(invocation.store, key_of(one.id))  # so that `diff` shows what is changed later
        if not as_json:
            _print_summary(one, now)
            print_text()
    if not agreed:
        if not sys.stdin.isatty():
            raise click.UsageError("there is no terminal to ask on; add --yes")
        what = found[0].id if len(found) == 1 else f"these {len(found)} actions"
        click.confirm(f"Let {what} run unattended?", abort=True, err=True)
    consent.approve(home, found, now=now)
    rows = [listed(home, one, now=now, last_look=run_log.last_look(home)) for one in found]
    if as_json:
        print_json(
            [
                {"id": row.action.id, "approved": row.approved, "next": row.next, "why": row.why}
                for row in rows
            ]
        )
    else:
        for row in rows:
            why = f"; it does not run: {row.why}" if row.why and not row.next else ""
            print_text(f"approved {row.action.id}{why}")
    if not trust.is_trusted(home.root):
        print_error("this home is not trusted, so nothing in it runs by itself: `persona trust`")
    elif any(row.next for row in rows) and (
        (last_look := run_log.last_look(home)) is None or now - last_look > timedelta(hours=1)
    ):
        print_error("no worker is running; start `persona worker`")


@action.command()
@action_argument
@json_option("Print {id, cancelled}: the ids of the runs that were stopped.")
@click.pass_obj
def cancel(invocation: Invocation, action_id: str, as_json: bool) -> None:
    """Stop the runs of an action and take it off its schedule, until you approve it again.

    \b
    persona action cancel nightly-check
    """
    home = invocation.store.home
    get_action(invocation.store, action_id)
    consent.cancel(home, action_id)
    stopped = [run.id for run in run_log.cancel_runs(home, action_id, now=utc_now())]
    if as_json:
        print_json({"id": action_id, "cancelled": stopped})
        return
    runs = f", and {len(stopped)} run{'' if len(stopped) == 1 else 's'} of it" if stopped else ""
    print_text(f"cancelled {action_id}{runs}; put it back with: {command('action approve', action_id)}")


@action.command("rm")
@action_argument
@click.option("--yes", "agreed", is_flag=True, help="Do not ask.")
@json_option(RESULT)
@click.pass_obj
def remove(invocation: Invocation, action_id: str, agreed: bool, as_json: bool) -> None:
    """Delete an action and stop its runs. Its versions stay; `persona undo action/ID` brings it back."""
    store = invocation.store
    found = get_action(store, action_id)
    if not agreed:
        if not sys.stdin.isatty():
            raise click.UsageError("there is no terminal to ask on; add --yes")
        click.confirm(f"Delete action {action_id!r}?", abort=True, err=True)
    delete_action(store, action_id)
    run_log.cancel_runs(store.home, action_id, now=utc_now())
    undo = command("undo", key_of(action_id))
    _result(store, found, f"deleted action {action_id}; bring it back with: {undo}", as_json)


@action.command()
@action_argument
@json_option("Print a JSON array, newest first.")
@click.pass_obj
def runs(invocation: Invocation, action_id: str, as_json: bool) -> None:
    """List the runs of an action, newest first; also those of one that was deleted.

    \b
    persona action runs nightly-check
    persona action runs nightly-check --json | jq -r '.[0].output'
    """
    home = invocation.store.home
    found = run_log.runs(home, _known(invocation, action_id))
    if as_json:
        print_json([run.to_record() for run in found], indent=2)
        return
    for line in columns([_run_row(run) for run in found]):
        print_text(line)
    if not found:
        print_text(f"No runs yet. Run it now with: {command('action run', action_id)}")


def _print_summary(action: Action, now: datetime) -> None:
    """Print what an action does."""
    for line in summary_lines(action, now):
        print_text(spelled_out(line))


def _row(row: ListedAction) -> tuple[str, ...]:
    action, why = row.action, row.why
    if action.error is not None:
        why = f"broken: {describe(action.error)}"
    when = f"due {_local(row.due)}" if row.due else f"next {_local(row.next)}" if row.next else ""
    ran = f"ran {_local(row.last_run)}" if row.last_run else ""
    return action.id, str(row.state), action.persona, action.kind, when, ran, why or action.title


def _run_row(run: ActionRun) -> tuple[str, ...]:
    cost = "" if run.cost is None else f"${run.cost:.2f}"
    lines = run.output.strip().splitlines() or [""]
    return run.id, str(run.state), _local(run.started_at or run.due), cost, run.why or lines[0]


def _local(time: str | None) -> str:
    """Return a stored time as this machine's clock has it."""
    from agent.actions.times import from_stamp

    found = from_stamp(time)
    return "" if found is None else f"{found.astimezone():{_SHORT}}"


def _result(store: Store, action: Action, summary: str, as_json: bool, *, plain: str = "") -> None:
    if as_json:
        version = store.current_version(key_of(action.id))
        print_json({"id": action.id, "revision": action.revision, "version": version, "summary": summary})
    else:
        print_text(plain or summary)


def _next_step(action: Action) -> str:
    if not action.is_timed:
        return f"run it with: {command('action run', action.id)}"
    return (
        f"it does not run by itself yet; look at it and say yes with: {command('action approve', action.id)}"
    )


def _known(invocation: Invocation, action_id: str) -> str:
    """Return the id of an action that there is, or was.

    Raises:
        UnknownPersona, InvalidValue: there was none.
    """
    store = invocation.store
    if action_id not in action_ids(store.home) and not store.file(key_of(action_id)).versions.exists():
        get_action(store, action_id)
    return action_id


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise click.UsageError(f"--at {text!r} is not a time; write it as 2026-12-01T09:00") from None
