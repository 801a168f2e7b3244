"""What the lists of the library show of its documents. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from personas.library.documents import Kind, LibraryDocument
from tui.commands.text_matching import fold, match_all
from tui.widgets.virtual_list import Row

NAME_CELLS = 24
"""The widest column of names."""


class CatalogEntry(NamedTuple):
    """What a list shows of a document; before its file is read, the name alone.

    Attributes:
        type: of a part its type, of a trait its type, of a guardrail its severity.
        problem: what is wrong with its file, empty for nothing.
    """

    name: str
    type: str = ""
    tags: tuple[str, ...] = ()
    description: str = ""
    problem: str = ""

    @classmethod
    def of(cls, document: LibraryDocument) -> CatalogEntry:
        """Return the entry of a document that was read."""
        return cls(
            document.name,
            document.type or document.trait_type or document.severity,
            document.tags,
            document.description,
            problem_of(document),
        )

    def matches(self, words: Sequence[str]) -> bool:
        """Whether every word occurs in name, type, description or tags; a tag is also found as `#tag`."""
        tags = (f"#{tag}" for tag in self.tags)
        return match_all(words, fold(" ".join((self.name, self.type, *tags, self.description))))


def problem_of(document: LibraryDocument) -> str:
    """Return what is wrong with the file of a document, with its place; empty for nothing."""
    if (error := document.error) is None:
        return ""
    where = f" (line {error.line}, column {error.column})" if error.line else ""
    return f"{error.message}{where}"


def document_rows(
    entries: Iterable[CatalogEntry],
    words: Sequence[str] = (),
    *,
    users: Mapping[str, int] | None = None,
    current: str = "",
    unsaved: Collection[str] = (),
) -> list[Row]:
    """Return the rows of documents of one kind that match.

    Args:
        entries: what is known of them.
        words: see `CatalogEntry.matches`.
        users: how many name each; None where that is not counted yet.
        current: the name of the open one.
        unsaved: the names of those with text that is not stored.
    """
    shown = [entry for entry in entries if entry.matches(words)]
    cells = min(NAME_CELLS, max((len(entry.name) for entry in shown), default=0))
    return [
        Row(
            entry.name,
            entry.problem
            or " · ".join(filter(None, (entry.type, " ".join(f"#{tag}" for tag in entry.tags), entry.description))),
            head=entry.name,
            head_cells=cells,
            tail=_tail(entry.name, users, unsaved),
            tone="error" if entry.problem else "",
            current=entry.name == current,
        )
        for entry in shown
    ]  # fmt: skip


def _tail(name: str, users: Mapping[str, int] | None, unsaved: Collection[str]) -> str:
    if name in unsaved:
        return "unsaved"
    if users is None:
        return ""
    return f"{users[name]} users" if users.get(name, 0) > 1 else "1 user" if users.get(name) else "unused"


def kind_rows(counts: Mapping[Kind, int]) -> list[Row]:
    """Return the rows of the kinds, with how many documents each has."""
    return [Row(kind, f"{kind.capitalize()}s", tail=str(count)) for kind, count in counts.items()]
