"""`ollama`: a Modelfile. It is read by the rules of Ollama's own parser, in which no text has escapes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from personas.formats.common import as_inputs, losses
from personas.formats.text import folder_of, one_line, stem_of, text_of
from personas.formats.toml_ready import toml_ready
from personas.formats.types import Exported, Format, Imported, ImportedPersona, Note, Source, Unreadable

_TABLE = "x.ollama"
_BASE = "llama3.2"
_QUOTES = '"""'
_COMMANDS = (
    *("FROM", "PARAMETER", "TEMPLATE", "ADAPTER", "SYSTEM", "LICENSE", "MESSAGE"),
    *("REQUIRES", "DRAFT", "RENDERER", "PARSER"),
)
_ROLES = ("system", "user", "assistant")
_COMMAND = re.compile(r"([A-Za-z]+)[ \t]+")
_WORD = re.compile(r"([A-Za-z0-9_]+)[ \t]+")
_BARE = re.compile(r"[\w.:/@+-]+")


def read(content: bytes, name: str) -> Imported:
    """Return the persona of a Modelfile; what users say in its messages are test inputs."""
    text = text_of(content)
    kept: dict[str, Any] = {}
    for line, command, value in _commands(text):
        found = _WORD.match(value) if command in ("PARAMETER", "MESSAGE") else None
        said = "" if found is None else _unquoted(value[found.end() :])
        if command == "PARAMETER":
            if found is None:
                raise Unreadable("a PARAMETER has no value", line)
            kept.setdefault("parameters", {}).setdefault(found[1], []).append(said)
        elif command == "MESSAGE":
            if found is None or found[1] not in _ROLES:
                raise Unreadable("the role of a MESSAGE must be system, user or assistant", line)
            kept.setdefault("messages", []).append({"role": found[1], "content": said})
        else:
            kept.setdefault(command.lower(), []).append(value)
    if "from" not in kept:
        raise Unreadable("it has no FROM, which a Modelfile must have")
    report: list[Note] = []
    fields: dict[str, Any] = {}
    if systems := kept.pop("system", []):
        fields["system_prompt"] = systems.pop()
        report.append(Note("SYSTEM", "system_prompt"))
    if systems:
        kept["system"] = systems
    if inputs := as_inputs([one["content"] for one in kept.get("messages", []) if one["role"] == "user"]):
        fields["test_inputs"] = inputs
    whys = {
        "messages": "they are examples before each conversation; what the user says in them is a test input too",
        "from": "which model tries the persona is said by [model]",
        "system": "the last one counts",
    }
    table, notes = toml_ready(kept, _TABLE)
    report += [
        Note(_shown(one.field), one.went_to, one.why or whys.get(one.field.lower(), "")) for one in notes
    ]
    return Imported((ImportedPersona(name=_name(name), fields=fields, kept=table, report=tuple(report)),))


def _shown(path: str) -> str:
    first, dot, rest = path.partition(".")
    names = {"parameters": "PARAMETER", "messages": "MESSAGE"}
    return names.get(first, first.upper()) + dot + rest


def _name(name: str) -> str:
    stem = stem_of(name)
    if stem.lower() == "modelfile":
        suffix = name.rpartition("/")[2].partition(".")[2]
        return one_line(suffix if suffix.lower() not in ("", "txt") else folder_of(name) or stem)
    return stem


def _commands(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, command and value of each command, as Ollama reads them: a value ends at the first line end behind
    which its quotes are closed.
    """
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        start, first = at + 1, lines[at].lstrip(" \t")
        at += 1
        if not first or first.startswith("#"):
            continue
        found = _COMMAND.match(first)
        command = found[1].upper() if found else ""
        if found is None or command not in _COMMANDS:
            raise Unreadable(
                f"{first.split()[0][:40]!r} is not a command of a Modelfile, or has no value", start
            )
        value, lead = first[found.end() :], ""
        if command in ("PARAMETER", "MESSAGE") and (word := _WORD.match(value)):
            lead, value = value[: word.end()], value[word.end() :]
        chunk = [value]
        while not _is_closed(chunk):
            if at == len(lines):
                raise Unreadable(f"the quotes of {command} are not closed", start)
            chunk.append(lines[at])
            at += 1
        whole = "\n".join(chunk)
        yield start, command, lead + whole if lead else _unquoted(whole)


def _is_closed(lines: list[str]) -> bool:
    first, last = lines[0].lstrip(), lines[-1].rstrip()
    if not first.startswith('"'):
        return True
    quotes = _QUOTES if first.startswith(_QUOTES) else '"'
    is_long = len(lines) > 1 or len(first.rstrip()) >= 2 * len(quotes)
    return is_long and last.endswith(quotes)


def _unquoted(value: str) -> str:
    value = value.strip()
    for quotes in (_QUOTES, '"'):
        if len(value) >= 2 * len(quotes) and value.startswith(quotes) and value.endswith(quotes):
            return value[len(quotes) : -len(quotes)]
    return value


def write(source: Source) -> Exported:
    """Return a Modelfile with the effective prompt of a persona."""
    kept = dict(source.kept)
    bases = _listed(kept.pop("from", []))
    report = [Note("name", "the file's name"), Note("system_prompt", "SYSTEM")]
    if not bases:
        report.append(Note("model", "FROM", f"Ollama needs a model of its own: {_BASE} is used"))
    lines = [f"FROM {base}" for base in bases or [_BASE]]
    for key, values in kept.pop("parameters", {}).items():
        lines += [f"PARAMETER {key} {_parameter(one)}" for one in _listed(values)]
    messages = kept.pop("messages", [])
    for key, values in kept.items():
        lines += [f"{key.upper()} {_quoted(str(one), key.upper())}" for one in _listed(values)]
    if source.prompt:
        lines.append(f"SYSTEM {_quoted(source.prompt, 'the prompt')}")
    lines += [f"MESSAGE {one['role']} {_quoted(one['content'], 'a message')}" for one in messages]
    report += [Note(f"{_TABLE}.{key}", _shown(key)) for key in source.kept]
    if lost := sum(map(_is_lost, source.prompt)):
        why = f"Ollama leaves out {lost} of its characters, which show nothing by themselves"
        report[1] = Note("system_prompt", "SYSTEM", why)
    report += losses(source, but=() if bases else ("model",))
    if source.persona.description:
        report.append(Note("description", None, "the format has no description"))
    return Exported({f"{source.persona.id}.Modelfile": ("\n".join(lines) + "\n").encode()}, tuple(report))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _parameter(value: Any) -> str:
    text = str(value)
    return text if _BARE.fullmatch(text) else _quoted(text, "a parameter")


def _quoted(text: str, what: str) -> str:
    if _QUOTES in text:
        line = text.count("\n", 0, text.index(_QUOTES)) + 1
        raise Unreadable(
            f"{what} has {_QUOTES}, which ends a text in a Modelfile; write " + "''' instead", line
        )
    return f"{_QUOTES}{text}{_QUOTES}"


def _is_lost(sign: str) -> bool:
    """Whether Ollama's parser drops a character: all that Go calls not printable, but for blanks and line ends."""
    return sign not in " \t\n" and unicodedata.category(sign)[0] in "CZ"


_LINES = re.compile(rb"^[ \t]*(?i:FROM)[ \t]+\S.*$", re.MULTILINE)
_OTHERS = re.compile(rb"^[ \t]*(?i:SYSTEM|PARAMETER|TEMPLATE|MESSAGE|ADAPTER)[ \t]+\S", re.MULTILINE)


def fits(content: bytes, name: str) -> bool:
    """Whether a file is called like a Modelfile, or has a model and one of the commands that no Dockerfile has."""
    base = name.rpartition("/")[2].lower()
    if base.startswith("modelfile") or base.endswith(".modelfile"):
        return True
    start = content[:1_000_000]
    return "." not in base and bool(_LINES.search(start)) and bool(_OTHERS.search(start))


FORMATS = (
    Format(name="ollama", label="Ollama Modelfile", suffix="Modelfile", read=read, write=write, fits=fits),
)
