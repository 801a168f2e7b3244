"""`card`, `card-png`, `charx`: Character Cards V1, V2 and V3, as JSON, in a picture, and in a zip file with its assets.

Each text that a front end puts into its prompt becomes a part; a tag of the part says which field of the card it is, so
that an export finds it again whatever it is called. All else of a card is kept in `[x.card]`.
"""

from __future__ import annotations

import base64
import binascii
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from copy import deepcopy
from io import BytesIO
from typing import Any

from personas.formats.common import prompt_of
from personas.formats.json_file import is_json_object, load_json
from personas.formats.lorebook import read_entries
from personas.formats.png import SIGNATURE, read_texts, replace_texts
from personas.formats.text import SIZE_LIMIT, hyphened, one_line, plain_text, stem_of
from personas.formats.toml_ready import toml_ready
from personas.formats.types import (
    Exported,
    Format,
    Imported,
    ImportedPersona,
    NewDocument,
    Note,
    Source,
    Unreadable,
)
from personas.library.documents import FIELDS, LibraryDocument

_TABLE = "x.card"
_OURS = "persona-editor"
"""The key of `extensions` under which a card carries what only this program has."""
_OUR_FIELDS = {"description": str, "summary": str, "model": dict, "judge": dict, "test_inputs": list}
"""What is taken from there when a card comes back."""
_NAME_LENGTH = 200
"""Most characters of a name and of a tag."""
_MOST_FILES = 10_000
_LONGEST_URI = 64 * 1024
"""Most characters of an asset that a card holds as a data URI; a longer one is left out."""

_BEFORE_LORE = {
    "description": ("identity", "Who the character is"),
    "personality": ("archetype", "Personality"),
    "scenario": ("context", "Scenario"),
}
_AFTER_LORE = {
    "mes_example": ("voice", "Examples of how the character speaks"),
    "post_history_instructions": ("protocol", "Instructions for the end of the prompt"),
}
_PARTS = {**_BEFORE_LORE, **_AFTER_LORE}
"""Type and description of the part that a field of a card becomes."""
_AT_THE_END = 1000
_TAG = "card:"
"""What the tag of a part begins with that is a field of a card."""
_ENTRY = f"{_TAG}entry-"
_V1 = ("name", "description", "personality", "scenario", "first_mes", "mes_example")
_DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(_V1, ""),
    **dict.fromkeys(("creator_notes", "system_prompt", "post_history_instructions"), ""),
    "alternate_greetings": [],
    "tags": [],
    "creator": "",
    "character_version": "",
    "extensions": {},
    "group_only_greetings": [],
}
"""The fields that each card must have: of V2, and the last of V3. What says no more than this is not kept."""
_ENTRY_DEFAULTS = {"use_regex": False, "constant": False}
"""What V3 wants of each entry of a book."""
_SPEC = {"spec": "chara_card_v2", "spec_version": "2.0"}
"""Which card it is; an export says it anew."""
_WRITTEN = "an export writes a V2 card, and into a picture a V3 card too"
_WHYS = {
    "first_mes": "a first message is not part of a prompt",
    "creator_notes": "notes of the creator never reach the prompt",
    "nickname": "{{char}} stands for it; macros are left as they are",
}


# -- reading ---------------------------------------------------------------------------------------------


def read(content: bytes, name: str) -> Imported:
    """Return the character of a card in JSON."""
    return _read_card(load_json(content), name)


def read_png(content: bytes, name: str) -> Imported:
    """Return the character of a card in a picture; where it holds a V3 card, that is read."""
    texts = read_texts(content, ("ccv3", "chara"))
    if not texts:
        raise Unreadable("the picture holds no character card")
    keyword, value = texts[0]
    picture = Note("picture", None, "a persona has none; `persona export --image` writes into it again")
    others = [Note(other, None, f"{keyword} is read in its place") for other, _ in texts[1:]]
    return _read_card(load_json(_decoded(value)), name, (picture, *others))


def read_charx(content: bytes, name: str) -> Imported:
    """Return the character of a card in a zip file; nothing else in it is unpacked."""
    if content.count(b"PK\1\2") > _MOST_FILES:
        raise Unreadable(f"the zip file holds more than {_MOST_FILES} files")
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            with archive.open("card.json") as file:
                card = file.read(SIZE_LIMIT + 1)
            others = [
                one.filename for one in archive.infolist() if not one.is_dir() and one.filename != "card.json"
            ]
    except KeyError:
        raise Unreadable("the zip file holds no card.json") from None
    except (
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        OSError,
        EOFError,
        ValueError,
        RuntimeError,
    ) as error:
        raise Unreadable(f"the zip file cannot be read: {one_line(str(error))}") from None
    notes = [Note(plain_text(other), None, "assets stay in the file") for other in others]
    return _read_card(load_json(card), name, notes)


def _decoded(value: bytes) -> bytes:
    """Return what base64 stands for; blanks in it and missing `=` at its end are let pass, as front ends do."""
    value = b"".join(value.split()).rstrip(b"=")
    try:
        return base64.b64decode(value + b"=" * (-len(value) % 4), validate=True)
    except binascii.Error:
        raise Unreadable("the card in the picture is not base64") from None


def _read_card(record: Any, name: str, notes: Iterable[Note] = ()) -> Imported:
    if not isinstance(record, dict):
        raise Unreadable("it is not a character card: a card is an object")
    inner = record.get("data")
    data, beside = (inner, record) if isinstance(inner, dict) else (record, {})
    data = {key: value for key, value in data.items() if key not in _DEFAULTS or value != _DEFAULTS[key]}
    if not any(isinstance(data.get(key), str) for key in ("name", *_PARTS, "system_prompt", "first_mes")):
        raise Unreadable("it is not a character card: it has neither a name nor a text")
    reading = _Reading(data, "data." if beside else "")
    persona_name = reading.name(stem_of(name))
    fields = reading.fields()
    documents = (*reading.parts(_BEFORE_LORE), *reading.lore(), *reading.parts(_AFTER_LORE))
    kept = reading.rest()
    if beside:
        kept |= reading.beside(beside)
    spec = [
        Note(key, key) if record[key] == value else Note(key, None, _WRITTEN)
        for key, value in _SPEC.items()
        if key in record
    ]
    report = (*reading.notes, *notes, *spec)
    persona = ImportedPersona(name=persona_name, fields=fields, kept=kept, documents=documents, report=report)
    return Imported((persona,))


class _Reading:
    """Takes out of a card what becomes something else than a key of `[x.card]`.

    Args:
        data: the card's fields; what is taken is removed.
        where: what their paths begin with.
    """

    def __init__(self, data: dict[str, Any], where: str) -> None:
        self._data = data
        self._where = where
        self.notes: list[Note] = []

    def name(self, fallback: str) -> str:
        """Return the name on one line; one that is changed by that stays in the card too."""
        said = self._data.get("name")
        if not isinstance(said, str) or not said.strip():
            return fallback
        found = one_line(plain_text(said))[:_NAME_LENGTH]
        self._note("name", "name", "" if found == said else "on one line")
        if found == said:
            del self._data["name"]
        return found

    def fields(self) -> dict[str, Any]:
        """Return the keys of the persona's file."""
        found: dict[str, Any] = {}
        if isinstance(self._data.get("system_prompt"), str):
            found["system_prompt"] = plain_text(self._data.pop("system_prompt"))
            has_original = "{{original}}" in found["system_prompt"]
            self._note(
                "system_prompt", "system_prompt", "{{original}} stays as it is" if has_original else ""
            )
        tags = self._data.get("tags")
        if isinstance(tags, str):
            tags = [one.strip() for one in tags.split(",") if one.strip()]
        if isinstance(tags, list):
            good = [one for one in tags if _is_tag(one)]
            self._data["tags"] = [one for one in tags if not _is_tag(one)]
            found["tags"] = good
            self._note("tags", "tags")
            if not self._data["tags"]:
                del self._data["tags"]
        return {**found, **self._ours()}

    def _ours(self) -> dict[str, Any]:
        """Return what a card that this program wrote says beyond what cards have."""
        extensions = self._data.get("extensions")
        ours = extensions.get(_OURS) if isinstance(extensions, dict) else None
        if not isinstance(extensions, dict) or not isinstance(ours, dict):
            return {}
        found = {key: ours[key] for key, kind in _OUR_FIELDS.items() if isinstance(ours.get(key), kind)}
        left = {key: one for key, one in ours.items() if key not in found}
        others = {key: one for key, one in extensions.items() if key != _OURS}
        self._data["extensions"] = {**others, **({_OURS: left} if left else {})}
        fields, notes = toml_ready(found, "", f"{self._where}extensions.{_OURS}")
        self.notes += notes
        return fields

    def parts(self, fields: Mapping[str, tuple[str, str]]) -> list[NewDocument]:
        """Return a part for each of these fields that has a text."""
        found = []
        for key, (kind, description) in fields.items():
            if isinstance(text := self._data.get(key), str) and text.strip():
                del self._data[key]
                name = key.replace("_", "-")
                order = _AT_THE_END if key == "post_history_instructions" else None
                found.append(_part(name, kind, description, plain_text(text), f"{_TAG}{key}", order))
                self._note(key, f"part {name}")
        return found

    def lore(self) -> list[NewDocument]:
        """Return a part for each entry of the card's book that is in use; the book stays without their texts."""
        book = self._data.get("character_book")
        entries = book.get("entries") if isinstance(book, dict) else None
        if not isinstance(book, dict) or not isinstance(entries, list):
            return []
        where = f"{self._where}character_book.entries"
        documents, left, notes = read_entries(dict(enumerate(entries)), where, tag=_ENTRY)
        self._data["character_book"] = {
            **book,
            "entries": [
                {**_ENTRY_DEFAULTS, **one} if isinstance(one, dict) else one for one in left.values()
            ],
        }
        self.notes += notes
        return documents

    def rest(self) -> dict[str, Any]:
        """Return what is kept, some of it converted to the type that cards must have; large files are left out."""
        version = self._data.get("character_version")
        if isinstance(version, int | float):
            self._data["character_version"] = str(version)
        if isinstance(greeting := self._data.get("alternate_greetings"), str):
            self._data["alternate_greetings"] = [greeting]
        if isinstance(assets := self._data.get("assets"), list):
            self._data["assets"] = [self._asset(at, one) for at, one in enumerate(assets)]
        for key in self._data.keys() & _SPEC.keys():
            del self._data[key]
        kept, notes = toml_ready(self._data, _TABLE, self._where.rstrip("."))
        self.notes += [
            Note(one.field, one.went_to, one.why or _WHYS.get(one.field.removeprefix(self._where), ""))
            for one in notes
        ]
        extensions = self._data.get("extensions")
        depth = extensions.get("depth_prompt") if isinstance(extensions, dict) else None
        if isinstance(depth, dict) and str(depth.get("prompt") or "").strip():
            where = "extensions.depth_prompt"
            why = "a text that front ends put into the chat; the prompt here is without it"
            self._note(where, f"{_TABLE}.{where}", why)
        return kept

    def beside(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return what is kept of the fields beside `data`; some programs repeat there what it says, for V1 readers."""
        data = record["data"]
        rest = {key: value for key, value in record.items() if key not in ("data", *_SPEC)}
        copies = [key for key, value in rest.items() if key in data and value == data[key]]
        kept, notes = toml_ready(
            {key: value for key, value in rest.items() if key not in copies}, f"{_TABLE}.beside_data"
        )
        self.notes += notes
        if copies:
            why = f"for V1 readers {', '.join(copies)} are there too; an export writes them again"
            self.notes.append(Note("copies beside data", f"{_TABLE}.copies", why))
        return {key: value for key, value in (("beside_data", kept), ("copies", copies)) if value}

    def _asset(self, at: int, asset: Any) -> Any:
        if not isinstance(asset, dict) or len(str(asset.get("uri"))) <= _LONGEST_URI:
            return asset
        self._note(f"assets.{at}.uri", None, "a whole file, which stays in the card")
        return {**asset, "uri": ""}

    def _note(self, key: str, went_to: str | None, why: str = "") -> None:
        self.notes.append(Note(self._where + key, went_to, why))


def _part(name: str, kind: str, description: str, text: str, tag: str, order: int | None) -> NewDocument:
    return NewDocument(
        "part", name, {"type": kind, "description": description, "content": text, "tags": [tag]}, order
    )


def _is_tag(value: Any) -> bool:
    return (
        isinstance(value, str)
        and value == plain_text(value).strip() != ""
        and "\n" not in value
        and len(value) <= _NAME_LENGTH
    )


# -- writing ---------------------------------------------------------------------------------------------


def write(source: Source) -> Exported:
    """Return a V2 card in JSON."""
    data, report = _card(source)
    text = json.dumps(_v2(data, source), ensure_ascii=False, indent=4, default=str)
    return Exported({f"{_stem(source)}.json": f"{text}\n".encode()}, report)


def write_png(source: Source) -> Exported:
    """Return a picture with a V2 and a V3 card of the same data; all else in the picture stays as it is."""
    if source.image is None:
        raise Unreadable("a card-png needs a picture that it is written into: name one with --image FILE.png")
    data, report = _card(source)
    card = _v2(data, source)
    cards = {"chara": card, "ccv3": {**card, "spec": "chara_card_v3", "spec_version": "3.0"}}
    texts = {
        keyword: base64.b64encode(json.dumps(card, ensure_ascii=False, default=str).encode())
        for keyword, card in cards.items()
    }
    return Exported({f"{_stem(source)}.png": replace_texts(source.image, texts)}, report)


def _stem(source: Source) -> str:
    return hyphened(source.persona.name, source.persona.id)


def _v2(data: dict[str, Any], source: Source) -> dict[str, Any]:
    beside, copies = (source.kept.get(key) for key in ("beside_data", "copies"))
    copied = {key: data[key] for key in data if isinstance(copies, list) and key in copies}
    return {
        **_SPEC,
        **copied,
        **(beside if isinstance(beside, dict) else {}),
        "data": data,
    }


def _card(source: Source) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """Return the data of a card, and where each thing of the persona went."""
    persona, kept = source.persona, deepcopy(dict(source.kept))
    for key in ("beside_data", "copies"):
        kept.pop(key, None)
    tags = {f"{_TAG}{key}": key for key in _PARTS} | {
        f"{_ENTRY}{at}": f"character_book, entry {at}"
        for at, entry in enumerate(_entries(kept), 1)
        if "content" not in entry
    }
    said: dict[str, str] = {}
    rest: list[LibraryDocument] = []
    report = [Note("name", "name"), Note("system_prompt", "system_prompt"), Note("tags", "tags")]
    for one in source.documents:
        if tag := next((tag for tag in one.tags if tag in tags), None):
            said[tag] = f"{said[tag]}\n\n{one.content}" if tag in said else one.content
            report.append(Note(f"{one.kind} {one.name}", tags[tag]))
        else:
            rest.append(one)
            report.append(Note(f"{one.kind} {one.name}", "system_prompt", "a card has no library"))
    data = {
        **deepcopy(_DEFAULTS),
        **kept,
        "system_prompt": prompt_of(source, rest) if said else source.prompt,
        **{key: said[f"{_TAG}{key}"] for key in _PARTS if f"{_TAG}{key}" in said},
    }
    if one_line(str(kept.get("name", "")))[:_NAME_LENGTH] != persona.name:
        data["name"] = persona.name
    if persona.tags:
        data["tags"] = [*persona.tags, *(kept["tags"] if isinstance(kept.get("tags"), list) else ())]
    if _entries(kept):
        entries = [
            {**entry, "content": said[f"{_ENTRY}{at}"]} if f"{_ENTRY}{at}" in said else entry
            for at, entry in enumerate(kept["character_book"]["entries"], 1)
        ]
        entries = [one for one in entries if not isinstance(one, dict) or "content" in one]
        data["character_book"] = {**kept["character_book"], "entries": entries}
    if ours := {key: source.fields[key] for key in (*_OUR_FIELDS, "arc") if source.fields.get(key)}:
        report += [Note(key, f"extensions.{_OURS}.{key}", "a card has none") for key in ours]
    if rest:
        ours |= {"system_prompt": persona.system_prompt, "documents": [_record(one) for one in rest]}
    if ours:
        extensions = data["extensions"]
        data["extensions"] = {**(extensions if isinstance(extensions, dict) else {}), _OURS: ours}
    return data, tuple(report)


def _entries(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the entries of a card's book, which may be anything."""
    book = data.get("character_book")
    entries = book.get("entries") if isinstance(book, dict) else None
    return [one if isinstance(one, dict) else {} for one in entries] if isinstance(entries, list) else []


def _record(document: LibraryDocument) -> dict[str, Any]:
    record = document.to_record()
    return {
        "kind": document.kind,
        **{key: record[key] for key in ("name", *FIELDS[document.kind]) if record[key]},
    }


# -- recognising -----------------------------------------------------------------------------------------


def _fits(content: bytes, _name: str) -> bool:
    return is_json_object(content) and any(
        key in content for key in (b'"chara_card_v', b'"first_mes"', b'"mes_example"')
    )


def _fits_png(content: bytes, _name: str) -> bool:
    return content.startswith(SIGNATURE) and re.search(rb"tEXt(?i:chara|ccv3)\0", content) is not None


def _fits_charx(content: bytes, name: str) -> bool:
    return name.endswith(".charx") or (content.startswith(b"PK\3\4") and b"card.json" in content)


FORMATS = (
    Format(
        name="card-png",
        label="Character card in a picture",
        suffix=".png",
        shares="card",
        read=read_png,
        write=write_png,
        fits=_fits_png,
    ),
    Format(
        name="charx",
        label="Character card with assets",
        suffix=".charx",
        shares="card",
        read=read_charx,
        fits=_fits_charx,
    ),
    Format(
        name="card", label="Character card (V1, V2, V3)", suffix=".json", read=read, write=write, fits=_fits
    ),
)
