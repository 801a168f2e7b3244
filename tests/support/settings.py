"""The settings of a program in a test: of a file and an environment of its own, and their page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.support.program import Program
from tui.screens.dialogs.settings import ProgramSettings
from tui.settings.live_settings import LiveSettings
from tui.settings.schema import load_settings
from tui.widgets.virtual_list import VirtualList


def preferences(folder: Path, text: str | None = "", env: Mapping[str, str] | None = None) -> LiveSettings:
    path = folder / "config.toml"
    if text is not None:
        path.write_text(text)
    env = {"PERSONA_CONFIG": str(path), **(env or {})}
    return LiveSettings(load_settings(env), env=env)


async def page(p: Program, setting: str) -> VirtualList:
    """Open the page and go to a setting."""
    p.main.action_program_settings()
    await p.until(lambda: isinstance(p.app.screen, ProgramSettings))
    rows = p.app.screen.query_one(VirtualList)
    rows.select(setting)
    await p.pilot.pause()
    return rows


def row(rows: VirtualList, setting: str) -> tuple[str, str]:
    return next((r.text, r.tail) for r in rows.rows if r.key == setting)
