"""A few hundred of the fuzzer's random runs; `python -m tests.agent.fuzz` plays more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.fuzz import fuzz_one


@pytest.mark.parametrize("first", range(0, 240, 40))
def test_random_runs_keep_the_invariants(
    first: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("CRITICAL", logger="agent")
    outcomes = {fuzz_one(seed, tmp_path) for seed in range(first, first + 40)}
    assert len(outcomes) > 2
