"""What happens on the screen and what the panel hears of it: mouse, keys, the terminal's focus, the agent's wish."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import AppBlur, AppFocus

from agent.models.scripted import ToolUse, answer
from tests.support.program import Gate, GatedModel, make_store, program
from tests.tui.test_panel_and_keys import LONG, SAID, top
from tui.chat.panel_state import PanelState
from tui.widgets.chat_input import ChatInput
from tui.widgets.conversation import ConversationView
from tui.widgets.text import document_editor


async def test_its_time_begins_again_with_each_move_of_the_person_and_stands_still_without_focus(
    tmp_path: Path,
) -> None:
    async with program(make_store(tmp_path), answer("Hi.")) as p:
        await p.run_to_end("hello")
        panel = p.main.conversation.panel

        def deadline() -> float:
            assert panel.state is PanelState.VISIBLE
            return panel.next_deadline() or 0.0

        for what, move in (
            ("the mouse over it", lambda: p.pilot.hover(ConversationView)),
            ("a letter in the chat bar", lambda: p.press("x")),
            ("a click on the chat bar", lambda: p.pilot.click(ChatInput)),
        ):
            before = deadline()
            assert before, what
            await move()
            await p.until(lambda before=before: deadline() > before)  # type: ignore[misc]
        before = deadline()
        p.app.post_message(AppBlur())
        await p.until(lambda: not deadline())
        p.app.post_message(AppFocus())
        await p.until(lambda: deadline() > before)


async def test_the_mouse_pins_it_puts_it_away_and_calls_for_it(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer("Hi.")) as p:
        await p.run_to_end("hello")
        panel = p.main.conversation.panel
        assert panel.state is PanelState.VISIBLE
        for where, state in (
            (p.prompt, PanelState.VISIBLE),  # only one that is pinned is clicked away
            (ConversationView, PanelState.PINNED),
            (ChatInput, PanelState.PINNED),
            (p.prompt, PanelState.HIDDEN),
            (".chat--show", PanelState.PINNED),
            (".panel--dismiss", PanelState.HIDDEN),
        ):
            assert await p.pilot.click(where, offset=(1, 0)), where
            await p.until(lambda state=state: panel.state is state)  # type: ignore[misc]
        await p.press("ctrl+p", "greater_than_sign", *"keep", "enter")
        await p.until(lambda: panel.state is PanelState.PINNED)


@pytest.mark.parametrize("dismissed", [False, True])
async def test_the_agent_can_keep_its_output_on_the_screen(tmp_path: Path, dismissed: bool) -> None:
    gate, keep = Gate(), answer(ToolUse("keep_output_visible"))
    async with program(make_store(tmp_path), model=GatedModel([[gate, *keep], answer("Read this.")])) as p:
        await p.say("hello")
        await p.until(lambda: p.main.conversation.running)
        if dismissed:
            p.main.conversation.panel_controller.panel_event("dismiss")
        gate.set()
        await p.until(lambda: not p.main.conversation.running)
        assert p.main.conversation.panel.state is PanelState.PINNED


async def test_what_the_agent_changed_is_in_sight_above_it_and_highlighted_for_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit = answer(ToolUse("edit_system_prompt", {"old": "line 10\n", "new": "changed 10\n"}))
    gate = Gate()
    model = GatedModel([answer("Hi."), edit, [gate, *answer(SAID)]])
    async with program(make_store(tmp_path, {"one": LONG}), model=model, size=(80, 24)) as p:

        def rows() -> list[str]:
            region = p.prompt.region
            return [
                p.prompt.render_line(y).text.strip() for y in range(min(region.height, top(p) - region.y))
            ]

        await p.run_to_end("hello")
        await p.say("change it")
        await p.until(lambda: "changed 10" in rows())
        before = p.prompt.covered
        gate.set()  # what is said now takes more room
        await p.until(lambda: not p.main.conversation.running and p.prompt.covered > before)
        await p.until(lambda: "changed 10" in rows())
        assert p.prompt._fresh == {10}
        monkeypatch.setattr(document_editor, "FRESH", 0.01)
        p.prompt.flash([55])
        await p.until(lambda: "line 55" in rows() and not p.prompt._fresh)


async def test_the_keys_of_reading_copy_and_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = ["A needle it is.", "Straw.", "Again a *needle*.", "Needles."]
    async with program(make_store(tmp_path), *map(answer, said)) as p:
        for number in range(4):
            await p.run_to_end(f"message {number}")
        view, copied = p.main.conversation.view, []
        monkeypatch.setattr(p.app, "copy", copied.append)
        await p.press("ctrl+o", "ctrl+o", "y", "k", "y")
        assert copied == ["Needles.", "message 3"]
        await p.press("slash")
        await p.answer("needle")
        await p.notified("3 found")
        found = [view.cursor_text()]
        for key in ("n", "n", "N", "N"):
            await p.press(key)
            found.append(view.cursor_text())
        assert found == [said[at] for at in (2, 3, 0, 3, 2)]
        await p.press("slash")
        await p.answer("needle ")  # as it was typed
        await p.notified("1 found")
        assert view.cursor_text() == said[0]
