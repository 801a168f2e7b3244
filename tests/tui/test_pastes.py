"""Pastes of any length: into every field of one line, and with a key behind them that moves the focus."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.events import Paste
from textual.widgets import TextArea

import tui
from agent.models.scripted import answer
from personas.test_inputs import Expectation
from tests.support.program import Program, make_store, program
from tests.support.screen import at_once
from tests.support.settings import page, preferences
from tests.tui.test_app_connect import choose
from tui.screens.dialogs.command_palette import CommandPaletteDialog
from tui.screens.dialogs.connect_dialog import AskSecret
from tui.screens.dialogs.expectations import EditExpectation
from tui.screens.dialogs.picker import Picker
from tui.screens.dialogs.settings import ProgramSettings
from tui.screens.dialogs.text_prompt import AskLine
from tui.screens.library.screen import LibraryScreen
from tui.widgets.persona_fields import FIELDS
from tui.widgets.text.line_input import LIMIT, LineInput

BIG = "a line of it, 漢字 e\u0301\n" * 6_000 + "its end"
A_KEY = 0.15
"""Seconds of work that are enough for a key in a field, on a slow machine."""


def fields_of_the_program() -> set[str]:
    """Return the modules that make fields of one line."""
    found = set()
    for path in Path(tui.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(?<![\w.])(Masked)?Input\(", text), f"{path}: only a LineInput takes any text"
        if re.search(r"(?<!class )\b(LineInput|SecretInput)\(", text):
            found.add(".".join(("tui", *path.relative_to(Path(tui.__file__).parent).with_suffix("").parts)))
    return found


async def walk(p: Program) -> AsyncIterator[LineInput]:
    """Go through the fields of the program, one of each kind."""
    main = p.main

    async def dialog(kind: type, *keys: str) -> LineInput:
        await p.press(*keys)
        shown = await p.dialog(kind)
        await p.until(lambda: isinstance(p.app.focused, LineInput))
        field: LineInput = shown.query_one(LineInput)
        return field

    async def close() -> None:
        while p.app.screen is not main:
            before = p.app.screen
            await p.press("escape")
            if isinstance(before, ProgramSettings | LibraryScreen):
                continue
            await p.until(lambda: p.app.screen is not before)  # noqa: B023 - called at once

    yield await dialog(CommandPaletteDialog, "ctrl+p")
    await close()
    yield await dialog(AskLine, "ctrl+f")
    await close()
    yield await dialog(Picker, "ctrl+r")
    await close()
    await page(p, "model")
    yield await dialog(ProgramSettings, "enter")
    await close()
    await choose(p, "key")
    yield await dialog(AskSecret)
    await close()
    p.app.push_screen(EditExpectation("Expectation", Expectation(type="word-count")))
    yield await dialog(EditExpectation)
    await close()
    await p.say("/library")
    await p.dialog(LibraryScreen)
    await p.press("slash")
    await p.until(lambda: isinstance(p.app.focused, LineInput))
    yield p.app.focused  # type: ignore[misc]
    await close()
    main.action_go("personas")
    await p.press("slash")
    await p.until(lambda: isinstance(p.app.focused, LineInput))
    yield p.app.focused  # type: ignore[misc]
    main.action_go("prompt")
    await p.until(lambda: p.prompt.has_focus)
    await p.press("ctrl+f")
    await p.until(lambda: isinstance(p.app.focused, LineInput))
    yield p.app.focused  # type: ignore[misc]
    main.action_go("settings")
    await p.until(lambda: main.settings.focus_target is not None)
    field = main.settings.field(FIELDS[0][0])
    field.focus()
    await p.until(lambda: field.has_focus)
    yield field
    field.raw = main.settings.slot(FIELDS[0][0]).base


async def cost(p: Program, field: LineInput, key: str) -> float:
    """Return the seconds of work that a key takes, with what it leads to and the drawing of the field."""
    start = time.process_time()
    await p.press(key)
    field.render_line(0)
    return time.process_time() - start


async def test_a_field_of_one_line_refuses_a_huge_paste_and_a_key_in_a_full_one_costs_little(
    tmp_path: Path,
) -> None:
    seen, slow = set(), {}
    makers = fields_of_the_program()
    async with program(
        make_store(tmp_path),
        answer("Yes."),
        persona_id="two",
        preferences=preferences(tmp_path),
    ) as p:
        await p.run_to_end("hello")
        async for field in walk(p):
            await p.press("end")
            before = field.value
            p.app.post_message(Paste(BIG))
            await p.until(lambda: any("at most" in told for told in p.messages))
            assert field.value == before
            fitting = BIG[len(BIG) - LIMIT + len(before) + 1 :]
            p.app.post_message(Paste(fitting))
            await p.until(lambda: field.value == before + " ".join(fitting.splitlines()))  # noqa: B023 - called at once
            where = f"{type(p.app.screen).__name__} {field.id} {before}"
            end = field._drawn("its end")
            assert field.render_line(0).text.rstrip().endswith(end), f"{where}: the cursor is out of sight"
            costs = [await cost(p, field, key) for key in ("q", "backspace", "ctrl+w")]
            if min(costs) > A_KEY:
                slow[where] = costs
            seen |= {made.__module__ for above in field.ancestors for made in type(above).__mro__} & makers
            await p.press("ctrl+e", "ctrl+u")
            assert field.value == "", where
    assert not slow
    assert seen == makers, "one of them is on no walk"


TEXTS: dict[str, Callable[[Program], str]] = {
    "chat": lambda p: p.main.chat_bar.draft,
    "prompt": lambda p: p.prompt.raw,
    "test": lambda p: p.main.tests.editor.raw,
    "field": lambda p: p.main.settings.field("name").raw,
}


async def go_to(p: Program, where: str) -> None:
    """Give the keys to one of the texts of the screen."""
    main = p.main
    await p.until(lambda: main.settings.focus_target is not None)
    widgets = {
        "chat": main.chat_bar.input,
        "prompt": p.prompt,
        "test": main.tests.editor,
        "field": main.settings.field("name"),
    }
    main.action_go("tests" if where == "test" else "settings" if where == "field" else "prompt")
    await p.until(lambda: widgets[where].focusable)
    widgets[where].focus()
    await p.until(lambda: widgets[where].has_focus)


def take_long(p: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each paste take ten seconds, by the clock of the program."""
    loop = asyncio.get_running_loop()
    clock, late = loop.time, 0.0
    monkeypatch.setattr(loop, "time", lambda: clock() + late)
    for kind in (TextArea, LineInput):
        replace = kind._replace_via_keyboard if kind is TextArea else kind.replace

        def slowly(self: Any, text: str, *rest: Any, replace: Any = replace) -> Any:
            nonlocal late
            late += 10.0 if len(text) > 1 else 0.0
            return replace(self, text, *rest)

        monkeypatch.setattr(kind, "_replace_via_keyboard" if kind is TextArea else "replace", slowly)


async def test_a_key_behind_a_paste_works_and_the_focus_stays_where_it_led(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path), answer("Yes."), persona_id="two", size=(120, 30)) as p:
        await p.run_to_end("hello")
        keys, led_to = ("f3", "f4", "tab"), {}
        for where in TEXTS:
            for key in keys:
                await go_to(p, where)
                await p.press(key)
                led_to[where, key] = p.app.focused
        await p.press("ctrl+o")
        for slow in False, True:
            if slow:
                take_long(p, monkeypatch)
            for where, text in TEXTS.items():
                for key in keys if slow else keys[:1]:
                    await go_to(p, where)
                    before, there = text(p), led_to[where, key]
                    p.app.post_message(Paste("pasted"))
                    at_once(p, key, "Q")
                    await p.until(lambda: len(text(p)) >= len(before) + len("pasted"))  # noqa: B023
                    await p.until(lambda: p.app.focused is there)  # noqa: B023
                    assert p.app.focused is there, f"{key} led there and somebody took the keys away"
                    typed = text(p).count("Q") - before.count("Q")
                    assert typed == 0 or (where == "prompt" and there is p.prompt)
                await go_to(p, where)
                before = text(p)
                p.app.post_message(Paste("pasted"))
                at_once(p, "ctrl+o", "Q")  # shown it was before: this is to read in it
                await p.until(lambda: text(p) != before)  # noqa: B023
                await p.until(lambda: p.main.conversation.panel_controller.reading)
                assert text(p).count("Q") == before.count("Q")
