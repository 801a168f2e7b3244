"""What starting a command may import: no SDK and no screen where neither is used."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support.forked import ROOT
from tests.support.persona_agent import Workplace

PROBE = """
import json, sys
from tui.cli.error_handling import run
try:
    run(sys.argv[1:])
except SystemExit as leaving:
    code = leaving.code
print(json.dumps({"code": code, "modules": sorted(sys.modules)}), file=sys.stderr)
"""


def modules_after(place: Workplace, *arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments],
        capture_output=True,
        env=place.environment(),
        cwd=ROOT,
        check=False,
    )
    told = json.loads(done.stderr.decode().splitlines()[-1])
    assert told["code"] == 0, done.stderr
    return set(told["modules"])


def test_a_persona_is_known_by_its_file_before_the_store_is_loaded(place: Workplace) -> None:
    code = (
        "import sys; from tui.cli.group import Invocation; "
        "print([Invocation().has_file(word) for word in ('optimist', 'nobody', '', '../x', '.x', 'a\\0b')], "
        "[name for name in ('pydantic', 'personas.store') if name in sys.modules])"
    )
    modules_after(place, "list")  # makes the home
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=place.environment(),
        cwd=ROOT,
        check=True,
    )
    assert done.stdout.strip() == "[True, False, False, False, False, False] []"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["list"],
        ["list", "--json"],
        ["show", "optimist"],
        ["log", "optimist"],
        ["history", "optimist"],
        ["chat", "--help"],
        ["chat", "optimist", "What is the name?", "--model", "offline"],
        ["doctor"],
    ],
)
def test_no_command_without_a_screen_imports_the_sdk_the_app_or_tools_it_does_not_need(
    place: Workplace, arguments: list[str]
) -> None:
    modules = modules_after(place, *arguments)
    assert "tui.cli.group" in modules
    unwanted = ("anthropic", "textual", "httpx2", "mcp", "mcp_types", "uvicorn")
    assert {name for name in modules if name.split(".")[0] in unwanted} == set()
    assert "agent.tools.library" not in modules
    if arguments[0] in ("list", "show"):
        assert "pydantic" not in modules  # where no task is open
