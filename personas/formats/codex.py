"""`codex`: an agent of Codex as TOML. Two neighbours that are TOML too are read: a command of Gemini CLI, and what BMAD customises.

A command of Gemini CLI runs `!{…}` and reads `@{…}`: here both are words of the prompt, and nothing is run.
"""

from __future__ import annotations

import re
from typing import Any

from personas.errors import BrokenFile
from personas.formats.common import named_and_described, take_text, take_texts
from personas.formats.text import stem_of, text_of
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
from personas.toml.new_file import new_text
from personas.toml.parse import parse

_TABLE = "x.codex"
_BMAD = {"role": "agent", "identity": "identity", "communication_style": "voice", "principles": "protocol"}
"""Texts of a persona of BMAD, and the types of the parts that they become."""
_MARK = re.compile(rb"^\s*(?:developer_instructions|prompt)\s*=|^\s*\[agent\]", re.MULTILINE)


def read(content: bytes, name: str) -> Imported:
    """Return the agent, command or customised persona that a file holds."""
    try:
        fields = parse(text_of(content))
    except BrokenFile as error:
        raise Unreadable(f"it is not TOML: {error.message}", error.line) from None
    if isinstance(fields.get("agent"), dict) and "developer_instructions" not in fields:
        return Imported((_bmad(fields, stem_of(name)),))
    key = "developer_instructions" if "developer_instructions" in fields else "prompt"
    if not isinstance(fields.get(key), str):
        raise Unreadable(
            "it has no developer_instructions, as an agent of Codex has, and no prompt, as a command of Gemini has"
        )
    notes: list[Note] = []
    prompt = take_text(fields, key, "system_prompt", notes)
    if key == "prompt":
        notes += [
            Note(f"prompt: {mark}", "system_prompt", f"{what} there; here it is text")
            for mark, what in (
                ("!{", "it runs a command"),
                ("@{", "it reads a file"),
                ("{{args}}", "it stands for words"),
            )
            if mark in prompt
        ]
    display, texts, kept, more = take_texts(fields, _TABLE, fallback=stem_of(name))
    persona = ImportedPersona(
        name=display, fields={**texts, "system_prompt": prompt}, kept=kept, report=(*notes, *more)
    )
    return Imported((persona,))


def _bmad(fields: dict[str, Any], stem: str) -> ImportedPersona:
    agent, rest = dict(fields["agent"]), {key: value for key, value in fields.items() if key != "agent"}
    notes: list[Note] = []
    display = take_text(agent, "name", "name", notes) or stem
    description = take_text(agent, "description", "description", notes)
    documents = []
    for key, kind in _BMAD.items():
        value = agent.get(key)
        lines = [value] if isinstance(value, str) else value
        if isinstance(lines, list) and lines and all(isinstance(one, str) for one in lines):
            agent[key] = "\n".join(lines)
            text = take_text(agent, key, f"part {key}", notes)
            documents.append(NewDocument("part", key, {"type": kind, "content": text}))
    kept, more = toml_ready({"bmad": {**agent, **rest}}, _TABLE)
    return ImportedPersona(
        name=display,
        fields={"description": description},
        kept=kept,
        documents=tuple(documents),
        report=(*notes, *more),
    )


def write(source: Source) -> Exported:
    """Return an agent with the effective prompt of a persona."""
    fields, report = named_and_described(source)
    fields.pop("bmad", None)
    values = {key: value for key, value in fields.items() if not isinstance(value, dict)}
    tables = {key: value for key, value in fields.items() if isinstance(value, dict)}
    text = new_text({**values, "developer_instructions": source.prompt, **tables})
    return Exported({f"{fields['name']}.toml": text.encode()}, report)


def fits(content: bytes, name: str) -> bool:
    """Whether a TOML file has the keys that must stand in one of them; a broken one, whether it looks so."""
    if not name.endswith(".toml") or _MARK.search(content) is None:
        return False
    try:
        fields = parse(text_of(content))
    except (BrokenFile, Unreadable):
        return True
    is_command = isinstance(fields.get("prompt"), str) and fields.keys() <= {"prompt", "description"}
    agent = fields.get("agent")
    return (
        "developer_instructions" in fields
        or is_command
        or (isinstance(agent, dict) and not _BMAD.keys().isdisjoint(agent))
    )


FORMATS = (Format(name="codex", label="Codex agent", suffix=".toml", read=read, write=write, fits=fits),)
