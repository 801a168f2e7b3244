"""The tool registry: everything a model may do.

The tools a run is offered, the approval policy, the previews, and the names the settings take all follow from it. A new
tool is a function with the decorator `tool`, listed in the `TOOLS` of its module.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from agent.core.tool import Tool
from agent.tools import control, outputs, persona, test_inputs, use_actions, use_library
from agent.tools.context import ToolEnvironment
from agent.tools.spec import Effect, Offered, RegisteredTool
from agent.tools.use_actions import action_tools
from agent.tools.use_library import library_tools

if TYPE_CHECKING:
    from personas.store import Store

REGISTRY: Mapping[str, RegisteredTool] = MappingProxyType(
    {
        spec.name: spec
        for spec in (
            *(*persona.TOOLS, *test_inputs.TOOLS, *outputs.TOOLS),
            *(*control.TOOLS, *use_library.TOOLS, *use_actions.TOOLS),
        )
    }
)
"""All tools by name, in the order the model sees them, but for those that are brought in."""


def registered(name: str) -> RegisteredTool | None:
    """Return the tool of this name, None where there is none."""
    return REGISTRY.get(name) or action_tools().get(name) or library_tools().get(name)


def tool_names() -> tuple[str, ...]:
    """Return the names of all tools."""
    return *REGISTRY, *action_tools(), *library_tools()


def make_tools(env: ToolEnvironment, *offered: Offered) -> tuple[Tool, ...]:
    """Return the tools for `env`'s persona; `offered`: which, none named means those of every run."""
    wanted = offered or ("always",)
    brought_in = {
        **(action_tools() if "with actions" in wanted else {}),
        **(library_tools() if "with library" in wanted else {}),
    }
    return tuple(
        spec.make(env) for spec in (*REGISTRY.values(), *brought_in.values()) if spec.offered in wanted
    )


def effect_of(name: str) -> Effect:
    """Return what a call of the tool with this name may do; of one that is not known, the cautious answer."""
    spec = registered(name)
    return spec.effect if spec is not None else "write"


def effect_of_call(store: Store, name: str, given: Any) -> Effect:
    """Return what this very call may do: a change of what several use is destructive. Reads the disk.

    Raises:
        PersonaError: that cannot be known.
    """
    effect, spec = effect_of(name), registered(name)
    is_shared = spec.is_shared if spec is not None else None
    return (
        "destructive" if effect == "write" and is_shared is not None and is_shared(store, given) else effect
    )


def is_control(name: str) -> bool:
    """Return whether a tool acts on the job alone and never on the persona."""
    return effect_of(name) == "control"
