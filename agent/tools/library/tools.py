"""The tools on the library by name: those of every kind of document, and those on personas, links, arcs and stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

from agent.tools.library.models import (
    OPTIONS,
    PERSONA_KEYS,
    ChangedAnswer,
    CompiledAnswer,
    ManifestAnswer,
    Name,
    PersonaAnswer,
    PersonaListAnswer,
    StageArguments,
    arguments,
    document_answer,
    keys_of,
    list_answer,
    optional,
)
from agent.tools.library.spec import LibraryTool
from agent.tools.spec import Effect
from personas.compiled import Options, compile_persona, describe, manifest
from personas.library.documents import KINDS, Kind
from personas.library_store import LibraryStore
from personas.persona import Persona, broken_file

Run = Callable[[LibraryStore, Any], Mapping[str, Any]]

_FORCE = optional(bool, "Also where it is used; it is then reported as missing there.")
_CHANGES_ONLY = "Only what is given is changed."


def _documents(kind: Kind) -> Iterator[LibraryTool]:
    """Yield the five tools that every kind of document has."""
    noun = "character_arc" if kind == "arc" else f"agent_{kind}"
    title, article = noun.title().replace("_", ""), "an" if kind == "arc" else "a"
    typed = {"part": "type", "trait": "trait_type"}.get(kind)
    filters = {key: optional(keys_of(kind)[key][0]) for key in (typed, "tags") if key in keys_of(kind)}

    def create(library: LibraryStore, given: Any) -> Mapping[str, Any]:
        library.create(kind, given.name, given.given("name"))
        return library.changed(f"{kind}/{given.name}", f"created {kind} {given.name}")

    def update(library: LibraryStore, given: Any) -> Mapping[str, Any]:
        fields = given.given("name")
        library.update(kind, given.name, fields)
        return library.changed(f"{kind}/{given.name}", f"set {', '.join(fields)} of {kind} {given.name}")

    def delete(library: LibraryStore, given: Any) -> Mapping[str, Any]:
        library.delete(kind, given.name, force=bool(given.force))
        return library.changed(f"{kind}/{given.name}", f"deleted {kind} {given.name}")

    def listed(library: LibraryStore, given: Any) -> Mapping[str, Any]:
        wanted = getattr(given, typed) if typed else None
        found = library.list(kind, type=wanted, tags=getattr(given, "tags", None) or ())
        return {f"{kind}s": [one.to_record(is_whole=False) for one in found]}

    def get(library: LibraryStore, given: Any) -> Mapping[str, Any]:
        return library.get(kind, given.name).to_record()

    def made(
        verb: str, words: str, effect: Effect, run: Run, answer: type[BaseModel], /, **keys: Any
    ) -> LibraryTool:
        return LibraryTool(
            name=f"{verb}_{noun}{'s' if verb == 'list' else ''}",
            label=f"{verb.title()} {f'the {kind}s' if verb == 'list' else f'{article} {kind}'}",
            description=words,
            input=arguments(f"{verb.title()}{title}", **keys),
            answer=answer,
            effect=effect,
            run=run,
            kind=None if effect == "read" else kind,
        )

    what, keys = f"{article} {kind} of the library", keys_of(kind)
    yield made("create", f"Create {what}.", "write", create, ChangedAnswer, name=Name, **keys)
    changes = f"Change {what}, for all personas that use it. {_CHANGES_ONLY}"
    yield made("update", changes, "write", update, ChangedAnswer, name=Name, **keys)
    yield made(
        "delete",
        f"Delete {what} that nothing uses.",
        "destructive",
        delete,
        ChangedAnswer,
        name=Name,
        force=_FORCE,
    )
    listing = f"List the {kind}s of the library without their texts, broken ones with an error."
    yield made("list", listing, "read", listed, list_answer(kind), **filters)
    yield made("get", f"Read {what} whole.", "read", get, document_answer(kind), name=Name)


# -- personas --------------------------------------------------------------------------------------------


def _readable(library: LibraryStore, name: str) -> Persona:
    """Return a persona that is not broken."""
    persona = library.persona(name)
    if persona.error is not None:
        raise broken_file(persona.id, persona.error, is_readable=bool(persona.revision))
    return persona


def _options(given: Any) -> Options:
    return Options(**given.given("name", "detail"))


def _create_persona(library: LibraryStore, given: Any) -> Mapping[str, Any]:
    library.create_persona(given.name, given.given("name"))
    return library.changed(given.name, f"created persona {given.name}")


def _update_persona(library: LibraryStore, given: Any) -> Mapping[str, Any]:
    fields = given.given("name")
    library.update_persona(given.name, fields)
    return library.changed(given.name, f"set {', '.join(fields)} of persona {given.name}")


def _delete_persona(library: LibraryStore, given: Any) -> Mapping[str, Any]:
    library.delete_persona(given.name)
    return library.changed(given.name, f"deleted persona {given.name}")


def _list_personas(library: LibraryStore, given: Any) -> Mapping[str, Any]:
    return {
        "personas": [
            {
                "name": one.id,
                "display_name": one.name,
                "description": one.description,
                "tags": list(one.tags),
                "error": one.error and one.error._asdict(),
            }
            for one in library.store.list()
            if set(given.tags or ()) <= set(one.tags)
        ]
    }


def _get_persona(library: LibraryStore, given: Any) -> Mapping[str, Any]:
    persona = _readable(library, given.name)
    return describe(library.store, persona, _options(given), detail=bool(given.detail))


def _manifest(library: LibraryStore, given: Any) -> Mapping[str, Any]:
    return manifest(library.store, _readable(library, given.name), _options(given))


def _compile(library: LibraryStore, given: Any) -> Mapping[str, Any]:
    persona = _readable(library, given.name)
    return compile_persona(library.store, persona, _options(given), keep=not library.is_read_only)


# -- links, arcs and stages ------------------------------------------------------------------------------


def _links(kind: Kind) -> Iterator[LibraryTool]:
    """Yield the two tools that link a document to a persona and take the link away."""

    def add(library: LibraryStore, given: Any) -> Mapping[str, Any]:
        name = getattr(given, kind)
        library.link(given.persona, kind, name, **given.given("persona", kind))
        return library.changed(given.persona, f"linked {kind} {name} to {given.persona}")

    def remove(library: LibraryStore, given: Any) -> Mapping[str, Any]:
        name = getattr(given, kind)
        library.unlink(given.persona, kind, name)
        return library.changed(given.persona, f"unlinked {kind} {name} from {given.persona}")

    names: dict[str, Any] = {"persona": Name, kind: Name}
    place = {
        "order": optional(int, "Its place among the persona's parts, lowest first."),
        "priority": optional(int, "What is lowest is left out first where there is no room."),
    }
    more = place if kind == "part" else {}
    add_words, away = (
        f"Link a {kind} of the library to a persona.",
        f"Take the link to a {kind} away; the {kind} stays.",
    )
    yield _tool(f"add_persona_{kind}", f"Link a {kind}", add_words, "write", add, **names, **more)
    yield _tool(f"remove_persona_{kind}", f"Unlink a {kind}", away, "write", remove, **names)


def _assign_arc(library: LibraryStore, given: Any) -> Mapping[str, Any]:
    arc = library.persona(given.persona).arc
    if arc is not None and arc.name == given.arc and given.stage and given.stage != arc.stage:
        library.set_stage(given.persona, given.stage)
    else:
        library.link(given.persona, "arc", given.arc, stage=given.stage)
    return library.changed(given.persona, f"assigned arc {given.arc} to {given.persona}")


def _step(wanted: str) -> Run:
    def run(library: LibraryStore, given: Any) -> Mapping[str, Any]:
        stage = library.set_stage(given.persona, wanted)
        return {**library.changed(given.persona, f"{given.persona} is on stage {stage}"), "stage": stage}

    return run


def _add_stage(library: LibraryStore, given: Any) -> Mapping[str, Any]:
    library.add_stage(given.arc, given.stage, **given.given("arc", "stage"))
    return library.changed(f"arc/{given.arc}", f"added stage {given.stage} to arc {given.arc}")


def _remove_stage(library: LibraryStore, given: Any) -> Mapping[str, Any]:
    library.remove_stage(given.arc, given.stage)
    return library.changed(f"arc/{given.arc}", f"removed stage {given.stage} from arc {given.arc}")


def _add_stage_part(library: LibraryStore, given: Any) -> Mapping[str, Any]:
    library.add_stage_part(given.arc, given.stage, given.part)
    return library.changed(f"arc/{given.arc}", f"added part {given.part} to stage {given.stage}")


def _remove_stage_part(library: LibraryStore, given: Any) -> Mapping[str, Any]:
    library.remove_stage_part(given.arc, given.stage, given.part)
    return library.changed(f"arc/{given.arc}", f"removed part {given.part} from stage {given.stage}")


def _tool(
    name: str,
    label: str,
    description: str,
    effect: Effect,
    run: Run,
    answer: type[BaseModel] = ChangedAnswer,
    kind: Kind | None = None,
    /,
    **keys: Any,
) -> LibraryTool:
    return LibraryTool(
        name=name,
        label=label,
        description=description,
        input=arguments(name.title().replace("_", ""), **keys),
        answer=answer,
        effect=effect,
        run=run,
        kind=kind,
        key=kind or "name",
    )


_DETAIL = optional(bool, "With all texts: its prompt, contents, instructions, severities.")
_STAGE_KEYS = {
    key: (field.annotation, field) for key, field in StageArguments.model_fields.items() if key != "name"
}

_TOOLS = (
    _tool("create_agent_persona", "Create a persona", "Create a persona; `name` is its id.",
                  "write", _create_persona, name=Name, **PERSONA_KEYS),
    _tool("update_agent_persona", "Change a persona", f"Change a persona. {_CHANGES_ONLY}",
                  "destructive", _update_persona, name=Name, **PERSONA_KEYS),
    _tool("delete_agent_persona", "Delete a persona", "Delete a persona; its versions stay.",
                  "destructive", _delete_persona, name=Name, force=optional(bool, "It makes no difference: nothing uses a persona.")),
    _tool("list_agent_personas", "List the personas", "List the personas, broken ones with an error.",
                  "read", _list_personas, PersonaListAnswer, tags=optional(list[str], "Only those that have all of these.")),
    _tool("get_agent_persona", "Read a persona",
                  "Read a persona with all it links, in short or, with `detail`, whole.",
                  "read", _get_persona, PersonaAnswer, name=Name, detail=_DETAIL, **OPTIONS),
    _tool("get_persona_manifest", "Read a manifest",
                  "Read what a persona is made of, without any content, and which tools load the contents. Call it first.",
                  "read", _manifest, ManifestAnswer, name=Name, **OPTIONS),
    _tool("compile_persona", "Compile a persona",
                  "Put the effective prompt of a persona together: its own, its parts, traits, skills and guardrails. "
                  "Without options the texts are stored too.",
                  "read", _compile, CompiledAnswer, name=Name, **OPTIONS),
    *(tool for kind in KINDS for tool in _documents(kind)),
    *(tool for kind in KINDS if kind != "arc" for tool in _links(kind)),
    _tool("add_arc_stage", "Add a stage", "Add a stage to an arc, behind the others.",
          "write", _add_stage, ChangedAnswer, "arc", arc=Name, stage=Name, **_STAGE_KEYS),
    _tool("remove_arc_stage", "Remove a stage", "Remove a stage of an arc.",
          "destructive", _remove_stage, ChangedAnswer, "arc", arc=Name, stage=Name),
    _tool("add_stage_part", "Add a part to a stage", "Add a part to a stage of an arc.",
          "write", _add_stage_part, ChangedAnswer, "arc", arc=Name, stage=Name, part=Name),
    _tool("remove_stage_part", "Remove a part of a stage", "Remove a part from a stage of an arc; the part stays.",
          "write", _remove_stage_part, ChangedAnswer, "arc", arc=Name, stage=Name, part=Name),
    _tool("assign_persona_arc", "Assign an arc", "Put a persona on an arc, on its first stage or the given one.",
          "write", _assign_arc, persona=Name, arc=Name, stage=optional(str)),
    _tool("advance_persona_stage", "Advance the stage", "Move a persona to the next stage of its arc.",
          "write", _step("advance"), persona=Name),
    _tool("reset_persona_stage", "Reset the stage", "Move a persona back to the first stage of its arc.",
          "write", _step("reset"), persona=Name),
)  # fmt: skip

LIBRARY_TOOLS: Mapping[str, LibraryTool] = MappingProxyType({tool.name: tool for tool in _TOOLS})
"""All tools on the library by name."""
