"""The conversation on the screen, under the pilot: what a person sees, scrolls, opens, finds and copies."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.selection import Selection

from agent.core.events import (
    AgentEnd,
    ModelNotice,
    RetryWait,
    ToolEnd,
    ToolProgress,
    ToolStart,
    TurnDelta,
    TurnEnd,
    TurnStart,
)
from agent.core.model import ModelError
from agent.core.turns import (
    AssistantTextTurn,
    CustomTurn,
    NoticeTurn,
    ThinkingTurn,
    ToolCallTurn,
    ToolResultTurn,
    Turn,
    UserTurn,
)
from tui.widgets.conversation import ConversationView, Glyphs
from tui.widgets.conversation.entry import DRAWN_AT_ONCE
from tui.widgets.conversation.layout import CACHED_LINES
from tui.widgets.conversation.lines import Line
from tui.widgets.conversation.render_parts import Part

DIFF = "--- before\n+++ after\n@@ -1,2 +1,2 @@\n You are kind.\n-Be brief.\n+Be brief and warm.\n"


class Stage(App[None]):
    """A screen with nothing but the conversation, as high as a panel may be."""

    CSS = "ConversationView { dock: bottom; width: 100%; max-height: 100%; }"

    def __init__(self, **options: object) -> None:
        super().__init__()
        self.view = ConversationView(**options)
        self.messages: list[object] = []

    def compose(self) -> ComposeResult:
        yield self.view

    def on_canvas_followed(self, message: ConversationView.Followed) -> None:
        self.messages.append(message)

    def on_conversation_view_grown(self, message: ConversationView.Grown) -> None:
        self.messages.append(message)


def rows(view: ConversationView) -> list[str]:
    """What stands on the screen, row by row."""
    return [view.render_line(y).text.rstrip() for y in range(view.size.height)]


def edit_call() -> tuple[ToolCallTurn, ToolResultTurn]:
    call = ToolCallTurn(
        tool_use_id="c1", tool_name="edit_system_prompt", input={"old": "brief.", "new": "brief and warm."}
    )
    result = ToolResultTurn(
        tool_use_id="c1", output="Changed.", details={"diff": DIFF, "added": 1, "removed": 1}
    )
    return call, result


def run_of(turns: int) -> list[Turn]:
    return [
        turn
        for number in range(turns)
        for turn in (UserTurn(content=f"message {number}"), AssistantTextTurn(content=f"answer **{number}**"))
    ]


async def test_each_kind_of_turn_as_a_person_sees_it() -> None:
    app = Stage()
    async with app.run_test(size=(60, 20)) as pilot:
        app.view.load(
            [
                UserTurn(content="make it *warmer*\nplease"),
                ThinkingTurn(content="hm"),
                *edit_call(),
                AssistantTextTurn(content="Done: the **second** line is warmer."),
                NoticeTurn(content="Only the last 20 turns went to the model."),
                CustomTurn(type="mood", fields={"value": 3}),
            ]
        )
        await pilot.pause()
        assert rows(app.view) == [
            " you  make it *warmer*",
            "      please",
            " ▸ thinking",
            " ▸ edit_system_prompt  brief and warm.  +1 −1  try",
            " Done: the second line is warmer.",
            " · Only the last 20 turns went to the model.",
            ' · mood: {"value": 3}',
        ]


async def test_an_opened_call_shows_its_input_and_its_diff_in_colour() -> None:
    app = Stage()
    async with app.run_test(size=(60, 20)) as pilot:
        app.view.load([UserTurn(content="x"), *edit_call()])
        await pilot.pause()
        await pilot.click(ConversationView, offset=(3, 1))
        await pilot.pause()
        seen = rows(app.view)
        assert seen[1].startswith(" ▾ edit_system_prompt")
        assert "   old: brief." in seen
        assert "   -Be brief." in seen
        assert "   +Be brief and warm." in seen
        removed, added = seen.index("   -Be brief."), seen.index("   +Be brief and warm.")
        colour_of = {row: list(app.view.render_line(row))[-2].style.color for row in (removed, added)}
        assert colour_of[removed] != colour_of[added]
        await pilot.click(ConversationView, offset=(3, 1))
        await pilot.pause()
        assert len(rows(app.view)) == 2


async def test_an_opened_call_shows_its_output_and_what_matters_less_is_dim() -> None:
    app = Stage()
    async with app.run_test(size=(60, 20)) as pilot:
        view = app.view
        call = ToolCallTurn(tool_use_id="c1", tool_name="get_persona", input={})
        output = ToolResultTurn(tool_use_id="c1", output='{"name": "Sunny"}')
        less = [NoticeTurn(content="notice"), ThinkingTurn(content="hm")]
        view.load([call, output, *less, AssistantTextTurn(content="answer")])
        await pilot.pause()
        assert not any("Sunny" in row for row in rows(view)), "closed"

        def ink(word: str) -> object:
            y = next(y for y, row in enumerate(rows(view)) if word in row)
            return next(part.style.color for part in view.render_line(y) if word in part.text and part.style)

        assert ink("notice") == ink("thinking") != ink("answer")
        view.toggle(0)
        await pilot.pause()
        assert any("Sunny" in row for row in rows(view))


async def test_a_failed_call_shows_its_error_when_closed() -> None:
    app = Stage()
    async with app.run_test(size=(60, 20)) as pilot:
        call, _ = edit_call()
        app.view.load(
            [call, ToolResultTurn(tool_use_id="c1", output="`old` is not there.\nmore", is_error=True)]
        )
        await pilot.pause()
        assert rows(app.view) == [" ▸ ✗ edit_system_prompt  `old` is not there. more"]


async def test_a_run_told_by_its_events() -> None:
    app = Stage()
    async with app.run_test(size=(60, 20)) as pilot:
        call, result = edit_call()
        answer = AssistantTextTurn(content="")
        at = {"run_id": "r", "seq": 0, "at": 0.0}
        view = app.view
        view.feed(TurnStart(turn=UserTurn(content="go"), **at))
        view.feed(TurnStart(turn=replace(call, input={}), **at))
        await pilot.pause()
        assert rows(view)[-1] == " ▸ edit_system_prompt  …"
        view.feed(TurnEnd(turn=call, **at))
        view.feed(ToolStart(call=call, input=call.input, **at))
        view.feed(ToolProgress(call_id="c1", text="half", **at))
        await pilot.pause()
        assert rows(view)[-1] == " ▸ edit_system_prompt  half  …"
        view.feed(
            ToolEnd(call=call, output="Changed.", is_error=False, duration=0.1, details=result.details, **at)
        )
        view.feed(TurnStart(turn=result, **at))
        view.feed(TurnEnd(turn=result, **at))
        await pilot.pause()
        assert rows(view)[-1] == " ▸ edit_system_prompt  brief and warm.  +1 −1  try"
        view.feed(TurnStart(turn=answer, **at))
        view.feed(TurnDelta(turn_id=answer.id, text="It is **wa", **at))
        view.draw_frame()
        view.feed(TurnDelta(turn_id=answer.id, text="rm** now", **at))
        view.draw_frame()
        assert rows(view)[-1] == " It is warm now"
        view.feed(TurnEnd(turn=replace(answer, content="It is **warm** now", interrupted=True), **at))
        view.feed(ModelNotice(message="No answer yet.", **at))
        error = ModelError(kind="network", message="The connection broke.")
        view.feed(RetryWait(attempt=2, delay=3.0, error=error, **at))
        view.feed(AgentEnd(turns=(), outcome="failed", error=error, **at))
        await pilot.pause()
        seen = rows(view)
        assert seen[-5:-2] == [" It is warm now", " [interrupted]", " · No answer yet."]
        assert seen[-2].startswith(" · Trying again in 3 s (attempt 2)")
        assert seen[-1].startswith(" ✗ ")
        assert "The connection broke." in seen[-1]


async def test_a_block_whose_end_differs_from_its_deltas_shows_the_end() -> None:
    app = Stage()
    async with app.run_test(size=(60, 20)) as pilot:
        answer = AssistantTextTurn(content="")
        app.view.begin_turn(answer)
        app.view.extend_turn(answer.id, "wrong")
        app.view.end_turn(replace(answer, content="right"))
        await pilot.pause()
        assert rows(app.view) == [" right"]


async def stream(view: ConversationView, text: str, size: int = 40) -> AssistantTextTurn:
    """Stream `text` in deltas of `size`, a frame each; return the turn, not ended."""
    turn = AssistantTextTurn(content="")
    view.begin_turn(turn)
    for start in range(0, len(text), size):
        view.extend_turn(turn.id, text[start : start + size])
        view.draw_frame()
    return turn


async def test_the_view_follows_only_from_the_end() -> None:
    app = Stage()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.view
        view.load(run_of(30))
        await pilot.pause()
        assert view.following
        first = await stream(view, "line\n\n" * 20)
        view.end_turn(replace(first, content="line\n\n" * 20))
        await pilot.pause()
        assert rows(view)[-5:].count(" line") >= 1
        view.page(-1)
        await pilot.pause()
        assert not view.following
        seen = rows(view)
        turn = await stream(view, "fresh\n\n" * 30)
        await pilot.pause()
        assert rows(view)[:-1] == seen[:-1], "a reader is never moved"
        assert view.new_below
        assert rows(view)[-1].endswith("new below")
        view.follow()
        view.end_turn(replace(turn, content="fresh\n\n" * 30))
        await pilot.pause()
        assert view.following
        assert not view.new_below
        assert rows(view)[-1] == " fresh"


async def test_scrolling_back_to_the_end_follows_again() -> None:
    app = Stage()
    async with app.run_test(size=(60, 12)) as pilot:
        app.view.load(run_of(30))
        await pilot.pause()
        app.view.page(-2)
        await pilot.pause()
        app.view.page(5)
        await pilot.pause()
        assert app.view.following
        await stream(app.view, "the end")
        assert rows(app.view)[-1].strip() in ("the end", "")
        assert "the end" in "\n".join(rows(app.view))


async def test_the_wheel_scrolls_without_a_jump_through_what_was_never_drawn() -> None:
    app = Stage()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.view
        view.load([AssistantTextTurn(content=f"# {n}\n\n- a\n- b\n\n" + "word " * 40) for n in range(200)])
        await pilot.pause()
        for _ in range(25):
            before = rows(view)
            view._scroll_up_for_pointer(animate=False)
            await pilot.pause()
            after = rows(view)
            moved = next(step for step in range(1, 9) if after[step:] == before[: len(before) - step])
            assert moved <= 4


async def test_another_width_keeps_the_place_and_draws_only_what_is_seen() -> None:
    app = Stage()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.view
        view.load([AssistantTextTurn(content=f"start {n} " + "word " * 60) for n in range(300)])
        await pilot.pause()
        view.scroll_to(y=view.layout_model.top_of(100))
        await pilot.pause()
        first = rows(view)[0]
        assert first.startswith(" start")
        await pilot.resize_terminal(40, 12)
        await pilot.pause()
        assert rows(view)[0].split()[:2] == first.split()[:2]
        drawn = sum(
            part.is_drawn(view.layout_model.width)
            for entry in view.layout_model.entries
            if entry.is_measured
            for part in entry.parts()
        )
        assert drawn < 20


async def test_another_height_moves_no_reader() -> None:
    app = Stage()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.view
        view.load(run_of(50))
        await pilot.pause()
        view.page(-3)
        await pilot.pause()
        seen = rows(view)
        await pilot.resize_terminal(60, 18)
        await pilot.pause()
        assert rows(view)[:12] == seen
        assert not view.following


async def test_what_is_opened_at_the_end_is_seen_from_its_beginning() -> None:
    app = Stage()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.view
        call, result = edit_call()
        view.load([*run_of(20), replace(call, input={"new": "line\n" * 40}), result])
        await pilot.pause()
        await pilot.click(ConversationView, offset=(3, 11))
        await pilot.pause()
        assert rows(view)[0].startswith(" ▾ edit_system_prompt")
        assert rows(view)[1].startswith("   @@")
        assert rows(view)[-3:] == ["     line"] * 3
        assert not view.following


async def test_ten_thousand_turns_cost_what_is_seen() -> None:
    app = Stage()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.view
        view.load(run_of(5000))
        await pilot.pause()
        assert sum(entry.is_measured for entry in view.layout_model.entries) < 100
        assert rows(view)[-1] == " answer 4999"
        view.scroll_to(y=0)
        await pilot.pause()
        assert rows(view)[0] == " you  message 0"


async def test_what_is_kept_drawn_is_bounded() -> None:
    app = Stage()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.view
        view.load([AssistantTextTurn(content="line\n" * 2000) for _ in range(15)])
        await pilot.pause()
        for y in range(0, view.virtual_size.height, 1000):
            view.scroll_to(y=y)
        await pilot.pause()
        assert view.layout_model.drawn_lines <= CACHED_LINES + 2100
        assert view.virtual_size.height == 30_000


def turn_read(view: ConversationView) -> Turn | None:
    entry = view.cursor_entry()
    return entry.turn if entry is not None else None


async def test_the_reading_cursor_stays_at_its_turn_when_the_turns_are_read_again() -> None:
    app = Stage()
    async with app.run_test(size=(60, 8)) as pilot:
        view, turns = app.view, run_of(20)
        view.load(turns)
        await pilot.pause()
        view.start_reading()
        view.move_cursor(-6)
        read = turn_read(view)
        view.load([UserTurn(content="from before"), *turns])
        assert turn_read(view) is read is not None
        view.load([UserTurn(content="another")])
        assert view.cursor == 0
        view.stop_reading()
        view.load(turns)
        assert view.cursor is None


async def test_the_reading_cursor_goes_turn_by_turn_and_gives_their_text() -> None:
    app = Stage()
    async with app.run_test(size=(60, 8)) as pilot:
        view = app.view
        call, result = edit_call()
        view.load([*run_of(20), call, result, AssistantTextTurn(content="**last**")])
        await pilot.pause()
        view.start_reading()
        assert view.cursor_text() == "**last**"
        view.move_cursor(-1)
        assert turn_read(view) == call
        assert "brief and warm." in view.cursor_text()
        assert view.toggle()
        await pilot.pause()
        assert any("+Be brief and warm." in row for row in rows(view))
        view.cursor_home()
        await pilot.pause()
        assert rows(view)[0] == "▌you  message 0"
        view.move_cursor(1)
        assert view.cursor_text() == "answer **0**"
        assert not view.toggle(), "an answer has nothing to open"
        view.stop_reading()
        assert turn_read(view) is None


async def test_search_goes_to_the_place_opens_what_hides_it_and_goes_on() -> None:
    app = Stage()
    async with app.run_test(size=(60, 8)) as pilot:
        view = app.view
        call, result = edit_call()
        turns = [AssistantTextTurn(content="A needle here"), *run_of(20), call, result, *run_of(20)]
        view.load(turns)
        await pilot.pause()
        assert view.search("NEEDLE") == 1
        await pilot.pause()
        assert any("needle" in row for row in rows(view))
        assert view.search("brief and") == 1
        await pilot.pause()
        assert any("brief and warm" in row for row in rows(view))
        assert view.search("answer") == 40
        first = view.cursor
        assert view.search_step(-1)
        assert view.cursor != first
        assert view.search("nowhere") == 0
        assert not view.search_step(1)


async def test_selected_text_is_what_was_written_not_how_it_was_wrapped() -> None:
    app = Stage()
    async with app.run_test(size=(30, 20)) as pilot:
        view = app.view
        view.load(
            [
                UserTurn(content="hello"),
                AssistantTextTurn(content="one two three four five six seven eight\n\n```\na\n  b\n```"),
            ]
        )
        await pilot.pause()
        await pilot.mouse_down(ConversationView, offset=(1, 0))
        await pilot.hover(ConversationView, offset=(20, view.size.height - 1))
        await pilot.mouse_up(ConversationView, offset=(20, view.size.height - 1))
        await pilot.pause()
        selected = app.screen.get_selected_text()
        assert selected is not None
        assert selected.endswith("one two three four five six seven eight\n\na\n  b")


async def test_a_selection_that_goes_beyond_the_view_ends_with_what_is_seen() -> None:
    app = Stage()
    async with app.run_test(size=(40, 10)) as pilot:
        app.view.load([AssistantTextTurn(content="\n\n".join(f"paragraph {n}" for n in range(40)))])
        app.view.scroll_to(y=20)
        await pilot.pause()
        seen = [row.strip() for row in rows(app.view)]
        place = app.view.layout_model.position_at(24)
        assert place is not None and seen[0] == "paragraph 10"
        here = Offset(len("paragraph 12"), place.encode())
        for selection, words in (
            (Selection(None, here), ["paragraph 10", "", "paragraph 11", "", "paragraph 12"]),
            (Selection(Offset(0, here.y), None), seen[4:]),
            (Selection(None, None), seen),
        ):
            text = app.view.get_selection(selection)
            assert text is not None and text[0].split("\n") == "\n".join(words).rstrip("\n").split("\n")


async def test_a_selection_that_outlived_its_text_is_no_error() -> None:
    app = Stage()
    async with app.run_test(size=(30, 20)) as pilot:
        view = app.view
        view.load(run_of(3))
        await pilot.pause()
        for start, end in [
            (None, None),
            (Offset(0, 1 << 70), None),
            (None, Offset(5, 1 << 80)),
            (Offset(99, 0), Offset(0, 3)),
        ]:
            view.get_selection(Selection(start, end))
        view.clear()
        assert view.get_selection(Selection(Offset(0, 5), Offset(3, 1 << 66))) == ("", "\n")


async def test_what_is_selected_of_a_call_is_dropped_when_the_call_is_folded() -> None:
    app = Stage()
    async with app.run_test(size=(60, 20)) as pilot:
        view = app.view
        view.load([*edit_call(), AssistantTextTurn(content="behind it")])
        await pilot.pause()
        view.toggle(0)
        await pilot.pause()
        await pilot.double_click(ConversationView, offset=(5, 2))
        await pilot.pause()
        assert "brief and warm" in (app.screen.get_selected_text() or "")
        view.toggle(0)
        await pilot.pause()
        assert not app.screen.get_selected_text()


async def test_pressing_and_dragging_while_it_streams_does_not_crash() -> None:
    app = Stage()
    async with app.run_test(size=(40, 10)) as pilot:
        view = app.view
        turn = AssistantTextTurn(content="")
        view.begin_turn(turn)
        text = "some **text** and\n\n- a list\n\n```\ncode\n```\n\n"
        for number in range(8):
            view.extend_turn(turn.id, text)
            await pilot.mouse_down(ConversationView, offset=(number % 30, number % 9))
            view.draw_frame()
            await pilot.hover(ConversationView, offset=((number * 7) % 30, (number * 5) % 9))
            await pilot.pause()
            await pilot.mouse_up(ConversationView, offset=((number * 7) % 30, (number * 5) % 9))
        view.end_turn(replace(turn, content=text * 8))
        await pilot.pause()
        app.screen.get_selected_text()
        assert app._exception is None


async def test_wide_and_combined_characters_keep_every_row_at_its_width() -> None:
    app = Stage()
    async with app.run_test(size=(33, 20)) as pilot:
        view = app.view
        text = (
            "漢字かな交じり文。" * 5
            + " 👨\u200d👩\u200d👧 🇩🇪 e\u0301a\u0308 " * 5
            + "\n\n| 漢 | 👍 |\n|---|---|\n| e\u0301 | ab |"
        )
        view.load([UserTurn(content=text), AssistantTextTurn(content=text)])
        await pilot.pause()
        for y in range(view.size.height):
            strip = view.render_line(y)
            assert cell_len(strip.text) == strip.cell_length == view.scrollable_content_region.width


async def test_ascii_signs_only_where_asked() -> None:
    app = Stage(glyphs=Glyphs(ascii_only=True))
    async with app.run_test(size=(60, 20)) as pilot:
        app.view.load(
            [ThinkingTurn(content="x"), *edit_call(), AssistantTextTurn(content="- a\n\n> b\n\n---")]
        )
        app.view.begin_turn(ThinkingTurn(content=""))
        app.view.begin_turn(ToolCallTurn(tool_use_id="c2", tool_name="n" * 99, input={"x": "y" * 99}))
        app.view.add_notice("notice")
        app.view.add_notice("error", error=True)
        app.view.start_reading()
        await pilot.pause()
        assert "".join(rows(app.view)).isascii()


async def test_clear_leaves_nothing_and_a_new_run_begins_at_the_top() -> None:
    app = Stage()
    async with app.run_test(size=(60, 20)) as pilot:
        app.view.load(run_of(5))
        app.view.clear()
        app.view.begin_turn(UserTurn(content="again"))
        await pilot.pause()
        assert rows(app.view) == [" you  again"]


async def test_deltas_are_drawn_together_and_told_once() -> None:
    app = Stage(frames_per_second=5)
    async with app.run_test(size=(60, 20)) as pilot:
        turn = AssistantTextTurn(content="")
        app.view.begin_turn(turn)
        app.view.draw_frame()
        for _ in range(100):
            app.view.extend_turn(turn.id, "abc ")
        assert rows(app.view) == [""] or "abc" not in rows(app.view)[0]
        app.view.draw_frame()
        await pilot.pause()
        grown = [message for message in app.messages if isinstance(message, ConversationView.Grown)]
        assert [message.characters for message in grown] == [400]


@pytest.mark.parametrize("opened", [False, True])
async def test_thinking_that_arrives_is_one_line_until_it_is_opened(opened: bool) -> None:
    app = Stage()
    async with app.run_test(size=(60, 20)) as pilot:
        turn = ThinkingTurn(content="")
        app.view.begin_turn(turn)
        if opened:
            app.view.toggle(0)
        app.view.extend_turn(turn.id, "first this")
        app.view.draw_frame()
        await pilot.pause()
        expected = [" ▾ thinking…", "   first this"] if opened else [" ▸ thinking…"]
        assert rows(app.view) == expected
        app.view.end_turn(replace(turn, content="first this, then that"))
        await pilot.pause()
        assert rows(app.view)[0] == expected[0].replace("…", "")


async def test_a_run_stopped_while_it_waits_to_try_again_says_so() -> None:
    app = Stage()
    async with app.run_test(size=(80, 20)) as pilot:
        view, at = app.view, {"run_id": "r", "at": 0.0, "seq": 1}
        error = ModelError(kind="overloaded", message="The server is overloaded.", retryable=True)
        view.feed(RetryWait(attempt=1, delay=5.0, error=error, **at))
        view.feed(AgentEnd(turns=(UserTurn(content="hello"),), outcome="cancelled", **at))
        await pilot.pause()
        assert rows(view)[-1].startswith(" · Stopped before an answer came.")
        view.feed(
            AgentEnd(turns=(AssistantTextTurn(content="Hi", interrupted=True),), outcome="cancelled", **at)
        )
        await pilot.pause()
        assert sum("Stopped" in row for row in rows(view)) == 1, "what was cut off says so itself"


async def test_an_error_that_may_pass_says_to_send_the_message_again() -> None:
    app = Stage()
    async with app.run_test(size=(80, 20)) as pilot:
        view, at = app.view, {"run_id": "r", "at": 0.0, "seq": 1}
        error = ModelError(kind="overloaded", message="The server is overloaded", retryable=True)
        view.feed(AgentEnd(turns=(), outcome="failed", error=error, **at))
        await pilot.pause()
        assert rows(view)[-1] == " ✗ The server is overloaded. Send the message again."


async def test_it_stands_at_its_end_though_a_place_was_asked_for_before_it_was_laid_out() -> None:
    app = Stage()
    async with app.run_test(size=(60, 6)) as pilot:
        view = app.view
        view.display = False
        await pilot.pause()
        view.load([UserTurn(content=f"message {number}") for number in range(20)])
        await pilot.pause()
        view.display = True
        app.screen._compositor.update_widgets({view})  # as when it is to be painted before it was laid out
        assert view.region, "its place is known now, and Textual sends it no Resize any more"
        for _ in range(20):
            await pilot.pause()
        assert view.scroll_offset.y == view.max_scroll_y > 0 and "message 19" in rows(view)[-1]


@pytest.mark.parametrize("shown_before", [False, True])
async def test_what_is_looked_for_while_it_is_hidden_is_in_sight_once_it_is_shown(shown_before: bool) -> None:
    app = Stage()
    async with app.run_test(size=(60, 8)) as pilot:
        view = app.view
        view.load(run_of(2))
        if shown_before:
            await pilot.pause()
        view.display = False
        await pilot.pause()
        view.load(run_of(60))
        assert view.search("message 7") == 1
        view.display = True
        for _ in range(20):
            await pilot.pause()
        assert any("message 7" in row for row in rows(view)) and not view.following
        view.load(run_of(60))
        view.search("message 9")  # before these turns were laid out
        for _ in range(20):
            await pilot.pause()
        assert any("message 9" in row for row in rows(view))


async def test_of_what_arrives_at_once_no_more_is_drawn_than_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    draw = Part.draw

    def counted(part: Part, width: int) -> list[Line]:
        drawn.append(not part.is_drawn(width))
        return draw(part, width)

    monkeypatch.setattr(Part, "draw", counted)
    app = Stage()
    turn = AssistantTextTurn(id="a", content="")
    async with app.run_test(size=(80, 24)) as pilot:
        app.view.begin_turn(turn)
        for number in range(4):
            app.view.extend_turn("a", f"{number}\n\n" * 1_000)
            drawn.clear()
            app.view.draw_frame()
            assert sum(drawn) <= 2 * DRAWN_AT_ONCE
            await pilot.pause()
            assert rows(app.view)[-2].strip() == str(number)
        app.view.end_turn(replace(turn, content="".join(f"{number}\n\n" * 1_000 for number in range(4))))
        app.view.scroll_to(y=0)
        await pilot.pause()
        assert rows(app.view)[:3] == [" 0", "", " 0"]


async def test_a_resize_within_a_long_paragraph_keeps_what_was_read() -> None:
    app = Stage()
    async with app.run_test(size=(60, 15)) as pilot:
        app.view.load([AssistantTextTurn(content=" ".join(f"w{number:04}" for number in range(9_000)))])
        await pilot.pause()
        app.view.scroll_to(y=app.view.layout_model.height // 2)
        await pilot.pause()
        first = rows(app.view)[0].split()[0]
        for size in ((90, 20), (120, 40), (60, 15)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert first in " ".join(rows(app.view)[:3])


async def test_many_resizes_lead_back_to_the_row_that_was_read() -> None:
    app = Stage()
    async with app.run_test(size=(100, 15)) as pilot:
        app.view.load([AssistantTextTurn(content=" ".join(f"w{number:04}" for number in range(3_000)))])
        await pilot.pause()
        app.view.scroll_to(y=app.view.layout_model.height // 2)
        await pilot.pause()
        seen = rows(app.view)
        for columns in (*range(99, 79, -1), *range(80, 101)):
            await pilot.resize_terminal(columns, 15)
            await pilot.pause()
        assert rows(app.view) == seen
        app.view.scroll_to(y=app.view.scroll_offset.y + 1)
        await pilot.pause()
        await pilot.resize_terminal(60, 15)
        await pilot.resize_terminal(100, 15)
        await pilot.pause()
        assert rows(app.view)[:-1] == seen[1:]


async def test_a_click_on_new_below_goes_to_the_end() -> None:
    app = Stage()
    async with app.run_test(size=(40, 10)) as pilot:
        app.view.load([AssistantTextTurn(content="\n\n".join(f"paragraph {n}" for n in range(40)))])
        app.view.scroll_to(y=0)
        await pilot.pause()
        app.view.begin_turn(UserTurn(content="more"))
        await pilot.pause()
        assert "new below" in rows(app.view)[-1]
        await pilot.click(ConversationView, offset=(5, 9))
        assert not app.view.following
        await pilot.click(ConversationView, offset=(35, 9))
        await pilot.pause()
        assert app.view.following and "more" in rows(app.view)[-1]
