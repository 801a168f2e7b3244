"""The short form of `tests.e2e.kill_workers`."""

from __future__ import annotations

from pathlib import Path

from tests.e2e import kill_workers


def test_runs_of_a_worker_that_is_killed_are_stored_once(tmp_path: Path) -> None:
    figures = kill_workers.run(tmp_path, actions=4, workers=1, seed=1, every=0.5, stops=False, kills=1)
    assert figures.killed == len(figures.given_up) == 1 and figures.asked_again
