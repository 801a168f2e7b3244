"""`prompty`: a prompt of Prompty: frontmatter, then messages, each below a line with its role, as templates of Jinja.

References such as `${env:KEY}` and `${file:a.txt}` stay as they stand; nothing is resolved.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from personas.formats.common import input_id, losses, take_text
from personas.formats.frontmatter import read_header, split, with_frontmatter
from personas.formats.templates import Chat, has_signs, raw, said_in, without_raw
from personas.formats.text import one_line, stem_of, text_of
from personas.formats.toml_ready import toml_ready
from personas.formats.types import Exported, Format, Imported, ImportedPersona, Note, Source, Unreadable

_TABLE = "x.prompty"
_OURS = frozenset({"chat", "input", "is_template"})
"""Keys of `[x.prompty]` that no frontmatter has: the other messages, the test input they are, and whether the prompt is a template."""
_KEYS = frozenset(
    [
        *(
            "name",
            "description",
            "authors",
            "version",
            "base",
            "tags",
            "model",
            "sample",
            "inputs",
            "outputs",
        ),
        *("metadata", "tools", "template"),
    ]
)
_ROLE = re.compile(
    r"^[^\S\n]*#?[^\S\n]*(?P<role>system|user|assistant|developer|tool|function)(?P<more>\[[^\]\n]*\])?[^\S\n]*:[^\S\n]*$",
    re.MULTILINE | re.IGNORECASE,
)


_USER = {"role": "user", "content": "{{input}}"}


def read(content: bytes, name: str) -> Imported:
    """Return the persona of a prompt; what its user says, with the sample's values, is a test input."""
    header, body = split(text_of(content))
    fields, report = ({}, []) if header is None else read_header(header, _KEYS)
    display = one_line(take_text(fields, "name", "name", report)) or stem_of(name)
    description = take_text(fields, "description", "description", report)
    chat = _messages(body)
    system = chat.pop(0)["content"] if chat and chat[0]["role"] == "system" else ""
    plain, ours = without_raw(system), dict[str, Any]()
    if plain is None and has_signs(system):
        ours["is_template"] = True
    why = "it is a template: what is between {{ }} stays unchanged" if ours else ""
    report.append(Note("body: system", "system_prompt", why))
    made = {"description": description, "system_prompt": system if plain is None else plain}
    inputs, values = [], _values(fields)
    if chat == [_USER] and "input" not in values:
        report.append(Note("body: user", None, "it is the place of what the user says"))
    elif chat:
        ours["chat"] = chat
        said, why = said_in(chat, values)
        if said is None:
            report.append(Note("body: messages", f"{_TABLE}.chat", "the user says nothing in them"))
        else:
            ours["input"] = input_id(said if isinstance(said, str) else said[-1]["content"], ())
            key = "content" if isinstance(said, str) else "messages"
            inputs = [{"id": ours["input"], key: said}]
            report.append(Note("body: messages", f"test_inputs.{ours['input']}", why))
    kept, notes = toml_ready({**fields, **ours}, _TABLE)
    report += [one for one in notes if one.field not in _OURS]
    persona = ImportedPersona(
        name=display,
        fields={key: value for key, value in made.items() if value}
        | ({"test_inputs": inputs} if inputs else {}),
        kept=kept,
        report=tuple(report),
    )
    return Imported((persona,))


def _messages(body: str) -> Chat:
    """Return the messages of a body; what stands above the first role is the system's."""
    chat, role, at = Chat(), "system", 0
    for found in [*_ROLE.finditer(body), None]:
        text = body[at : None if found is None else found.start()].strip("\n")
        if text or at:
            chat.append({"role": role, "content": text})
        if found is not None:
            role, at = found["role"].lower() + (found["more"] or ""), found.end()
    return chat


def _values(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of names that a frontmatter has: of its sample, else of its inputs."""
    values: dict[str, Any] = {}
    inputs = fields.get("inputs")
    if isinstance(inputs, dict):
        inputs = [
            {"name": name, **(one if isinstance(one, dict) else {"default": one})}
            for name, one in inputs.items()
        ]
    for one in inputs if isinstance(inputs, list) else []:
        if isinstance(one, dict) and isinstance(one.get("name"), str):
            values[one["name"]] = next(
                (one[key] for key in ("sample", "default", "value") if key in one), None
            )
    sample = fields.get("sample")
    return {**values, **(sample if isinstance(sample, dict) else {})}


def write(source: Source) -> Exported:
    """Return a prompt with the effective prompt of a persona, and one of its test inputs as what the user says."""
    persona, kept = source.persona, dict(source.kept)
    is_template, chat, known = kept.pop("is_template", False), kept.pop("chat", []), kept.pop("input", None)
    report = [Note("name", "name"), Note("system_prompt", "body: system")]
    report += [Note("description", "description")] if persona.description else []
    blocks: Chat = [
        {"role": "system", "content": source.prompt if is_template else _plain(source.prompt, "the prompt")}
    ]
    first = next((one for one in persona.test_inputs if known in (None, one.id) and one.content), None)
    if first is not None:
        report.append(Note(f"test_inputs.{first.id}", "body: user"))
    said: Any = (
        None if first is None else [{"role": one.role, "content": one.content} for one in first.messages]
    )
    said = said or (None if first is None else first.content)
    if chat and said in (None, said_in(chat, _values(kept))[0]):
        blocks += chat
    elif said is None or (isinstance(said, str) and known is None):
        blocks.append(_USER)
        if said is not None:
            kept |= _with_input(kept, said)
    else:
        messages = said if isinstance(said, list) else [{"role": "user", "content": said}]
        blocks += [{**one, "content": _plain(one["content"], "the test input")} for one in messages]
    fields = {
        "name": persona.name,
        **({"description": persona.description} if persona.description else {}),
        **kept,
    }
    body = "\n\n".join(f"{one['role']}:\n{one['content']}" for one in blocks) + "\n"
    report += [
        *(Note(f"{_TABLE}.{key}", key) for key in kept if key in source.kept),
        *losses(source, but=("test_inputs",)),
        *(
            Note(f"test_inputs.{one.id}", None, "the format has one sample")
            for one in persona.test_inputs
            if one is not first
        ),
    ]
    return Exported({f"{persona.id}.prompty": with_frontmatter(fields, body)}, tuple(report))


def _with_input(kept: Mapping[str, Any], said: str) -> dict[str, Any]:
    """Return the key that gives `input` its value: the sample of the first version where it is there, else inputs."""
    if isinstance(sample := kept.get("sample"), dict):
        return {"sample": {**sample, "input": said}}
    inputs = kept.get("inputs")
    if isinstance(inputs, dict):
        return {"inputs": {**inputs, "input": {"type": "string", "default": said}}}
    value = {"name": "input", "kind": "string", "default": said}
    return {"inputs": [*(inputs if isinstance(inputs, list) else []), value]}


def _plain(text: str, what: str) -> str:
    """Return a text as a template that gives it back.

    Raises:
        Unreadable: a line of it would be read as the role of a message.
    """
    if found := _ROLE.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise Unreadable(f"{what} has the line `{found[0].strip()}`, which begins a message in Prompty", line)
    return raw(text, what)


def fits(content: bytes, name: str) -> bool:
    """Whether a file is called like a prompt of Prompty."""
    return name.lower().endswith(".prompty")


FORMATS = (
    Format(name="prompty", label="Prompty prompt", suffix=".prompty", read=read, write=write, fits=fits),
)
