"""`sillytavern-personas`, `oobabooga`, `eliza`: characters of other programs. They are only read."""

from __future__ import annotations

import re
from typing import Any

from personas.formats.json_file import is_json_object, load_json
from personas.formats.text import one_line, plain_text, stem_of, text_of
from personas.formats.toml_ready import toml_ready
from personas.formats.types import Format, Imported, ImportedPersona, NewDocument, Note, Unreadable
from personas.formats.yaml_file import load_yaml

_GREETING = "a first message is not part of a prompt"


def read_user_personas(content: bytes, _name: str) -> Imported:
    """Return a persona for each that a backup of SillyTavern holds: whom the user plays, as a part of type context."""
    record = load_json(content)
    if not isinstance(record, dict):
        raise Unreadable("it is not a backup of personas: that is an object")
    beside = dict(record)
    tables = [beside.pop(key, None) for key in ("personas", "persona_descriptions")]
    names, described = (one if isinstance(one, dict) else {} for one in tables)
    found = []
    for avatar in dict.fromkeys([*names, *described]):
        where, said = f"persona_descriptions.{avatar}", described.get(avatar)
        rest = dict(said) if isinstance(said, dict) else {"description": said}
        rest |= {"avatar": avatar, "name": names.get(avatar)}
        documents, notes = list[NewDocument](), list[Note]()
        name = _take_name(rest, stem_of(plain_text(avatar)), notes, f"personas.{avatar}")
        if isinstance(text := rest.get("description"), str) and text.strip():
            del rest["description"]
            documents = [_part("user", "context", "Who the user is", plain_text(text))]
            notes.append(Note(f"{where}.description", "part user", "it describes the user, not who answers"))
        kept, more = toml_ready(rest, "x.sillytavern-personas", where)
        others, rest_of_file = toml_ready(beside, "x.sillytavern-personas")
        found.append(
            ImportedPersona(
                name=name,
                fields={"system_prompt": ""},
                kept={**others, **kept},
                documents=tuple(documents),
                report=(*notes, *more, *rest_of_file),
            )
        )
    if not found:
        raise Unreadable("it holds no persona of SillyTavern")
    return Imported(tuple(found))


def read_oobabooga(content: bytes, name: str) -> Imported:
    """Return a character of text-generation-webui: its context is the prompt, its example dialogue a part."""
    record = load_yaml(text_of(content))
    if not isinstance(record, dict) or not isinstance(record.get("context"), str):
        raise Unreadable("it is not a character: it has no text `context`")
    fields = {"system_prompt": plain_text(record.pop("context"))}
    documents, notes = list[NewDocument](), [Note("context", "system_prompt")]
    persona_name = _take_name(record, stem_of(name), notes)
    if isinstance(text := record.get("example_dialogue"), str) and text.strip():
        del record["example_dialogue"]
        documents = [_part("example-dialogue", "voice", "Examples of how the character speaks", text)]
        notes.append(Note("example_dialogue", "part example-dialogue"))
    kept, more = toml_ready(record, "x.oobabooga")
    notes += [Note(one.field, one.went_to, one.why or _GREETING * (one.field == "greeting")) for one in more]
    persona = ImportedPersona(
        name=persona_name, fields=fields, kept=kept, documents=tuple(documents), report=tuple(notes)
    )
    return Imported((persona,))


_ELIZA = {
    ("bio",): ("backstory", "Life so far"),
    ("lore",): ("context", "Lore"),
    ("knowledge",): ("context", "What the character knows"),
    ("topics",): ("context", "Topics"),
    ("style", "all"): ("tone", "Style"),
    ("style", "chat"): ("tone", "Style in conversations"),
    ("style", "post"): ("tone", "Style of posts"),
    ("postExamples",): ("voice", "Examples of posts"),
}
_ACCOUNT = re.compile(r"(?i)id|agent_?id|user_?name|\w*profile")

_CLIENT = re.compile(r"(?i)(?:bot|app|application|client|guild|server|channel|chat)_?ids?|login")


def read_eliza(content: bytes, name: str) -> Imported:
    """Return a character of elizaOS: its lists of texts become parts; what runs it is kept, but not its keys and accounts."""
    record = load_json(content)
    if not isinstance(record, dict):
        raise Unreadable("it is not a character: a character is an object")
    fields, documents, notes = {"system_prompt": ""}, list[NewDocument](), list[Note]()
    persona_name = _take_name(record, stem_of(name), notes)
    for key, field in (("system", "system_prompt"), ("description", "description")):
        if isinstance(record.get(key), str):
            fields[field] = plain_text(record.pop(key))
            notes.append(Note(key, field))
    for path, (kind, description) in _ELIZA.items():
        table = record if len(path) == 1 else record.get(path[0])
        if isinstance(table, dict) and (texts := _take_texts(table, path[-1])):
            documents.append(_part("-".join(path), kind, description, "\n".join(texts)))
            notes.append(Note(".".join(path), f"part {documents[-1].name}"))
    if adjectives := _take_texts(record, "adjectives"):
        trait = {
            "trait_type": "personality",
            "description": "Adjectives",
            "instruction": ", ".join(adjectives),
        }
        documents.append(NewDocument("trait", "adjectives", trait))
        notes.append(Note("adjectives", "trait adjectives"))
    text, is_all = _conversations(record.get("messageExamples"))
    if text:
        documents.append(_part("messageExamples", "voice", "Examples of conversations", text))
        why = "" if is_all else "the messages' words; all of them are kept besides"
        notes.append(Note("messageExamples", f"part {documents[-1].name}", why))
        if is_all:
            del record["messageExamples"]
    for key in [key for key in record if _ACCOUNT.fullmatch(key)]:
        del record[key]
        notes.append(Note(key, None, "it names an account"))
    for key in ("clientConfig", "settings"):
        record |= {key: _without_accounts(record[key], key, notes)} if key in record else {}
    kept, more = toml_ready(record, "x.eliza")
    persona = ImportedPersona(
        name=persona_name, fields=fields, kept=kept, documents=tuple(documents), report=(*notes, *more)
    )
    return Imported((persona,))


def _without_accounts(value: Any, path: str, notes: list[Note]) -> Any:
    """Return settings without what names an account of a service, at any depth."""
    if isinstance(value, list):
        return [_without_accounts(one, f"{path}.{at}", notes) for at, one in enumerate(value)]
    if not isinstance(value, dict):
        return value
    gone = [key for key in value if _ACCOUNT.fullmatch(key) or _CLIENT.fullmatch(key)]
    notes += [Note(f"{path}.{key}", None, "it names an account") for key in gone]
    return {
        key: _without_accounts(one, f"{path}.{key}", notes) for key, one in value.items() if key not in gone
    }


def _take_texts(table: dict[str, Any], key: str) -> list[str]:
    """Take a text, or the texts of a list, out of a table; what else is in the list stays."""
    value = table.get(key)
    values = value if isinstance(value, list) else [value]
    texts = [plain_text(one) for one in values if isinstance(one, str) and one.strip()]
    if texts:
        table[key] = [one for one in values if not isinstance(one, str)]
        if not table[key]:
            del table[key]
    return texts


def _conversations(value: Any) -> tuple[str, bool]:
    """Return conversations as text, each line with its speaker, and whether they say nothing else."""
    texts, is_all = [], True
    for conversation in value if isinstance(value, list) else ():
        lines = []
        for message in conversation if isinstance(conversation, list) else [conversation]:
            match message:
                case {"user": str(who), "content": {"text": str(said), **more}, **others} | {
                    "name": str(who),
                    "content": {"text": str(said), **more},
                    **others,
                }:
                    lines.append(f"{plain_text(who)}: {plain_text(said)}")
                    is_all = is_all and not more and not others
                case _:
                    is_all = False
        texts.append("\n".join(lines))
    return "\n\n".join(text for text in texts if text), is_all


def _part(name: str, kind: str, description: str, text: str) -> NewDocument:
    name = re.sub("([A-Z])", r"-\1", name).lower()
    return NewDocument("part", name, {"type": kind, "description": description, "content": text})


def _take_name(record: dict[str, Any], fallback: str, notes: list[Note], path: str = "name") -> str:
    """Take the name on one line; one that is not on one line stays too."""
    said = record.get("name")
    name = one_line(plain_text(said)) if isinstance(said, str) else ""
    if name:
        notes.append(Note(path, "name"))
    if name == said:
        del record["name"]
    return name or fallback


def _fits_user_personas(content: bytes, _name: str) -> bool:
    return is_json_object(content) and b'"persona_descriptions"' in content


def _fits_oobabooga(content: bytes, name: str) -> bool:
    return name.endswith((".yaml", ".yml")) and all(
        re.search(rb"^['\"]?%b['\"]?:" % key, content, re.MULTILINE) for key in (b"name", b"context")
    )


def _fits_eliza(content: bytes, _name: str) -> bool:
    keys = (b'"lore"', b'"adjectives"', b'"messageExamples"', b'"plugins"')
    return is_json_object(content) and b'"bio"' in content and any(key in content for key in keys)


FORMATS = (
    Format(
        name="sillytavern-personas",
        label="Personas of SillyTavern's users (backup)",
        suffix=".json",
        read=read_user_personas,
        fits=_fits_user_personas,
    ),
    Format(
        name="oobabooga",
        label="Character of text-generation-webui",
        suffix=".yaml",
        read=read_oobabooga,
        fits=_fits_oobabooga,
    ),
    Format(name="eliza", label="Character of elizaOS", suffix=".json", read=read_eliza, fits=_fits_eliza),
)
