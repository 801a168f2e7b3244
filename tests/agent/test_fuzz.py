"""Some of the fuzzer's random runs; `python -m tests.agent.fuzz` plays more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.fuzz import fuzz_one


def test_random_runs_keep_the_invariants(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", logger="agent")
    outcomes = {fuzz_one(seed, tmp_path) for seed in range(80)}
    assert len(outcomes) > 2
