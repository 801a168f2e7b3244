"""Panes and dialogs in a choice of sizes, themes and texts, so that each two of these meet."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.snapshots.conftest import Check
from tests.snapshots.scenes import HOSTILE, PLAIN, SCENES, WIDE, play_to_end, running, settle
from tests.tui.program import Program
from tui.draft import meet
from tui.screens.ask import AskLine, AskText
from tui.screens.confirm import Confirm
from tui.screens.conflict import ChooseText
from tui.screens.dialog import Dialog

TINY, SMALL, MIDDLE, LARGE = (60, 15), (80, 24), (120, 40), (160, 50)
Size = tuple[int, int]

PANES = [
    ("prompt", "hostile", TINY, "dark"),
    ("prompt", "wide", SMALL, "light"),
    ("prompt", "plain", LARGE, "light"),
    ("tests", "plain", TINY, "light"),
    ("tests", "hostile", SMALL, "dark"),
    ("tests", "wide", MIDDLE, "dark"),
    ("settings", "wide", TINY, "dark"),
    ("settings", "plain", SMALL, "light"),
    ("personas", "wide", SMALL, "dark"),
    ("personas", "hostile", LARGE, "light"),
]


@pytest.mark.parametrize(
    ("pane", "scene", "size", "theme"),
    PANES,
    ids=[f"{pane}-{scene}-{size[0]}x{size[1]}-{theme}" for pane, scene, size, theme in PANES],
)
async def test_pane(
    pane: str, scene: str, size: Size, theme: str, tmp_path: Path, looks_as_before: Check
) -> None:
    async with running(SCENES[scene], tmp_path, size, theme) as p:
        p.main.action_go(pane)
        await settle(p)
        looks_as_before(p)


async def show(p: Program, dialog: Dialog[object]) -> None:
    p.app.push_screen(dialog)
    await p.until(lambda: p.app.screen is dialog)
    await settle(p)


async def test_help(tmp_path: Path, looks_as_before: Check) -> None:
    async with running(PLAIN, tmp_path, SMALL, "dark") as p:
        await p.press("f1")
        await settle(p)
        looks_as_before(p)


async def test_switcher(tmp_path: Path, looks_as_before: Check) -> None:
    async with running(WIDE, tmp_path, SMALL, "light") as p:
        await p.press("ctrl+p")
        await settle(p)
        looks_as_before(p)


async def test_commands(tmp_path: Path, looks_as_before: Check) -> None:
    async with running(HOSTILE, tmp_path, TINY, "dark") as p:
        p.main.action_switch_persona(">")
        await p.until(lambda: p.app.screen is not p.main)
        await settle(p)
        looks_as_before(p)


@pytest.mark.parametrize(("size", "theme"), [(TINY, "dark"), (SMALL, "light")], ids=["tiny", "small"])
async def test_commands_while_one_is_written(
    size: Size, theme: str, tmp_path: Path, looks_as_before: Check
) -> None:
    async with running(PLAIN, tmp_path, size, theme) as p:
        await p.write("/")
        await p.press("down", "down")
        await settle(p)
        looks_as_before(p)


async def test_what_the_last_change_did(tmp_path: Path, looks_as_before: Check) -> None:
    async with running(PLAIN, tmp_path, MIDDLE, "light") as p:
        await play_to_end(p, PLAIN)
        await p.press("f5")
        await p.until(lambda: p.app.screen is not p.main)
        await settle(p)
        looks_as_before(p)


async def test_both_changed_the_same_lines(tmp_path: Path, looks_as_before: Check) -> None:
    evil = HOSTILE.run.message
    clash = meet("one\ntwo\nthree\n", f"one\n{evil}\nthree\n", "one\n古い友人 👩‍👩‍👧\nthree\n")
    assert not isinstance(clash, str)
    async with running(PLAIN, tmp_path, MIDDLE, "dark") as p:
        await show(p, ChooseText(clash, ours="Yours", theirs="On disk"))  # type: ignore[arg-type]
        looks_as_before(p)


async def test_confirm(tmp_path: Path, looks_as_before: Check) -> None:
    name = "[/] [red]x\x1b[31m"
    async with running(HOSTILE, tmp_path, TINY, "light") as p:
        dialog = Confirm(f"Delete {name}?", "Its versions are kept.", deed="Delete", danger=True)
        await show(p, dialog)  # type: ignore[arg-type]
        looks_as_before(p)


async def test_a_line_to_fill(tmp_path: Path, looks_as_before: Check) -> None:
    async with running(WIDE, tmp_path, LARGE, "dark") as p:
        await show(p, AskLine("Rename persona", text="旅行ガイド 🧭", explanation="Its id stays: guide"))  # type: ignore[arg-type]
        looks_as_before(p)


async def test_a_text_to_fill(tmp_path: Path, looks_as_before: Check) -> None:
    async with running(PLAIN, tmp_path, SMALL, "dark") as p:
        await show(p, AskText("New test input", text="I moved to a new city.\nI know nobody."))  # type: ignore[arg-type]
        looks_as_before(p)


async def test_a_broken_file(tmp_path: Path, looks_as_before: Check) -> None:
    async with running(HOSTILE, tmp_path, SMALL, "light", persona_id="broken") as p:
        await settle(p)
        looks_as_before(p)


async def test_a_home_without_personas(tmp_path: Path, looks_as_before: Check) -> None:
    empty = type(PLAIN)({}, PLAIN.recording)
    async with running(empty, tmp_path, MIDDLE, "dark", listed=False) as p:
        await settle(p)
        looks_as_before(p)


async def test_a_terminal_that_is_too_small(tmp_path: Path, looks_as_before: Check) -> None:
    async with running(PLAIN, tmp_path, (50, 12), "light") as p:
        await settle(p)
        looks_as_before(p)
