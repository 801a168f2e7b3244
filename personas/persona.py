"""What a persona is, and reading one from the bytes of its file.

A file is read as far as it makes sense; what is wrong with it is in `Persona.error` with its place, never raised.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from personas.conflict_marks import conflict_in
from personas.errors import BrokenFile, PersonaError
from personas.fields import Fault, Fields, FileError, Path, as_file_error, first_fault
from personas.files.bundle import unpack
from personas.files.slug import command
from personas.files.text_file import decode, sha256
from personas.toml.parse import parse

if TYPE_CHECKING:
    from personas.test_inputs import Expectation, Message

_SHOWN_LENGTH = 60
_TRIED_BY = frozenset({"messages", "expect", "samples", "min_pass"})  # keys of a test input


class TestInput(NamedTuple):
    """A prompt to try the persona with.

    Attributes:
        id: short and unique in its file.
        content: what the user says; of a conversation its last message.
        messages: the whole conversation, where it is one.
        expect: what must hold of an output.
        samples: outputs per run; None: one.
        min_pass: how many of them must pass; None: all.
        error: why this input cannot be run as it is written; the file is not broken by it.
    """

    id: str
    content: str
    messages: tuple[Message, ...] = ()
    expect: tuple[Expectation, ...] = ()
    samples: int | None = None
    min_pass: int | None = None
    error: FileError | None = None


TestInput.__test__ = False  # type: ignore[attr-defined]  # no test class, whatever pytest thinks of its name


class ModelSettings(NamedTuple):
    """How this persona is tried: never an endpoint or a key (a home cannot choose a server)."""

    name: str | None = None
    effort: str | None = None
    max_tokens: int | None = None


class PartLink(NamedTuple):
    """A link into the library: assembly `order`, and `priority` when context is scarce."""

    name: str
    order: int = 0
    priority: int = 0


class ArcLink(NamedTuple):
    """The arc a persona is on and the stage it has reached."""

    name: str
    stage: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """One persona as read from its file.

    Attributes:
        id: the file's stem.
        name: display name; the id where the file has none.
        revision: SHA-256 (hex) of the file's bytes; what a change is checked against. Empty where they cannot be read.
        system_prompt_file: the file that has the prompt, relative to the home; empty where the persona's own file has it.
        lacks_prompt_file: whether the file is broken by nothing but that there is no such file.
        judge: name of the model that judges rubrics, where the file has one.
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
    system_prompt_file: str = ""
    lacks_prompt_file: bool = False
    model: ModelSettings = field(default_factory=ModelSettings)
    judge: str | None = None
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

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that a person writes: prompt, description, summary, test inputs."""
        inputs = [test_input.content for test_input in self.test_inputs]
        return (self.system_prompt, self.description, self.summary, *inputs)

    @property
    def is_linked(self) -> bool:
        """Whether the persona links anything of the library, missing documents too."""
        return self.arc is not None or bool(self.parts or self.traits or self.skills or self.guardrails)

    def to_record(self) -> dict[str, Any]:
        """Return a dict of all fields, for JSON."""
        return {one.name: _plain(getattr(self, one.name)) for one in fields(self)}


def read_persona(persona_id: str, content: bytes, session_id: str | None = None) -> Persona:
    """Return the persona a file holds; faults become its `error`, never an exception.

    Args:
        persona_id: the file's stem.
        content: the file's bytes, packed with those of the prompt's file where it names one; without them the prompt is
            empty.
        session_id: its current conversation.
    """
    revision = sha256(content)
    own, *beside = unpack(content)
    conflict = None
    try:
        text = decode(own or b"").text
        conflict = conflict_in(text)
        fields = parse(text)
    except BrokenFile as error:
        return broken_persona(persona_id, conflict or error, revision=revision, session_id=session_id)
    reader = _PersonaFields(fields)
    persona = Persona(
        id=persona_id,
        name=reader.text("name") or persona_id,
        description=reader.text("description"),
        tags=reader.texts("tags"),
        summary=reader.text("summary"),
        system_prompt=reader.text("system_prompt"),
        system_prompt_file=reader.prompt_file(),
        model=reader.model(),
        judge=reader.judge(),
        test_inputs=tuple(
            one._replace(error=first_fault(text, reader.input_faults[one.id]))
            if one.id in reader.input_faults
            else one
            for one in reader.test_inputs()
        ),
        parts=reader.parts(),
        traits=reader.texts("traits"),
        skills=reader.texts("skills"),
        guardrails=reader.texts("guardrails"),
        arc=reader.arc(),
        revision=revision,
        note=None if conflict is None else as_file_error(conflict),
        agent_chat_session_id=session_id,
    )
    if persona.system_prompt_file and beside:
        persona = _with_prompt_of_file(persona, beside[0])
    if reader.faults:
        return replace(persona, error=first_fault(text, reader.faults), lacks_prompt_file=False)
    return persona


def _with_prompt_of_file(persona: Persona, content: bytes | None) -> Persona:
    """Return a persona with the prompt in its file, None for one that is not there."""
    from personas.prompt_file import prompt_of

    name = persona.system_prompt_file
    if content is None:
        error = FileError(message=f"its prompt's file {name} is missing, or is not a text file in the home")
        return replace(persona, error=error, lacks_prompt_file=True)
    persona = replace(persona, system_prompt=prompt_of(content))
    try:
        conflict = conflict_in(decode(content).text, f" in {name}")
    except BrokenFile as error:
        return replace(persona, error=as_file_error(error)._replace(message=f"{name} is not UTF-8"))
    return persona if conflict is None else replace(persona, note=as_file_error(conflict))


def broken_persona(
    persona_id: str, error: PersonaError, *, revision: str = "", session_id: str | None = None
) -> Persona:
    """Return the persona of a file of which nothing can be read."""
    return Persona(
        id=persona_id,
        name=persona_id,
        revision=revision,
        error=as_file_error(error),
        agent_chat_session_id=session_id,
    )


def broken_file(persona_id: str, error: FileError, *, is_readable: bool) -> BrokenFile:
    """Return the error of what needs the whole file: what is wrong with it, where, and what fixes it.

    Args:
        persona_id: whose file it is.
        error: what is wrong with it.
        is_readable: whether there are bytes that an editor could open.
    """
    fix = f"; fix it with `{command('edit', persona_id)}`" if is_readable else ""
    return BrokenFile(f"The persona {persona_id} is broken: {error.message}{fix}", error.line, error.column)


class _PersonaFields(Fields):
    """Takes the fields of a persona out of parsed TOML."""

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__(fields)
        self.input_faults: dict[str, list[Fault]] = {}  # by id, of inputs that cannot be run

    def model(self) -> ModelSettings:
        table = self.typed(self.fields, "model", dict, ()) or {}
        limit = self.typed(table, "max_tokens", int, ("model",))
        if limit is not None and limit <= 0:
            self.note(("model", "max_tokens"), "max_tokens must be greater than 0")
            limit = None
        return ModelSettings(
            name=self.typed(table, "name", str, ("model",)),
            effort=self.typed(table, "effort", str, ("model",)),
            max_tokens=limit,
        )

    def prompt_file(self) -> str:
        if "system_prompt_file" not in self.fields:
            return ""
        from personas.prompt_file import KEY, fault_of

        name: str | None = self.typed(self.fields, KEY, str, ())
        if name is not None and (fault := fault_of(self.fields)):
            self.note((KEY,), fault)
            return ""
        return name or ""

    def test_inputs(self) -> tuple[TestInput, ...]:
        found: dict[str, TestInput] = {}
        for path, table in self.tables("test_inputs"):
            number = int(path[1]) + 1
            input_id = self.typed(table, "id", str, path)
            if not input_id:
                if input_id == "" or "id" not in table:
                    self.note(path, f"test input {number} has no id")
                continue
            if input_id in found:
                self.note((*path, "id"), f"two test inputs have the id {_shown(input_id)}")
                continue
            if "content" not in table and "messages" not in table:
                self.note(path, f"test input {_shown(input_id)} has no content")
            content = self.typed(table, "content", str, path)
            more = self._more_of_input(input_id, path, table)
            if more.get("messages") and content is None:
                content = more["messages"][-1].content
            found[input_id] = TestInput(id=input_id, content=content or "", **more)
        return tuple(found.values())

    def _more_of_input(self, input_id: str, path: Path, table: dict[str, Any]) -> dict[str, Any]:
        """Return what a test input has beyond id and content; what is wrong with it breaks that input alone."""
        if _TRIED_BY.isdisjoint(table):
            return {}
        from personas.test_inputs import read_fields

        faults: list[Fault] = []
        more = read_fields(table, path, lambda where, message: faults.append((where, message)))
        if faults:
            self.input_faults[input_id] = faults
        return more

    def judge(self) -> str | None:
        table = self.typed(self.fields, "judge", dict, ()) or {}
        name: str | None = self.typed(table, "name", str, ("judge",))
        return name or None

    def parts(self) -> tuple[PartLink, ...]:
        links = []
        for path, table in self.tables("parts"):
            name = self.typed(table, "name", str, path)
            order = self.typed(table, "order", int, path)
            priority = self.typed(table, "priority", int, path)
            if name:
                links.append(PartLink(name=name, order=order or 0, priority=priority or 0))
            elif name == "" or "name" not in table:
                self.note(path, f"part {int(path[1]) + 1} has no name")
        return tuple(links)

    def arc(self) -> ArcLink | None:
        table = self.typed(self.fields, "arc", dict, ())
        if table is None:
            return None
        name = self.typed(table, "name", str, ("arc",))
        stage = self.typed(table, "stage", str, ("arc",))
        if not name:
            if name == "" or "name" not in table:
                self.note(("arc",), "the arc has no name")
            return None
        return ArcLink(name=name, stage=stage)


def _plain(value: Any) -> Any:
    """Return a value with named tuples as dicts."""
    if isinstance(value, tuple):
        named = getattr(value, "_asdict", None)
        return {key: _plain(one) for key, one in named().items()} if named else tuple(map(_plain, value))
    return value


def _shown(input_id: str) -> str:
    return repr(input_id if len(input_id) <= _SHOWN_LENGTH else input_id[: _SHOWN_LENGTH - 1] + "…")
