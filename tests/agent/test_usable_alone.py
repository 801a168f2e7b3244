"""The example in the package's docstring is a program, and it runs."""

from __future__ import annotations

import textwrap

import pytest

import agent


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert agent.__doc__ is not None
    program = textwrap.dedent(agent.__doc__.split("\n\n", 2)[2])
    assert len(program.splitlines()) <= 20
    exec(compile(program, "example", "exec"), {"__name__": "example"})
    out = capsys.readouterr().out
    assert out.startswith('{"place": "Rome"}It is sunny in Rome. completed')
    assert "['user', 'tool_call', 'tool_result', 'assistant_text']" in out
