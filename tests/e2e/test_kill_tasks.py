"""The short form of `tests.e2e.kill_tasks`."""

from __future__ import annotations

from pathlib import Path

from tests.e2e import kill_tasks


def test_tasks_killed_at_random_points_are_found_as_what_they_are(tmp_path: Path) -> None:
    met = kill_tasks.run(tmp_path, runs=3, seed=3, on_screen=0)
    assert sum(met[status] for status in (*kill_tasks.FOUND, "nothing")) == 3


def test_a_task_killed_on_the_screen_is_found_as_what_it_is(tmp_path: Path) -> None:
    met = kill_tasks.run(tmp_path, runs=1, seed=4, on_screen=1)
    assert met["screen"] == 1
