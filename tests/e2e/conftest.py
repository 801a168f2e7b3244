"""End-to-end tests run the commands in a home of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.persona_agent import Backend, Workplace


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """A home with the examples, on the offline model."""
    return Workplace(tmp_path / "home", Backend("offline", {"PERSONA_MODEL": "offline"}))
