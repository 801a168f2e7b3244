"""The short form of `tests.agent.fuzz_tasks`."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from tests.agent.fuzz_tasks import fuzz_one


def test_random_tasks_over_several_lives_keep_the_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERSONA_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setattr(logging.getLogger("agent"), "level", logging.CRITICAL)
    states = {fuzz_one(seed, tmp_path) for seed in range(10)}
    assert len(states) >= 4, "the runs are of many kinds"
