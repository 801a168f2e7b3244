"""What a persona and its links come to, in the shapes that commands and tools answer, and the compiled texts that are stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from typing import Any

from personas.errors import Busy, StorageError
from personas.files.file_stamp import Stamp, stamp_of
from personas.files.home import Home
from personas.files.json_file import edit_json, read_json
from personas.files.text_file import sha256
from personas.library.assembly import Assembled, Documents, assemble
from personas.library.documents import LibraryDocument, Stage, is_name
from personas.library.folders import Library, files_of
from personas.persona import Persona
from personas.store import Store, utc_now

ON_DEMAND_TOOLS = {
    "get_agent_part": "load the full content of a part",
    "get_agent_trait": "load the instruction of a trait",
    "get_agent_skill": "load the content of a skill",
    "get_agent_guardrail": "load the content of a guardrail",
    "compile_persona": "load everything as one text",
}
_FILE = "compiled.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of one call, see `assemble`."""

    overrides: Mapping[str, str] = field(default_factory=dict)
    stage: str | None = None
    types: Sequence[str] | None = None
    limit: int | None = None
    budget: int | None = None

    def assemble(self, persona: Persona, library: Documents, *, detail: bool = True) -> Assembled:
        """Return the persona put together with these options."""
        return assemble(
            persona,
            library,
            overrides=self.overrides,
            stage=self.stage,
            types=self.types,
            limit=self.limit,
            budget=self.budget,
            detail=detail,
        )


class CompileCache:
    """Personas put together. Each is assembled again only where a file it comes from has changed.

    Args:
        home: where they live.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self._known: dict[tuple[str, str], tuple[str, dict[Path, Stamp | None], Assembled]] = {}

    def of(self, persona: Persona, options: Options = Options()) -> Assembled:
        """Return a persona put together; the same object while nothing it comes from is another.

        Raises:
            InvalidValue: see `assemble`.
        """
        key = (persona.id, repr(options))
        if key in self._known:
            revision, stamps, found = self._known[key]
            if revision == persona.revision != "" and all(
                stamp_of(at) == then for at, then in stamps.items()
            ):
                return found
        library = Library(self._home)
        options.assemble(persona, library)  # asks for all documents that are used
        paths = [path for one in library.asked if is_name(one[1]) for path in files_of(self._home, *one)]
        stamps = {path: stamp_of(path) for path in paths}
        found = options.assemble(
            persona, Library(self._home)
        )  # read after the stamps: never older than they are
        self._known[key] = persona.revision, stamps, found
        return found


def stages_of(home: Home, persona: Persona) -> tuple[Stage, ...]:
    """Return the stages of the arc a persona is on; none where it is on none, or the arc cannot be used."""
    arc = None if persona.arc is None else Library(home).get(("arc", persona.arc.name))
    return arc.stages if arc is not None and arc.error is None else ()


def compile_persona(
    store: Store,
    persona: Persona,
    options: Options = Options(),
    *,
    keep: bool = True,
) -> dict[str, Any]:
    """Return both texts of a persona; without options, and with `keep`, they are stored beside it.

    Raises:
        InvalidValue: see `assemble`.
    """
    library = Library(store.home)
    detail = options.assemble(persona, library)
    summary = options.assemble(persona, library, detail=False)
    at = utc_now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    texts = {"compiled_summary": summary.text, "compiled_detail": detail.text, "compiled_at": at}
    if keep and options == Options() and not store.home.instead:
        # Where the disk takes nothing the texts are answered all the same: they can be made again.
        with (
            suppress(StorageError, Busy),
            edit_json(_file(store.home), lock="compiled.lock", what="The file of compiled texts") as stored,
        ):
            stored[persona.id] = {**texts, "source": _source(persona, library)}
    return {
        "name": persona.id,
        **texts,
        **_missing(detail),
        "left_out": [one.name for one in detail.left_out],
        **_warnings(detail),
    }


def stored_texts(store: Store, persona: Persona) -> dict[str, Any]:
    """Return the compiled texts that are stored, None where there are none, and whether they are stale."""
    found = read_json(_file(store.home)).get(persona.id)
    if not isinstance(found, dict):
        return {"compiled_summary": None, "compiled_detail": None, "compiled_at": None, "stale": False}
    library = Library(store.home)
    Options().assemble(persona, library)  # asks for all documents that are used
    texts = {key: found.get(key) for key in ("compiled_summary", "compiled_detail", "compiled_at")}
    return {**texts, "stale": found.get("source") != _source(persona, library)}


def manifest(store: Store, persona: Persona, options: Options = Options()) -> dict[str, Any]:
    """Return the structure of a persona without any content, and which tools bring the contents.

    Raises:
        InvalidValue: see `assemble`.
    """
    done = options.assemble(persona, Library(store.home))
    return {
        "name": persona.id,
        "description": persona.description,
        "parts": [
            {"name": one.name, "type": one.type, "description": one.description}
            for _, one in done.documents("part")
        ],
        "traits": [
            {"name": one.name, "trait_type": one.trait_type, "description": one.description}
            for _, one in done.documents("trait")
        ],
        "skills": [one.name for _, one in done.documents("skill")],
        "guardrails": [one.name for _, one in done.documents("guardrail")],
        "arc": _arc(persona, done),
        "on_demand_tools": ON_DEMAND_TOOLS,
        **(_missing(done) if done.missing else {}),
        **_warnings(done),
    }


def describe(
    store: Store, persona: Persona, options: Options = Options(), *, detail: bool = False
) -> dict[str, Any]:
    """Return a persona with what it links, its texts only with `detail`, and the compiled texts that are stored.

    Raises:
        InvalidValue: see `assemble`.
    """
    done = options.assemble(persona, Library(store.home))

    def more(document: LibraryDocument, *keys: str) -> dict[str, Any]:
        return {key: getattr(document, key) for key in keys} if detail else {}

    stored = stored_texts(store, persona)
    if not detail:
        del stored["compiled_detail"]
    return {
        "name": persona.id,
        "display_name": persona.name,
        "description": persona.description,
        "tags": list(persona.tags),
        "summary": persona.summary,
        **({"detail": persona.system_prompt} if detail else {}),
        "parts": [
            {
                "name": one.name,
                "type": one.type,
                "summary": one.summary,
                "level": piece.level,
                "order": piece.order,
                "priority": piece.priority,
                **more(one, "content"),
            }
            for piece, one in done.documents("part")
        ],
        "traits": [
            {
                "name": one.name,
                "trait_type": one.trait_type,
                "description": one.description,
                **more(one, "instruction"),
            }
            for _, one in done.documents("trait")
        ],
        "skills": [
            {"name": one.name, "description": one.description, **more(one, "content")}
            for _, one in done.documents("skill")
        ],
        "guardrails": [
            {"name": one.name, "description": one.description, **more(one, "content", "severity")}
            for _, one in done.documents("guardrail")
        ],
        "arc": _arc(persona, done),
        **stored,
        **_missing(done),
        **_warnings(done),
    }


def explain(
    store: Store, persona: Persona, options: Options = Options(), *, detail: bool = True
) -> dict[str, Any]:
    """Return the text of a persona, and of each line where it comes from.

    Raises:
        InvalidValue: see `assemble`.
    """
    done = options.assemble(persona, Library(store.home), detail=detail)
    return {
        "text": done.text,
        "lines": [line.to_record(number) for number, line in enumerate(done.lines, 1)],
        "pieces": [
            {**one.to_record(), "tokens": done.tokens_of(one), "estimated": True} for one in done.pieces
        ],
        "left_out": [one.name for one in done.left_out],
        **_missing(done),
    }


def _arc(persona: Persona, done: Assembled) -> dict[str, str | None] | None:
    if persona.arc is None:
        return None
    return {"name": persona.arc.name, "stage": done.stage.name if done.stage else None}


def _missing(done: Assembled) -> dict[str, Any]:
    return {"missing": [one.to_record() for one in done.missing]}


def _warnings(done: Assembled) -> dict[str, Any]:
    """Return what the person should look at, where there is something."""
    return {"warnings": list(done.warnings)} if done.warnings else {}


def _file(home: Home) -> Path:
    return home.state / _FILE


def _source(persona: Persona, library: Library) -> str:
    """Return a hash of all that the texts come from."""
    links = [part._asdict() for part in persona.parts], persona.traits, persona.skills, persona.guardrails
    arc = None if persona.arc is None else persona.arc._asdict()
    said = [persona.system_prompt, persona.summary, links, arc, library.sources()]
    return sha256(json.dumps(said, sort_keys=True).encode())
