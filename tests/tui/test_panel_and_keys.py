"""The panel and what has the keys: nobody types under it, and it takes the keys from nobody."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.models.scripted import ToolUse, answer
from tests.support.program import Program, make_store, program
from tui.chat.panel_state import PanelState
from tui.widgets.agent_panel import AgentPanel

LONG = 'name = "One"\nsystem_prompt = """\n' + "".join(f"line {n}\n" for n in range(60)) + '"""\n'
LONG += '[[test_inputs]]\nid = "sum"\ncontent = "What is 2+2?"\n'
SAID = "\n\n".join(f"paragraph {n}" for n in range(40))


def top(p: Program) -> int:
    """The row from which on the panel covers everything."""
    panel = p.main.query_one(AgentPanel)
    return panel.region.y if panel.display else p.main.size.height


async def test_who_scrolls_reads_end_follows_again_and_who_goes_to_a_pane_or_types_sees_it_beside_the_output(
    tmp_path: Path,
) -> None:
    said = answer(SAID)
    async with program(make_store(tmp_path, {"one": LONG}), said, said, said, size=(80, 24)) as p:
        await p.press("end")  # nothing is shown that it could follow
        assert not p.main.conversation.panel_controller.panel_shown
        await p.run_to_end("hello")
        view = p.main.conversation.view
        await p.press("pageup", "pageup")
        await p.until(lambda: not view.following)
        await p.press("x", "home", "end")
        assert p.main.chat_bar.input.cursor_location == (0, 1) and not view.following
        await p.press("backspace", "end")
        await p.until(lambda: view.following and view.is_vertical_scroll_end)

        await p.run_to_end("again")
        panel, talk = p.main.conversation.panel, p.main.conversation.current
        assert panel.state is PanelState.VISIBLE and panel.next_deadline() is not None
        await p.press("pageup")
        await p.until(lambda: panel.next_deadline() is None)
        await p.press("x")
        assert panel.next_deadline() is None and panel.state is PanelState.VISIBLE
        await p.press("pagedown")
        await p.until(lambda: panel.next_deadline() is not None)
        before = panel.next_deadline()
        p.main.conversation.view.action_scroll_up()  # as the wheel does
        await p.until(lambda: panel.next_deadline() is None)
        p.main.conversation.view.action_scroll_end()
        await p.until(lambda: panel.next_deadline() not in (None, before))
        assert talk is not None and talk.older is None
        p.main.conversation.view.action_scroll_home()
        await p.until(lambda: talk.older is not None)

        # the cursor of an editor is never under the output
        await p.run_to_end("once more")
        await p.press("f3", "ctrl+end")
        await p.until(lambda: p.prompt.cursor_screen_offset.y < top(p) < p.main.size.height)
        await p.press("up", "down", "down")
        assert p.prompt.cursor_screen_offset.y < top(p)
        p.prompt.move_cursor((0, 0))
        await p.press("ctrl+o", "ctrl+o", "ctrl+o")
        await p.until(lambda: top(p) == p.main.size.height)
        await p.press("f3", *["down"] * 15, "ctrl+o")
        await p.until(lambda: p.prompt.cursor_screen_offset.y < top(p) < p.main.size.height)

        # an output in full height
        p.main.focus_chat()
        await p.press("ctrl+o", "f")
        for key in "f3", "f4":
            await p.until(lambda: p.main.query_one(AgentPanel).region == p.main.query_one("#stage").region)
            await p.press(key)
            await p.until(lambda: p.main.focused is not None and p.main.focused.region.y < top(p))
            assert not p.main.conversation.panel.enlarged
            assert p.main.conversation.panel.state is PanelState.PINNED
            await p.press("ctrl+o", "f")


async def test_a_field_under_the_output_has_it_gone_and_who_calls_for_it_gets_the_keys_back(
    tmp_path: Path,
) -> None:
    async with program(make_store(tmp_path), answer(SAID)) as p:
        await p.run_to_end("hello")
        field = p.main.settings.focus_target
        assert field is not None
        p.main.set_focus(field)
        await p.until(lambda: p.main.conversation.panel.state is PanelState.HIDDEN)
        assert field.has_focus
        await p.press("ctrl+o")
        await p.until(lambda: p.main.chat_bar.has_keys)
        assert p.main.conversation.panel.state is PanelState.PINNED


async def test_a_question_leaves_room_for_the_pane_with_the_keys(tmp_path: Path) -> None:
    ask = ToolUse("ask_user", {"question": "Which one? " * 80, "options": ["the first", "the second"]})
    async with program(make_store(tmp_path), answer(ask), size=(60, 15)) as p:
        await p.say("/task go")
        await p.until(lambda: p.main.conversation.question is not None)
        panel = p.main.query_one(AgentPanel)
        await p.until(lambda: panel.region == p.main.query_one("#stage").region)
        await p.press("f3")
        await p.until(lambda: p.prompt.cursor_screen_offset.y < top(p))
        assert p.prompt.has_focus and p.main.conversation.panel.state is PanelState.PINNED


@pytest.mark.parametrize("size", [(60, 15), (120, 40)])
async def test_a_field_of_the_settings_is_seen_above_a_question(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    ask = ToolUse("ask_user", {"question": "Which one? " * 80, "options": ["the first", "the second"]})
    async with program(make_store(tmp_path), answer(ask), size=size) as p:
        settings = p.main.settings

        def is_seen(name: str) -> bool:
            row = settings.field(name).region
            inside = settings.region.shrink((1, 1, 1, 1)).contains_region(row)
            return bool(row) and inside and row.bottom <= top(p) < p.main.size.height

        if size[0] == 120:
            p.main.action_go("settings")
            settings.field("max_tokens").focus()
            p.main.start(p.main.conversation.send("/task go", kind="task"))
        else:
            await p.say("/task go")
        await p.until(lambda: p.main.conversation.question is not None)
        p.main.action_go("settings")
        for name in ("max_tokens", "name", "effort"):
            settings.field(name).focus()
            await p.until(lambda name=name: is_seen(name))  # type: ignore[misc]
            assert settings.field(name).has_focus
        p.main.focus_chat()
        await p.until(lambda: not p.main.query_one("#side").styles.padding.bottom)


async def test_a_field_of_the_settings_is_seen_above_a_question_after_each_resize(tmp_path: Path) -> None:
    options = [f"the answer number {n}, which has some words" for n in range(12)]
    ask = ToolUse("ask_user", {"question": "Which one?", "options": options})
    async with program(make_store(tmp_path), answer(ask), size=(80, 24)) as p:
        await p.say("/task go")
        await p.until(lambda: p.main.conversation.question is not None)
        p.main.action_go("settings")
        field = p.main.settings.field("name")
        field.focus()
        for size in ((80, 24), (60, 15), (60, 20), (120, 40), (60, 15)):
            await p.pilot.resize_terminal(*size)
            await p.until(
                lambda: (
                    bool(field.region)
                    and p.main.settings.region.shrink((1, 1, 1, 1)).contains_region(field.region)
                    and field.region.bottom <= top(p)
                    and p.main.query_one("#side").region.y <= field.region.y
                ),
                20,
            )


async def test_a_question_that_lies_over_what_has_the_keys_costs_nothing_while_it_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = ToolUse("ask_user", {"question": "Which one? " * 80, "options": ["the first", "the second"]})
    async with program(make_store(tmp_path), answer(ask), size=(120, 40)) as p:
        conversation = p.main.conversation
        monkeypatch.setattr(p.main.panel, "_lift_settings", lambda _top: None)
        field = p.main.settings.field("max_tokens")
        p.main.action_go("settings")
        field.focus()
        await p.until(lambda: field.has_focus and field.region)
        p.main.start(conversation.send("/task go", kind="task"))
        looked: list[int] = []
        cover = p.main.panel.cover

        def look() -> None:
            looked.append(field.region.y)
            assert len(looked) < 500, "who looks again and again leaves no turn of the loop to anybody"
            cover()

        monkeypatch.setattr(p.main.panel, "cover", look)
        await p.until(lambda: conversation.question is not None and looked and field.region.y >= top(p), 20)
        looked.clear()
        for _ in range(400):
            await asyncio.sleep(0)  # a turn of the loop
        assert len(looked) < 5
        assert field.has_focus and conversation.panel.shown


async def test_only_the_person_ends_reading(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer(SAID), size=(160, 50)) as p:
        await p.run_to_end("hello")
        await p.press("ctrl+o", "ctrl+o", "k")
        conversation = p.main.conversation

        def is_reading() -> bool:
            return (
                conversation.panel_controller.reading
                and p.main.focused is None
                and conversation.view.cursor_entry() is not None
            )

        for width, height in ((80, 24), (40, 10), (120, 30)):
            await p.pilot.resize_terminal(width, height)
            await p.until(lambda width=width: p.app.size.width == width)  # type: ignore[misc]
            assert is_reading()
        await p.press("f1")
        await p.until(lambda: p.app.screen is not p.main)
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        assert is_reading()
        await p.press("j", "escape")
        await p.until(lambda: p.main.chat_bar.has_keys)
        assert not conversation.panel_controller.reading
