"""The short form of `tests.e2e.kill_tasks`."""

from __future__ import annotations

from pathlib import Path

from tests.e2e import kill_tasks


def test_tasks_killed_at_random_points_are_found_as_what_they_are(tmp_path: Path) -> None:
    assert sum(kill_tasks.run(tmp_path, runs=5, seed=3).values()) == 5
