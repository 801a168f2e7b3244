"""The commands on the library: one group for each kind of document, and `link`, `unlink`, `stage`."""

from __future__ import annotations

import sys
from typing import Any

import click

from personas.external_writes import know
from personas.library.documents import FIELDS, KINDS, Kind
from personas.library_store import LibraryStore
from tui.cli.group import Invocation
from tui.cli.options import RESULT, dry_option, json_option, persona_argument, samples_option, yes_option
from tui.cli.personas.manage import describe, read_stdin, with_lf
from tui.cli.printing import columns, print_json, print_text
from tui.cli.stderr import print_error

kind_argument = click.argument("kind", type=click.Choice(KINDS))
name_argument = click.argument("name")
arc_argument = click.argument("arc", metavar="ARC")
stage_argument = click.argument("stage", metavar="STAGE")


_A = {kind: f"{'an' if kind == 'arc' else 'a'} {kind}" for kind in KINDS}


def _keys(kind: Kind) -> list[str]:
    return [key for key in FIELDS[kind] if key != "stages"]


def _value(key: str, value: str) -> Any:
    text = read_stdin() if value == "-" else with_lf(value)
    return _listed(text) if key == "tags" else text


def _listed(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]


def _result(invocation: Invocation, key: str, summary: str, as_json: bool) -> None:
    changed = LibraryStore(invocation.store).changed(key, summary)
    for warning in changed["warnings"]:
        print_error(warning)
    if as_json:
        print_json(changed)
    else:
        print_text(changed["summary"])


def _list(kind: Kind) -> click.Command:
    @click.command("list", help=f"List the {kind}s, broken ones too.")
    @click.option("--type", "type_", metavar="T", help="Only those of this type.")
    @click.option("--tag", "tags", metavar="TAG", multiple=True, help="Only those with this tag.")
    @json_option("Print a JSON array.")
    @click.pass_obj
    def command(invocation: Invocation, type_: str | None, tags: tuple[str, ...], as_json: bool) -> None:
        documents = LibraryStore(invocation.store).list(kind, type=type_, tags=tags)
        if as_json:
            print_json([one.to_record(is_whole=False) for one in documents], indent=2)
            return
        for line in columns(
            [
                (
                    one.name,
                    one.type or one.trait_type or one.severity,
                    f"broken: {describe(one.error)}" if one.error else one.description,
                )
                for one in documents
            ]
        ):
            print_text(line)
        if not documents:
            print_text(f"No {kind}s here. Make one with: persona {kind} new NAME")

    return command


def _show(kind: Kind) -> click.Command:
    @click.command("show", help=f"Show {_A[kind]}.")
    @name_argument
    @json_option(f"Print the {kind} as JSON.")
    @click.pass_obj
    def command(invocation: Invocation, name: str, as_json: bool) -> None:
        document = LibraryStore(invocation.store).get(kind, name)
        know(invocation.store, f"{kind}/{name}")
        if as_json:
            print_json(document.to_record(), indent=2)
            return
        if document.error is not None:
            print_text(f"broken: {describe(document.error)}; fix it with: persona {kind} edit {name}")
        for warning in document.warnings:
            print_error(warning)
        print_text(invocation.store.text(f"{kind}/{name}"), end="")

    return command


def _new(kind: Kind) -> click.Command:
    def command(
        invocation: Invocation, /, name: str, as_json: bool, stages: tuple[str, ...] = (), **given: str | None
    ) -> None:
        fields = {key: _value(key, value) for key, value in given.items() if value is not None}
        if stages:
            pairs = [one.partition("=") for one in stages]
            fields["stages"] = [{"name": stage, "parts": _listed(parts)} for stage, _, parts in pairs]
        LibraryStore(invocation.store).create(kind, name, fields)
        _result(invocation, f"{kind}/{name}", f"created {kind} {name}", as_json)

    made = click.command("new", help=f"Make {_A[kind]}. `-` as a text reads stdin.")(
        name_argument(json_option(RESULT)(click.pass_obj(command)))
    )
    made.params += [click.Option([f"--{key.replace('_', '-')}"], metavar="TEXT") for key in _keys(kind)]
    if kind == "arc":
        option = click.Option(
            ["--stage", "stages"],
            metavar="NAME[=PART,PART]",
            multiple=True,
            help="A stage with its parts; once for each, in their order.",
        )
        made.params.append(option)
    return made


def _set(kind: Kind) -> click.Command:
    @click.command(
        "set", help=f"Set a key of {_A[kind]}: {', '.join(_keys(kind))}. Tags have commas between them."
    )
    @name_argument
    @click.argument("field", type=click.Choice(_keys(kind)))
    @click.argument("value", metavar="VALUE|-")
    @click.option(
        "--check",
        is_flag=True,
        help="Run the tests of all personas it is a part of on before and after, and save only if none breaks.",
    )
    @samples_option
    @yes_option
    @dry_option
    @json_option(RESULT)
    @click.pass_obj
    def command(
        invocation: Invocation,
        name: str,
        field: str,
        value: str,
        check: bool,
        samples: int | None,
        agreed: bool,
        dry_run: bool,
        as_json: bool,
    ) -> None:
        fields = {field: _value(field, value)}
        if check:
            from tui.cli.library.blast_radius import set_checked

            set_checked(
                invocation, kind, name, fields, samples, agreed=agreed, dry_run=dry_run, as_json=as_json
            )
        if samples or agreed or dry_run:
            raise click.UsageError("--samples, --yes and --dry-run belong to --check")
        LibraryStore(invocation.store).update(kind, name, fields)
        _result(invocation, f"{kind}/{name}", f"set {field} of {kind} {name}", as_json)

    return command


def _edit(kind: Kind) -> click.Command:
    @click.command("edit", help=f"Edit {_A[kind]} in $VISUAL or $EDITOR, even a broken one.")
    @name_argument
    @click.pass_obj
    def command(invocation: Invocation, name: str) -> None:
        from tui.cli.personas.edit import edit_document

        LibraryStore(invocation.store).get(kind, name)
        edit_document(invocation.store, f"{kind}/{name}")

    return command


def _rename(kind: Kind) -> click.Command:
    @click.command(
        "rename", help=f"Rename {_A[kind]}, and every reference to it; one undo reverts all of it."
    )
    @name_argument
    @click.argument("new_name", metavar="NEW")
    @json_option(RESULT)
    @click.pass_obj
    def command(invocation: Invocation, name: str, new_name: str, as_json: bool) -> None:
        users = LibraryStore(invocation.store).rename(kind, name, new_name)
        also = ", and every reference to it" if users else ""
        _result(invocation, f"{kind}/{new_name}", f"renamed {kind} {name} to {new_name}{also}", as_json)

    return command


def _rm(kind: Kind) -> click.Command:
    @click.command(
        "rm", help=f"Delete {_A[kind]} that nothing uses; `persona undo {kind}/NAME` brings it back."
    )
    @name_argument
    @click.option("--yes", is_flag=True, help="Do not ask.")
    @click.option("--force", is_flag=True, help="Delete it also where it is used; then it is missing there.")
    @json_option(RESULT)
    @click.pass_obj
    def command(invocation: Invocation, name: str, yes: bool, force: bool, as_json: bool) -> None:
        library = LibraryStore(invocation.store)
        library.get(kind, name)
        if not yes:
            if not sys.stdin.isatty():
                raise click.UsageError("there is no terminal to ask on; add --yes")
            click.confirm(f"Delete {kind} {name!r}?", abort=True, err=True)
        library.delete(kind, name, force=force)
        key = f"{kind}/{name}"
        _result(invocation, key, f"deleted {kind} {name}; bring it back with: persona undo {key}", as_json)

    return command


def _users(kind: Kind) -> click.Command:
    @click.command("users", help=f"Show who uses {_A[kind]}: personas, and stages of arcs.")
    @name_argument
    @json_option("Print [{kind, name, stage?}].")
    @click.pass_obj
    def command(invocation: Invocation, name: str, as_json: bool) -> None:
        library = LibraryStore(invocation.store)
        library.get(kind, name)
        users = library.users(kind, name)
        if as_json:
            print_json([user.to_record() for user in users])
            return
        for line in columns([(user.kind, user.name, user.stage or "") for user in users]):
            print_text(line)

    return command


def _group(kind: Kind) -> click.Group:
    group = click.Group(kind, help=f"The {kind}s of the library.")
    for make in (_list, _show, _new, _edit, _set, _rename, _rm, _users):
        group.add_command(make(kind))
    return group


part, trait, skill, guardrail, arc = (_group(kind) for kind in KINDS)


@arc.group("stage")
def stages() -> None:
    """The stages of an arc. Which one a persona is on: `persona stage ID`."""


@stages.command("add")
@arc_argument
@stage_argument
@click.option("--description", default="", metavar="TEXT")
@click.option("--condition", default="", metavar="TEXT", help="When the next stage begins.")
@click.option("--part", "parts", metavar="PART", multiple=True, help="A part of the stage; once for each.")
@json_option(RESULT)
@click.pass_obj
def add_stage(invocation: Invocation, /, arc: str, stage: str, as_json: bool, **given: Any) -> None:
    """Add a stage to an arc, after the others.

    \b
    persona arc stage add redemption cold --condition "until somebody is kind twice" --part icy
    """
    LibraryStore(invocation.store).add_stage(arc, stage, **given)
    _result(invocation, f"arc/{arc}", f"added stage {stage} to arc {arc}", as_json)


@stages.command("rm")
@arc_argument
@stage_argument
@json_option(RESULT)
@click.pass_obj
def remove_stage(invocation: Invocation, arc: str, stage: str, as_json: bool) -> None:
    """Remove a stage of an arc; its parts stay in the library."""
    LibraryStore(invocation.store).remove_stage(arc, stage)
    _result(invocation, f"arc/{arc}", f"removed stage {stage} from arc {arc}", as_json)


@stages.command("add-part")
@arc_argument
@stage_argument
@click.argument("part")
@json_option(RESULT)
@click.pass_obj
def add_stage_part(invocation: Invocation, arc: str, stage: str, part: str, as_json: bool) -> None:
    """Add a part to a stage."""
    LibraryStore(invocation.store).add_stage_part(arc, stage, part)
    _result(invocation, f"arc/{arc}", f"added part {part} to stage {stage}", as_json)


@stages.command("rm-part")
@arc_argument
@stage_argument
@click.argument("part")
@json_option(RESULT)
@click.pass_obj
def remove_stage_part(invocation: Invocation, arc: str, stage: str, part: str, as_json: bool) -> None:
    """Remove a part from a stage; it stays in the library."""
    LibraryStore(invocation.store).remove_stage_part(arc, stage, part)
    _result(invocation, f"arc/{arc}", f"removed part {part} from stage {stage}", as_json)


@click.command()
@persona_argument
@kind_argument
@name_argument
@click.option("--order", type=int, metavar="N", help="Of a part: its place among the others.")
@click.option("--priority", type=int, metavar="N", help="Of a part: what is lowest is left out first.")
@click.option("--stage", metavar="S", help="Of an arc: the stage to begin with.")
@json_option(RESULT)
@click.pass_obj
def link(
    invocation: Invocation,
    persona_id: str,
    kind: Kind,
    name: str,
    order: int | None,
    priority: int | None,
    stage: str | None,
    as_json: bool,
) -> None:
    """Link a document of the library to a persona.

    \b
    persona link mentor part warm-brief --priority 2
    persona link mentor arc redemption
    """
    if kind != "part" and (order is not None or priority is not None):
        raise click.UsageError("only parts have --order and --priority")
    if kind != "arc" and stage is not None:
        raise click.UsageError("only an arc has --stage")
    library = LibraryStore(invocation.store)
    library.link(persona_id, kind, name, order=order, priority=priority, stage=stage)
    _result(invocation, persona_id, f"linked {kind} {name}", as_json)


@click.command()
@persona_argument
@kind_argument
@name_argument
@json_option(RESULT)
@click.pass_obj
def unlink(invocation: Invocation, persona_id: str, kind: Kind, name: str, as_json: bool) -> None:
    """Unlink a document from a persona; the document stays.

    \b
    persona unlink mentor part warm-brief
    """
    LibraryStore(invocation.store).unlink(persona_id, kind, name)
    _result(invocation, persona_id, f"unlinked {kind} {name}", as_json)


@click.command()
@persona_argument
@click.argument("wanted", metavar="[advance|reset|NAME]", required=False)
@json_option(RESULT)
@click.pass_obj
def stage(invocation: Invocation, persona_id: str, wanted: str | None, as_json: bool) -> None:
    """Show or change the stage of a persona's arc.

    \b
    persona stage mentor
    persona stage mentor advance
    """
    store = invocation.store
    if wanted is not None:
        reached = LibraryStore(store).set_stage(persona_id, wanted)
        _result(invocation, persona_id, f"stage: {reached}", as_json)
        return
    from personas.library.assembly import assemble
    from personas.library.folders import Library

    persona = store.get(persona_id)
    active = assemble(persona, Library(store.home)).stage
    if as_json:
        print_json({"arc": persona.arc and persona.arc.name, "stage": active and active.name})
    elif active is None:
        print_text("no stage")
    else:
        print_text(f"{active.name}{f'  {active.condition}' if active.condition else ''}")
