"""`worldinfo`: a lorebook as a file of its own, and the entries of any lorebook as parts.

A front end puts an entry into a prompt when one of its keys is said. Nothing here does that: an entry that is in use is
a part and always in the prompt, and its keys stay in the table of the format.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from personas.files.slug import slug
from personas.formats.json_file import is_json_object, load_json
from personas.formats.text import one_line, plain_text, stem_of
from personas.formats.toml_ready import toml_ready
from personas.formats.types import Format, Imported, ImportedPersona, NewDocument, Note, Unreadable

_ALWAYS = "always in the prompt: its keys are kept, and nothing here looks for them"
_NAME_LENGTH = 60


def read_entries(
    entries: Mapping[Any, Any], where: str, *, tag: str
) -> tuple[list[NewDocument], dict[Any, Any], list[Note]]:
    """Return a part for each entry in use, sorted as they are inserted; the entries without their texts; and the notes.

    Args:
        entries: by number.
        where: the path of the entries in the file.
        tag: what the tag of a part is, before the number of its entry, from 1; empty: it is the word "lore".
    """
    found: list[tuple[float, NewDocument]] = []
    left: dict[Any, Any] = {}
    notes = []
    for number, (key, entry) in enumerate(entries.items(), 1):
        left[key] = entry = {} if entry is None else entry
        if not isinstance(entry, dict):
            continue
        text = entry.get("content")
        is_in_use = entry.get("enabled") is not False and not entry.get("disable")
        if text is None:
            left[key] = {**entry, "content": ""}
        elif is_in_use and isinstance(text, str) and text.strip():
            left[key] = {name: value for name, value in entry.items() if name != "content"}
            title = _title(entry)
            name = f"lore-{number}-{slug(title, fallback='entry', limit=20)}"
            fields = {
                "type": "context",
                "description": f"Lore: {title}" if title else "Lore",
                "content": plain_text(text),
                "tags": [f"{tag}{number}" if tag else "lore"],
            }
            order = entry.get("insertion_order", entry.get("order"))
            found.append((order if isinstance(order, int | float) else 0, NewDocument("part", name, fields)))
            notes.append(
                Note(
                    f"{where}.{key}.content", f"part {name}", "" if entry.get("constant") is True else _ALWAYS
                )
            )
    return [one for _, one in sorted(found, key=lambda one: one[0])], left, notes


def _title(entry: Mapping[str, Any]) -> str:
    """Return what an entry is called: its name, its comment, or its first key."""
    keys = entry.get("keys", entry.get("key"))
    for value in (entry.get("name"), entry.get("comment"), *(keys if isinstance(keys, list) else ())):
        if isinstance(value, str) and (title := one_line(plain_text(value))):
            return title[:_NAME_LENGTH]
    return ""


def read(content: bytes, name: str) -> Imported:
    """Return a persona whose parts are the entries of a lorebook."""
    record = load_json(content)
    book = record.get("data") if isinstance(record, dict) and record.get("spec") == "lorebook_v3" else record
    entries = book.get("entries") if isinstance(book, dict) else None
    if not isinstance(book, dict) or not isinstance(entries, list | dict):
        raise Unreadable("it is not a lorebook: it has no entries")
    where = "" if book is record else "data"
    documents, left, notes = read_entries(
        entries if isinstance(entries, dict) else dict(enumerate(entries)),
        f"{where}.entries".lstrip("."),
        tag="",
    )
    rest = {**book, "entries": left if isinstance(entries, dict) else list(left.values())}
    title = rest.get("name")
    if not isinstance(title, str) or not title.strip():
        title = stem_of(name)
    kept, more = toml_ready(rest, "x.worldinfo", where)
    if book is not record:
        beside, others = toml_ready(
            {key: one for key, one in record.items() if key != "data"}, "x.worldinfo.beside_data"
        )
        kept, more = {**kept, "beside_data": beside}, [*more, *others]
    persona = ImportedPersona(
        name=plain_text(title),
        fields={"system_prompt": ""},
        kept=kept,
        documents=tuple(documents),
        report=(*notes, *more),
    )
    return Imported((persona,))


def _fits(content: bytes, _name: str) -> bool:
    return is_json_object(content) and (
        b'"lorebook_v3"' in content or (b'"entries"' in content and b'"keysecondary"' in content)
    )


FORMATS = (Format(name="worldinfo", label="World info, lorebook", suffix=".json", read=read, fits=_fits),)
