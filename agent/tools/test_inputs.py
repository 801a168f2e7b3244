"""The tools on the persona's test inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pydantic import BaseModel, Field

from agent.core.tool import NoInput, ToolContext, ToolOutput
from agent.tools.context import LONGEST_DIFF, StaleText, ToolEnvironment, as_json, confirm
from agent.tools.spec import tool
from agent.transcript.user_edits import KnownPersona, content_hash
from personas.changes import AddTestInput, DeleteTestInput, UpdateTestInput
from personas.errors import InvalidValue
from personas.persona import Persona, TestInput


class IdInput(BaseModel, extra="forbid"):
    id: str = Field(description="The id of a test input, as list_test_inputs gives it.")


class ContentInput(BaseModel, extra="forbid"):
    content: str = Field(description="The prompt to try the persona with.")


class UpdateInput(BaseModel, extra="forbid"):
    id: str = Field(description="The id of the test input to change.")
    content: str = Field(description="Its new content, whole.")


@tool(
    "List the test inputs",
    "List all test inputs of the persona, with their ids and contents.",
    NoInput,
    "read",
)
async def list_test_inputs(env: ToolEnvironment, _input: NoInput, _ctx: ToolContext) -> str:
    seen = env.seen
    persona = await env.read()
    for test_input in persona.test_inputs:
        seen.record_input(test_input)
    return as_json({"test_inputs": [_record(test_input) for test_input in persona.test_inputs]})


@tool("Read a test input", "Read one test input by its id.", IdInput, "read")
async def get_test_input(env: ToolEnvironment, wanted: IdInput, _ctx: ToolContext) -> str:
    seen = env.seen
    found = _find(await env.read(), wanted.id)
    seen.record_input(found)
    return as_json(_record(found))


@tool(
    "Add a test input",
    "Add a test input to the persona. Its id is made for you and returned.",
    ContentInput,
    "write",
    change=lambda given: AddTestInput(given.content),
)
async def create_test_input(env: ToolEnvironment, wanted: ContentInput, ctx: ToolContext) -> ToolOutput:
    seen = env.seen
    before, after = await env.write(AddTestInput(wanted.content), ctx, "agent: new test input")
    known = {test_input.id for test_input in before.test_inputs}
    created = next(test_input for test_input in after.test_inputs if test_input.id not in known)
    seen.record_input(created)
    counted = confirm("", "", _lines(created.content))
    return ToolOutput(output=as_json(_record(created)), details=counted.details)


@tool(
    "Change a test input",
    "Replace the content of a test input.",
    UpdateInput,
    "destructive",
    change=lambda given: UpdateTestInput(given.id, given.content),
    reader="get_test_input",
)
async def update_test_input(env: ToolEnvironment, wanted: UpdateInput, ctx: ToolContext) -> ToolOutput:
    seen = env.seen
    with _knowing_what_is_quoted(seen, wanted.id):
        before, after = await env.write(
            UpdateTestInput(wanted.id, wanted.content),
            ctx,
            f"agent: test input {wanted.id}",
            check=_unless_stale(seen, wanted.id),
        )
    old = _find(before, wanted.id)
    seen.record_input(_find(after, wanted.id))
    return confirm(f"Test input {wanted.id} is changed.", _lines(old.content), _lines(wanted.content))


@tool(
    "Delete a test input",
    "Delete a test input of the persona.",
    IdInput,
    "destructive",
    change=lambda given: DeleteTestInput(given.id),
    reader="get_test_input",
)
async def delete_test_input(env: ToolEnvironment, wanted: IdInput, ctx: ToolContext) -> ToolOutput:
    seen = env.seen
    with _knowing_what_is_quoted(seen, wanted.id):
        before, _after = await env.write(
            DeleteTestInput(wanted.id),
            ctx,
            f"agent: delete test input {wanted.id}",
            check=_unless_stale(seen, wanted.id),
        )
    old = _find(before, wanted.id)
    return confirm(f"Test input {wanted.id} is deleted.", _lines(old.content), "")


def _record(test_input: TestInput) -> dict[str, str]:
    return {"id": test_input.id, "content": test_input.content}


def _lines(content: str) -> str:
    return content if content.endswith("\n") else content + "\n"


def _find(persona: Persona, wanted: str) -> TestInput:
    """Return the test input with this id.

    Raises:
        InvalidValue: there is none; the message names the ids there are.
    """
    for test_input in persona.test_inputs:
        if test_input.id == wanted:
            return test_input
    known = ", ".join(as_json(test_input.id) for test_input in persona.test_inputs) or "none"
    raise InvalidValue(f"No test input has the id {as_json(wanted)}. The ids are: {known}.")


@contextmanager
def _knowing_what_is_quoted(seen: KnownPersona, input_id: str) -> Iterator[None]:
    """Record the content that the refusal of a change quotes as known."""
    try:
        yield
    except StaleText as error:
        if error.quotes_text:
            seen.record_input(TestInput(id=input_id, content=error.theirs))
        raise


def _unless_stale(seen: KnownPersona, input_id: str) -> Callable[[Persona], None]:
    """Return a check that raises StaleText where a test input is not the one the model may replace or delete."""
    expected = seen.inputs.get(input_id)

    def check(persona: Persona) -> None:
        nonlocal expected
        there = _find(persona, input_id)
        expected = content_hash(there) if expected is None else expected
        if expected == content_hash(there):
            return
        changed = (
            f"The test input {as_json(input_id)} was changed since you last read it; nothing was written."
        )
        is_quoted = len(there.content) <= LONGEST_DIFF
        if is_quoted:
            changed += f" It now says: {as_json(there.content)}."
        raise StaleText(changed, base="", ours="", theirs=there.content, quotes_text=is_quoted)

    return check


TOOLS = (list_test_inputs, get_test_input, create_test_input, update_test_input, delete_test_input)
