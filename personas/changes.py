"""The changes a persona can undergo, as values. Each turns a file's text into its new text and says so briefly.

Pure: nothing here reads or writes a disk. `Store.change` applies them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Final, Protocol

from personas.errors import InvalidValue
from personas.fields import field_at, line_counts, require_line, set_field, short
from personas.input_changes import (
    TEST_INPUT_ID_LIMIT,
    AddTestInput,
    DeleteTestInput,
    MoveTestInput,
    UpdateTestInput,
    new_test_input_id,
)
from personas.look_alikes import describe_difference, near_match
from personas.toml import edit as toml_edit
from personas.toml.parse import parse

__all__ = [
    "KEEP",
    "NAME_LIMIT",
    "TEST_INPUT_ID_LIMIT",
    "AddTestInput",
    "Change",
    "DeleteTestInput",
    "EditPrompt",
    "Keep",
    "MoveTestInput",
    "ReplaceText",
    "SetDescription",
    "SetModel",
    "SetName",
    "SetPrompt",
    "SetSummary",
    "SetTags",
    "UpdateTestInput",
    "new_test_input_id",
]

NAME_LIMIT = 200
"""Most characters of a display name, a tag, and the names of a model and its effort."""

_MOST_COUNTED = 100
"""So many matches are counted, and no more: each is a search of its own, slow where a long text overlaps itself."""


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
        if field_at(parse(text), ("name",), str) == self.name:  # which may be longer than we would write it
            return text
        require_line(self.name, "A name", NAME_LIMIT)
        return set_field(text, ("name",), self.name)

    def summarise(self, old: str, new: str) -> str:
        before = field_at(parse(old), ("name",), str)
        return f"name: {short(before)} -> {short(self.name)}" if before else f"name: {short(self.name)}"


@dataclass(frozen=True, slots=True)
class _SetText:
    """Set one of the texts at the top of the file; a missing one is not written when empty."""

    key: ClassVar[str]
    typed: ClassVar[bool] = True
    subject: ClassVar[str]

    @property
    def value(self) -> str:
        raise NotImplementedError

    def apply(self, text: str) -> str:
        fields = parse(text)
        if self.key not in fields and not self.value:
            return text
        return set_field(text, (self.key,), self.value)

    def summarise(self, old: str, new: str) -> str:
        return f"{self.subject} {line_counts(field_at(parse(old), (self.key,), str) or '', self.value)}"


@dataclass(frozen=True, slots=True)
class SetDescription(_SetText):
    """Set the description."""

    description: str
    key: ClassVar[str] = "description"
    subject: ClassVar[str] = "description"

    @property
    def value(self) -> str:
        return self.description


@dataclass(frozen=True, slots=True)
class SetSummary(_SetText):
    """Set the short form."""

    summary: str
    key: ClassVar[str] = "summary"
    subject: ClassVar[str] = "summary"

    @property
    def value(self) -> str:
        return self.summary


@dataclass(frozen=True, slots=True)
class SetPrompt(_SetText):
    """Set the whole system prompt."""

    system_prompt: str
    key: ClassVar[str] = "system_prompt"
    subject: ClassVar[str] = "system prompt"

    @property
    def value(self) -> str:
        return self.system_prompt


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
        prompt = field_at(parse(text), ("system_prompt",), str) or ""
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
            told = f"at least {matches}" if matches == _MOST_COUNTED else matches
            raise InvalidValue(
                f"The text to replace has {told} matches in the system prompt; it must have exactly one: "
                "include more of the text around it."
            )
        return set_field(text, ("system_prompt",), prompt.replace(self.old, self.new, 1))

    def summarise(self, old: str, new: str) -> str:
        prompt = field_at(parse(old), ("system_prompt",), str) or ""
        return f"{self.subject} {line_counts(prompt, prompt.replace(self.old, self.new, 1))}"


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
        return set_field(text, ("tags",), tags)

    def summarise(self, old: str, new: str) -> str:
        return f"tags: {short(', '.join(self.tags)) or 'none'}"


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
            table = field_at(parse(text), ("model",), dict) or {}
            if value is not None:
                text = set_field(text, ("model", key), value)
            elif key in table:
                text = toml_edit.remove_key(text, ("model", key))
        return text

    def summarise(self, old: str, new: str) -> str:
        fields = ", ".join(f"{key} {short(str(value or 'unset'))}" for key, value in self._fields())
        return f"model: {fields or 'unchanged'}"

    def _fields(self) -> list[tuple[str, str | int | None]]:
        fields = (("name", self.name), ("effort", self.effort), ("max_tokens", self.max_tokens))
        return [(key, value) for key, value in fields if not isinstance(value, Keep)]


@dataclass(frozen=True, slots=True)
class ReplaceText:
    """Replace the whole file: what `$EDITOR` brought back. The text may be broken; it is the person's own."""

    text: str
    typed: ClassVar[bool] = True
    subject: ClassVar[str] = "file"

    def apply(self, text: str) -> str:
        return self.text

    def summarise(self, old: str, new: str) -> str:
        return f"file {line_counts(old, new)}"


def _occurrences(text: str, part: str) -> int:
    """Count the places where `part` starts, overlapping ones too, as far as `_MOST_COUNTED`."""
    total, at = 0, text.find(part)
    while at >= 0 and total < _MOST_COUNTED:
        total += 1
        at = text.find(part, at + 1)
    return total
