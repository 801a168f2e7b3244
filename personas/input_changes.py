"""The changes of a persona's test inputs, as values; see `personas.changes`. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from personas.errors import EditRefused, InvalidValue
from personas.fields import field_at, line_counts, require_line, set_field, short
from personas.files.slug import free_id, slug
from personas.toml import edit as toml_edit
from personas.toml.parse import parse

TEST_INPUT_ID_LIMIT = 100
"""Most characters of a test input's id. A longer one in a file written by hand is read and kept."""

_ID_LENGTH = 24


@dataclass(frozen=True, slots=True)
class AddTestInput:
    """Add a test input at the end; its `id` is made from the content when not given, see `new_test_input_id`."""

    content: str
    id: str | None = None
    typed: ClassVar[bool] = False
    subject: ClassVar[str] = "test inputs"

    def apply(self, text: str) -> str:
        _require_content(self.content)
        inputs = _test_inputs(text)
        taken = [table.get("id") for table in inputs]
        if self.id is None:
            wanted = new_test_input_id(self.content, taken)
        else:
            wanted = self.id
            require_line(wanted, "A test input's id", TEST_INPUT_ID_LIMIT)
            if wanted in taken:
                raise InvalidValue(f"There is already a test input with the id {wanted!r}.")
        return toml_edit.append_table(text, ("test_inputs",), {"id": wanted, "content": self.content})

    def summarise(self, old: str, new: str) -> str:
        return f"test input added: {short(self.content)}"


@dataclass(frozen=True, slots=True)
class UpdateTestInput:
    """Replace the content of a test input."""

    id: str
    content: str
    typed: ClassVar[bool] = True

    @property
    def subject(self) -> str:
        return f"test input {short(self.id)}"

    def apply(self, text: str) -> str:
        _require_content(self.content)
        return set_field(text, ("test_inputs", _index_of(text, self.id), "content"), self.content)

    def summarise(self, old: str, new: str) -> str:
        path = ("test_inputs", _index_of(old, self.id), "content")
        before = field_at(parse(old), path, str) or ""
        return f"{self.subject} {line_counts(_ended(before), _ended(self.content))}"


@dataclass(frozen=True, slots=True)
class DeleteTestInput:
    """Remove a test input and the comments right above it."""

    id: str
    typed: ClassVar[bool] = False
    subject: ClassVar[str] = "test inputs"

    def apply(self, text: str) -> str:
        return toml_edit.remove_table(text, ("test_inputs", _index_of(text, self.id)))

    def summarise(self, old: str, new: str) -> str:
        return f"test input deleted: {short(self.id)}"


@dataclass(frozen=True, slots=True)
class MoveTestInput:
    """Move a test input to a position counted from 0; beyond the end means the end."""

    id: str
    position: int
    typed: ClassVar[bool] = False
    subject: ClassVar[str] = "test inputs"

    def apply(self, text: str) -> str:
        index = _index_of(text, self.id)
        position = min(max(self.position, 0), len(_test_inputs(text)) - 1)
        if position == index:
            return text
        return toml_edit.move_table(text, ("test_inputs", index), position)

    def summarise(self, old: str, new: str) -> str:
        return f"test input moved: {short(self.id)}"


def _ended(content: str) -> str:
    return content if content.endswith("\n") else content + "\n"


def new_test_input_id(content: str, taken: Sequence[object]) -> str:
    """Return a short id for a test input, from the first words of its content, not among `taken`."""
    return free_id(slug(content, fallback="test", limit=_ID_LENGTH), lambda wanted: wanted in taken)


def _test_inputs(text: str) -> list[dict[str, Any]]:
    """Return the test inputs as they stand in the file.

    Raises:
        EditRefused: they are not a list of tables.
    """
    inputs = field_at(parse(text), ("test_inputs",), list) or []
    if any(type(table) is not dict for table in inputs):
        raise EditRefused("test_inputs holds something else than tables; mend it by hand first.")
    return list(inputs)


def _index_of(text: str, input_id: str) -> int:
    inputs = _test_inputs(text)
    found = [i for i, table in enumerate(inputs) if table.get("id") == input_id]
    if len(found) > 1:
        raise EditRefused(
            f"{len(found)} test inputs have the id {short(input_id)!r}; give them ids of their own first."
        )
    if not found:
        known = ", ".join(short(str(table["id"])) for table in inputs[:20] if "id" in table)
        raise InvalidValue(f"There is no test input {short(input_id)!r}; there is {known or 'none'}.")
    return found[0]


def _require_content(content: str) -> None:
    if not content.strip():
        raise InvalidValue("A test input must not be empty.")
