"""Who made a change, and what a version, a diff and an undo tell about it. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from personas.persona import Persona

AuthorKind = Literal["user", "agent", "import", "restore", "external"]
KINDS: tuple[AuthorKind, ...] = get_args(AuthorKind)


@dataclass(frozen=True, slots=True)
class Author:
    """Who made a change.

    Attributes:
        kind: `external` is a change made outside the program and noticed later.
        session_id: the conversation an agent's change belongs to.
        run_id: the agent's run; all changes of one run are undone together.
    """

    kind: AuthorKind
    session_id: str | None = None
    run_id: str | None = None


USER = Author("user")


@dataclass(frozen=True, slots=True)
class Version:
    """One stored earlier text: the text before a change, and what that change was.

    Attributes:
        number: ascending from 1; numbers may have gaps.
        name: given by a person, unique among the persona's versions, or None.
        by: who made the change that followed this text.
        at: when, UTC ISO 8601.
        reason: why, in the words of whoever made it; else a summary of the change.
        added: lines the change added.
        removed: lines the change removed.
        sha: SHA-256 (hex) of the stored bytes.
        after: SHA-256 of the file after that change, the last one where several are one version; None: it was
            deleted. Of what was thinned out it may be `sha`, where it is not known any more. That text need not be
            stored.
    """

    number: int
    name: str | None
    by: Author
    at: str
    reason: str
    added: int
    removed: int
    sha: str
    after: str | None = None

    def to_record(self) -> dict[str, object]:
        """Return the JSON-ready shape of `persona log --json`."""
        return {
            "version": self.number,
            "name": self.name,
            "by": self.by.kind,
            "at": self.at,
            "reason": self.reason,
            "added": self.added,
            "removed": self.removed,
        }


@dataclass(frozen=True, slots=True)
class Diff:
    """A unified diff between two texts of one persona.

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


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo or a redo did.

    Attributes:
        persona: the persona as it is now.
        version: number of the version that holds the text as it was just before.
        summary: what was undone or redone, in a few words.
        run_id: the agent's run that was undone or redone; None: it was none.
    """

    persona: Persona
    version: int
    summary: str
    run_id: str | None = None
