"""The tools with which the agent steers how it is shown. Task control joins them with the tasks."""

from __future__ import annotations

from collections.abc import Callable

from agent.tool import NoInput, Tool, ToolContext


def keep_visible_tool(on_keep: Callable[[], None]) -> Tool:
    """Return `keep_output_visible`; `on_keep` is called when the agent asks for its output to stay."""

    async def keep_output_visible(_input: NoInput, _ctx: ToolContext) -> str:
        on_keep()
        return "Your output stays on the screen until the owner dismisses it."

    return Tool(
        "keep_output_visible",
        "Keep your output on the screen instead of letting it go away by itself. For questions, warnings and "
        "anything the owner must read.",
        "Keep the output visible",
        NoInput,
        keep_output_visible,
    )
