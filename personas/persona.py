"""What a persona is: the values of one `personas/<id>.toml` and of what the program adds to it.

They are checked where the file is read, in `persona_reading`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class TestInput:
    """A prompt to try the persona with. `id` is short and unique in its file."""

    __test__ = False  # not a test class, whatever pytest thinks of its name

    id: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """How this persona is tried: never an endpoint or a key (a home cannot choose a server)."""

    name: str | None = None
    effort: str | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartLink:
    """A link into the library: assembly `order`, and `priority` when context is scarce."""

    name: str
    order: int = 0
    priority: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcLink:
    """The arc a persona is on and the stage it has reached."""

    name: str
    stage: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileError:
    """Why a file cannot be read in full, with a 1-based position where one is known.

    The message is a clause to be built into a sentence: without a full stop at its end.
    """

    message: str
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """One persona as read from its file.

    Attributes:
        id: the file's stem.
        name: display name; the id where the file has none.
        revision: SHA-256 (hex) of the file's bytes; what a change is checked against. Empty where they cannot be read.
        error: set when the file is broken; the other fields then hold what could be read.
        note: what the person should look at in a file that is not broken, such as the marks of a merge conflict.
        agent_chat_session_id: the current conversation, stored beside the file; None if never used.
    """

    id: str
    name: str
    description: str = ""
    tags: tuple[str, ...] = ()
    summary: str = ""
    system_prompt: str = ""
    model: ModelSettings = ModelSettings()
    test_inputs: tuple[TestInput, ...] = ()
    parts: tuple[PartLink, ...] = ()
    traits: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    guardrails: tuple[str, ...] = ()
    arc: ArcLink | None = None
    revision: str = ""
    error: FileError | None = None
    note: FileError | None = None
    agent_chat_session_id: str | None = None

    def to_record(self) -> dict[str, Any]:
        """Return a dict of all fields, for JSON."""
        return asdict(self)
