"""The panel over the panes: where it lies, how high it is, what a press in it tells, and whose the focus stays."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from agent.core.turns import AssistantTextTurn, UserTurn
from agent.jobs.job import Question
from tui.chat.panel_state import PanelState
from tui.widgets.agent_panel import AgentPanel
from tui.widgets.chat_bar import ChatBar
from tui.widgets.conversation import ConversationView, Glyphs


class Stage(App[None]):
    """Panes with the panel over them, and the chat bar below."""

    CSS = "#stage { height: 1fr; layers: base panel; } #panes { height: 1fr; } ChatBar { dock: bottom; }"

    def __init__(self, **options: object) -> None:
        super().__init__()
        self.panel = AgentPanel(**options)
        self.heard: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical(id="stage"):
            yield Static("panes", id="panes")
            yield self.panel
        yield ChatBar()

    def on_mount(self) -> None:
        self.query_one(ChatBar).input.focus()

    def on_agent_panel_pressed(self) -> None:
        self.heard.append("pressed")

    def on_agent_panel_dismiss_pressed(self) -> None:
        self.heard.append("dismissed")

    def on_agent_panel_hovered(self) -> None:
        self.heard.append("hovered")


def marks(panel: AgentPanel) -> str:
    return str(panel.query_one(".panel--mark", Static).render())


async def test_it_is_as_high_as_what_it_holds_up_to_its_share_of_the_stage() -> None:
    app = Stage(share=0.5)
    async with app.run_test(size=(80, 25)) as pilot:
        panel, stage = app.panel, app.query_one("#stage")
        panel.show_state(PanelState.VISIBLE)
        panel.conversation.load([UserTurn(content="one"), AssistantTextTurn(content="two")])
        await pilot.pause()
        assert panel.region.height == 2 + 1 + 2
        assert panel.region.bottom == stage.region.bottom
        assert panel.region.width == stage.region.width
        panel.conversation.load([AssistantTextTurn(content="line\n\n" * 100)])
        await pilot.pause()
        assert panel.region.height == stage.region.height // 2
        assert panel.conversation.region.bottom == panel.region.bottom - 1


async def test_a_layout_between_two_changes_does_not_keep_the_height_of_the_first() -> None:
    app = Stage()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.panel.conversation
        view.load([AssistantTextTurn(content="line\n\n" * 3)])
        app.panel.show_state(PanelState.VISIBLE)
        app.screen._refresh_layout()  # somebody else's, before the view has said that it needs one
        view.load([UserTurn(content="one")])
        await pilot.pause()
        assert view.size.height == 1


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (160, 50), (240, 70)])
async def test_it_fits_every_size(size: tuple[int, int]) -> None:
    app = Stage()
    async with app.run_test(size=size) as pilot:
        app.panel.show_state(PanelState.PINNED)
        app.panel.conversation.load([AssistantTextTurn(content="word " * 2000)])
        await pilot.pause()
        stage = app.query_one("#stage").region
        assert stage.contains_region(app.panel.region)
        assert app.panel.region.contains_region(app.panel.conversation.region)
        last = app.panel.conversation.render_line(app.panel.conversation.size.height - 1).text
        assert "word" in last


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (160, 50)])
async def test_enlarged_it_is_as_high_as_the_stage_and_back_what_is_read_is_in_sight(
    size: tuple[int, int],
) -> None:
    app = Stage()
    async with app.run_test(size=size) as pilot:
        panel, stage = app.panel, app.query_one("#stage")
        panel.show_state(PanelState.PINNED)
        panel.conversation.load([UserTurn(content="one"), AssistantTextTurn(content="two")])
        panel.enlarge(True)
        await pilot.pause()
        assert panel.region == stage.region
        assert panel.conversation.size.height == stage.region.height - 3
        assert "one" in panel.conversation.render_line(0).text
        panel.conversation.load([AssistantTextTurn(content="line\n\n" * 100)])
        panel.ask(Question(text="Really?", options=("yes", "no"), tool_use_id="a"))
        await pilot.pause()
        assert panel.region == stage.region and panel.box.region.bottom == stage.region.bottom - 1
        assert panel.conversation.size.height >= 1
        panel.ask(None)
        view = panel.conversation
        view.load([UserTurn(content=f"turn {number}.") for number in range(200)])
        await pilot.pause()
        view.start_reading()
        view.move_cursor(-150)
        for _ in range(stage.region.height - 5):
            view.move_cursor(1)  # to a turn in the lower half of what is seen
        reading = view.cursor_text()
        panel.enlarge(False)
        end = time.monotonic() + 60
        while panel.region.height == stage.region.height or not any(
            reading in view.render_line(y).text for y in range(view.size.height)
        ):
            assert time.monotonic() < end, "what is read is out of sight"
            await pilot.pause(0.01)


async def test_coming_and_going_moves_nothing_else_and_takes_no_focus() -> None:
    app = Stage()
    async with app.run_test(size=(80, 24)) as pilot:
        bar = app.query_one(ChatBar)
        await pilot.press(*"draft")
        before = (bar.region, app.query_one("#panes").region)
        for state in (PanelState.VISIBLE, PanelState.PINNED, PanelState.HIDDEN, PanelState.VISIBLE):
            app.panel.show_state(state)
            await pilot.pause()
            assert (bar.region, app.query_one("#panes").region) == before
            assert app.focused is bar.input
        assert bar.draft == "draft"
        await pilot.click(ConversationView)
        await pilot.press("x")
        assert bar.draft == "draftx"


async def test_a_press_in_it_and_its_dismiss_button_are_two_things() -> None:
    app = Stage()
    async with app.run_test(size=(80, 24)) as pilot:
        app.panel.show_state(PanelState.VISIBLE)
        app.panel.conversation.load([UserTurn(content="hello")])
        await pilot.pause()
        await pilot.hover(ConversationView, offset=(5, 0))
        await pilot.click(ConversationView, offset=(4, 0))
        await pilot.click(".panel--dismiss")
        await pilot.pause()
        assert [word for word in app.heard if word != "hovered"] == ["pressed", "dismissed"]
        assert "hovered" in app.heard
        region = app.panel.region
        assert app.panel.contains_screen(region.x + 1, region.y + 1)
        assert not app.panel.contains_screen(region.x + 1, region.y - 1)
        app.panel.show_state(PanelState.HIDDEN)
        assert not app.panel.contains_screen(region.x + 1, region.y + 1)


async def test_it_says_whether_it_is_pinned_and_once_whether_there_is_something_new_below() -> None:
    app = Stage(share=0.5)
    async with app.run_test(size=(80, 24)) as pilot:
        panel, view = app.panel, app.panel.conversation
        panel.show_state(PanelState.VISIBLE)
        view.load([AssistantTextTurn(content="line\n\n" * 50)])
        await pilot.pause()
        assert marks(panel) == ""
        panel.show_state(PanelState.PINNED)
        assert marks(panel) == "pinned"
        view.page(-2)
        await pilot.pause()
        turn = AssistantTextTurn(content="")
        view.begin_turn(turn)
        view.end_turn(replace(turn, content="more"))
        await pilot.pause()
        assert marks(panel) == "pinned"
        assert [y for y in range(view.size.height) if "▼ new below" in view.render_line(y).text] == [
            view.size.height - 1
        ]
        view.follow()
        await pilot.pause()
        assert "new below" not in view.render_line(view.size.height - 1).text


async def test_a_terminal_without_unicode_gets_ascii_signs() -> None:
    app = Stage(glyphs=Glyphs(ascii_only=True))
    async with app.run_test(size=(80, 24)) as pilot:
        app.panel.show_state(PanelState.PINNED)
        await pilot.pause()
        assert str(app.panel.query_one(".panel--dismiss").render()).strip() == "x"


async def test_a_conversation_that_arrives_while_it_is_hidden_is_there_when_it_is_shown() -> None:
    app = Stage(share=0.5)
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.panel.conversation
        turn = AssistantTextTurn(content="")
        view.begin_turn(turn)
        for number in range(50):
            view.extend_turn(turn.id, f"line {number}\n\n")
        await pilot.pause(0.1)
        app.panel.show_state(PanelState.PINNED)
        end = time.monotonic() + 60
        while not any("line 49" in view.render_line(y).text for y in range(view.size.height)):
            assert time.monotonic() < end, "the last line never came into sight"
            await pilot.pause(0.01)
