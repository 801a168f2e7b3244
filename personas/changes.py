"""The changes a persona can undergo, as values. Each turns a file's text into its new text and says so briefly.

Pure: nothing here reads or writes a disk. `Store.change` applies them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from personas.errors import EditRefused, InvalidValue

_SUMMARY_LIMIT = 60


class Change(Protocol):
    """One change: `apply` gives the new text, `summary` says it in a few words.

    `typed` is true for what a person does by typing and the program saves by itself; such changes join into
    one version when they follow one another.
    """

    @property
    def typed(self) -> bool:
        """Whether neighbouring changes of this kind by one person are one stretch of editing."""

    def apply(self, text: str) -> str:
        """Return the file's new text.

        Raises:
            BrokenFile: the text is no TOML.
            EditRefused: the file is wrong at this very place, or the edit would touch something else.
            InvalidValue: the value cannot be stored.
        """

    def summary(self, text: str) -> str:
        """Say what the change does to `text`, in a few words for a log."""


@dataclass(frozen=True, slots=True)
class _Typed:
    """A change a person makes by typing."""

    typed: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class SetName(_Typed):
    """Set the display name."""

    name: str


@dataclass(frozen=True, slots=True)
class SetDescription(_Typed):
    """Set the description; empty removes it."""

    description: str


@dataclass(frozen=True, slots=True)
class SetTags:
    """Set the tags; none removes the key."""

    tags: Sequence[str]


@dataclass(frozen=True, slots=True)
class SetSummary(_Typed):
    """Set the short form; empty removes it."""

    summary_text: str


@dataclass(frozen=True, slots=True)
class SetPrompt(_Typed):
    """Set the whole system prompt."""

    system_prompt: str


@dataclass(frozen=True, slots=True)
class EditPrompt(_Typed):
    """Replace `old`, which must occur exactly once in the system prompt, by `new`."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class SetModel:
    """Set how the persona is tried. A field left at `KEEP` stays; None removes it."""

    name: str | None
    effort: str | None
    max_tokens: int | None


@dataclass(frozen=True, slots=True)
class AddTestInput:
    """Add a test input at the end; `id` is made from the content when not given."""

    content: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class UpdateTestInput(_Typed):
    """Replace the content of a test input."""

    id: str
    content: str


@dataclass(frozen=True, slots=True)
class DeleteTestInput:
    """Remove a test input and the comments right above it."""

    id: str


@dataclass(frozen=True, slots=True)
class MoveTestInput:
    """Move a test input to a position counted from 0."""

    id: str
    position: int


@dataclass(frozen=True, slots=True)
class ReplaceText(_Typed):
    """Replace the whole file: what `$EDITOR` brought back."""

    text: str
