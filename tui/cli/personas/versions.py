"""The commands on versions: log, diff, restore, undo, redo."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import click

from personas.errors import Conflict, PersonaError
from personas.files.slug import command
from personas.versions.authorship import USER, Author, Undone
from tui.cli.group import Invocation
from tui.cli.options import RESULT, document_argument, json_option
from tui.cli.printing import columns, print_diff, print_json, print_text
from tui.cli.stderr import print_note

if TYPE_CHECKING:
    from personas.store import Store

REQUEST_SHOWN = 60
"""Most characters of a request in a line of the log."""


@click.command()
@document_argument
@json_option("Print a JSON array, newest first.")
@click.pass_obj
def log(invocation: Invocation, persona_id: str, as_json: bool) -> None:
    """List the versions of a persona, newest first.

    A line says what changed, who did it and why. Version 0, the first text, is not listed. Proposals that need review
    are listed above the versions; they have a name and no number.

    \b
    persona log optimist
    """
    from personas.proposals import open_proposals

    versions = invocation.store.log(persona_id)
    versions = [*open_proposals(invocation.store, persona_id), *versions]
    if as_json:
        print_json([version.to_record() for version in versions], indent=2)
        return
    rows: list[tuple[str, ...]] = [
        (
            str(version.number or "-"),
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
@document_argument
@click.argument("from_version", metavar="[VERSION]", required=False)
@click.argument("to_version", metavar="[VERSION]", required=False)
@json_option("Print {from, to, diff}.")
@click.pass_obj
def diff(
    invocation: Invocation, persona_id: str, from_version: str | None, to_version: str | None, as_json: bool
) -> None:
    """Show what changed.

    Without VERSION, the last change; with one, all since then; with two, all between them. VERSION is a number or a name
    from `persona log`, or `today`, `yesterday` or a date: the text as that day began (UTC). With a proposal, what keeping it
    would change.

    \b
    persona diff optimist
    persona diff optimist 3
    persona diff optimist yesterday
    persona diff optimist 3 5
    persona diff optimist proposal-1
    """
    from personas.proposals import is_proposal

    if is_proposal(from_version) and to_version is None:
        _diff_proposal(invocation.store, persona_id, str(from_version), as_json)
        return
    result = invocation.store.diff(persona_id, from_version, to_version)
    if as_json:
        print_json(result.to_record())
    elif result.diff:
        print_diff(result.diff)


@click.command()
@document_argument
@click.argument("version", metavar="VERSION", default="")
@click.option("--refuse", "refused", is_flag=True, help="Drop a proposal instead of keeping it.")
@click.option("--edit", "edits", is_flag=True, help="Edit a proposal's prompt in $EDITOR, then keep it.")
@json_option(RESULT)
@click.pass_obj
def restore(
    invocation: Invocation, persona_id: str, version: str, refused: bool, edits: bool, as_json: bool
) -> None:
    """Restore a version, or keep a proposal.

    VERSION is a number or a name from `persona log`, or a day as in `persona diff`. The present text stays a version. A proposal is merged into the
    present text, in all documents that it changes; with --refuse it is dropped.
    With --edit you change the proposed prompt in $VISUAL or $EDITOR first.

    \b
    persona restore optimist 3
    persona restore optimist proposal-1
    persona restore optimist proposal-1 --edit
    persona restore optimist proposal-1 --refuse
    """
    from personas.proposals import edit, is_proposal, keep, proposed_prompt, refuse

    store = invocation.store
    if not version:
        raise click.UsageError(f"say which version; `{command('log', persona_id)}` lists them")
    if edits and (refused or not is_proposal(version)):
        raise click.UsageError("--edit is for a proposal that you keep.")
    if is_proposal(version):
        if edits:
            from tui.cli.personas.edit import edit_text

            with edit_text(store, persona_id, proposed_prompt(store, persona_id, version)) as prompt:
                edit(store, persona_id, version, prompt)
        decide = refuse if refused else keep
        _step(lambda of, by: decide(store, of, version), "", persona_id, as_json)
        return
    if refused:
        raise click.UsageError("--refuse is for a proposal.")
    before = store.current_version(persona_id)
    persona = store.restore(persona_id, version, by=Author("restore"))
    after = store.current_version(persona_id)
    summary = (
        f"restored version {version}" if after != before else f"version {version} is already the current text"
    )
    _print_result(Undone(persona, after, summary), as_json)


@click.command()
@document_argument
@click.argument("version", metavar="[VERSION]", required=False)
@json_option(RESULT)
@click.pass_obj
def undo(invocation: Invocation, persona_id: str, version: str | None, as_json: bool) -> None:
    """Undo the last change.

    A change is one run of the agent, or what you typed in one go. Called again, it undoes the one before. With VERSION, the
    change that made it is undone and what was written since stays; if it was an undo, it is redone.

    \b
    persona undo optimist
    persona undo optimist 3
    """
    _step(partial(invocation.store.undo, version=version), "Undone: ", persona_id, as_json)


@click.command()
@document_argument
@json_option(RESULT)
@click.pass_obj
def redo(invocation: Invocation, persona_id: str, as_json: bool) -> None:
    """Redo what was undone last.

    \b
    persona redo optimist
    """
    _step(invocation.store.redo, "Redone: ", persona_id, as_json)


def _diff_proposal(store: Store, persona_id: str, name: str, as_json: bool) -> None:
    from personas.proposals import preview

    found = preview(store, persona_id, name)
    diff = "".join(one.diff for one in found)
    if as_json:
        print_json({"from": store.current_version(persona_id), "to": name, "diff": diff})
        return
    print_diff(diff)
    for one in found:
        if one.conflict is not None:
            print_note(str(one.conflict))


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
        print_text(prefix + done.summary + (f"; also in {done.others}" if done.also else ""))
    if done.left:
        raise PersonaError("Skipped: " + " ".join(f"{name}: {why}" for name, why in done.left))


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
