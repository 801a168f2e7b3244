"""What starting a command may import: no SDK and no screen where neither is used."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.support.forked import ROOT
from tests.support.persona_agent import Workplace

PROBE = """
import json, sys
from tui.cli.error_handling import run
for arguments in json.loads(sys.argv[1]):
    try:
        run(arguments)
    except SystemExit as leaving:
        code = leaving.code
    print(json.dumps({"code": code, "modules": sorted(sys.modules)}), file=sys.stderr)
"""
NEEDS_LITTLE = [["--help"], ["--version"], ["list"], ["list", "--json"], ["show", "optimist"]]
OTHERS = [
    ["log", "optimist"],
    ["history", "optimist"],
    ["chat", "--help"],
    ["chat", "optimist", "What is the name?", "--model", "offline"],
    ["doctor"],
]


def modules_after(place: Workplace, *commands: list[str]) -> list[set[str]]:
    """Run commands in one new process; return what was loaded after each of them."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(commands)],
        capture_output=True,
        env=place.environment(),
        cwd=ROOT,
        check=False,
    )
    told = [json.loads(line) for line in done.stderr.decode().splitlines() if line.startswith('{"code"')]
    assert [one["code"] for one in told] == [0] * len(commands), done.stderr
    return [set(one["modules"]) for one in told]


def test_a_persona_is_known_by_its_file_before_the_store_is_loaded(place: Workplace) -> None:
    code = (
        "import sys; from tui.cli.group import Invocation; "
        "print([Invocation().has_file(word) for word in ('optimist', 'nobody', '', '../x', '.x', 'a\\0b')], "
        "[name for name in ('pydantic', 'personas.store') if name in sys.modules])"
    )
    place.run_here("list")  # makes the home
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=place.environment(),
        cwd=ROOT,
        check=True,
    )
    assert done.stdout.strip() == "[True, False, False, False, False, False] []"


def test_no_command_without_a_screen_imports_the_sdk_the_app_or_tools_it_does_not_need(
    place: Workplace,
) -> None:
    *_, little = modules_after(place, *NEEDS_LITTLE)
    assert "tui.cli.group" in little and "pydantic" not in little  # where no task is open
    unwanted = ("anthropic", "textual", "httpx2", "mcp", "mcp_types", "uvicorn")
    for command, modules in zip(OTHERS, modules_after(place, *OTHERS), strict=True):
        assert {name for name in modules | little if name.split(".")[0] in unwanted} == set(), command
        assert "agent.tools.library" not in modules | little
