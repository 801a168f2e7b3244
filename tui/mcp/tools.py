"""The tools of the library as an MCP client sees them: a few are listed, the others are found and called through two more."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any, cast

import mcp_types as types
from pydantic import BaseModel, Field

from agent.core.tool_validation import validate
from agent.tools.library import LIBRARY_TOOLS, LibraryTool
from agent.tools.library.spec import to_record
from personas.errors import InvalidValue
from personas.store import Store
from personas.versions.authorship import Author

LISTED = (
    "list_agent_personas",
    "get_persona_manifest",
    "get_agent_persona",
    "compile_persona",
    "get_agent_part",
    "get_agent_trait",
)
"""The tools that every client sees; it pays for each in each conversation."""

_MOST_FOUND = 8


class FindTools(BaseModel, extra="forbid"):
    query: str = Field(default="", description="What is to be done, in a few words; empty: the names of all.")


class CallTool(BaseModel, extra="forbid"):
    name: str = Field(description="The tool's name.")
    arguments: dict[str, Any] = Field(default_factory=dict, description="As its input schema says.")


class _Own:
    """A tool of this server itself."""

    def __init__(self, name: str, description: str, input: type[BaseModel]) -> None:
        self.name, self.description, self.input = name, description, input


FIND = _Own(
    "find_tools",
    "Find tools that are not listed: for skills, guardrails and arcs, for stages and links, and for all changes.",
    FindTools,
)
CALL = _Own("call_tool", "Call a tool that find_tools has found.", CallTool)


class Tools:
    """The tools of one server. Its methods block.

    Args:
        store: of the home.
        is_read_only: only tools that change nothing are there, and they store nothing.
        lists_all: all tools are listed.
    """

    def __init__(self, store: Store, *, is_read_only: bool, lists_all: bool) -> None:
        self._store = store
        self._is_read_only = is_read_only
        self._lists_all = lists_all
        self._tools = {
            name: tool for name, tool in LIBRARY_TOOLS.items() if tool.effect == "read" or not is_read_only
        }

    def listed(self) -> list[types.Tool]:
        """Return the tools that a client is to see."""
        if self._lists_all:
            return [_described(tool) for tool in self._tools.values()]
        own = [
            types.Tool(name=one.name, description=one.description, input_schema=_schema(one.input))
            for one in (FIND, CALL)
        ]
        return [*(_described(self._tools[name]) for name in LISTED), *own]

    def call(self, by: Author, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool, listed or not, and return its answer.

        Raises:
            PersonaError: there is no such tool, the arguments do not fit, or the tool refuses.
        """
        if name == CALL.name:
            named = cast("CallTool", validate(CALL, arguments))
            name, arguments = named.name, named.arguments
        if name == FIND.name:
            wanted = cast("FindTools", validate(FIND, arguments))
            return {"tools": self._found(wanted.query)}
        tool = self._tools.get(name)
        if tool is None:
            if name in LIBRARY_TOOLS:
                raise InvalidValue(f"{name} changes something, and this server only reads.")
            near = get_close_matches(name[:100], self._tools, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else "find_tools names all."
            raise InvalidValue(f"There is no tool {name[:100]!r}; {hint}")
        answer = tool.call(self._store, by, validate(tool, arguments), is_read_only=self._is_read_only)
        return to_record(answer)

    def _found(self, query: str) -> list[dict[str, Any]]:
        """Return the tools that fit best; where none does, the names of all."""
        wanted = _words(query)

        def rank(tool: LibraryTool) -> int:
            return 2 * len(wanted & _words(tool.name)) + len(wanted & _words(tool.description))

        best = sorted((tool for tool in self._tools.values() if rank(tool)), key=rank, reverse=True)
        if not best:
            return [{"name": tool.name, "description": tool.description} for tool in self._tools.values()]
        return [
            {"name": tool.name, "description": tool.description, "input_schema": _schema(tool.input)}
            for tool in best[:_MOST_FOUND]
        ]


def _words(text: str) -> set[str]:
    return {word.removesuffix("s") for word in re.findall("[a-z]+", text.lower())}


def _described(tool: LibraryTool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=_schema(tool.input),
        output_schema=tool.answer.model_json_schema(),
        annotations=types.ToolAnnotations(
            title=tool.label,
            read_only_hint=tool.effect == "read",
            destructive_hint=tool.effect == "destructive",
        ),
    )


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()
