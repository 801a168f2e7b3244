"""The chat bar under the pilot: what sends, what does not, and that no word is lost."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events
from textual.app import App, ComposeResult
from textual.widgets import Static

from tui.chat.input_history import InputHistory
from tui.chat.view import Queued
from tui.widgets.chat_bar import ChatBar, Mode


class Stage(App[None]):
    """A screen with a chat bar at its bottom."""

    CSS = "ChatBar { dock: bottom; }"

    def __init__(self) -> None:
        super().__init__()
        self.bar = ChatBar()
        self.sent: list[tuple[str, Mode]] = []
        self.heard: list[object] = []

    def compose(self) -> ComposeResult:
        yield Static("panes")
        yield self.bar

    def on_mount(self) -> None:
        self.bar.input.focus()

    def on_chat_bar_submitted(self, message: ChatBar.Submitted) -> None:
        self.sent.append((message.text, message.mode))

    def on_chat_bar_follow_up(self, message: ChatBar.FollowUp) -> None:
        self.heard.append(("follow up", message.text))

    def on_chat_bar_stop_pressed(self) -> None:
        self.heard.append("stop")

    def on_chat_bar_show_output_pressed(self) -> None:
        self.heard.append("show")

    def on_chat_bar_take_back(self, message: ChatBar.TakeBack) -> None:
        self.heard.append(("take back", message.key))

    def on_chat_bar_paged(self, message: ChatBar.Paged) -> None:
        self.heard.append(message.pages)


@pytest.mark.parametrize("mode", ["idle", "running", "asking"])
async def test_what_is_typed_right_behind_enter_is_another_message(mode: Mode) -> None:
    app = Stage()
    async with app.run_test() as pilot:
        app.bar.set_mode(mode, "Which?", asked="q")
        for key in (
            "a",
            "enter",
            "b",
            "enter",
            "c",
        ):  # as they come from a terminal that was slow for a moment
            app.post_message(events.Key(key, key if len(key) == 1 else "\r"))
        await pilot.pause()
        await pilot.pause()
        assert app.sent == [("a", mode), ("b", mode)] and app.bar.draft == "c"


async def test_enter_sends_and_empties_the_input() -> None:
    app = Stage()
    async with app.run_test() as pilot:
        await pilot.press("h", "i", "enter")
        await pilot.pause()
        assert app.sent == [("hi", "idle")]
        assert app.bar.draft == ""


@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter", "alt+enter"])
async def test_the_newline_keys_do_not_send(key: str) -> None:
    app = Stage()
    async with app.run_test() as pilot:
        await pilot.press("a", key, "b")
        await pilot.pause()
        assert app.bar.draft == "a\nb"
        assert app.sent == []


async def test_a_backslash_before_enter_is_a_newline() -> None:
    app = Stage()
    async with app.run_test() as pilot:
        await pilot.press("a", "\\", "enter", "b", "enter")
        await pilot.pause()
        assert app.sent == [("a\nb", "idle")]


async def test_blank_text_is_not_sent_and_not_lost() -> None:
    app = Stage()
    async with app.run_test() as pilot:
        await pilot.press("space", "enter")
        await pilot.pause()
        assert app.sent == []
        assert app.bar.draft == " "


async def test_the_input_grows_with_its_text_up_to_eight_rows() -> None:
    app = Stage()
    async with app.run_test(size=(80, 24)) as pilot:
        heights = []
        for _ in range(12):
            await pilot.press("x", "ctrl+j")
            await pilot.pause()
            heights.append(app.bar.input.size.height)
        assert heights[:3] == [2, 3, 4]
        assert heights[-1] == 8


async def test_a_paste_never_sends_and_arrives_whole() -> None:
    app = Stage()
    async with app.run_test() as pilot:
        text = "line\n" * 3000 + "end\n"
        app.post_message(events.Paste(text))
        await pilot.pause()
        assert app.bar.draft == text
        assert app.sent == []
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent == [(text, "idle")]


async def test_a_paste_of_a_megabyte_is_there_at_once() -> None:
    app = Stage()
    async with app.run_test() as pilot:
        text = "some words in a line of prose\n" * 35_000
        start = time.process_time()
        app.post_message(events.Paste(text))
        await pilot.pause()
        assert len(app.bar.draft) == len(text)
        assert time.process_time() - start < 5


async def test_what_is_pasted_is_harmless() -> None:
    app = Stage()
    async with app.run_test() as pilot:
        app.post_message(events.Paste("a\x1b]52;c;eA==\x07b\r\nc\u202ed"))
        await pilot.pause()
        assert app.bar.draft == "ab\ncd"


async def test_undo_of_a_paste_longer_than_the_input_gives_the_text_before() -> None:
    app = Stage()
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("a")
        app.bar.input.history.checkpoint()
        app.post_message(events.Paste("\n".join(f"line {number}" for number in range(200))))
        await pilot.pause()
        await pilot.press("ctrl+z")
        await pilot.pause()
        assert app.bar.draft == "a"
        await pilot.press("ctrl+y")
        await pilot.pause()
        assert app.bar.draft.endswith("line 199")


async def test_up_and_down_go_through_what_was_sent_and_lose_nothing() -> None:
    app = Stage()
    async with app.run_test() as pilot:
        bar = app.bar
        bar.set_sent(["first", "second"])
        await pilot.press(*"draft")
        await pilot.press("up")
        assert bar.draft == "second"
        await pilot.press("!", "up")
        assert bar.draft == "first"
        await pilot.press("up")
        assert bar.draft == "first"
        await pilot.press("down")
        assert bar.draft == "second!"
        await pilot.press("down")
        assert bar.draft == "draft"


@pytest.mark.parametrize("leave", ["enter", "tab", "put aside"])
async def test_the_draft_is_there_again_once_a_recalled_message_is_gone(leave: str) -> None:
    app = Stage()
    async with app.run_test() as pilot:
        bar = app.bar
        bar.set_sent(["first", "second"])
        bar.set_mode("running" if leave == "tab" else "idle")
        await pilot.press(*"draft", "up", "!", "up")
        assert (bar.draft, bar.unsent) == ("first", "draft\nsecond!")
        if leave == "put aside":
            bar.input.stash()
        elif leave == "tab":
            bar.take_tab()
        else:
            await pilot.press(leave)
        await pilot.pause()
        assert bar.draft == bar.unsent == "draft\nsecond!"
        bar.input.recall("first")
        assert (bar.draft, bar.unsent) == ("first", "draft\nsecond!")
        bar.begin_draft("another")
        assert bar.unsent == "another"


async def test_a_message_that_was_repeated_stands_where_it_was_sent_last() -> None:
    app = Stage()
    async with app.run_test() as pilot:
        app.bar.set_sent(["hello", "help", "hello"])
        shown = []
        for _ in range(3):
            await pilot.press("up")
            shown.append(app.bar.draft)
        assert shown == ["hello", "help", "help"]


@pytest.mark.parametrize("options", [False, True])
@pytest.mark.parametrize("draft", ["", "draft", "two\nlines"])
async def test_the_key_that_the_queue_names_takes_the_newest_back(options: bool, draft: str) -> None:
    app = Stage()
    async with app.run_test(size=(80, 24)) as pilot:
        app.bar.set_mode("asking" if options else "running", "Which?", options=options)
        app.bar.set_queued([Queued("a", "sooner", False), Queued("b", "later", True)])
        app.bar.set_draft(draft)
        await pilot.pause()
        lines = app.bar.queued
        named = next(key for key in ("Shift+Up", "Up") if f" {key} edits" in lines.render_line(1).text)
        assert (named == "Up") == (not options and not draft)
        await pilot.press(named.lower())
        await pilot.pause()
        assert app.heard == [("take back", "b")] and app.bar.draft == draft


async def test_up_passes_over_what_is_queued_so_that_it_is_not_sent_twice() -> None:
    app = Stage()
    async with app.run_test() as pilot:
        bar = app.bar
        bar.set_sent(["again", "first"])
        for text in ("again", "twice", "last", "twice"):
            bar.set_draft(text)
            await pilot.press("enter")
        bar.set_queued(
            [Queued("a", "again", False), Queued("b", "twice", False), Queued("c", "twice", False)]
        )
        assert bar.input.sent.find("") == ["last", "first", "again"]
        await pilot.press(*"draft")
        for key, shown in (("up", "last"), ("up", "first"), ("up", "again"), ("down", "first")):
            await pilot.press(key)
            assert bar.draft == shown
        await pilot.press("down", "down")
        assert bar.draft == "draft"
        bar.input.recall("again")
        await pilot.press("up")
        assert bar.draft == "again", "the one that was delivered"
        bar.set_queued([])
        assert bar.input.sent.find("")[0] == "twice"


async def test_up_moves_within_a_text_of_several_lines_first() -> None:
    app = Stage()
    async with app.run_test() as pilot:
        app.bar.set_sent(["before"])
        await pilot.press("a", "ctrl+j", "b", "up")
        assert app.bar.draft == "a\nb"
        await pilot.press("up")
        assert app.bar.draft == "before"


async def test_a_draft_put_aside_comes_back_with_up() -> None:
    app = Stage()
    async with app.run_test() as pilot:
        await pilot.press(*"word")
        assert app.bar.input.stash()
        assert app.bar.draft == ""
        assert not app.bar.input.stash()
        await pilot.press("up")
        assert app.bar.draft == "word"


async def test_send_is_stop_while_it_runs_and_reply_while_it_asks() -> None:
    app = Stage()
    async with app.run_test(size=(100, 24)) as pilot:
        bar = app.bar
        button = bar.query_one(".chat--act")
        await pilot.press("a")
        await pilot.click(".chat--act")
        bar.set_mode("running")
        await pilot.press("b")
        await pilot.click(".chat--act")
        assert str(button.label) == "Stop"
        await pilot.press("enter")
        bar.set_mode("asking", "Which [b]one[/]?")
        await pilot.pause()
        assert str(button.label) == "Reply"
        assert str(bar.input.placeholder) == "Which [b]one[/]?"
        await pilot.press("c")
        await pilot.click(".chat--act")
        await pilot.pause()
        assert app.sent == [("a", "idle"), ("b", "running"), ("c", "asking")]
        assert app.heard == ["stop"]
        assert app.focused is bar.input, "no button takes the focus"


async def test_the_show_output_button_and_page_keys_are_told() -> None:
    app = Stage()
    async with app.run_test(size=(100, 24)) as pilot:
        await pilot.press("x", "pageup", "pagedown")
        app.bar.show_output_button(True)
        await pilot.pause()
        await pilot.click(".chat--show")
        await pilot.pause()
        assert app.heard == [-1, 1, "show"]
        assert app.bar.draft == "x"


async def test_tab_writes_the_offered_command_out_else_queues_while_it_runs() -> None:
    app = Stage()
    async with app.run_test() as pilot:
        bar = app.bar
        await pilot.press("/", "m", "o")
        assert bar.take_tab()
        assert bar.draft == "/model "
        assert not bar.take_tab()
        bar.set_mode("running")
        bar.set_draft("warmer")
        assert bar.take_tab()
        await pilot.pause()
        assert app.heard == [("follow up", "warmer")]
        assert bar.draft == ""


async def test_a_change_of_mode_keeps_the_draft() -> None:
    app = Stage()
    async with app.run_test() as pilot:
        await pilot.press(*"draft")
        for mode in ("running", "asking", "idle"):
            app.bar.set_mode(mode, "Why?")
            app.bar.set_status("model · 3 tok")
            app.bar.set_trace("edit +1 −1")
        await pilot.pause()
        assert app.bar.draft == "draft"
        assert app.focused is app.bar.input


async def test_one_very_long_line_is_typed_into_and_shown() -> None:
    app = Stage()
    async with app.run_test(size=(60, 12)) as pilot:
        area = app.bar.input
        app.post_message(events.Paste("word " * 4000))
        await pilot.pause()
        await pilot.press("e", "n", "d")
        await pilot.pause()
        shown = [area.render_line(y).text for y in range(area.size.height)]
        assert " ".join(line.strip() for line in shown).endswith("word end")
        assert {len(row) for row in shown} == {area.scrollable_content_region.width}


@given(st.lists(st.text(max_size=4), max_size=6), st.lists(st.sampled_from("udw"), max_size=20))
@settings(max_examples=100)
def test_no_message_or_draft_is_lost_on_the_way_up_and_down(messages: list[str], keys: list[str]) -> None:
    sent = InputHistory(messages)
    shown = "draft"
    written: dict[int, str] = {}
    for number, key in enumerate(keys):
        if key == "w":
            shown += str(number)
            written[sent._at] = shown
        else:
            target = sent.previous(shown) if key == "u" else sent.following(shown)
            shown = shown if target is None else target
            assert shown == written.get(sent._at, shown)
    unsent = sent.unsent(shown)
    assert all(text in unsent or text in messages for text in written.values())
    while (target := sent.following(shown)) is not None:
        shown = target
    assert shown == written.get(len(messages), "draft")


def test_sent_messages_are_found_latest_first_and_once() -> None:
    sent = InputHistory(["Make it warm", "no", "make it cold", "Make it warm"])
    assert sent.find("MAKE") == ["Make it warm", "make it cold"]
    sent.add("   ")
    sent.add("Make it warm")
    assert sent.messages.count("Make it warm") == 2
    assert not sent.browsing


async def test_a_number_that_was_begun_is_the_beginning_of_what_is_pasted_behind_it() -> None:
    app = Stage()
    async with app.run_test(size=(80, 24)) as pilot:
        app.bar.set_mode("asking", "Which?", options=True)
        await pilot.press("1")
        app.post_message(events.Paste("abc"))
        await pilot.pause()
        assert app.bar.draft == "1abc"
        app.bar.set_draft("")
        await pilot.press("2", "up")
        app.post_message(events.Paste("abc"))
        await pilot.pause()
        assert app.bar.draft == "abc"
