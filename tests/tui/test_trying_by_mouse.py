"""Trying a persona by mouse alone: run, looked at, compared, searched, talked to; nothing but names is typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from personas.changes import SetPrompt
from personas.versions.authorship import Author
from tests.support.persona_brain import PersonaBrain
from tests.support.program import Program, make_store, program
from tests.support.screen import click, place_of
from tests.tui.test_outputs_shown import FILE, seen
from tui.screens.dialogs.bisected import ShowBisected
from tui.screens.dialogs.command_palette import CommandPaletteDialog
from tui.screens.dialogs.comparison import ShowComparison
from tui.screens.dialogs.diff import ShowDiff
from tui.screens.dialogs.text_prompt import AskLine
from tui.screens.dialogs.versions import Versions
from tui.widgets.output_pane import OutputPane


async def press(p: Program, words: str, then: str = " ") -> None:
    """Click on words once they are on the screen, and wait until others are."""
    await p.until(lambda: place_of(p, words))
    await click(p, words)
    await p.until(lambda: place_of(p, then))


async def command(p: Program, title: str) -> None:
    """Do a command of the palette."""
    if p.app.size.width == 80:
        await press(p, "     Kind ", "> commands")
    else:
        await press(p, "Ask for a change")
        await press(p, "Ctrl+P personas", "> commands")
    dialog = await p.dialog(CommandPaletteDialog)
    await click(p, "choose · > commands", at=9)
    await p.until(lambda: "Ctrl+N" in seen(p))
    while title not in seen(p):
        dialog.query_one("#matches").scroll_relative(y=8, animate=False)  # the wheel
        await p.pilot.pause()
    await press(p, title)
    await p.until(lambda: p.app.screen is not dialog)


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
async def test_outputs_are_run_read_and_compared(tmp_path: Path, size: tuple[int, int]) -> None:
    brain = PersonaBrain()
    with brain.connected() as settings:
        async with program(make_store(tmp_path, {"kind": FILE}), settings=settings, size=size) as p:
            await command(p, "Run all test inputs")
            await p.until(lambda: len(brain.asked) == 3 and not p.main.outputs.is_running)
            await press(p, "Test inputs", "n2  question 2")
            for row in (0, 2):
                await p.pilot.click("#test-rows", offset=(1, 2 * row))
            assert p.main.tests.rows.marked == ["n0", "n2"]
            await press(p, "Ctrl+T run")
            await p.until(lambda: len(brain.asked) == 5 and not p.main.outputs.is_running)
            assert sorted(brain.asked[3:]) == ["question 0", "question 2"]
            await p.pilot.click("#test-rows", offset=(1, 0))
            await p.pilot.click("#test-rows", offset=(1, 4))
            assert p.main.tests.rows.marked == []
            await press(p, "o output", "1 of 2")
            await press(p, "p pin", "pinned")
            await press(p, "Left older", "2 of 2")
            await press(p, "Right newer", "1 of 2")
            await press(p, "k keep", "kept")
            await press(p, "m raw", "m Markdown")
            await press(p, "is sent", "System prompt")
            await press(p, "s output", "1 of 2")
            await press(p, "v paste an answer", "from elsewhere")
            await press(p, "Esc closes")
            await press(p, "e expectations", "Add an expectation")
            await press(p, "Add an expectation", "What must hold of the output?")
            await press(p, "a model says that this holds", "what must hold")
            await press(p, "Esc closes", "x removes")
            await press(p, "contains “kind”    ", "next field")
            await press(p, "Esc closes", "x removes")
            await press(p, "x removes")
            await p.until(lambda: "contains “kind”    " not in seen(p))
            await press(p, "Esc closes")
            await press(p, "c compare")
            await p.dialog(ShowComparison)
            await press(p, "w words/lines")
            await press(p, "Esc closes")
            await press(p, "Esc close")
            await p.until(lambda: not p.app.query(OutputPane) or not p.app.query_one(OutputPane).is_on_screen)


async def test_versions_are_compared_searched_and_restored(tmp_path: Path) -> None:
    brain, store = PersonaBrain(), make_store(tmp_path, {"kind": FILE})
    for prompt in ("Be kind.\n- Joke.", "Be cold.\n- Joke."):
        store.change("kind", SetPrompt(prompt), revision=None, by=Author("import"))
    with brain.connected() as settings:
        async with program(store, settings=settings, size=(80, 24)) as p:
            await command(p, "Versions: who changed")
            await press(p, "the first text", "Enter diff")
            await press(p, "c compare")
            await p.dialog(ShowComparison)
            await p.until(lambda: "broke 2, fixed 0" in seen(p))
            await press(p, "n next")
            assert (shown := p.app.screen._shown).current == 0  # type: ignore[attr-defined]
            await press(p, "n next")
            await press(p, "p previous")
            assert shown.current == 0
            await press(p, "w words/lines")
            assert not p.app.screen._by_words  # type: ignore[attr-defined]
            await press(p, "Esc closes", "b bisect")

            await press(p, " 1 · ", "Enter diff")
            await press(p, "m name")
            await p.dialog(AskLine)
            await p.write("jokes")
            await press(p, "Enter accepts", "“jokes”")
            await press(p, "Enter diff", "+- Joke.")
            assert isinstance(p.app.screen, ShowDiff)
            await press(p, "Esc closes", "b bisect")
            await press(p, "b bisect", "The verdict of which")
            await press(p, "question 0")
            await p.dialog(ShowBisected)
            assert "Version 2 changed the verdict of n0." in seen(p)
            await press(p, "reverts it", "Be kind.")
            await p.until(lambda: p.on_disk("kind") == "Be kind.\n- Joke.")

            await command(p, "Versions: who changed")
            await press(p, " 2 · ", "Enter diff")
            await press(p, "r restore")
            await p.until(lambda: p.on_disk("kind") == "Be cold.\n- Joke.")
            await press(p, "Esc closes")
            await p.until(lambda: not isinstance(p.app.screen, Versions))
            brain.gate.clear()
            await command(p, "Show which pieces")
            await p.until(lambda: "Coverage: 0/" in seen(p))
            brain.gate.set()
            await p.notified("Each of 2 pieces of the prompt removed: ")


async def test_a_talk_leads_to_a_test_input(tmp_path: Path) -> None:
    with PersonaBrain().connected() as settings:
        async with program(make_store(tmp_path, {"kind": FILE}), settings=settings, size=(160, 50)) as p:
            await command(p, "Talk to it")
            await p.until(lambda: "Nothing was said yet." in seen(p) and p.main.bar.input.has_focus)
            for said in ("Hello", "Again"):
                await p.write(said)
                await press(p, "Send", f"/ {said}")
            await press(p, "you  Hello")
            await press(p, "+ Test input")
            await p.notified("is made")
            [made] = [one for one in p.store.get("kind").test_inputs if one.id not in ("n0", "n1", "n2")]
            assert made.content == "Hello"
            await press(p, "×")
            await p.until(lambda: not p.main.talk.is_open)
