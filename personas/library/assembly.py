"""Assembling a persona from its own texts and the documents it links. Pure: values in, values out.

The levels are, highest first: overrides of the call, the stage of the persona's arc, the persona's own links. For each
type of part the highest level that has parts of it wins with all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from personas.errors import InvalidValue
from personas.library.documents import PART_TYPES, Kind, LibraryDocument, Stage
from personas.persona import PartLink, Persona

Level = Literal["override", "stage", "own"]

_CHARACTERS_PER_TOKEN = 4  # about what models count in English prose


class Documents(Protocol):
    """Documents by kind and name: a dict, or the library of a home."""

    def get(self, key: tuple[Kind, str], /) -> LibraryDocument | None:
        """Return a document, None where there is none."""


@dataclass(frozen=True, slots=True)
class Missing:
    """Something a persona links that is not there or cannot be used; then `reason` says why."""

    kind: str
    name: str
    reason: str = ""

    def to_record(self) -> dict[str, str]:
        """Return it as a JSON object."""
        reason = {"reason": self.reason} if self.reason else {}
        return {"kind": self.kind, "name": self.name, **reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One text that a persona is assembled from: its own, or that of a document.

    Attributes:
        kind: `persona` or the kind of the document.
        priority: of a part; what is lowest is left out first where there is no room.
        order: of a part, in the persona's links.
        document: None of the persona itself.
        replaced: names of the parts of its type on lower levels, which fall away.
    """

    kind: str
    name: str
    level: Level = "own"
    priority: int = 0
    order: int = 0
    document: LibraryDocument | None = None
    replaced: tuple[str, ...] = ()

    def to_record(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {"kind": self.kind, "name": self.name, "level": self.level, "priority": self.priority}


@dataclass(frozen=True, slots=True)
class CompiledLine:
    """One line of an assembled text, and where it comes from.

    Attributes:
        text: the line.
        piece: None of headings and of blank lines between blocks.
        field: the key of the document or the persona; `name` for the heading of a skill.
        source_line: 1-based, in the text of the field; None for the heading of a skill.
    """

    text: str
    piece: Piece | None = None
    field: str | None = None
    source_line: int | None = None

    def to_record(self, number: int) -> dict[str, Any]:
        """Return it as a JSON object."""
        piece = self.piece
        return {
            "line": number,
            "kind": piece.kind if piece else None,
            "name": piece.name if piece else None,
            "field": self.field,
            "source_line": self.source_line,
            "level": piece.level if piece else None,
            "replaced": list(piece.replaced) if piece else [],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """A persona put together.

    Attributes:
        text: the detail text, or the summary text.
        lines: the lines of the text.
        pieces: the persona, its parts in sequence, traits, skills, guardrails.
        stage: the active stage of its arc.
        missing: what is linked and cannot be used.
        left_out: the parts for which the budget had no room.
        fits: whether the text is within the budget.
        warnings: what the person should look at.
    """

    text: str
    lines: tuple[CompiledLine, ...]
    pieces: tuple[Piece, ...]
    stage: Stage | None = None
    missing: tuple[Missing, ...] = ()
    left_out: tuple[Piece, ...] = ()
    fits: bool = True
    warnings: tuple[str, ...] = ()

    def tokens_of(self, piece: Piece) -> int:
        """Return about how many tokens of the text come from a piece."""
        return estimate_tokens("".join(f"{line.text}\n" for line in self.lines if line.piece == piece))

    def documents(self, kind: Kind) -> list[tuple[Piece, LibraryDocument]]:
        """Return the pieces of a kind with their documents."""
        return [(one, one.document) for one in self.pieces if one.kind == kind and one.document is not None]


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has."""
    return -(-len(text) // _CHARACTERS_PER_TOKEN)


def linked(persona: Persona) -> dict[Kind, tuple[str, ...]]:
    """Return the names that a persona links, by kind."""
    return {
        "part": tuple(part.name for part in persona.parts),
        "trait": persona.traits,
        "skill": persona.skills,
        "guardrail": persona.guardrails,
        "arc": () if persona.arc is None else (persona.arc.name,),
    }


def assemble(
    persona: Persona,
    library: Documents,
    *,
    overrides: Mapping[str, str] | None = None,
    stage: str | None = None,
    types: Sequence[str] | None = None,
    limit: int | None = None,
    budget: int | None = None,
    detail: bool = True,
) -> Assembled:
    """Return the effective prompt of a persona, or its summary, with where each line comes from.

    Args:
        persona: whose; without links its text is exactly its own.
        library: the documents.
        overrides: by type the name of the part that replaces all parts of this type.
        stage: the stage to assume instead of the one the persona is on.
        types: only parts of these types; None: of all.
        limit: only so many parts, those of the highest priority.
        budget: most tokens; parts of the lowest priority are left out first.
        detail: the detail text; else the summary text.

    Raises:
        InvalidValue: an override names no part, or one of another type; types are empty; limit or budget is negative.
    """
    if types is not None and not types:
        raise InvalidValue("Name at least one type of parts, or leave types away.")
    if limit is not None and limit < 0:
        raise InvalidValue("The limit must not be negative.")
    if budget is not None and budget < 0:
        raise InvalidValue("The budget must not be negative.")
    links = _Links(persona, library)
    active = links.stage(stage)
    parts = links.parts(overrides or {}, active)
    named: tuple[tuple[Kind, tuple[str, ...]], ...] = (
        ("trait", persona.traits),
        ("skill", persona.skills),
        ("guardrail", persona.guardrails),
    )
    others = [
        Piece(kind=kind, name=one.name, document=one)
        for kind, names in named
        for one in links.found(kind, names)
    ]
    if types is not None:
        parts = [part for part in parts if part.document is not None and part.document.type in types]
    if limit is not None:
        best = sorted(range(len(parts)), key=lambda at: (-parts[at].priority, at))[:limit]
        parts = [part for at, part in enumerate(parts) if at in best]
    left_out: list[Piece] = []
    while True:
        pieces = [Piece(kind="persona", name=persona.id), *parts, *others]
        linked = persona.is_linked or bool(overrides)
        lines = _laid_out(persona, pieces, detail) if linked else _as_it_is(persona, pieces[0], detail)
        text = "\n".join(line.text for line in lines)
        fits = budget is None or estimate_tokens(text) <= budget
        if fits or not parts:
            break
        lowest = min(range(len(parts)), key=lambda at: (parts[at].priority, -at))
        left_out.append(parts.pop(lowest))
    return Assembled(
        text=text,
        lines=tuple(lines if lines[-1].text else lines[:-1]),
        pieces=tuple(pieces),
        stage=active,
        missing=tuple(links.missing),
        left_out=tuple(left_out),
        fits=fits,
        warnings=tuple(dict.fromkeys(links.warnings)),
    )


class _Links:
    """Follows the links of a persona, noting what is missing."""

    def __init__(self, persona: Persona, library: Documents) -> None:
        self._persona = persona
        self._library = library
        self.missing: list[Missing] = []
        self.warnings: list[str] = []

    def found(self, kind: Kind, names: Iterable[str]) -> list[LibraryDocument]:
        """Return the documents that are linked, each once."""
        documents: dict[str, LibraryDocument | None] = {}
        for name in names:
            if name in documents:
                self.warnings.append(f"the {kind} {name} is linked twice and counts once")
            else:
                documents[name] = self._usable(kind, name)
        return [document for document in documents.values() if document is not None]

    def _usable(self, kind: Kind, name: str) -> LibraryDocument | None:
        document = self._library.get((kind, name))
        if document is not None and document.error is None:
            self.warnings += [f"the {kind} {name}: {warning}" for warning in document.warnings]
            return document
        missing = Missing(
            kind, name, "" if document is None or document.error is None else document.error.message
        )
        if missing not in self.missing:
            self.missing.append(missing)
        return None

    def stage(self, wanted: str | None) -> Stage | None:
        """Return the active stage: the one that is wanted, or that of the link, or the first one of the arc."""
        link = self._persona.arc
        arc = None if link is None else self._usable("arc", link.name)
        wanted = wanted or (link.stage if link is not None else None)
        if arc is None:
            if link is None and wanted:
                self.missing.append(Missing("stage", wanted))
            return None
        if not wanted:
            return arc.stages[0] if arc.stages else None
        for stage in arc.stages:
            if stage.name == wanted:
                return stage
        self.missing.append(Missing("stage", wanted))
        return None

    def parts(self, overrides: Mapping[str, str], stage: Stage | None) -> list[Piece]:
        """Return the winning parts in sequence."""
        links: dict[str, PartLink] = {}
        for link in self._persona.parts:
            links.setdefault(link.name, link)
        by_order = sorted(self._persona.parts, key=lambda link: links[link.name].order)
        levels: list[tuple[Level, list[LibraryDocument]]] = [
            ("override", [self._override(kind, name) for kind, name in overrides.items()]),
            ("stage", self.found("part", stage.parts if stage else ())),
            ("own", self.found("part", [link.name for link in by_order])),
        ]
        own = levels[-1][1]
        of_own = list(dict.fromkeys(part.type for part in own))
        added = {part.type for _, parts in levels for part in parts} - {*of_own}
        pieces: list[Piece] = []
        for part in own:
            level, winners = _winners(levels, part.type)
            if level == "own":
                link = links[part.name]
                pieces.append(
                    Piece(
                        kind="part", name=part.name, document=part, priority=link.priority, order=link.order
                    )
                )
            elif part.type in of_own:  # the first own part of its type
                of_own.remove(part.type)
                replaced = [links[one.name] for one in own if one.type == part.type]
                priority = max(link.priority for link in replaced)
                pieces += _of_level(levels, level, winners, priority, replaced[0].order)
        for kind in sorted(added, key=_place_of_type):
            pieces += _of_level(levels, *_winners(levels, kind), 0, 0)
        return pieces

    def _override(self, kind: str, name: str) -> LibraryDocument:
        part = self._library.get(("part", name))
        if part is None:
            raise InvalidValue(f"There is no part {name!r} for the override of {kind!r}.")
        if part.error is not None:
            raise InvalidValue(
                f"The part {name} for the override of {kind!r} is broken: {part.error.message}."
            )
        if part.type != kind:
            raise InvalidValue(f"The part {name} is of type {part.type!r}; it cannot override {kind!r}.")
        return part


def _place_of_type(kind: str) -> tuple[int, str]:
    return (PART_TYPES.index(kind), "") if kind in PART_TYPES else (len(PART_TYPES), kind)


def _winners(
    levels: Sequence[tuple[Level, list[LibraryDocument]]], kind: str
) -> tuple[Level, list[LibraryDocument]]:
    """Return the highest level that has parts of a type, and these parts."""
    for level, parts in levels:
        if winners := [part for part in parts if part.type == kind]:
            return level, winners
    raise AssertionError("some level has parts of this type")


def _of_level(
    levels: Sequence[tuple[Level, list[LibraryDocument]]],
    level: Level,
    winners: Sequence[LibraryDocument],
    priority: int,
    order: int,
) -> list[Piece]:
    """Return the pieces of a level above the own one."""
    below = levels[[name for name, _ in levels].index(level) + 1 :]
    names = [part.name for _, parts in below for part in parts if part.type == winners[0].type]
    return [
        Piece(
            kind="part",
            name=part.name,
            level=level,
            priority=priority,
            order=order,
            document=part,
            replaced=tuple(dict.fromkeys(name for name in names if name != part.name)),
        )
        for part in winners
    ]


# -- laying out ------------------------------------------------------------------------------------------


def _as_it_is(persona: Persona, piece: Piece, detail: bool) -> list[CompiledLine]:
    field = "system_prompt" if detail else "summary"
    lines = getattr(persona, field).split("\n")
    return [CompiledLine(line, piece, field, number) for number, line in enumerate(lines, 1)]


def _laid_out(persona: Persona, pieces: Sequence[Piece], detail: bool) -> list[CompiledLine]:
    """Return the lines, the last one empty: the text ends with a line end."""
    blocks: list[list[CompiledLine]] = []
    for piece in pieces:
        if piece.kind == "persona":
            field = "system_prompt" if detail else "summary"
            blocks.append(_lines_of(piece, field, getattr(persona, field)))
        elif piece.kind == "part":
            blocks.append(_lines_of(piece, *_said(piece, detail)))
    blocks += _group(
        "## Traits", [_item(one, f"{one.name}: ", detail) for one in pieces if one.kind == "trait"]
    )
    skills = [piece for piece in pieces if piece.kind == "skill"]
    blocks += [[CompiledLine("## Skills")]] if skills else []
    for piece in skills:
        blocks += [
            [CompiledLine(f"### {piece.name}", piece, "name")],
            _lines_of(piece, *_said(piece, detail)),
        ]
    blocks += _group(
        "## Guardrails", [_item(one, _severity(one), detail) for one in pieces if one.kind == "guardrail"]
    )
    lines: list[CompiledLine] = []
    for block in blocks:
        lines += [*([CompiledLine("")] if lines and block else []), *block]
    return [*lines, CompiledLine("")]


def _said(piece: Piece, detail: bool) -> tuple[str, str]:
    """Return the field of a document that is taken, and its text."""
    document = piece.document
    assert document is not None
    if detail:
        return "instruction" if document.kind == "trait" else "content", document.text
    field = "summary" if document.kind == "part" and document.summary.strip() else "description"
    return field, getattr(document, field)


def _severity(piece: Piece) -> str:
    severity = piece.document.severity if piece.document is not None else ""
    return f"({severity}) " if severity else ""


def _group(heading: str, items: Sequence[list[CompiledLine]]) -> list[list[CompiledLine]]:
    lines = [line for item in items for line in item]
    return [[CompiledLine(heading)], lines] if lines else []


def _item(piece: Piece, head: str, detail: bool) -> list[CompiledLine]:
    lines = _lines_of(piece, *_said(piece, detail))
    return [
        replace(
            line, text=f"- {head}{line.text}" if at == 0 else f"  {line.text}" if line.text.strip() else ""
        )
        for at, line in enumerate(lines)
    ]


def _lines_of(piece: Piece, field: str, text: str) -> list[CompiledLine]:
    """Return the lines of a text but the blank ones around it."""
    lines = [CompiledLine(line, piece, field, number) for number, line in enumerate(text.split("\n"), 1)]
    filled = [at for at, line in enumerate(lines) if line.text.strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []
