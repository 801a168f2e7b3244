"""The panel in each of its states, at two sizes, light and dark, with plain, wide and hostile text."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.events import Event
from tests.snapshots.conftest import Check
from tests.snapshots.scenes import SCENES, cut, open_change, overloaded, play_to_end, running, settle
from tests.tui.program import Program
from tui.panel import PanelState
from tui.recording import script_of

SMALL, LARGE = (80, 24), (120, 40)
LOOKS = [
    pytest.param("plain", SMALL, "dark", id="plain-small-dark"),
    pytest.param("wide", LARGE, "light", id="wide-large-light"),
]
HOSTILE_DARK = pytest.param("hostile", LARGE, "dark", id="hostile-large-dark")
HOSTILE_LIGHT = pytest.param("hostile", SMALL, "light", id="hostile-small-light")

Size = tuple[int, int]
look_one = pytest.mark.parametrize(("scene", "size", "theme"), [*LOOKS, HOSTILE_LIGHT])
look_two = pytest.mark.parametrize(("scene", "size", "theme"), [*LOOKS, HOSTILE_DARK])


def events_of(p: Program) -> list[Event]:
    talk = p.main.conversing.talk
    return talk.events if talk is not None else []


@look_one
async def test_empty(scene: str, size: Size, theme: str, tmp_path: Path, looks_as_before: Check) -> None:
    async with running(SCENES[scene], tmp_path, size, theme) as p:
        await p.press("ctrl+o")
        await settle(p)
        assert p.main.conversing.panel.state is PanelState.PINNED
        looks_as_before(p)


@look_two
async def test_streaming(scene: str, size: Size, theme: str, tmp_path: Path, looks_as_before: Check) -> None:
    steps = [script_of(step) for step in SCENES[scene].run.steps]
    steps[-1] = cut(steps[-1], 4)
    async with running(SCENES[scene], tmp_path, size, theme, *steps) as p:
        await p.say(SCENES[scene].run.message)
        await p.until(lambda: [event.type for event in events_of(p)[-4:]] == ["turn_delta"] * 4)
        await settle(p)
        assert p.main.conversing.panel.state is PanelState.VISIBLE
        looks_as_before(p)


@look_one
async def test_visible(scene: str, size: Size, theme: str, tmp_path: Path, looks_as_before: Check) -> None:
    async with running(SCENES[scene], tmp_path, size, theme) as p:
        await play_to_end(p, SCENES[scene])
        assert p.main.conversing.panel.state is PanelState.VISIBLE
        looks_as_before(p)


@look_two
async def test_pinned(scene: str, size: Size, theme: str, tmp_path: Path, looks_as_before: Check) -> None:
    async with running(SCENES[scene], tmp_path, size, theme) as p:
        await play_to_end(p, SCENES[scene])
        await open_change(p)
        assert p.main.conversing.panel.state is PanelState.PINNED
        looks_as_before(p)


@pytest.mark.parametrize(
    ("scene", "size", "theme"),
    [
        pytest.param("plain", (60, 15), "dark", id="plain-tiny-dark"),
        pytest.param("wide", SMALL, "light", id="wide-small-light"),
    ],
)
async def test_enlarged(scene: str, size: Size, theme: str, tmp_path: Path, looks_as_before: Check) -> None:
    async with running(SCENES[scene], tmp_path, size, theme) as p:
        await play_to_end(p, SCENES[scene])
        await open_change(p)
        await p.press("ctrl+o", "f")
        await p.until(lambda: p.main.conversing.panel.enlarged)
        await settle(p)
        looks_as_before(p)


@look_one
async def test_hidden(scene: str, size: Size, theme: str, tmp_path: Path, looks_as_before: Check) -> None:
    async with running(SCENES[scene], tmp_path, size, theme) as p:
        await play_to_end(p, SCENES[scene])
        await p.press("escape")
        await settle(p)
        assert p.main.conversing.panel.state is PanelState.HIDDEN
        looks_as_before(p)


@look_two
async def test_error(scene: str, size: Size, theme: str, tmp_path: Path, looks_as_before: Check) -> None:
    async with running(SCENES[scene], tmp_path, size, theme, overloaded()) as p:
        await play_to_end(p, SCENES[scene])
        assert p.main.conversing.panel.state is PanelState.VISIBLE
        looks_as_before(p)
