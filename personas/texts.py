"""The texts that a person writes in a document, each with its place: a prompt, test inputs, what a part says. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from personas.changes import SetPrompt
from personas.files.frontmatter import frontmatter_span
from personas.library.skill_file import read_skill_file
from personas.library_changes import TextChange, set_skill_key
from personas.prompt_file import named_file
from personas.toml.edit import set_value
from personas.toml.parse import parse

if TYPE_CHECKING:
    from personas.changes import Change

PROMPT, INPUT, PROMPT_FILE = "prompt", "input ", "prompt file"
_PROMPT_PATH = ("system_prompt",)
_KEYS = ("description", "summary", "content", "instruction")


class TextAt(NamedTuple):
    """A text in a document.

    Attributes:
        where: `prompt`, `input ID`; in the library the key, or `stage NAME`. `PROMPT_FILE`: the text names the file that
            has the prompt.
        path: of its value in the file.
        text: the value.
    """

    where: str
    path: tuple[str | int, ...]
    text: str


def texts_in(key: str, text: str, *, is_skill_file: bool = False) -> list[TextAt]:
    """Return the texts of a document, in the order in which they are shown.

    Args:
        key: a persona's id, or `KIND/NAME`.
        text: of its file.
        is_skill_file: whether that is a `SKILL.md`.

    Raises:
        BrokenFile: the text is no TOML.
    """
    if is_skill_file:
        said = {**read_skill_file(text)[0], "content": text[frontmatter_span(text)[2] :]}
        return [TextAt(one, (one,), said[one]) for one in ("description", "content") if one in said]
    values = _of_library(parse(text)) if "/" in key else _of_persona(parse(text))
    return [one for one in values if isinstance(one.text, str)]


def change_of(place: TextAt, value: str, *, is_skill_file: bool = False) -> Change:
    """Return the change that puts another value in the place of a text."""
    if is_skill_file:
        return set_skill_key(str(place.path[0]), value)
    if place.where == PROMPT:
        return SetPrompt(value)
    return TextChange(place.where, "set", lambda text: set_value(text, place.path, value))


def _of_persona(fields: dict[str, Any]) -> Iterator[TextAt]:
    name = named_file(fields)
    yield TextAt(PROMPT_FILE if name else PROMPT, _PROMPT_PATH, name or fields.get("system_prompt", ""))
    for at, table in _tables(fields, "test_inputs"):
        where, path = f"{INPUT}{table.get('id', at + 1)}", ("test_inputs", at)
        yield TextAt(where, (*path, "content"), table.get("content", ""))
        for number, message in _tables(table, "messages"):
            yield TextAt(where, (*path, "messages", number, "content"), message.get("content", ""))


def _of_library(fields: dict[str, Any]) -> Iterator[TextAt]:
    for key in _KEYS:
        yield TextAt(key, (key,), fields.get(key, ""))
    for at, stage in _tables(fields, "stages"):
        for key in ("description", "condition"):
            yield TextAt(f"stage {stage.get('name', at + 1)}", ("stages", at, key), stage.get(key, ""))


def _tables(fields: dict[str, Any], key: str) -> list[tuple[int, dict[str, Any]]]:
    found = fields.get(key)
    tables = found if isinstance(found, list) else []
    return [(at, one) for at, one in enumerate(tables) if isinstance(one, dict)]
