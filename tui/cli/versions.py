"""The commands on versions: log, diff, restore, undo, redo."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import click

from personas.errors import Conflict, PersonaError
from personas.versions.authorship import USER, Author, Undone
from tui.cli.group import Invocation
from tui.cli.options import RESULT, json_option, persona_argument
from tui.cli.printing import columns, print_diff, print_json, print_text

REQUEST_SHOWN = 60
"""Most characters of a request in a line of the log."""


@click.command()
@persona_argument
@json_option("Print a JSON array, newest first.")
@click.pass_obj
def log(invocation: Invocation, persona_id: str, as_json: bool) -> None:
    """List the versions of a persona, newest first.

    A line says what changed, who did it and why. Version 0, the first text, is not listed.

    \b
    persona log optimist
    """
    versions = invocation.store.log(persona_id)
    if as_json:
        print_json([version.to_record() for version in versions], indent=2)
        return
    rows: list[tuple[str, ...]] = [
        (
            str(version.number),
            version.at.replace("T", " ")[:19],
            version.by.kind,
            f"+{version.added} -{version.removed}",
            version.name or "",
            version.reason + _request_of(version.by.request),
        )
        for version in versions
    ]
    for line in columns(rows):
        print_text(line)
    if not rows:
        print_text("No versions yet: nothing has been changed.")


@click.command()
@persona_argument
@click.argument("from_version", metavar="[VERSION]", required=False)
@click.argument("to_version", metavar="[VERSION]", required=False)
@json_option("Print {from, to, diff}.")
@click.pass_obj
def diff(
    invocation: Invocation, persona_id: str, from_version: str | None, to_version: str | None, as_json: bool
) -> None:
    """Show what changed.

    Without VERSION, the last change; with one, all since then; with two, all between them.

    \b
    persona diff optimist
    persona diff optimist 3
    persona diff optimist 3 5
    """
    result = invocation.store.diff(persona_id, from_version, to_version)
    if as_json:
        print_json(result.to_record())
    elif result.diff:
        print_diff(result.diff)


@click.command()
@persona_argument
@click.argument("version", metavar="VERSION")
@json_option(RESULT)
@click.pass_obj
def restore(invocation: Invocation, persona_id: str, version: str, as_json: bool) -> None:
    """Restore an earlier version.

    VERSION is a number from `persona log`. The present text stays a version.

    \b
    persona restore optimist 3
    """
    store = invocation.store
    before = store.current_version(persona_id)
    persona = store.restore(persona_id, version, by=Author("restore"))
    after = store.current_version(persona_id)
    summary = (
        f"restored version {version}" if after != before else f"version {version} is already the current text"
    )
    _print_result(Undone(persona, after, summary), as_json)


@click.command()
@persona_argument
@click.argument("version", metavar="[VERSION]", required=False)
@json_option(RESULT)
@click.pass_obj
def undo(invocation: Invocation, persona_id: str, version: str | None, as_json: bool) -> None:
    """Undo the last change.

    A change is one run of the agent, or what you typed in one go. Again, the one before is undone. With VERSION, the
    change that made it is undone and what was written since stays; if it was an undo, it is redone.

    \b
    persona undo optimist
    persona undo optimist 3
    """
    _step(partial(invocation.store.undo, version=version), "Undone: ", persona_id, as_json)


@click.command()
@persona_argument
@json_option(RESULT)
@click.pass_obj
def redo(invocation: Invocation, persona_id: str, as_json: bool) -> None:
    """Redo what was undone last.

    \b
    persona redo optimist
    """
    _step(invocation.store.redo, "Redone: ", persona_id, as_json)


def _request_of(request: str | None) -> str:
    """Return the request that led to a change, cut to what fits beside its reason; empty where there is none."""
    line = " ".join((request or "").split())
    if not line:
        return ""
    return f" (asked: {line if len(line) <= REQUEST_SHOWN else line[: REQUEST_SHOWN - 1] + '…'})"


def _step(take: Callable[..., Undone], prefix: str, persona_id: str, as_json: bool) -> None:
    """Undo or redo and print the result; on a conflict, print both sides."""
    try:
        _print_result(take(persona_id, by=USER), as_json, prefix)
    except Conflict as conflict:
        _print_conflict(conflict, as_json)
        raise


def _print_result(done: Undone, as_json: bool, prefix: str = "") -> None:
    if as_json:
        print_json(
            {
                "id": done.persona.id,
                "revision": done.persona.revision,
                "version": done.version,
                "summary": done.summary,
            }
        )
    else:
        print_text(prefix + done.summary + (f"; also in {', '.join(done.also)}" if done.also else ""))
    if done.left:
        raise PersonaError("Left as it is: " + " ".join(f"{name}: {why}" for name, why in done.left))


def _print_conflict(conflict: Conflict, as_json: bool) -> None:
    """Show the two texts that touch; the error line follows on stderr."""
    if as_json:
        print_json({"conflict": {"wanted": conflict.ours, "current": conflict.theirs}})
        return
    from personas.versions.merge import unified_diff

    print_text("What was to be changed:")
    print_diff(unified_diff(conflict.base, conflict.ours, "then", "wanted"))
    print_text("What has changed since:")
    print_diff(unified_diff(conflict.base, conflict.theirs, "then", "now"))
