"""The examples of the package's docstring and of its README are programs, and they run; the names are in `agent`."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import agent
from tests.support.messages_server import KEY, MessagesServer, call, say

ROOT = Path(__file__).parent.parent.parent


def readme_example() -> str:
    blocks: list[str] = re.findall(
        r"```python\n(.*?)```", (ROOT / "agent" / "README.md").read_text("utf-8"), re.DOTALL
    )
    return blocks[-1]


def run_readme_example(server: MessagesServer) -> subprocess.CompletedProcess[str]:
    """Run the example as it stands, with the test server's key and address in place of the reader's key."""
    placeholder = 'api_key="…"'
    program = readme_example()
    assert program.count(placeholder) == 1
    program = program.replace(placeholder, f'api_key="{KEY}", base_url="{server.url}"')
    return subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert agent.__doc__ is not None
    program = textwrap.dedent(agent.__doc__.split("\n\n", 2)[2])
    assert len(program.splitlines()) <= 20
    exec(compile(program, "example", "exec"), {"__name__": "example"})
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["agent_start", "step_start"]
    assert lines[-1] == "completed ['user', 'tool_call', 'tool_result', 'assistant_text']"


def test_the_example_of_the_readme_prints_the_answer_and_leaves_nothing_open() -> None:
    with MessagesServer([call("weather", {"place": "Rome"}), say("It is sunny.")]) as server:
        done = run_readme_example(server)
    turns = "completed ['user', 'tool_call', 'tool_result', 'assistant_text']"
    assert done.stdout.splitlines() == ["It is sunny.", turns]
    # In development mode the loop also tells of a step that took long, which a busy machine makes of any.
    assert [line for line in done.stderr.splitlines() if not line.startswith("Executing <")] == []


def test_the_example_of_the_readme_says_why_it_failed() -> None:
    with MessagesServer([], key="another key") as server:
        done = run_readme_example(server)
    assert re.fullmatch(r"failed .*does not accept the key.*\n", done.stdout)


def test_the_example_of_the_readme_is_short() -> None:
    assert len([line for line in readme_example().splitlines() if line.strip()]) <= 20


def test_every_name_is_in_the_package_and_is_the_one_of_its_module() -> None:
    assert set(agent.__all__) <= set(dir(agent))
    for name in agent.__all__:
        value = getattr(agent, name)
        module = getattr(value, "__module__", "")
        if module.startswith("agent."):  # a union or a built-in type has no module of ours
            assert getattr(sys.modules[module], name) is value
    with pytest.raises(AttributeError, match="nobody"):
        agent.nobody  # noqa: B018 - asking is the test


def test_the_names_for_type_checkers_are_those_at_run_time() -> None:
    tree = ast.parse((ROOT / "agent" / "__init__.py").read_text("utf-8"))
    checked = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    asked = {name: module for module, names in agent._NAMES.items() for name in names.split()}
    assert checked == asked
    assert sorted(asked) == sorted(agent.__all__)


def test_importing_the_package_loads_nothing() -> None:
    code = "import sys; before = {*sys.modules}; import agent; print(sorted({*sys.modules} - before))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("['__future__', 'agent']", "['agent']")
