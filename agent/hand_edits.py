"""What the person changed by hand between two runs, told to the model with their next message.

It is a turn of its own kind, stored like any other, so that the conversation reads the same on every later
request; the default conversion would skip it, ours sends it as a word of the user.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from agent.turns import CustomTurn, Turn, UserTurn
from personas.errors import PersonaError, UnknownVersion
from personas.merge import unified_diff
from personas.persona import Persona, TestInput
from personas.store import Store
from personas.textfile import encode, read_regular, replace_file, sha256

KIND = "hand_edit"
LONGEST = 8_000
"""Characters of the diff that are told; a longer one is only mentioned."""


def hand_edit_turn(old: str | None, new: str) -> tuple[CustomTurn, bool]:
    """Return the turn that tells how the file changed since the agent last looked, and whether it tells all.

    Args:
        old: the file's text when the agent last looked, None when it is not known any more.
        new: its text now.
    """
    diff = unified_diff(old, new, "before", "now") if old is not None else ""
    whole = old is not None and len(diff) <= LONGEST
    told = f"\n{diff}" if whole else " Read it again before you change anything."
    content = f"[The owner changed the persona's file by hand since your last answer.{told}]"
    return CustomTurn(type=KIND, fields={"content": content}), whole


def as_said(turn: Turn) -> Turn:
    """Return a hand edit as a user turn, for the conversion to messages, and any other turn as it is."""
    if isinstance(turn, CustomTurn) and turn.type == KIND:
        content = str(turn.fields.get("content", ""))
        return UserTurn(content=content, id=turn.id, created_at=turn.created_at)
    return turn


@dataclass
class Seen:
    """What the agent has seen of the persona in one session; kept beside it, and no harm if it is lost.

    Attributes:
        name: the persona's name when the session began; it stays in the system prompt, byte for byte.
        revision: the file's revision when the last run ended, "" before the first.
        prompt: the system prompt as the agent last read or wrote it, None if it never did.
        inputs: of each test input, by id, a hash of the content the agent last read or wrote; also of those it deleted,
            because what somebody else writes under that id later is another content.
    """

    name: str = ""
    revision: str = ""
    prompt: str | None = None
    inputs: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, store: Store, session_id: str) -> Seen:
        """Read what is remembered for a session; a missing or damaged file remembers nothing."""
        try:
            stored = json.loads(read_regular(_path(store, session_id), root=store.home.root))
        except (FileNotFoundError, PersonaError, ValueError, RecursionError):
            return cls()
        if not isinstance(stored, dict):
            return cls()
        name, revision, prompt = stored.get("name"), stored.get("revision"), stored.get("prompt")
        inputs = stored.get("inputs")
        pairs = inputs.items() if isinstance(inputs, dict) else ()
        return cls(
            name if isinstance(name, str) else "",
            revision if isinstance(revision, str) else "",
            prompt if isinstance(prompt, str) else None,
            {key: value for key, value in pairs if isinstance(value, str)},
        )

    def save(self, store: Store, session_id: str) -> None:
        """Write it.

        Raises:
            StorageError: the disk refused.
        """
        replace_file(_path(store, session_id), encode(json.dumps(vars(self))), root=store.home.root)

    def note_input(self, test_input: TestInput) -> None:
        """The agent knows a test input as it is here."""
        self.inputs[test_input.id] = content_hash(test_input)

    def look_again(self, persona: Persona) -> None:
        """The agent was told what became of the persona: what it knew of it, it knows as it is now."""
        if self.prompt is not None:
            self.prompt = persona.system_prompt
        for test_input in persona.test_inputs:
            if test_input.id in self.inputs:
                self.note_input(test_input)


def content_hash(test_input: TestInput) -> str:
    """Return what tells a test input's content from another."""
    return sha256(encode(test_input.content))


def text_of_revision(store: Store, persona_id: str, revision: str) -> str | None:
    """Return the file's text at a revision, from the file itself or from its versions; None when it is lost.

    Raises:
        PersonaError: the persona is gone, or the disk refuses.
    """
    if store.get(persona_id).revision == revision:
        return store.text(persona_id)
    for version in store.log(persona_id):
        if version.sha == revision:
            try:
                return store.version_text(persona_id, version.number)
            except UnknownVersion:
                return None
    return None


def _path(store: Store, session_id: str) -> Path:
    return store.home.inside(store.home.state) / f"seen-{session_id}.json"
