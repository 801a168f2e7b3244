"""A home with one persona, for tests of the agent's work on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from personas.files.home import open_home
from tests.support.faulty_store import FaultyStore
from tests.support.task_bench import PROMPT


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FaultyStore:
    """A home of its own with one persona, and settings of its own."""
    monkeypatch.setenv("PERSONA_CONFIG", str(tmp_path / "config" / "config.toml"))
    store = FaultyStore(open_home(tmp_path / "home"))
    store.create("Kept", system_prompt=PROMPT)
    return store
