"""Panes in a pairwise choice of texts, sizes and themes; dialogs, each in two looks and texts; and other screens.

One program for each text goes through all of them.
"""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import pytest

from tests.snapshots.conftest import Check
from tests.snapshots.dialogs import DIALOGS, LOOKS, MODELS, preferences_of
from tests.snapshots.scenes import PLAIN, SCENES, play_to_end, running
from tests.snapshots.shots import (
    LARGE,
    MIDDLE,
    SIZES,
    SMALL,
    TEXTS,
    THEMES,
    TINY,
    Look,
    settle,
    shot,
    take,
    turn_to,
    wait,
)
from tests.tui.program import Program
from tui.screens.main.layout import PANES

CHOICE = {
    "plain": [
        ("prompt", TINY, "dark"),
        ("personas", LARGE, "dark"),
        ("tests", SMALL, "dark"),
        ("settings", MIDDLE, "light"),
        ("personas", TINY, "light"),
        ("prompt", LARGE, "light"),
    ],
    "wide": [
        ("prompt", SMALL, "light"),
        ("tests", TINY, "light"),
        ("personas", MIDDLE, "light"),
        ("tests", MIDDLE, "dark"),
        ("settings", LARGE, "dark"),
    ],
    "hostile": [
        ("settings", TINY, "dark"),
        ("personas", SMALL, "dark"),
        ("prompt", MIDDLE, "dark"),
        ("settings", SMALL, "light"),
        ("tests", LARGE, "light"),
    ],
}
"""By text: panes, sizes and themes, in the order in which they are looked at."""


TWO = [Look(TINY, "dark"), Look(SMALL, "light")]
TOO_SMALL = [Look((59, 14), "dark"), Look((10, 3), "light")]


async def nothing(_p: Program) -> None:
    """The terminal is too small for anything."""


async def write_a_command(p: Program) -> None:
    p.main.focus_chat()
    await turn_to(p, TWO[0])
    await p.write("/")
    await p.press("down", "down")


async def open_a_broken_file(p: Program) -> None:
    await p.main.open_persona("broken")
    p.main.action_go("prompt")


OTHERS = {
    "too-small": ("wide", nothing),
    "a-command-is-written": ("plain", write_a_command),
    "a-broken-file": ("hostile", open_a_broken_file),
}
"""What else there is to be seen, in which text, and how it is reached."""


def test_each_two_meet() -> None:
    rows = [(text, *row) for text, chosen in CHOICE.items() for row in chosen]
    for first, second in combinations(range(4), 2):
        values = (TEXTS, PANES, SIZES, THEMES)
        met = {(row[first], row[second]) for row in rows}
        assert met == set(product(values[first], values[second]))


@pytest.mark.parametrize("text", TEXTS)
async def test_panes(text: str, tmp_path: Path, looks_as_before: Check) -> None:
    pictures: dict[str, str] = {}
    async with running(SCENES[text], tmp_path, CHOICE[text][0][1]) as p:
        for pane, size, theme in CHOICE[text]:
            look = Look(size, theme)
            await turn_to(p, look)
            p.main.action_go(pane)
            pictures[f"{pane}-{look}"] = await shot(p, look)
        for name, (others, go) in OTHERS.items():
            if others == text:
                await go(p)
                await settle(p)
                taken = await take(p, TOO_SMALL if name == "too-small" else TWO)
                pictures |= {f"{name}-{look}": picture for look, picture in taken.items()}
    looks_as_before(pictures)


def test_each_dialog_has_two_looks_that_differ_in_all() -> None:
    assert set(LOOKS) == set(DIALOGS)
    for (text, look), (other_text, other_look) in LOOKS.values():
        assert text != other_text
        assert look.size != other_look.size
        assert look.theme != other_look.theme


@pytest.mark.parametrize("text", TEXTS)
async def test_dialogs(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looks_as_before: Check
) -> None:
    monkeypatch.chdir(tmp_path)  # so that the settings file has a short name
    pictures: dict[str, str] = {}
    wanted = [(name, look) for name, pair in LOOKS.items() for (here, look) in pair if here == text]
    async with running(
        SCENES[text], tmp_path, SMALL, name=MODELS[text], preferences=preferences_of(text)
    ) as p:
        await play_to_end(p, SCENES[text])
        await p.press("escape")
        for name, look in sorted(wanted, key=lambda one: (one[1].theme, one[1].size)):
            await turn_to(p, look)
            DIALOGS[name](p, text)
            await wait(lambda: p.app.screen is not p.main)
            pictures[f"{name}-{look}"] = await shot(p, look)
            p.app.screen.dismiss(None)
            await wait(lambda: p.app.screen is p.main)
    looks_as_before(pictures)


async def test_a_home_without_personas(tmp_path: Path, looks_as_before: Check) -> None:
    empty = type(PLAIN)({}, PLAIN.recording)
    async with running(empty, tmp_path, MIDDLE, listed=False) as p:
        looks_as_before(await take(p, [Look(MIDDLE, "dark"), Look(TINY, "light")]))
