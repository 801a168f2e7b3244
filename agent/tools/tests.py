"""The tools on the persona's test inputs."""

from __future__ import annotations

from pydantic import BaseModel, Field

from agent.tool import NoInput, Tool, ToolContext, ToolOutput
from agent.tools.base import WHOLE, Desk, as_json, confirm, fail
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
        try:
            persona = desk.read()
        except PersonaError as error:
            return fail(error)
        return as_json({"test_inputs": [_record(test_input) for test_input in persona.test_inputs]})

    async def get_test_input(wanted: IdInput, _ctx: ToolContext) -> str | ToolOutput:
        try:
            return as_json(_record(_find(desk.read(), wanted.id)))
        except PersonaError as error:
            return fail(error)

    async def create_test_input(wanted: ContentInput, ctx: ToolContext) -> str | ToolOutput:
        try:
            before, after = await desk.write(AddTestInput(wanted.content), ctx, "agent: new test input")
        except PersonaError as error:
            return fail(error)
        known = {test_input.id for test_input in before.test_inputs}
        created = next(test_input for test_input in after.test_inputs if test_input.id not in known)
        counted = confirm("", "", _lines(created.content))
        return ToolOutput(output=as_json(_record(created)), details=counted.details)

    async def update_test_input(wanted: UpdateInput, ctx: ToolContext) -> str | ToolOutput:
        try:
            old = _find(desk.read(), wanted.id)
            await desk.write(
                UpdateTestInput(wanted.id, wanted.content), ctx, f"agent: test input {wanted.id}"
            )
        except PersonaError as error:
            return fail(error)
        return confirm(f"Test input {wanted.id} is changed.", _lines(old.content), _lines(wanted.content))

    async def delete_test_input(wanted: IdInput, ctx: ToolContext) -> str | ToolOutput:
        try:
            old = _find(desk.read(), wanted.id)
            await desk.write(DeleteTestInput(wanted.id), ctx, f"agent: delete test input {wanted.id}")
        except PersonaError as error:
            return fail(error)
        return confirm(f"Test input {wanted.id} is deleted.", _lines(old.content), "")

    return (
        Tool(
            "list_test_inputs",
            "List all test inputs of the persona, with their ids and contents.",
            "List the test inputs",
            NoInput,
            list_test_inputs,
            max_output=WHOLE,
        ),
        Tool(
            "get_test_input", "Read one test input by its id.", "Read a test input", IdInput, get_test_input
        ),
        Tool(
            "create_test_input",
            "Add a test input to the persona. Its id is made for you and returned.",
            "Add a test input",
            ContentInput,
            create_test_input,
            sequential=True,
        ),
        Tool(
            "update_test_input",
            "Replace the content of a test input.",
            "Change a test input",
            UpdateInput,
            update_test_input,
            sequential=True,
            destructive=True,
        ),
        Tool(
            "delete_test_input",
            "Delete a test input of the persona.",
            "Delete a test input",
            IdInput,
            delete_test_input,
            sequential=True,
            destructive=True,
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
