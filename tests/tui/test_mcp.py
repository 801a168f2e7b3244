"""What an agent gets over MCP, asked by the official client: over pipes, over HTTP, and of two servers in turn."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import cycle
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Implementation

from agent.tools.library import LIBRARY_TOOLS
from tests.support.hostile import ESCAPES
from tests.support.persona_agent import Workplace
from tests.tui.test_mcp_transports import check_guarded, http_server
from tui.mcp.server import make_server

DETAIL = "You are P.\n\nBe cold.\n\n## Traits\n\n- curious: Ask.\n"


def fill(place: Workplace) -> None:
    for command in (
        'new P --prompt "You are P."',
        "part new icy --type tone --content 'Be cold.' --summary Cold.",
        "part new warm --type tone --content 'Be warm.' --summary Warm.",
        "trait new curious --trait-type personality --instruction Ask.",
        "skill new refunds --description Refunds --content 'Pay back.'",
        "part new basic --type tone --content Be.",
        "link p part basic",
        "link p trait curious",
    ):
        done = place.run_here(*(word.strip("\"'") for word in re.findall(r"'[^']*'|\"[^\"]*\"|\S+", command)))
        assert done.returncode == 0, done.stderr
    stages = '[[stages]]\nname = "cold"\nparts = ["icy"]\n\n[[stages]]\nname = "thawed"\nparts = ["warm"]\n'
    (place.home / "library" / "arcs").mkdir(parents=True, exist_ok=True)
    (place.home / "library" / "arcs" / "thaw.toml").write_text(stages)
    assert place.run_here("link", "p", "arc", "thaw").returncode == 0


def over_pipes(place: Workplace, *flags: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "tui", "mcp", *flags],
        env=place.environment(),
        cwd=place.home.parent,
    )


@asynccontextmanager
async def over_http(url: str, token: str, mode: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}", "User-Agent": "old-agent/1.0"}
    async with httpx2.AsyncClient(headers=headers) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(
            transport, mode=mode, client_info=Implementation(name="new-agent", version="1")
        ) as it:
            yield it


def answer(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.content
    (text,) = result.content
    assert text.type == "text" and json.loads(text.text) == result.structured_content
    found: dict[str, Any] = result.structured_content
    return found


async def load(*clients: Client) -> list[dict[str, Any]]:
    """Go through the loading strategy, asking the clients in turn: discover, fetch, compile, advance, compile."""
    turns = cycle(clients)

    async def call(tool: str, /, **arguments: Any) -> dict[str, Any]:
        return answer(await next(turns).call_tool(tool, arguments))

    manifest = await call("get_persona_manifest", name="p")
    assert "Be" not in json.dumps([manifest[key] for key in ("parts", "traits", "skills", "guardrails")])
    (part,), (trait,) = manifest["parts"], manifest["traits"]
    return [
        manifest,
        await call("get_agent_part", name=part["name"]),
        await call("get_agent_trait", name=trait["name"]),
        await call("compile_persona", name="p"),
        await call("call_tool", name="advance_persona_stage", arguments={"persona": "p"}),
        await call("compile_persona", name="p"),
    ]


def check_loaded(answers: list[dict[str, Any]], place: Workplace, by: str) -> None:
    manifest, part, trait, cold, advanced, warm = answers
    assert manifest["arc"] == {"name": "thaw", "stage": "cold"}
    assert part["content"] == "Be cold." and trait["instruction"] == "Ask."
    assert cold["compiled_detail"] == DETAIL
    assert advanced["stage"] == "thawed"
    assert warm["compiled_detail"] == DETAIL.replace("cold", "warm")
    log = json.loads(place.run_here("log", "p", "--json").stdout)
    assert log[0]["by"] == by
    assert place.run_here("undo", "p").returncode == 0
    assert json.loads(place.run_here("stage", "p", "--json").stdout)["stage"] == "cold"


async def write(client: Client, content: str) -> CallToolResult:
    change = {"name": "update_agent_part", "arguments": {"name": "basic", "content": content}}
    return await client.call_tool("call_tool", change)


async def test_over_pipes_agents_discover_fetch_evolve_and_write_at_once(place: Workplace) -> None:
    fill(place)
    names = [Implementation(name=name, version="1") for name in ("new", "old\n\x1b[2Jagent")]
    async with (
        Client(over_pipes(place), client_info=names[0], read_timeout_seconds=60) as new,
        Client(over_pipes(place), mode="legacy", client_info=names[1], read_timeout_seconds=60) as old,
    ):
        for client, name in ((new, "new"), (old, "old agent")):
            check_loaded(await load(client), place, f"mcp:{name}")
            assert (
                client.instructions is not None and "begin with get_persona_manifest" in client.instructions
            )
        written = await asyncio.gather(
            *(write(client, f"{client.mode} {number}") for number in range(4) for client in (new, old))
        )
        # On a slow machine one may wait so long for the others that it is refused, and says so.
        assert all("is busy" in one.content[0].text for one in written if one.is_error)
        content = answer(await new.call_tool("get_agent_part", {"name": "basic"}))["content"]
        assert re.fullmatch("(auto|legacy) [0-3]", content)
        log = json.loads(place.run_here("log", "part/basic", "--json").stdout)
        by = [one["by"] for one in log]
        assert by.count("mcp:new") + by.count("mcp:old agent") == sum(not one.is_error for one in written)


async def test_few_tools_are_listed_and_all_are_found(place: Workplace) -> None:
    fill(place)
    store = place.store
    async with Client(make_server(store)) as client, Client(make_server(store, all_tools=True)) as whole:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert len(listed) == 8 and {"find_tools", "call_tool", "get_persona_manifest"} <= {*listed}
        everything = {tool.name for tool in (await whole.list_tools()).tools}
        named = answer(await client.call_tool("find_tools", {}))["tools"]
        assert {tool["name"] for tool in named} == everything == {*LIBRARY_TOOLS}
        found = answer(await client.call_tool("find_tools", {"query": "Move to the next stages"}))["tools"]
        assert found[0]["name"] == "advance_persona_stage" and len(found) < 10
        assert found[0]["input_schema"]["required"] == ["persona"]
        manifest = answer(await client.call_tool("get_persona_manifest", {"name": "p"}))
        assert {*manifest["on_demand_tools"]} <= everything
        result = await client.call_tool("get_agent_parts", {})
        assert result.is_error and "did you mean" in result.content[0].text


async def test_effective_prompts_are_prompts_and_documents_are_resources(place: Workplace) -> None:
    fill(place)
    skill = place.home / "library" / "skills" / "open" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: open\ndescription: Opens\n---\nOpen it.\n")
    async with Client(make_server(place.store)) as client:
        (prompt,) = [one for one in (await client.list_prompts()).prompts if one.name == "p"]
        assert prompt.title == "P" and {one.name for one in prompt.arguments or []} == {"overrides", "stage"}
        for arguments, text in (
            ({}, DETAIL),
            ({"stage": "thawed"}, DETAIL.replace("cold", "warm")),
            ({"overrides": "tone=basic"}, DETAIL.replace("Be cold.", "Be.")),
        ):
            (message,) = (await client.get_prompt("p", arguments)).messages
            assert message.content.text == text
        assert (await client.get_prompt("p", {"stage": "gone"})).description == "Missing: stage gone"
        listed = {one.uri: one for one in (await client.list_resources()).resources}
        for uri, path in (
            ("persona://library/parts/icy", place.home / "library" / "parts" / "icy.toml"),
            ("persona://library/skills/open", skill),
        ):
            (contents,) = (await client.read_resource(uri)).contents
            assert contents.text == path.read_text() and contents.mime_type == listed[uri].mime_type
        assert listed["persona://library/skills/open"].mime_type == "text/markdown"
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "persona://library/{kinds}/{name}"
    assert not (place.home / "state" / "compiled.json").exists()


async def test_a_server_that_only_reads_changes_and_stores_nothing(place: Workplace) -> None:
    fill(place)
    before = everything_in(place)
    async with Client(make_server(place.store, all_tools=True, read_only=True)) as client:
        listed = (await client.list_tools()).tools
        assert {tool.name for tool in listed} == {
            name for name, tool in LIBRARY_TOOLS.items() if tool.effect == "read"
        }
        for tool in LIBRARY_TOOLS.values():
            named = tool.input.model_json_schema().get("required", [])
            if tool.effect != "read":
                result = await client.call_tool(tool.name, dict.fromkeys(named, "p"))
                assert result.is_error and "only reads" in result.content[0].text
        assert answer(await client.call_tool("compile_persona", {"name": "p"}))["compiled_detail"] == DETAIL
    assert everything_in(place) == before and not (place.home / "state" / "compiled.json").exists()


async def test_a_strangers_home_is_not_followed_out_of_and_keeps_its_controls_as_data(
    place: Workplace,
) -> None:
    fill(place)
    secret = place.home.parent / "secret.toml"
    secret.write_text('name = "S"\nsystem_prompt = "the secret"\ncontent = "the secret"\n')
    parts, skills = place.home / "library" / "parts", place.home / "library" / "skills"
    (parts / "out.toml").symlink_to(secret)
    (parts / "loop.toml").symlink_to(parts / "loop.toml")
    (place.home / "personas" / "out.toml").symlink_to(secret)
    (skills / "out").symlink_to(secret.parent)
    (parts / "\x1b[2J.toml").write_text('content = "x"\n')
    evil = "\x1b]52;c;cm0gLXJmIC8=\x07"
    (parts / "evil.toml").write_text(f'type = "tone"\ncontent = {json.dumps(evil)}\n')
    (parts / "broken.toml").write_text("type = \n")
    async with Client(make_server(place.store, all_tools=True)) as client:
        parts_listed = answer(await client.call_tool("list_agent_parts", {}))["parts"]
        assert {one["name"] for one in parts_listed if one["error"]} >= {"out", "loop", "broken"}
        assert "the secret" not in json.dumps(parts_listed)
        assert "the secret" not in (await client.list_resources()).model_dump_json()
        assert "out" not in [one.name for one in (await client.list_prompts()).prompts]
        for name in ("out", "loop"):
            shown = await client.call_tool("get_agent_part", {"name": name})
            assert "the secret" not in shown.model_dump_json()
            with pytest.raises(MCPError):
                await client.read_resource(f"persona://library/parts/{name}")
        for call in (client.get_prompt("out"), client.read_resource("persona://library/skills/out")):
            with pytest.raises(MCPError):
                await call
        for tool in ("get_agent_persona", "compile_persona", "update_agent_persona", "delete_agent_persona"):
            assert "the secret" not in (await client.call_tool(tool, {"name": "out"})).model_dump_json()
        (message,) = (await client.get_prompt("p", {"overrides": "tone=evil"})).messages
        assert evil in message.content.text
    assert secret.read_text().count("the secret") == 2


async def test_two_servers_in_turn_answer_alike_over_http(place: Workplace) -> None:
    fill(place)
    with http_server(place) as (url, token), http_server(place) as (other, same):
        assert token == same
        check_guarded(place, url, token)
        for mode, by in (("auto", "mcp:new-agent"), ("legacy", "mcp:old-agent")):
            async with over_http(url, token, mode) as one, over_http(other, token, mode) as two:
                check_loaded(await load(one, two), place, by)
                asked: list[tuple[str, dict[str, Any]]] = [
                    ("get_agent_persona", {"name": "p", "detail": True, "overrides": {"tone": "warm"}}),
                    ("get_persona_manifest", {"name": "p", "stage": "thawed"}),
                    ("list_agent_personas", {}),
                    ("call_tool", {"name": "list_agent_parts", "arguments": {"type": "tone"}}),
                ]
                for call in asked:
                    got = [(await it.call_tool(*call)).model_dump_json() for it in (one, two, one)]
                    assert got[0] == got[1] == got[2]


HOSTILE = [
    "",
    "../../outside",
    "part/icy",
    "p\0",
    "P.toml",
    ESCAPES["clear screen"],
    ESCAPES["bidi override"],
]
"""Names that nothing has."""


def everything_in(place: Workplace) -> dict[str, bytes]:
    """Return the bytes of all files a person would miss, in the home and beside it."""
    root = place.home.parent
    files = [
        path
        for path in root.rglob("*")
        if path.is_file() and not {"state", "versions"} & {*path.relative_to(root).parts}
    ]
    return {str(path): path.read_bytes() for path in files}


async def test_hostile_arguments_get_an_error_and_harm_nothing(place: Workplace) -> None:
    fill(place)
    before = everything_in(place)
    deep: Any = "x"
    for _ in range(150):
        deep = [deep]
    part = {"name": "icy"}
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("get_agent_gizmo", part),
        ("../x", {}),
        ("x" * 1_000_000, {}),
        ("get_agent_part", {"name": "x" * 1_000_000}),
        ("get_agent_part", {"x" * 1_000_000: 1, **part}),
        ("get_agent_part", {"name": ["icy"]}),
        ("get_agent_part", {"name": 7}),
        ("update_agent_part", {**part, "content": "a\0b"}),
        ("update_agent_part", {**part, "content": deep}),
        ("update_agent_part", {**part, "tags": ["a\nb"]}),
        ("update_agent_part", {**part, "path": "/etc/passwd"}),
        ("create_agent_guardrail", {"name": "law", "severity": "deadly"}),
        ("create_agent_part", part),
        ("delete_agent_part", part),
        ("get_agent_persona", {"name": "p", "overrides": {"tone": "../../../etc/passwd"}}),
        ("compile_persona", {"name": "p", "types": []}),
        ("compile_persona", {"name": "p", "limit": -1}),
        ("call_tool", {"name": "call_tool", "arguments": {"name": "get_agent_part", "arguments": part}}),
        ("call_tool", {"name": "find_tools\0"}),
        ("find_tools", {"query": 1}),
    ]
    async with Client(over_pipes(place, "--all-tools")) as client:
        for tool in (await client.list_tools()).tools:
            named = tool.input_schema.get("required", [])
            wrong += [(tool.name, dict.fromkeys(named, name)) for name in HOSTILE if named]
        for name, arguments in wrong:
            result = await client.call_tool(name, arguments)
            assert result.is_error, (name[:40], str(arguments)[:80])
            assert len(result.content[0].text) < 5_000
        assert everything_in(place) == before
        for uri in (
            "persona://library/parts/../../x",
            "file:///etc/passwd",
            "persona://library/parts/nobody",
        ):
            with pytest.raises(MCPError, match=r"not a document|no part"):
                await client.read_resource(uri)
        for name in HOSTILE:
            with pytest.raises(MCPError):
                await client.get_prompt(name)
        with pytest.raises(MCPError, match="no part"):
            await client.get_prompt("p", {"overrides": "tone"})
        large = "y" * 1_000_000
        answer(await client.call_tool("update_agent_part", {"name": "icy", "content": large}))
        assert answer(await client.call_tool("get_agent_part", {"name": "icy"}))["content"] == large
    log = (place.home / "state" / "persona.log").read_text()
    assert "Traceback" not in log and "\x1b" not in log and len(log) < 1_000_000
