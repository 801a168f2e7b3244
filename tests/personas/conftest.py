"""A home of its own for each test, a clock that only moves when told, and a store on both."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from personas.files.home import Home, open_home
from personas.store import Store


@dataclass
class Clock:
    """Stands still until moved."""

    at: datetime = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def pass_by(self, **length: float) -> None:
        self.at += timedelta(**length)


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"PERSONA_CONFIG": str(tmp_path / "config" / "config.toml")}


@pytest.fixture
def home(tmp_path: Path, env: dict[str, str]) -> Home:
    (tmp_path / "home" / "personas").mkdir(parents=True)
    return open_home(tmp_path / "home", env)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(home: Home, clock: Clock) -> Store:
    return Store(home, now=clock)
