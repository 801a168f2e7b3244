"""What comes in one read with a key that moves the focus goes to what has the focus then."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import AppBlur

from agent.models.scripted import answer
from tests.support.program import Program, make_store, program
from tests.support.screen import at_once
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.text_prompt import AskLine
from tui.settings.schema import Settings
from tui.widgets.text.line_input import LineInput


async def go_to_fields(p: Program) -> None:
    p.main.action_go("settings")
    await p.until(lambda: p.main.settings.focus_target is not None and p.main.settings.focus_target.has_focus)


def ends(p: Program) -> dict[str, str]:
    """Return how the fields end, without what stood there before."""
    return {
        name: p.main.settings.field(name).raw.removeprefix("One") for name in ("name", "description", "tags")
    }


@pytest.mark.parametrize(
    ("keys", "written"),
    [
        ("ab down cd down ef", {"name": "ab", "description": "cd", "tags": "ef"}),
        ("down down ab up cd up ef", {"name": "ef", "description": "cd", "tags": "ab"}),
        ("a enter b down c backspace d", {"name": "ab", "description": "d", "tags": ""}),
    ],
)
async def test_letters_behind_an_arrow_are_for_the_field_that_it_leads_to(
    tmp_path: Path, keys: str, written: dict[str, str]
) -> None:
    async with program(make_store(tmp_path)) as p:
        await go_to_fields(p)
        named = ("down", "up", "enter", "backspace", "tab")
        at_once(p, *(key for word in keys.split() for key in ([word] if word in named else word)))
        await p.until(lambda: ends(p) == written)


async def test_letters_behind_tab_are_for_the_next_pane(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        before = p.prompt.raw
        at_once(p, "h", "i", "tab", "u", "p")
        await p.until(lambda: p.prompt.raw != before and p.prompt.raw.replace("up", "", 1) == before)
        assert p.main.chat_bar.draft == "hi"
        await go_to_fields(p)
        at_once(p, "a", "shift+tab", "tab", "b", "escape", "c")
        await p.until(lambda: p.main.chat_bar.draft.replace("hi", "") == "c")
        assert p.main.settings.field("name").raw in ("Onea", "Oneab")

        p.main.focus_chat()
        before = p.prompt.raw
        at_once(p, "tab", "u", "p")
        p.app.post_message(AppBlur())  # a terminal that loses the focus behind keys has lost it
        await p.until(lambda: p.prompt.raw != before and p.prompt.raw.replace("up", "", 1) in before)
        await p.until(lambda: not p.app.app_focus)


async def test_letters_behind_enter_in_a_list_are_no_commands_of_it(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), persona_id="two") as p:
        p.main.action_go("tests")
        await p.until(lambda: p.main.tests.rows.has_focus)
        at_once(p, "enter", "x", "n", "c")
        await p.until(lambda: "xnc" in p.main.tests.editor.raw)
        p.main.action_go("personas")
        await p.until(lambda: p.main.personas.rows.has_focus)
        at_once(p, "slash", *"one", "enter", *"xnc")
        await p.until(lambda: p.main.chat_bar.draft == "xnc")
        assert p.app.screen is p.main and [*p.main.personas.entries] == ["one", "two"]


async def test_letters_behind_a_key_of_the_output_go_into_what_it_opens(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer("The end."), settings=Settings(panel_seconds=600)) as p:
        await p.run_to_end("hello")
        p.main.conversation.panel_controller.cycle_output()
        p.main.chat_bar.set_draft("abc")
        p.main.focus_chat()
        at_once(p, "backspace", "ctrl+o")
        await p.until(lambda: p.main.conversation.panel_controller.reading)
        assert p.main.chat_bar.draft == "ab", "it is taken from the message before the output gets the keys"
        at_once(p, "k", "slash", *"find", "u")
        await p.until(lambda: isinstance(p.app.screen, AskLine))
        await p.until(lambda: p.app.screen.query_one(LineInput).value == "findu")


async def test_letters_behind_a_command_or_the_end_of_the_filter_go_where_that_leads(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), persona_id="one") as p:
        at_once(p, *"/new", "enter", *"Third")
        await p.until(lambda: isinstance(p.app.screen, AskLine))
        await p.until(lambda: p.app.screen.query_one(LineInput).value == "Third")
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        p.main.personas.rows.focus()
        await p.press("slash", "o")
        await p.until(lambda: p.main.personas.filter_open)
        at_once(p, "escape", "n")
        await p.dialog(AskLine)
        assert p.main.chat_bar.draft == ""


async def test_enter_behind_an_arrow_presses_the_button_that_it_leads_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Confirm, "grace", 0.0)
    answers: list[object] = []
    async with program(make_store(tmp_path)) as p:
        for keys in (("left", "enter"), ("tab", "tab", "tab", "enter"), ("left", "right", "enter")):
            p.main.start(_note(p, answers))
            await p.dialog(Confirm)
            at_once(p, *keys, "z")
            await p.until(lambda: p.app.screen is p.main)
        assert answers == [False, False, True]
        await p.until(lambda: p.main.chat_bar.draft == "zzz")


async def _note(p: Program, answers: list[object]) -> None:
    answers.append(await p.main.ask(Confirm("Do it?", action="Do")))


async def test_what_a_key_does_to_a_text_it_does_to_the_one_it_was_pressed_in(tmp_path: Path) -> None:
    cases = [
        ("delete delete f4", "\ncd\nef\ngh"),
        ("delete delete tab", "\ncd\nef\ngh"),
        ("down down down backspace f4", "ab\ncd\nefgh"),
        ("down enter f4", "ab\n\ncd\nef\ngh"),
        ("down B f4", "ab\nBcd\nef\ngh"),
        ("ctrl+k f4", "\ncd\nef\ngh"),
    ]
    text = 'system_prompt = "ab\\ncd\\nef\\ngh"\n' + "".join(
        f'[[test_inputs]]\nid = "{name}"\ncontent = "what {name} says"\n' for name in ("a", "b", "c")
    )
    files = {f"p{number}": text for number in range(len(cases))}
    async with program(make_store(tmp_path, files)) as p:
        for persona_id, (keys, left) in zip(files, cases, strict=True):
            await p.open(persona_id)
            p.main.action_go("prompt")
            await p.until(lambda: p.prompt.has_focus)
            p.prompt.move_cursor((0, 0))
            at_once(p, *keys.split())
            await p.until(lambda left=left: p.prompt.raw == left)
            await p.until(lambda: not p.prompt.has_focus)
            await p.until(lambda left=left, persona_id=persona_id: p.on_disk(persona_id) == left)
            assert [one.content for one in p.store.get(persona_id).test_inputs] == [
                f"what {name} says" for name in "abc"
            ]
            assert p.messages == []
