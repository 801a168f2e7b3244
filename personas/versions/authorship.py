"""Values of the version history: author, version, diff, and the outcome of an undo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from personas.persona import Persona

KINDS = ("user", "agent", "import", "restore", "external")
MCP = "mcp:"
"""An author of this kind is a client that writes over MCP; its name follows."""
REQUEST_LIMIT = 300
"""Most characters that are kept of the request that led to a change."""

Role = Literal["change", "undo", "redo", "external", "snapshot", "kept", "delete", "proposal"]
Note = tuple[str, str]
"""Subject and summary of a change."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who made a change.

    Attributes:
        kind: one of `KINDS`, or `mcp:` and the name of a client. `external` is a change made outside the program and
            noticed later.
        session_id: the conversation an agent's change belongs to.
        run_id: the agent's run; all changes of one run are undone together.
        request: what the person asked for, as far as it is kept.
    """

    kind: str
    session_id: str | None = None
    run_id: str | None = None
    request: str | None = None


USER = Author("user")


def is_author_kind(kind: object) -> bool:
    """Whether a value is a kind of author."""
    return isinstance(kind, str) and (kind in KINDS or (kind.startswith(MCP) and kind != MCP))


@dataclass(frozen=True, slots=True)
class Version:
    """One change of a document, and the text it led to.

    Attributes:
        number: ascending from 1; numbers may have gaps. Version 0, the first text, is no change and has none. 0 of a
            proposal, which lies outside the numbers.
        by: who made the change.
        at: when, UTC ISO 8601.
        reason: why, in the words of whoever made it; else a summary of the change.
        before: SHA-256 (hex) of the text before the change.
        sha: SHA-256 of the text after it; None: the document was deleted.
        added, removed: lines.
        name: given by a person, unique among the document's versions, or None; of a proposal `proposal-N`.
        role: what kind of change. `snapshot` left the text as it was; `kept` is a text that never was the file's;
            `proposal` waits for the person's word, see `personas.proposals`.
        note: subject and summary.
        typed: whether another autosave may join it.
        unit: key of the unit of undo it belongs to.
        link: where the file led that was deleted, if it was a symlink.
        pruned: it was written again when the log was pruned; what can be undone of it is recorded apart.
    """

    number: int
    by: Author
    at: str
    reason: str
    before: str
    sha: str | None
    added: int = 0
    removed: int = 0
    name: str | None = None
    role: Role = "change"
    note: Note = ("", "")
    typed: bool = False
    unit: str = ""
    link: str | None = None
    pruned: bool = False

    def to_record(self) -> dict[str, object]:
        """Return the JSON-ready shape of `persona log --json`."""
        return {
            "version": None if self.role == "proposal" else self.number,
            "name": self.name,
            "by": self.by.kind,
            "session_id": self.by.session_id,
            "run_id": self.by.run_id,
            "request": self.by.request,
            "at": self.at,
            "reason": self.reason,
            "added": self.added,
            "removed": self.removed,
        }


@dataclass(frozen=True, slots=True)
class Diff:
    """A unified diff between two texts of one document.

    Attributes:
        from_: number of the older version.
        to: number of the newer version, or None for the text as it is now.
        diff: unified diff, empty when the texts are equal.
        added: number of lines added.
        removed: number of lines removed.
    """

    from_: int
    to: int | None
    diff: str
    added: int
    removed: int

    def to_record(self) -> dict[str, object]:
        """Return the JSON-ready shape of `persona diff --json`."""
        return {"from": self.from_, "to": self.to, "diff": self.diff}


_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo or a redo did.

    Attributes:
        persona: the persona as it is now.
        version: number of the version that the step made.
        summary: what was undone or redone, in a few words.
        run_id: the agent's run that was undone or redone; None: it was none.
        also: the other documents in which the unit was undone or redone.
        left: the documents that were left as they are, each with the reason.
    """

    persona: Persona
    version: int
    summary: str
    run_id: str | None = None
    also: tuple[str, ...] = ()
    left: tuple[tuple[str, str], ...] = ()

    @property
    def others(self) -> str:
        """The other documents for a message: a few by name, and how many more."""
        more = len(self.also) - _MOST_NAMED
        return ", ".join(self.also[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
