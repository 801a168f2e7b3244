"""All that a model may do to a persona."""

from __future__ import annotations

from collections.abc import Callable

from agent.core.tool import Tool
from agent.tools.context import Desk
from agent.tools.control import keep_visible_tool
from agent.tools.persona import persona_tools
from agent.tools.test_inputs import test_input_tools


def chat_tools(desk: Desk, *, on_keep: Callable[[], None] = lambda: None) -> tuple[Tool, ...]:
    """Return every tool of a chat on `desk`'s persona, in the order the model sees them."""
    return (*persona_tools(desk), *test_input_tools(desk), keep_visible_tool(on_keep))
