"""The tools on the persona itself: read it, rename it, change its prompt, undo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pydantic import BaseModel, Field

from agent.core.tool import NoInput, ToolContext, ToolOutput
from agent.tools.context import LONGEST_DIFF, StaleText, ToolEnvironment, as_json, confirm
from agent.tools.spec import tool
from agent.transcript.user_edits import KnownPersona
from personas.changes import EditPrompt, SetName, SetPrompt
from personas.persona import Persona
from personas.store import Store


class NameInput(BaseModel, extra="forbid"):
    name: str = Field(description="The new display name, one line, any language.")


class PromptInput(BaseModel, extra="forbid"):
    system_prompt: str = Field(description="The whole new system prompt.")


class EditInput(BaseModel, extra="forbid"):
    old: str = Field(
        description="Text that occurs exactly once in the prompt, copied exactly, line breaks too."
    )
    new: str = Field(description="What replaces it. Empty removes it.")


@tool(
    "Read the persona",
    "Read the persona as it is now: its name, system prompt and the ids of its test inputs.",
    NoInput,
    "read",
)
async def get_persona(env: ToolEnvironment, _input: NoInput, _ctx: ToolContext) -> str:
    seen = env.seen
    persona = await env.read()
    seen.prompt = persona.system_prompt
    return as_json(
        {
            "name": persona.name,
            "system_prompt": persona.system_prompt,
            "test_input_ids": [test_input.id for test_input in persona.test_inputs],
        }
    )


@tool(
    "Change the name",
    "Change the persona's display name. Its id stays the same.",
    NameInput,
    "write",
    change=lambda given: SetName(given.name),
)
async def update_persona_name(env: ToolEnvironment, wanted: NameInput, ctx: ToolContext) -> ToolOutput:
    before, after = await env.write(SetName(wanted.name), ctx, "agent: name")
    return confirm(f"The name is now {as_json(after.name)}.", before.name + "\n", after.name + "\n")


@tool(
    "Replace the system prompt",
    "Replace the entire system prompt. Read it with get_persona first. For a small change use "
    "edit_system_prompt.",
    PromptInput,
    "destructive",
    change=lambda given: SetPrompt(given.system_prompt),
)
async def update_system_prompt(env: ToolEnvironment, wanted: PromptInput, ctx: ToolContext) -> ToolOutput:
    seen = env.seen
    before, after = await env.write(
        SetPrompt(wanted.system_prompt), ctx, "agent: system prompt", check=unless_stale(seen)
    )
    seen.prompt = after.system_prompt
    return confirm("The system prompt is replaced.", before.system_prompt, after.system_prompt)


@tool(
    "Edit the system prompt",
    "Replace one passage of the system prompt. `old` must match exactly once; include enough of its "
    "surroundings to make it unique.",
    EditInput,
    "write",
    change=lambda given: EditPrompt(given.old, given.new),
)
async def edit_system_prompt(env: ToolEnvironment, wanted: EditInput, ctx: ToolContext) -> ToolOutput:
    seen = env.seen
    before, after = await env.write(EditPrompt(wanted.old, wanted.new), ctx, "agent: system prompt")
    if seen.prompt == before.system_prompt:
        seen.prompt = after.system_prompt
    return confirm("The system prompt is changed.", before.system_prompt, after.system_prompt)


@tool(
    "Undo the last change",
    "Undo the last change to the persona (yours or the owner's); what was written since stays. Calling it "
    "again undoes the change before.",
    NoInput,
    "destructive",
    texts=Store.preview_undo,
)
async def undo(env: ToolEnvironment, _input: NoInput, ctx: ToolContext) -> ToolOutput:
    seen = env.seen
    before, undone = await env.undo(ctx)
    left = "".join(f" Skipped: {name}: {why}" for name, why in undone.left)
    return _undone(seen, before, undone.persona, f"Undone: {undone.summary}.{left}")


def _undone(seen: KnownPersona, before: Persona, after: Persona, sentence: str) -> ToolOutput:
    """Return what an undo did to the texts, and record those the model is sent whole as known."""
    result = ToolOutput(output=sentence)
    if before.system_prompt != after.system_prompt:
        result = confirm(sentence, before.system_prompt, after.system_prompt)
        is_whole = (result.details or {}).get("diff", "") in result.output
        if is_whole and seen.prompt == before.system_prompt:
            seen.prompt = after.system_prompt
    was = {test_input.id: test_input.content for test_input in before.test_inputs}
    lines, room = [result.output], LONGEST_DIFF
    for test_input in after.test_inputs:
        if was.get(test_input.id) != test_input.content and len(test_input.content) <= room:
            lines.append(f"The test input {as_json(test_input.id)} says again: {as_json(test_input.content)}")
            room -= len(test_input.content)
            seen.record_input(test_input)
    return replace(result, output="\n".join(lines))


def unless_stale(seen: KnownPersona) -> Callable[[Persona], None]:
    """Return a check that raises StaleText where the prompt is not the one the model may replace."""
    expected = seen.prompt

    def check(persona: Persona) -> None:
        nonlocal expected
        now = persona.system_prompt
        expected = now if expected is None else expected
        if expected != now:
            raise StaleText(
                "The system prompt was changed since you last read it; nothing was written.",
                base=expected,
                ours=expected,
                theirs=now,
            )

    return check


TOOLS = (get_persona, update_persona_name, update_system_prompt, edit_system_prompt, undo)
