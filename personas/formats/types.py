"""What the formats have in common: what a file holds, what an export writes from, and the report of both. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from personas.errors import PersonaError
from personas.library.documents import Kind, LibraryDocument
from personas.persona import Persona


class Unreadable(PersonaError):
    """Why a file is refused, in one sentence.

    Args:
        message: without a full stop.
        line: 1-based line of the file, where there is one.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message + ("." if line is None else f" (line {line})."))
        self.line = line


@dataclass(frozen=True, slots=True)
class Note:
    """One line of a report.

    Attributes:
        field: what the source calls it, as a dotted path.
        went_to: where it went, as in "system_prompt", "part opening" or "x.card.first_mes"; None: it was left out.
        why: what a person should know of it; empty where it went as it is. What was left out always has one.
    """

    field: str
    went_to: str | None
    why: str = ""

    def to_record(self) -> dict[str, str | None]:
        """Return it as a JSON object."""
        return asdict(self)


def report_lines(report: Sequence[Note]) -> list[str]:
    """Return a report in a few lines: what went as it is in one, then what a person should know, things of one reason in one."""
    as_it_is = [note for note in report if note.went_to is not None and not note.why]
    kept: dict[str, list[str]] = {}
    for note in as_it_is:
        if str(note.went_to).startswith("x."):
            kept.setdefault(str(note.went_to).split(".")[1], []).append(note.field)
    moved = [
        note.field if note.field == note.went_to else f"{note.field} -> {note.went_to}"
        for note in as_it_is
        if not str(note.went_to).startswith("x.")
    ]
    lines = [f"as it is: {', '.join(moved)}"] if moved else []
    lines += [f"kept in [x.{table}]: {', '.join(fields)}" for table, fields in kept.items()]
    whys: dict[tuple[bool, str], list[str]] = {}
    for note in report:
        if note.why:
            field = re.sub(r"(?<=\.)\d+(?=\.)", "*", note.field)
            moved_to = "" if note.went_to in (None, note.field) else f" -> {note.went_to}"
            whys.setdefault((note.went_to is None, note.why), []).append(field + moved_to)
    return lines + [
        f"{'left out: ' if is_left_out else ''}{', '.join(dict.fromkeys(fields))}: {why}"
        for (is_left_out, why), fields in sorted(whys.items(), key=lambda one: one[0][0])
    ]


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document of the library that an import makes and links; one of equal content is used again.

    Attributes:
        kind: of the document.
        name: what follows the persona's id in its name: `opening` makes the document `ID-opening`.
        fields: values by key, see `LibraryStore.create`.
        order: of the link to a part; 1000 for a text that is meant for the end.
    """

    kind: Kind
    name: str
    fields: Mapping[str, Any]
    order: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedPersona:
    """A persona as a file of another program says it.

    Attributes:
        name: the display name; its id is made from it.
        fields: keys of a persona's TOML as they stand in it: description, tags, summary, system_prompt, model, test_inputs.
            Links are none of them: they follow from `documents`.
        kept: what becomes the table `[x.FORMAT]`, see `toml_ready`.
        documents: of the library, in the order of their links.
        report: where each field of the source went.
    """

    name: str
    fields: Mapping[str, Any]
    kept: Mapping[str, Any] = field(default_factory=dict)
    documents: tuple[NewDocument, ...] = ()
    report: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file holds; of several personas the file is only listed until the person wants all."""

    personas: tuple[ImportedPersona, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What an export writes from.

    Attributes:
        persona: as it was read.
        prompt: its effective prompt, with the overrides of the call.
        fields: its whole TOML.
        kept: its table `[x.FORMAT]`, empty where it has none.
        documents: of the library, that the effective prompt is made of, in its sequence.
        image: a PNG to write into, for a format that needs one.
    """

    persona: Persona
    prompt: str
    fields: Mapping[str, Any]
    kept: Mapping[str, Any] = field(default_factory=dict)
    documents: tuple[LibraryDocument, ...] = ()
    image: bytes | None = None


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export writes.

    Attributes:
        files: by relative path, the main file first.
        report: where each field of the persona went.
        came_from: hash of the text that the persona was imported from, for `Format.merge`; empty: not known.
    """

    files: Mapping[str, bytes]
    report: tuple[Note, ...] = ()
    came_from: str = ""


def _never(_content: bytes, _name: str) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format.

    Attributes:
        name: as a person types it.
        label: in a few words for a table.
        suffix: of the main file, with its dot.
        read: returns what a file holds; raises `Unreadable`. The name is the file's, that of its folder and `/` before it
            where it has one: "summarize/system.md". None: it is only written.
        write: returns the files of a persona; raises `Unreadable` where the format cannot say it. None: it is only read.
        fits: whether a file looks like this format; takes what `read` takes, and is cheap.
        merge: returns a file that is there with an export in it, and all else in it as it is, and in a few words where in it
            that stands; takes both. None: a file that is there is never written to.
        shares: the name of the format whose table `[x.…]` it uses; empty: it has one of its own.
    """

    name: str
    label: str
    suffix: str
    read: Callable[[bytes, str], Imported] | None = None
    write: Callable[[Source], Exported] | None = None
    fits: Callable[[bytes, str], bool] = _never
    merge: Callable[[bytes, Exported], tuple[bytes, str]] | None = None
    shares: str = ""

    @property
    def table(self) -> str:
        """The key in `[x]` of what is kept of a file."""
        return self.shares or self.name
