"""The short form of `tests.e2e.kill_workers`."""

from __future__ import annotations

from pathlib import Path

from tests.e2e import kill_workers


def test_runs_of_workers_that_are_stopped_and_killed_are_stored_once(tmp_path: Path) -> None:
    figures = kill_workers.run(tmp_path, actions=8, workers=2, seed=1, every=2, stops=False)
    assert figures.killed >= 1
