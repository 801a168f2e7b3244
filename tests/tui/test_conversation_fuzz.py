"""Anything may happen to a conversation in any order: what is on the screen stays whole and true."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.selection import Selection

from agent.core.turns import (
    AssistantTextTurn,
    NoticeTurn,
    ThinkingTurn,
    ToolCallTurn,
    ToolResultTurn,
    UserTurn,
)
from tests.support.examples import examples
from tui.chat.panel_state import PanelState
from tui.widgets.agent_panel import AgentPanel
from tui.widgets.conversation import ConversationView
from tui.widgets.conversation.layout import Position

TEXTS = [
    "word ", "**bold** ", "\n", "\n\n", "- item\n", "```py\n", "code\n", "```\n", "# Title\n", "| a | b |\n|---|---|\n",
    "漢字", "👨\u200d👩\u200d👧", "\x1b[2J", "\x1b]0;t", "\x07", "[/]", "x" * 300, "> quote\n", "\r\n", "1. one\n", "   ",
]  # fmt: skip


class Stage(App[None]):
    """A screen with a pane above the conversation, so that its height can vary."""

    CSS = "ConversationView { dock: bottom; width: 100%; max-height: 80%; }"

    def compose(self) -> ComposeResult:
        yield ConversationView()


class PanelStage(App[None]):
    """The panel on its own layer."""

    CSS = "Screen { layers: base panel; }"

    def __init__(self) -> None:
        super().__init__()
        self.panel = AgentPanel()

    def compose(self) -> ComposeResult:
        yield self.panel


class Fuzz:
    """Does things to a view at random and checks what is on the screen."""

    def __init__(self, view: ConversationView, seed: int) -> None:
        self.view = view
        self.chance = random.Random(seed)
        self.open: dict[str, AssistantTextTurn | ThinkingTurn] = {}
        self.arrived: dict[str, str] = {}
        self.calls: list[ToolCallTurn] = []

    def text(self) -> str:
        return "".join(self.chance.choices(TEXTS, k=self.chance.randint(0, 12)))

    def step(self) -> None:
        view, chance = self.view, self.chance
        match chance.randrange(16):
            case 0:
                view.begin_turn(UserTurn(content=self.text()))
            case 1 | 2:
                kind = chance.choice([AssistantTextTurn, AssistantTextTurn, ThinkingTurn])
                turn = kind(content="")
                view.begin_turn(turn)
                self.open[turn.id], self.arrived[turn.id] = turn, ""
            case 3 | 4 | 5 | 6 if self.open:
                turn_id = chance.choice(list(self.open))
                text = self.text()
                self.arrived[turn_id] += text
                view.extend_turn(turn_id, text)
                if chance.random() < 0.7:
                    view.draw_frame()
            case 7 if self.open:
                turn = self.open.pop(chance.choice(list(self.open)))
                content = self.arrived[turn.id] if chance.random() < 0.8 else self.text()
                view.end_turn(replace(turn, content=content, interrupted=chance.random() < 0.2))
            case 8:
                call = ToolCallTurn(
                    tool_use_id=f"c{len(self.calls)}", tool_name="tool", input={"a": self.text()}
                )
                self.calls.append(call)
                view.begin_turn(call)
            case 9 if self.calls:
                call = chance.choice(self.calls)
                view.show_progress(call.tool_use_id, self.text())
                view.end_turn(
                    ToolResultTurn(
                        tool_use_id=call.tool_use_id, output=self.text(), is_error=chance.random() < 0.3
                    )
                )
            case 10:
                view.end_turn(NoticeTurn(content=self.text()))
            case 11 if view.layout_model.entries:
                view.toggle(chance.randrange(len(view.layout_model.entries)))
            case 12:
                view.scroll_to(y=chance.randint(-5, view.virtual_size.height + 5))
            case 13:
                chance.choice([view.follow, view.start_reading, view.stop_reading, view.cursor_home])()
                view.move_cursor(chance.randint(-3, 3))
            case 14:
                view.search(chance.choice(["word", "item", "漢", "", "nowhere"]))
                view.search_step(chance.choice([-1, 1]))
            case 15 if view.layout_model.entries:
                first = Offset(chance.randint(0, 20), self.place().encode())
                last = Offset(chance.randint(0, 20), self.place().encode())
                view.screen.selections = {view: Selection.from_offsets(first, last)}
                view.get_selection(view.screen.selections[view])

    def place(self) -> Position:
        return Position(
            self.chance.randrange(len(self.view.layout_model.entries)), self.chance.randint(0, 3), 0
        )

    def check(self) -> None:
        view = self.view
        layout = view.layout_model
        width = view.scrollable_content_region.width
        top = view.scroll_offset.y
        strips = [view.render_line(y) for y in range(view.size.height)]
        assert {strip.cell_length for strip in strips} <= {width}
        assert not any("\x1b" in strip.text or "\x07" in strip.text for strip in strips)
        assert view.virtual_size.height >= layout.height
        assert sum(entry.height(layout.width) for entry in layout.entries) == layout.height
        for row in range(top, min(top + len(strips), layout.height)):
            place = layout.position_at(row)
            assert place is not None
            assert layout.row_of(place) == row
            assert layout.line(place) is not None
        if view.following and not view._streaming:
            assert top >= view.max_scroll_y


@pytest.mark.parametrize("seed", range(examples(2)))
async def test_whatever_happens_the_screen_stays_whole(seed: int) -> None:
    app = Stage()
    async with app.run_test(size=(60, 20)) as pilot:
        fuzz = Fuzz(app.query_one(ConversationView), seed)
        for number in range(250):
            fuzz.step()
            fuzz.check()
            if number % 25 == 0:
                await pilot.resize_terminal(fuzz.chance.randint(20, 90), fuzz.chance.randint(6, 30))
                await pilot.pause()
                fuzz.check()
        await pilot.pause()
        fuzz.check()
        assert app._exception is None


def true_rows(view: ConversationView) -> int:
    """Return the rows of everything, each part drawn."""
    width = view.layout_model.width
    return sum(len(part.draw(width)) for entry in view.layout_model.entries for part in entry.parts())


@pytest.mark.parametrize("seed", range(examples(1)))
async def test_whatever_happens_the_panel_is_as_high_as_what_it_holds(seed: int) -> None:
    app = PanelStage()
    async with app.run_test(size=(60, 30)) as pilot:
        panel, chance = app.panel, random.Random(seed)
        fuzz = Fuzz(panel.conversation, seed)
        for _ in range(40):
            for _ in range(chance.randint(1, 4)):
                fuzz.step()
                if chance.random() < 0.3:
                    await pilot.pause()
            match chance.randrange(5):
                case 0:
                    panel.conversation.clear()
                    fuzz = Fuzz(panel.conversation, chance.randrange(1000))
                case 1:
                    panel.show_state(PanelState.HIDDEN)
                case 2:
                    await pilot.resize_terminal(chance.randint(20, 90), chance.randint(10, 60))
            if chance.random() < 0.8:
                panel.show_state(PanelState.VISIBLE)
            await pilot.pause()
            panel.conversation.draw_frame()
            await pilot.pause()
            await pilot.pause()
            if panel.display:
                most = int(app.size.height * panel.share) - 3
                assert panel.conversation.size.height == max(1, min(most, true_rows(panel.conversation)))
