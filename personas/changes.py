"""The changes a persona can undergo, as values. Each turns a file's text into its new text and says so briefly.

Pure: nothing here reads or writes a disk. `Store.change` applies them. A value that has another type in the file than
the program gives it is refused: that is for a person to look at.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

from personas.errors import EditRefused, InvalidValue
from personas.files.bundle import unpack
from personas.files.slug import free_id, slug
from personas.files.text_file import readable
from personas.look_alikes import describe_difference, near_match
from personas.toml import edit as toml_edit
from personas.toml.parse import parse
from personas.versions.merge import count

if TYPE_CHECKING:
    from pathlib import Path

    from personas.test_inputs import Expectation, Message

NAME_LIMIT = 200
"""Most characters of a display name, a tag, and the names of a model and its effort."""

TEST_INPUT_ID_LIMIT = 100
"""Most characters of a test input's id. A longer one in a file written by hand is read and kept."""

_MOST_COUNTED = 100
"""So many matches are counted, and no more: each is a search of its own, slow where a long text overlaps itself."""


_ID_LENGTH = 24
_SHOWN_LENGTH = 40


class Keep(Enum):
    """The type of `KEEP`."""

    KEEP = "keep"


KEEP: Final = Keep.KEEP
"""Stands for "leave this field as it is"."""


class Change(Protocol):
    """One change to one persona."""

    @property
    def typed(self) -> bool:
        """Whether it comes from typing, so that neighbouring ones by one person are one stretch of editing."""

    @property
    def subject(self) -> str:
        """What it changes, in a word or two: "system prompt"."""

    def apply(self, text: str) -> str:
        """Return the file's new text; equal text where nothing is to be done.

        Raises:
            BrokenFile: the text is no TOML.
            EditRefused: the file is wrong at this very place, or the edit would touch something else.
            InvalidValue: the value cannot be stored.
        """

    def summarise(self, old: str, new: str) -> str:
        """Say in a few words what turned the text `old` into `new`."""


@dataclass(frozen=True, slots=True)
class SetName:
    """Set the display name: one line, not blank, at most `NAME_LIMIT` characters."""

    name: str
    typed: ClassVar[bool] = True
    subject: ClassVar[str] = "name"

    def apply(self, text: str) -> str:
        if _field_at(parse(text), ("name",), str) == self.name:  # which may be longer than we would write it
            return text
        require_line(self.name, "A name", NAME_LIMIT)
        return _set_field(text, ("name",), self.name)

    def summarise(self, old: str, new: str) -> str:
        before = _field_at(parse(old), ("name",), str)
        return f"name: {_short(before)} -> {_short(self.name)}" if before else f"name: {_short(self.name)}"


@dataclass(frozen=True, slots=True)
class _SetText:
    """Set one of the texts at the top of the file; a missing one is not written when empty."""

    key: ClassVar[str]
    typed: ClassVar[bool] = True
    subject: ClassVar[str]

    def apply(self, text: str) -> str:
        fields, value = parse(text), getattr(self, self.key)
        return text if self.key not in fields and not value else _set_field(text, (self.key,), value)

    def summarise(self, old: str, new: str) -> str:
        before = _field_at(parse(old), (self.key,), str) or ""
        return f"{self.subject} {_line_counts(before, getattr(self, self.key))}"


@dataclass(frozen=True, slots=True)
class SetDescription(_SetText):
    """Set the description."""

    description: str
    key: ClassVar[str] = "description"
    subject: ClassVar[str] = "description"


@dataclass(frozen=True, slots=True)
class SetSummary(_SetText):
    """Set the short form."""

    summary: str
    key: ClassVar[str] = "summary"
    subject: ClassVar[str] = "summary"


@dataclass(frozen=True, slots=True)
class SetPrompt(_SetText):
    """Set the whole system prompt."""

    system_prompt: str
    key: ClassVar[str] = "system_prompt"
    subject: ClassVar[str] = "system prompt"


@dataclass(frozen=True, slots=True)
class EditPrompt:
    """Replace `old`, which must occur exactly once in the system prompt, by `new`."""

    old: str
    new: str
    typed: ClassVar[bool] = True
    subject: ClassVar[str] = "system prompt"

    def apply(self, text: str) -> str:
        if not self.old:
            raise InvalidValue("The text to replace must not be empty.")
        prompt = _field_at(parse(text), ("system_prompt",), str) or ""
        matches = _occurrences(prompt, self.old)
        if matches == 0:
            message = "The text to replace has no match in the system prompt; it must have exactly one."
            if (passage := near_match(prompt, self.old)) is not None:
                message += (
                    " One passage differs only in characters that look alike; send its exact text: "
                    + describe_difference(passage, self.old)
                )
            raise InvalidValue(message)
        if matches > 1:
            number = f"at least {matches}" if matches == _MOST_COUNTED else matches
            raise InvalidValue(
                f"The text to replace has {number} matches in the system prompt; it must have exactly one: "
                "include more of the text around it."
            )
        return _set_field(text, ("system_prompt",), prompt.replace(self.old, self.new, 1))

    def summarise(self, old: str, new: str) -> str:
        prompt = _field_at(parse(old), ("system_prompt",), str) or ""
        return f"{self.subject} {_line_counts(prompt, prompt.replace(self.old, self.new, 1))}"


@dataclass(frozen=True, slots=True)
class SetTags:
    """Set the tags, in this order."""

    tags: Sequence[str]
    typed: ClassVar[bool] = False
    subject: ClassVar[str] = "tags"

    def apply(self, text: str) -> str:
        tags = list(self.tags)
        known = parse(text).get("tags")
        for tag in tags:
            if not isinstance(known, list) or tag not in known:
                require_line(tag, "A tag", NAME_LIMIT)
        if known is None and not tags:
            return text
        return _set_field(text, ("tags",), tags)

    def summarise(self, old: str, new: str) -> str:
        return f"tags: {_short(', '.join(self.tags)) or 'none'}"


@dataclass(frozen=True, slots=True)
class SetModel:
    """Set how the persona is tried. A field that is `KEEP` stays, None removes it."""

    name: str | Keep | None = KEEP
    effort: str | Keep | None = KEEP
    max_tokens: int | Keep | None = KEEP
    typed: ClassVar[bool] = False
    subject: ClassVar[str] = "model"

    def apply(self, text: str) -> str:
        if isinstance(self.max_tokens, int) and self.max_tokens <= 0:
            raise InvalidValue("max_tokens must be greater than 0.")
        if isinstance(self.max_tokens, int) and self.max_tokens >= 2**63:
            raise InvalidValue("max_tokens is too large a number.")
        for line, what in ((self.name, "A model's name"), (self.effort, "A model's effort")):
            if isinstance(line, str):
                require_line(line, what, NAME_LIMIT)
        for key, value in self._fields():
            table = _field_at(parse(text), ("model",), dict) or {}
            if value is not None:
                text = _set_field(text, ("model", key), value)
            elif key in table:
                text = toml_edit.remove_key(text, ("model", key))
        return text

    def summarise(self, old: str, new: str) -> str:
        fields = ", ".join(f"{key} {_short(str(value or 'unset'))}" for key, value in self._fields())
        return f"model: {fields or 'unchanged'}"

    def _fields(self) -> list[tuple[str, str | int | None]]:
        fields = (("name", self.name), ("effort", self.effort), ("max_tokens", self.max_tokens))
        return [(key, value) for key, value in fields if not isinstance(value, Keep)]


@dataclass(frozen=True, slots=True)
class ReplaceText:
    """Replace a whole file: what `$EDITOR` brought back. The text may be broken; it is the person's own.

    Attributes:
        text: what it is to hold.
        file: which one, of a document with several; None for the one that has its text.
    """

    text: str
    file: Path | None = None
    typed: ClassVar[bool] = True
    subject: ClassVar[str] = "file"

    def apply(self, text: str) -> str:
        return self.text

    def summarise(self, old: str, new: str) -> str:
        return f"file {_line_counts(old, new)}"


@dataclass(frozen=True, slots=True)
class ReplaceContent:
    """Replace all files of a document by those in a content, as a version has them."""

    content: bytes
    subject: str = "file"
    summary: str = ""
    typed: ClassVar[bool] = False

    def apply(self, text: str) -> str:
        return readable(unpack(self.content)[0] or b"")

    def summarise(self, old: str, new: str) -> str:
        return self.summary or f"file {_line_counts(old, new)}"


@dataclass(frozen=True, slots=True)
class AddTestInput:
    """Add a test input at the end; its `id` is made from the content when not given, see `new_test_input_id`.

    With `messages` it is a conversation, whose last message is the content.
    """

    content: str
    id: str | None = None
    messages: tuple[Message, ...] = ()
    typed: ClassVar[bool] = False
    subject: ClassVar[str] = "test inputs"

    def apply(self, text: str) -> str:
        _require_content(self.content)
        inputs = test_input_tables(text)
        taken = [table.get("id") for table in inputs]
        if self.id is None:
            wanted = new_test_input_id(self.content, taken)
        else:
            wanted = self.id
            require_line(wanted, "A test input's id", TEST_INPUT_ID_LIMIT)
            if wanted in taken:
                raise InvalidValue(f"There is already a test input with the id {wanted!r}.")
        said = [{"role": one.role, "content": one.content} for one in self.messages]
        what = {"messages": said} if said else {"content": self.content}
        return toml_edit.append_table(text, ("test_inputs",), {"id": wanted, **what})

    def summarise(self, old: str, new: str) -> str:
        return f"test input added: {_short(self.content)}"


@dataclass(frozen=True, slots=True)
class UpdateTestInput:
    """Replace the content of a test input."""

    id: str
    content: str
    typed: ClassVar[bool] = True

    @property
    def subject(self) -> str:
        return f"test input {_short(self.id)}"

    def apply(self, text: str) -> str:
        _require_content(self.content)
        return _set_field(text, _content_path(text, self.id), self.content)

    def summarise(self, old: str, new: str) -> str:
        path = _content_path(old, self.id)
        before = _field_at(parse(old), path, str) or ""
        return f"{self.subject} {_line_counts(_ended(before), _ended(self.content))}"


@dataclass(frozen=True, slots=True)
class SetExpectations:
    """Set what must hold of the outputs of a test input; none takes them away."""

    id: str
    expect: tuple[Mapping[str, Any], ...]
    typed: ClassVar[bool] = False

    @property
    def subject(self) -> str:
        return f"test input {_short(self.id)}"

    def apply(self, text: str) -> str:
        from personas.test_inputs import fault_of

        for expectation in self.expect:
            if fault := fault_of(expectation):
                raise InvalidValue(f"{fault[:1].upper()}{fault[1:]}.")
        path = ("test_inputs", index_of_input(text, self.id), "expect")
        if self.expect:
            return _set_field(text, path, [dict(one) for one in self.expect])
        return text if _field_at(parse(text), path, list) is None else toml_edit.remove_key(text, path)

    def summarise(self, old: str, new: str) -> str:
        return f"{self.subject}: expectations set"


@dataclass(frozen=True, slots=True)
class SetExpectation:
    """Put one expectation of a test input in the place of another; keys the program does not know stay.

    Attributes:
        id: of the test input.
        old: as it was read; None adds `new` behind the others.
        new: None takes `old` away.
    """

    id: str
    old: Expectation | None
    new: Expectation | None
    typed: ClassVar[bool] = False

    @property
    def subject(self) -> str:
        return f"test input {_short(self.id)}"

    def apply(self, text: str) -> str:
        from personas.test_inputs import FIELDS, fault_of, read_expectation

        path = ("test_inputs", index_of_input(text, self.id), "expect")
        tables = list(_field_at(parse(text), path, list) or [])
        place, unknown = len(tables), {}
        if self.old is not None:
            same = [not fault_of(one) and read_expectation(one) == self.old for one in tables]
            if True not in same:
                raise InvalidValue("This expectation was changed or removed meanwhile.")
            place = same.index(True)
            unknown = {name: value for name, value in tables[place].items() if name not in FIELDS}
        tables[place : place + 1] = [] if self.new is None else [{**self.new.to_record(), **unknown}]
        return SetExpectations(self.id, tuple(tables)).apply(text)

    def summarise(self, old: str, new: str) -> str:
        deed = "added" if self.old is None else "removed" if self.new is None else "changed"
        named = self.new or self.old
        return f"{self.subject}: expectation {named.type if named else ''} {deed}"


@dataclass(frozen=True, slots=True)
class SetSamples:
    """Set how many outputs a run makes of a test input, and how many of them must pass; None leaves it to the default."""

    id: str
    samples: int | None
    min_pass: int | None
    typed: ClassVar[bool] = False

    @property
    def subject(self) -> str:
        return f"test input {_short(self.id)}"

    def apply(self, text: str) -> str:
        from personas.test_inputs import read_samples

        faults: list[str] = []
        wanted = {"samples": self.samples, "min_pass": self.min_pass}
        read_samples(wanted, (), lambda _path, fault: faults.append(fault))
        if faults:
            raise InvalidValue(f"{faults[0][:1].upper()}{faults[0][1:]}.")
        table = ("test_inputs", index_of_input(text, self.id))
        for name, value in wanted.items():
            if value is not None:
                text = _set_field(text, (*table, name), value)
            elif _field_at(parse(text), (*table, name), int) is not None:
                text = toml_edit.remove_key(text, (*table, name))
        return text

    def summarise(self, old: str, new: str) -> str:
        return f"{self.subject}: {self.samples or 1} outputs per run, {self.min_pass or 'all'} must pass"


@dataclass(frozen=True, slots=True)
class DeleteTestInput:
    """Remove a test input and the comments right above it."""

    id: str
    typed: ClassVar[bool] = False
    subject: ClassVar[str] = "test inputs"

    def apply(self, text: str) -> str:
        return toml_edit.remove_table(text, ("test_inputs", index_of_input(text, self.id)))

    def summarise(self, old: str, new: str) -> str:
        return f"test input deleted: {_short(self.id)}"


@dataclass(frozen=True, slots=True)
class MoveTestInput:
    """Move a test input to a position counted from 0; beyond the end means the end."""

    id: str
    position: int
    typed: ClassVar[bool] = False
    subject: ClassVar[str] = "test inputs"

    def apply(self, text: str) -> str:
        index = index_of_input(text, self.id)
        position = min(max(self.position, 0), len(test_input_tables(text)) - 1)
        if position == index:
            return text
        return toml_edit.move_table(text, ("test_inputs", index), position)

    def summarise(self, old: str, new: str) -> str:
        return f"test input moved: {_short(self.id)}"


# -- the fields in the text of a file ------------------------------------------------------------------


def _set_field(text: str, path: tuple[str | int, ...], value: Any) -> str:
    """Return the text with a value set; equal text where it is so already.

    Raises:
        BrokenFile: the text is no TOML.
        EditRefused: the file has a value of another type there.
    """
    fields = parse(text)
    if path == ("system_prompt",) and "system_prompt_file" in fields:
        raise EditRefused("The prompt is not in this file: system_prompt_file names another one.")
    if len(path) > 1:
        _field_at(fields, path[:1], list if path[0] == "test_inputs" else dict)
    old = _field_at(fields, path, type(value))
    return text if old == value else toml_edit.set_value(text, path, value)


def _field_at(fields: Any, path: tuple[str | int, ...], kind: type) -> Any:
    """Return the value at `path`, or None where there is none.

    Raises:
        EditRefused: it has another type.
    """
    value = fields
    for part in path:
        value = value.get(part) if isinstance(part, str) else value[part]
        if value is None:
            return None
    if type(value) is not kind:
        where = ".".join(str(part) for part in path if isinstance(part, str))
        raise EditRefused(f"{where} has the wrong type in the file; fix it by hand first.")
    return value


def require_line(text: str, what: str, limit: int) -> None:
    """Check a text that is to be one line, not blank, of at most `limit` characters.

    Args:
        text: what is to be stored.
        what: names it in the error, as the beginning of a sentence.
        limit: most characters.

    Raises:
        InvalidValue: it is not.
    """
    if not text.strip():
        raise InvalidValue(f"{what} must not be empty.")
    if any(mark in text for mark in "\n\r\0"):
        raise InvalidValue(f"{what} is a single line.")
    if len(text) > limit:
        raise InvalidValue(f"{what} has at most {limit} characters; this one has {len(text)}.")


def _line_counts(old: str, new: str) -> str:
    """Return how many lines of a text were added and removed: `+2 -1`; how the file writes it is another matter."""
    added, removed = count(old, new)
    return f"+{added} -{removed}"


def _short(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_LENGTH else line[: _SHOWN_LENGTH - 1] + "…"


def _occurrences(text: str, part: str) -> int:
    """Count the places where `part` starts, overlapping ones too, as far as `_MOST_COUNTED`."""
    total, at = 0, text.find(part)
    while at >= 0 and total < _MOST_COUNTED:
        total += 1
        at = text.find(part, at + 1)
    return total


def _ended(content: str) -> str:
    return content if content.endswith("\n") else content + "\n"


def new_test_input_id(content: str, taken: Container[object]) -> str:
    """Return a short id for a test input, from the first words of its content, not among `taken`."""
    return free_id(slug(content, fallback="test", limit=_ID_LENGTH), lambda wanted: wanted in taken)


def test_input_tables(text: str) -> list[dict[str, Any]]:
    """Return the test inputs as they stand in the file.

    Raises:
        EditRefused: they are not a list of tables.
    """
    inputs = _field_at(parse(text), ("test_inputs",), list) or []
    if any(type(table) is not dict for table in inputs):
        raise EditRefused("test_inputs holds something other than tables; fix it by hand first.")
    return list(inputs)


def index_of_input(text: str, input_id: str) -> int:
    """Return the place of a test input in the file.

    Raises:
        EditRefused: several have this id.
        InvalidValue: none has it.
    """
    inputs = test_input_tables(text)
    found = [i for i, table in enumerate(inputs) if table.get("id") == input_id]
    if len(found) > 1:
        raise EditRefused(
            f"{len(found)} test inputs have the id {_short(input_id)!r}; give them ids of their own first."
        )
    if not found:
        known = ", ".join(_short(str(table["id"])) for table in inputs[:20] if "id" in table)
        raise InvalidValue(f"There is no test input {_short(input_id)!r}; there is {known or 'none'}.")
    return found[0]


def _content_path(text: str, input_id: str) -> tuple[str | int, ...]:
    """Return where the content of a test input stands: of a conversation it is that of the last message."""
    index = index_of_input(text, input_id)
    messages = test_input_tables(text)[index].get("messages")
    if type(messages) is list and messages and type(messages[-1]) is dict:
        return ("test_inputs", index, "messages", len(messages) - 1, "content")
    return ("test_inputs", index, "content")


def _require_content(content: str) -> None:
    if not content.strip():
        raise InvalidValue("A test input must not be empty.")
