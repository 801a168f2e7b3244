"""The short form of `tests.e2e.kill_outputs`."""

from __future__ import annotations

from pathlib import Path

from tests.e2e import kill_outputs


def test_runs_killed_at_random_points_lose_and_double_nothing(tmp_path: Path) -> None:
    ends = kill_outputs.run(tmp_path, runs=5, seed=8)
    assert 0 < ends["in a batch"] < 5
