"""Edits the person made by hand between two runs, which the model hears of with the next message.

It is a turn of its own kind, stored like any other, so that the conversation reads the same on every later
request; the default conversion would skip it, ours sends it as a word of the user.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent.core.turns import CustomTurn, Turn, UserTurn
from personas.errors import BrokenFile, OutsideHome, PersonaError, StorageError, UnknownVersion
from personas.files.text_file import decode, encode, read_regular, replace_file, sha256
from personas.persona import Persona, TestInput, read_persona
from personas.store import Store
from personas.versions.merge import unified_diff
from personas.versions.version_store import VersionFolder

KIND = "hand_edit"
LONGEST = 8_000
"""Most characters of a diff that is sent; a longer one is only mentioned."""


def user_edit_turn(edits: Sequence[UserEdit]) -> tuple[CustomTurn, bool]:
    """Return the turn about what others changed in the file, and whether it has all of it.

    Args:
        edits: what they changed, oldest first.
    """
    diffs = [unified_diff(edit.old, edit.new, "before", "now") for edit in edits if edit.old is not None]
    diff = "\n".join(diffs)
    whole = len(diffs) == len(edits) and len(diff) <= LONGEST
    details = f"\n{diff}" if whole else " Read it again before you change anything."
    content = (
        f"[The owner changed the persona's file, by hand or by an undo, since your last answer.{details}]"
    )
    return CustomTurn(type=KIND, fields={"content": content}), whole


def as_user_turn(turn: Turn) -> Turn:
    """Return a hand edit as a user turn, for the conversion to messages, and any other turn as it is."""
    if isinstance(turn, CustomTurn) and turn.type == KIND:
        content = str(turn.fields.get("content", ""))
        return UserTurn(content=content, id=turn.id, created_at=turn.created_at)
    return turn


@dataclass(frozen=True, slots=True)
class UserEdit:
    """What others made of the file between two changes of the agent.

    Attributes:
        old: the text before, None when it is not known any more.
        new: the text after.
        is_of_prompt: whether nothing but the prompt is another one.
    """

    old: str | None
    new: str
    is_of_prompt: bool = False


@dataclass
class KnownPersona:
    """What the agent has seen of the persona in one session; kept beside it, and no harm if it is lost.

    Attributes:
        name: the persona's name when the session began; it stays in the system prompt, byte for byte.
        revision: the file's revision up to which the agent knows what others changed, "" before the first run.
        mark: the number of the first version after that; 0 where that is not known.
        prompt: the system prompt as the agent last read or wrote it, None if it never did.
        inputs: of each test input, by id, a hash of the content the agent last read or wrote; also of those it deleted,
            because what somebody else writes under that id later is another content.
        about: what the personas are for, as it was when the session began; None before the first run.
        about_by_owner: whether the person's own settings say so, and not a file of the home.
        uses_library, uses_actions: whether the tools on the library, on actions were brought in.
    """

    name: str = ""
    revision: str = ""
    prompt: str | None = None
    mark: int = 0
    inputs: dict[str, str] = field(default_factory=dict)
    about: str | None = None
    about_by_owner: bool = False
    uses_library: bool = False
    uses_actions: bool = False

    @classmethod
    def load(cls, store: Store, session_id: str) -> KnownPersona:
        """Read what is remembered for a session; a missing or damaged file remembers nothing."""
        try:
            stored = json.loads(read_regular(_path(store, session_id), root=store.home.root))
        except (FileNotFoundError, PersonaError, ValueError, RecursionError):
            return cls()
        if not isinstance(stored, dict):
            return cls()
        name, revision, prompt = stored.get("name"), stored.get("revision"), stored.get("prompt")
        inputs, mark, about = stored.get("inputs"), stored.get("mark"), stored.get("about")
        pairs = inputs.items() if isinstance(inputs, dict) else ()
        return cls(
            name if isinstance(name, str) else "",
            revision if isinstance(revision, str) else "",
            prompt if isinstance(prompt, str) else None,
            inputs={key: value for key, value in pairs if isinstance(value, str)},
            mark=mark if type(mark) is int else 0,
            about=about if isinstance(about, str) else None,
            about_by_owner=stored.get("about_by_owner") is True,
            uses_library=stored.get("uses_library") is True,
            uses_actions=stored.get("uses_actions") is True,
        )

    def save(self, store: Store, session_id: str) -> None:
        """Write it.

        Raises:
            StorageError: the disk refused.
        """
        replace_file(_path(store, session_id), encode(json.dumps(vars(self))), root=store.home.root)

    def record_input(self, test_input: TestInput) -> None:
        """The agent knows a test input as it is here."""
        self.inputs[test_input.id] = content_hash(test_input)

    def refresh(self, persona: Persona) -> None:
        """The agent has heard of all changes: what it knew of the persona, it knows as it is now."""
        if self.prompt is not None:
            self.prompt = persona.system_prompt
        for test_input in persona.test_inputs:
            if test_input.id in self.inputs:
                self.record_input(test_input)


def content_hash(test_input: TestInput) -> str:
    """Return a hash of a test input's content."""
    return sha256(encode(test_input.content))


class PersonaSnapshot:
    """What there is to see of a persona's file at one moment. Reads without a lock: nobody waits for who writes.

    Args:
        store: where the persona lives.
        persona: as it is now.

    Attributes:
        mark: the number of the first version that is made after this moment.

    Raises:
        PersonaError: the persona is gone, or the disk refuses.
    """

    def __init__(self, store: Store, persona: Persona) -> None:
        self.persona = persona
        self._file = store.file(persona.id)
        self._folder = VersionFolder(store.home, persona.id)
        log = self._folder.log(persona.revision)
        self._versions = log.changes()
        self.mark = log.next_version

    def edits(self, seen: KnownPersona, session_id: str) -> list[UserEdit]:
        """Return what others changed since the agent last heard of changes; its own changes in this session are none.

        Args:
            seen: what it knows.
            session_id: whose agent it is.
        """
        stops: list[str | None] = [seen.revision]
        for version in self._versions:
            if not 0 < seen.mark <= version.number:
                continue
            if version.by.kind == "agent" and version.by.session_id == session_id:
                stops += [version.before, version.sha]
        stops.append(self.persona.revision)
        pairs = [(old, new) for old, new in zip(stops[::2], stops[1::2], strict=True) if old != new]
        return [self._edit(self._content(old), self._content(new)) for old, new in pairs]

    def is_known(self, edits: Sequence[UserEdit], seen: KnownPersona) -> bool:
        """Whether others changed nothing but the prompt, and the agent has read what that is now."""
        return seen.prompt == self.persona.system_prompt and all(edit.is_of_prompt for edit in edits)

    def _edit(self, old: bytes | None, new: bytes | None) -> UserEdit:
        if old is None or new is None:
            return UserEdit(None, "" if new is None else self._file.text(new))
        return UserEdit(self._file.text(old), self._file.text(new), _rest(old) == _rest(new))

    def _content(self, revision: str | None) -> bytes | None:
        """The file's content at a revision, from the file itself or from its versions; None when it is not to be had.

        The agent is then asked to read the file again: no message waits for a disk.
        """
        if revision is None:
            return None
        try:
            now = self._file.read() if self.persona.revision == revision else None
            content = self._folder.load(revision, now)
            for file in self._file.unpack(content).values():
                decode(file or b"")
            return content
        except (BrokenFile, OutsideHome, StorageError, UnknownVersion):
            return None


def _rest(content: bytes) -> Persona:
    """What a persona says beside the prompt."""
    return replace(read_persona("", content), system_prompt="", revision="")


def _path(store: Store, session_id: str) -> Path:
    return store.home.inside(store.home.state) / f"seen-{session_id}.json"
