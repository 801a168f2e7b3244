"""What the MCP server answers: tools, the effective prompts of personas as prompts, documents of the library as resources.

No state is kept between two requests: each reads the home anew, so several servers of one home answer alike.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from typing import Any, TypeAlias, TypeVar

import anyio.to_thread
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError

from agent.core.errors import InvalidInput
from agent.core.tool_validation import validate
from agent.tools.library import LIBRARY_TOOLS
from agent.tools.library.spec import to_record
from personas.errors import PersonaError
from personas.library.documents import KINDS, is_name
from personas.library.folders import SKILL_FILE, path_of, read_all
from personas.library_document import parse_key
from personas.store import Store
from personas.versions.authorship import MCP, USER, Author
from tui.mcp.tools import Tools
from tui.terminal.sanitise import one_line
from tui.terminal.secrets import safe_message

T = TypeVar("T")
Context: TypeAlias = ServerRequestContext[Any]

INSTRUCTIONS = """\
Personas, and the library of parts, traits, skills, guardrails and arcs they are made of. Load nothing upfront: begin \
with get_persona_manifest, then load single documents as you need them, or everything as one text with \
compile_persona. After a change of an arc's stage compile again. Tools that are not listed are found with find_tools \
and called with call_tool."""
ARGUMENTS = [
    types.PromptArgument(
        name="overrides",
        description="Parts that replace all of their type for this call: TYPE=NAME,TYPE=NAME",
    ),
    types.PromptArgument(name="stage", description="The stage of the arc to assume."),
]
"""What each prompt takes."""
REFUSALS = (PersonaError, InvalidInput)
"""What a client is told in words; anything else is a fault of ours."""

_RESOURCE = "persona://library/"
_URI = re.compile(rf"{_RESOURCE}(?P<kind>[a-z]+)s/(?P<name>[^/]+)")
_LONGEST = 60  # cells of a name in the log

log = logging.getLogger(__name__)


def make_server(store: Store, *, all_tools: bool = False, read_only: bool = False) -> Server[Any]:
    """Return the server of a home's store.

    Args:
        store: of the home.
        all_tools: all tools are listed.
        read_only: nothing is changed or stored.
    """
    tools = Tools(store, is_read_only=read_only, lists_all=all_tools)

    async def list_tools(
        _context: Context, _given: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools.listed())

    async def call_tool(context: Context, given: types.CallToolRequestParams) -> types.CallToolResult:
        client = _client(context)
        call = partial(tools.call, Author(f"{MCP}{client}"), given.name, given.arguments or {})
        try:
            answer = await anyio.to_thread.run_sync(call)
        except REFUSALS as error:
            message = safe_message(str(error))
            log.info("%s refused to %s: %s", one_line(given.name, _LONGEST), client, message)
            return types.CallToolResult(content=[types.TextContent(text=message)], is_error=True)
        log.info("%s called by %s", one_line(given.name, _LONGEST), client)
        text = types.TextContent(text=json.dumps(answer, ensure_ascii=False))
        return types.CallToolResult(content=[text], structured_content=answer)

    async def list_prompts(
        _context: Context, _given: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=await _in_thread(partial(_prompts, store)))

    async def get_prompt(_context: Context, given: types.GetPromptRequestParams) -> types.GetPromptResult:
        return await _in_thread(partial(_prompt, store, given.name, given.arguments or {}))

    async def list_resources(
        _context: Context, _given: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=await _in_thread(partial(_resources, store)))

    async def list_templates(
        _context: Context, _given: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            name="document", uri_template=f"{_RESOURCE}{{kinds}}/{{name}}", description="A document's file."
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        _context: Context, given: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        contents = await _in_thread(partial(_resource, store, given.uri))
        return types.ReadResourceResult(contents=[contents])

    return Server(
        "persona",
        version=version("persona-editor"),
        title="Personas",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=lambda _name: None,  # no argument is mirrored into a header
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )


async def _in_thread(function: Callable[[], T]) -> T:
    """Run what blocks in a thread; what it refuses becomes an error of the protocol."""
    try:
        return await anyio.to_thread.run_sync(function)
    except REFUSALS as error:
        raise MCPError(types.INVALID_PARAMS, safe_message(str(error))) from None


def _client(context: Context) -> str:
    """Return what the client calls itself: in this request, when it connected, or in its HTTP headers."""
    said = context.session.client_params
    name = said.client_info.name if said is not None else ""
    if not name and context.request is not None:
        name = context.request.headers.get("user-agent", "").partition("/")[0]
    return one_line(name, _LONGEST) or "client"


# -- prompts ---------------------------------------------------------------------------------------------


def _prompts(store: Store) -> list[types.Prompt]:
    return [
        types.Prompt(name=one.id, title=one.name, description=one.description, arguments=ARGUMENTS)
        for one in store.list()
        if one.error is None
    ]


def _prompt(store: Store, persona_id: str, given: Mapping[str, str]) -> types.GetPromptResult:
    options: dict[str, Any] = {"stage": given["stage"]} if given.get("stage") else {}
    if given.get("overrides"):
        pairs = [one.partition("=") for one in given["overrides"].split(",")]
        options["overrides"] = {kind.strip(): name.strip() for kind, _, name in pairs}
    tool = LIBRARY_TOOLS["compile_persona"]
    arguments = validate(tool, {"name": persona_id, **options})
    compiled = to_record(tool.call(store, USER, arguments, is_read_only=True))
    missing = ", ".join(f"{one['kind']} {one['name']}" for one in compiled["missing"])
    text = types.TextContent(text=compiled["compiled_detail"])
    return types.GetPromptResult(
        description=f"Missing: {missing}" if missing else None,
        messages=[types.PromptMessage(role="user", content=text)],
    )


# -- resources -------------------------------------------------------------------------------------------


def _resources(store: Store) -> list[types.Resource]:
    return [
        types.Resource(
            uri=f"{_RESOURCE}{kind}s/{one.name}",
            name=f"{kind}/{one.name}",
            description=one.description,
            mime_type=_mime_type(store, f"{kind}/{one.name}"),
        )
        for kind in KINDS
        for one in read_all(store.home, kind)
        if is_name(one.name)
    ]


def _resource(store: Store, uri: str) -> types.TextResourceContents:
    found = _URI.fullmatch(uri)
    if found is None:
        raise PersonaError(f"{uri[:200]!r} is not a document; documents are at {_RESOURCE}KINDs/NAME.")
    key = f"{found['kind']}/{found['name']}"
    parse_key(key)
    return types.TextResourceContents(uri=uri, mime_type=_mime_type(store, key), text=store.text(key))


def _mime_type(store: Store, key: str) -> str:
    path = path_of(store.home, *parse_key(key))
    return "text/markdown" if path is not None and path.name == SKILL_FILE else "application/toml"
