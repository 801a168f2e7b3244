"""The tools on the persona's test inputs."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel, Field

from agent.core.tool import NoInput, Tool, ToolContext, ToolOutput
from agent.tools.context import LONGEST_DIFF, NOTHING_CHANGED, WHOLE, Desk, Stale, as_json, confirm, fail
from agent.tools.write_queue import SETTLES_WITHIN
from agent.transcript.user_edits import Seen, content_hash
from personas.changes import AddTestInput, DeleteTestInput, UpdateTestInput
from personas.errors import InvalidValue, PersonaError
from personas.persona import Persona, TestInput


class IdInput(BaseModel, extra="forbid"):
    id: str = Field(description="The id of a test input, as list_test_inputs gives it.")


class ContentInput(BaseModel, extra="forbid"):
    content: str = Field(description="The prompt to try the persona with.")


class UpdateInput(BaseModel, extra="forbid"):
    id: str = Field(description="The id of the test input to change.")
    content: str = Field(description="Its new content, whole.")


def test_input_tools(desk: Desk) -> tuple[Tool, ...]:
    """Return the tools on the test inputs of `desk`'s persona."""

    async def list_test_inputs(_input: NoInput, _ctx: ToolContext) -> str | ToolOutput:
        seen = desk.seen
        try:
            persona = await desk.read()
        except PersonaError as error:
            return fail(error)
        for test_input in persona.test_inputs:
            seen.note_input(test_input)
        return as_json({"test_inputs": [_record(test_input) for test_input in persona.test_inputs]})

    async def get_test_input(wanted: IdInput, _ctx: ToolContext) -> str | ToolOutput:
        seen = desk.seen
        try:
            found = _find(await desk.read(), wanted.id)
        except PersonaError as error:
            return fail(error)
        seen.note_input(found)
        return as_json(_record(found))

    async def create_test_input(wanted: ContentInput, ctx: ToolContext) -> str | ToolOutput:
        seen = desk.seen
        try:
            before, after = await desk.write(AddTestInput(wanted.content), ctx, "agent: new test input")
        except PersonaError as error:
            return fail(error)
        known = {test_input.id for test_input in before.test_inputs}
        created = next(test_input for test_input in after.test_inputs if test_input.id not in known)
        seen.note_input(created)
        counted = confirm("", "", _lines(created.content))
        return ToolOutput(output=as_json(_record(created)), details=counted.details)

    async def update_test_input(wanted: UpdateInput, ctx: ToolContext) -> str | ToolOutput:
        seen = desk.seen
        try:
            before, after = await desk.write(
                UpdateTestInput(wanted.id, wanted.content),
                ctx,
                f"agent: test input {wanted.id}",
                check=_unless_stale(seen, wanted.id),
            )
        except PersonaError as error:
            return _refused(seen, wanted.id, error)
        old = _find(before, wanted.id)
        seen.note_input(_find(after, wanted.id))
        return confirm(f"Test input {wanted.id} is changed.", _lines(old.content), _lines(wanted.content))

    async def delete_test_input(wanted: IdInput, ctx: ToolContext) -> str | ToolOutput:
        seen = desk.seen
        try:
            before, _after = await desk.write(
                DeleteTestInput(wanted.id),
                ctx,
                f"agent: delete test input {wanted.id}",
                check=_unless_stale(seen, wanted.id),
            )
        except PersonaError as error:
            return _refused(seen, wanted.id, error)
        old = _find(before, wanted.id)
        return confirm(f"Test input {wanted.id} is deleted.", _lines(old.content), "")

    return (
        Tool(
            "list_test_inputs",
            "List all test inputs of the persona, with their ids and contents.",
            "List the test inputs",
            NoInput,
            list_test_inputs,
            max_output=WHOLE,
            when_cut=NOTHING_CHANGED,
        ),
        Tool(
            "get_test_input",
            "Read one test input by its id.",
            "Read a test input",
            IdInput,
            get_test_input,
            max_output=WHOLE,
            when_cut=NOTHING_CHANGED,
        ),
        Tool(
            "create_test_input",
            "Add a test input to the persona. Its id is made for you and returned.",
            "Add a test input",
            ContentInput,
            create_test_input,
            sequential=True,
            settles_within=SETTLES_WITHIN,
        ),
        Tool(
            "update_test_input",
            "Replace the content of a test input.",
            "Change a test input",
            UpdateInput,
            update_test_input,
            sequential=True,
            destructive=True,
            settles_within=SETTLES_WITHIN,
        ),
        Tool(
            "delete_test_input",
            "Delete a test input of the persona.",
            "Delete a test input",
            IdInput,
            delete_test_input,
            sequential=True,
            destructive=True,
            settles_within=SETTLES_WITHIN,
        ),
    )


test_input_tools.__test__ = False  # type: ignore[attr-defined]  # its name is no invitation to pytest


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


def _refused(seen: Seen, input_id: str, error: PersonaError) -> ToolOutput:
    """Return the result of a change that was not made, and note that the model knows the content it is told."""
    if isinstance(error, Stale) and error.told:
        seen.note_input(TestInput(id=input_id, content=error.theirs))
    return fail(error, reader="get_test_input")


def _unless_stale(seen: Seen, input_id: str) -> Callable[[Persona], None]:
    """Return a check that raises Stale where a test input is not the one the model may replace or delete."""
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
        told = len(there.content) <= LONGEST_DIFF
        if told:
            changed += f" It now says: {as_json(there.content)}."
        raise Stale(changed, base="", ours="", theirs=there.content, told=told)

    return check
