"""Every dialog of the program at every size: nothing one needs is cut off, whatever the texts are."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.content import Content
from textual.geometry import Region
from textual.widget import Widget
from textual.widgets import Button, Input
from textual.widgets._toast import Toast, ToastRack

import tui.screens
from agent.models.offline import OfflineModel
from tests.support.dialogs import DIALOGS
from tests.support.hostile import HOSTILE, assert_only_text
from tests.support.program import ONE, Program, make_store, program
from tests.support.screen import at_once, drawn, drawn_in
from tests.support.settings import preferences
from tui.app.notifications import begin_operation
from tui.document.merge import MergeConflict, merge_texts
from tui.screens.dialogs.base import JUST_NOW, Dialog, share
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.conflict import ConflictDialog
from tui.screens.dialogs.connect_controller import WELCOME
from tui.screens.dialogs.connect_dialog import ConnectDialog
from tui.screens.dialogs.picker import Picker
from tui.screens.document_screen import DocumentScreen
from tui.widgets.plain_text import LiteralButton
from tui.widgets.virtual_list import VirtualList

LONG = "word " * 400
LINES = "one line\n" * 60
SHORT_HOSTILE = [text for text in HOSTILE.values() if len(text) < 1_000]
TEXTS = {
    "short": "Short.",
    "long": f"{'word ' * 40}{'x' * 300}\n{LINES}",
    "hostile": "\n".join(SHORT_HOSTILE) + " ".join(SHORT_HOSTILE) + HOSTILE["endless word"],
}
SIZES = [(60, 15), (80, 24), (160, 50)]


def test_no_dialog_is_left_out() -> None:
    found = set()
    for module in pkgutil.walk_packages(tui.screens.__path__, "tui.screens."):
        for _, value in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(value, Dialog) and value not in (Dialog, DocumentScreen):
                found.add(value)
    assert found == set(DIALOGS)


async def settle(p: Program) -> None:
    """Wait until the parts of what is shown stay where they are."""
    before: list[object] = [None]
    while before != (now := [(part.region, part.scroll_offset) for part in p.app.screen.query("*")]):
        before = now
        await p.pilot.pause()


async def shown(p: Program, dialog: Dialog[Any]) -> None:
    p.main.start(p.main.ask(dialog))
    await p.until(lambda: p.app.screen is dialog)
    await settle(p)


def answer_twice(p: Program, dialog: Dialog[Any], how: str) -> None:
    """Press a key, or click on what is to be clicked, twice in one read."""
    if how == "enter":
        at_once(p, "enter", "enter")
        return
    inside = [*dialog.query(Button), *dialog.query(VirtualList)]
    x, y = (inside[0].region.x + 2, inside[0].region.y) if inside else (0, 0)  # else beside the dialog
    for kind in (events.MouseDown, events.MouseUp) * 2:
        p.app.post_message(kind(None, x, y, 0, 0, 1, False, False, False, x, y))


def is_shown(widget: Widget) -> bool:
    return all(node.display for node in widget.ancestors_with_self if isinstance(node, Widget))


def assert_usable(p: Program, dialog: Dialog[Any]) -> None:
    """All one answers with is inside the box, the box inside the screen, the chosen row in sight."""
    box = dialog.query_one(".dialog")
    inside = box.content_region
    assert dialog.region.contains_region(box.region)
    needed = [
        *dialog.query(LiteralButton),
        *dialog.query(".dialog-hint"),
        *dialog.query(Input),
        *dialog.query(VirtualList),
    ]
    for widget in needed:
        if is_shown(widget):
            assert widget.region.height >= 1, widget
            assert inside.contains_region(widget.region), f"{widget} is cut off"
    for rows in filter(is_shown, dialog.query(VirtualList)):
        at = rows.cursor - rows.scroll_offset.y
        assert 0 <= at < rows.size.height, "the chosen row is out of sight"
    if not dialog.query(".dialog-hint"):
        assert "Esc closes" in drawn(dialog)


@pytest.mark.parametrize(("text", "how"), zip(TEXTS, ("enter", "click", ""), strict=True))
async def test_every_dialog_shows_all_one_answers_with_as_text_and_is_answered_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, how: str
) -> None:
    size = (66, 40) if text == "hostile" else SIZES[0]  # so that more of it is seen
    async with program(make_store(tmp_path), size=size) as p:
        for kind, make in DIALOGS.items():
            monkeypatch.setattr(kind, "grace", 0.0)
            dialog = make(TEXTS[text], tmp_path)
            assert type(dialog) is kind
            await shown(p, dialog)
            assert_usable(p, dialog)
            if dialog.query(VirtualList):
                for _ in range(3):
                    p.app.post_message(events.Key("down", None))
                await settle(p)
                assert_usable(p, dialog)
            dialog.show_notification(TEXTS[text], error=True)
            await settle(p)
            assert_usable(p, dialog)
            assert_only_text(p.app)
            if how:
                answer_twice(p, dialog, how)
                await p.pilot.pause()
                await p.pilot.pause()
                assert not p.app.shutdown.failure, kind
            while isinstance(p.app.screen, Dialog):  # also what the answer asks
                p.app.screen.dismiss(None)
                await p.pilot.pause()
            assert p.app.screen is p.main


async def test_news_in_a_dialog_goes_by_itself_and_an_error_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path)) as p:
        dialog = DIALOGS[Confirm]("Really?", tmp_path)
        await shown(p, dialog)
        over: list[Callable[[], None]] = []
        monkeypatch.setattr(dialog, "set_timer", lambda _seconds, end: over.append(end))
        p.app.show_message("This is news.")
        await p.until(lambda: "This is news." in drawn(dialog))
        p.app.show_message("Later news.")
        await p.until(lambda: "Later news." in drawn(dialog))
        over[0]()
        await settle(p)
        assert "Later news." in drawn(dialog)
        over[1]()
        await p.until(lambda: not dialog.query("#dialog-message"))
        p.app.show_message("This is wrong.", error=True)
        p.app.show_message("This is news.")
        await p.until(lambda: "This is news." in drawn(dialog))
        over[2]()
        await p.until(lambda: "This is news." not in drawn(dialog))
        assert "This is wrong." in drawn(dialog)


async def test_a_dialog_fits_again_when_the_terminal_is_resized(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), size=SIZES[-1]) as p:
        for kind in (ConnectDialog, Picker, Confirm, ConflictDialog):
            dialog = DIALOGS[kind](LONG, tmp_path)
            await shown(p, dialog)
            tall = dialog.query_one(".dialog").region.height
            for size in SIZES[0], SIZES[-1]:
                await p.pilot.resize_terminal(*size)
                await settle(p)
                assert_usable(p, dialog)
            assert dialog.query_one(".dialog").region.height == tall
            dialog.dismiss(None)
            await p.until(lambda: p.app.screen is p.main)


async def test_the_first_start_shows_all_its_choices_in_a_small_terminal(tmp_path: Path) -> None:
    settings = preferences(tmp_path, None)
    async with program(make_store(tmp_path), model=OfflineModel(), preferences=settings, size=(60, 15)) as p:
        dialog = await p.dialog(ConnectDialog)
        await settle(p)
        text = drawn(dialog)
        rows = dialog.query_one(VirtualList)
        assert rows.size.height == len(rows.rows)
        for row in rows.rows:
            assert row.text in text
        assert "Enter chooses" in text
        assert WELCOME.split()[0] in text
        assert WELCOME.split()[-1] in text, "the whole greeting is there"
        assert "PgDn" not in text


async def test_a_text_that_does_not_fit_is_paged_and_says_so(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), size=(60, 15)) as p:
        dialog = Confirm("Sure?", LINES + "the very end", action="Do it")
        await shown(p, dialog)
        await p.until(lambda: "PgDn" in drawn(dialog))
        assert "the very end" not in drawn(dialog)
        for _ in range(10):
            await p.press("pagedown")
        await p.until(lambda: "the very end" in drawn(dialog))
        dialog.dismiss(None)
        await p.until(lambda: p.app.screen is p.main)
        short = Confirm("Sure?", "That is all.", action="Do it")
        await shown(p, short)
        assert "PgDn" not in drawn(short)


async def test_the_first_difference_of_two_long_paragraphs_is_in_sight(tmp_path: Path) -> None:
    clash = merge_texts("base\n", f"{LONG}BRIGHT {LONG}\n", f"{LONG}DARK {LONG}\n")
    assert isinstance(clash, MergeConflict)
    async with program(make_store(tmp_path), size=SIZES[0]) as p:
        for size in SIZES:
            await p.pilot.resize_terminal(*size)
            dialog = ConflictDialog(clash)
            await shown(p, dialog)
            text = drawn(dialog)
            for words in ("BRIGHT", "DARK", "1 Keep mine", "2 Take theirs", "3 Both"):
                assert words in text
            marked = [
                segment.text
                for strip in dialog._compositor.render_strips()
                for segment in strip
                if segment.style is not None and segment.style.underline and "1 Keep" not in segment.text
            ]
            assert "BRIGHT" in marked
            assert "DARK" in marked
            before = dialog.query_one("#side-ours").scroll_offset.y
            await p.press("down")
            assert dialog.query_one("#side-ours").scroll_offset.y == before + 1
            assert dialog.query_one("#side-theirs").scroll_offset.y == before + 1
            dialog.dismiss(None)
            await p.until(lambda: p.app.screen is p.main)


async def test_what_is_told_covers_no_dialog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.screens.dialogs.base.JUST_NOW", 600.0)  # whatever the machine takes
    async with program(make_store(tmp_path), size=SIZES[0]) as p:
        for size in SIZES[:2]:
            await p.pilot.resize_terminal(*size)
            p.app.clear_notifications()
            begin_operation()  # which tells of the error and asks
            p.app.show_message("The disk is full.", error=True)
            p.app.show_message("Draft cleared; Up brings it back.")
            dialog = Confirm(
                "Quit and lose it?", "The prompt could not be saved.", action="Quit", keep="Stay"
            )
            await shown(p, dialog)
            text = drawn(dialog)
            for words in ("Quit and lose", "The prompt could not be saved.", "Stay", "The disk is full."):
                assert words in text
            p.app.show_message("Something new.")
            await settle(p)
            assert "Something new." in drawn(dialog)
            assert_usable(p, dialog)
            dialog.dismiss(None)
            await p.until(lambda: p.app.screen is p.main)


async def test_an_error_of_earlier_or_of_another_operation_is_not_what_a_dialog_is_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path), size=(80, 24)) as p:
        begin_operation()
        p.app.show_message("The disk is full.", error=True)
        await p.until(lambda: p.messages)
        next(iter(p.app._notifications)).raised_at -= JUST_NOW
        dialog = Confirm("Quit?", "You may.", action="Quit", keep="Stay")
        await shown(p, dialog)
        assert "The disk is full." not in drawn_in(dialog)
        dialog.dismiss(None)
        await p.until(lambda: p.app.screen is p.main)
        p.app.clear_notifications()

        monkeypatch.setattr("tui.screens.dialogs.base.JUST_NOW", 600.0)
        told = asyncio.Event()

        async def work(error: str, question: str = "") -> None:
            if error:
                p.app.show_message(error, error=True)
                await told.wait()
            if question:
                await p.main.ask(Confirm(question, "You may.", action="Do"))

        first = p.main.start(work("The disk is full."))
        await p.notified("The disk is full.")
        told.set()
        await first
        for error, question in ("", "Delete?"), ("It did not work.", "Use it anyway?"):
            told.clear()
            p.main.start(work(error, question))
            await p.notified(error)
            told.set()
            dialog = await p.dialog(Confirm)
            await settle(p)
            assert "The disk is full." not in drawn_in(dialog)
            assert ("It did not work." in drawn_in(dialog)) == bool(error)
            dialog.dismiss(None)
            await p.until(lambda: p.app.screen is p.main)


async def test_all_that_is_told_is_on_the_screen_and_covers_neither_chat_bar_nor_keys(tmp_path: Path) -> None:
    path = "/home/someone/personas/" + "a-long-name-of-a-folder/" * 5 + "optimist-conversation.json"
    async with program(make_store(tmp_path), size=(80, 24)) as p:
        stage, rack = p.main.query_one("#stage"), p.main.query_one(ToastRack)

        # The same words are told once; what was only said gives way, and in a small terminal all but the last.
        p.app.show_message("Twice.")
        p.app.show_message("Twice.")
        await settle(p)
        assert p.messages == ["Twice."]
        p.app.show_message("It went wrong.", error=True)
        await settle(p)
        assert p.messages == ["It went wrong."]
        p.app.show_message("Another.")
        await settle(p)
        assert p.messages == ["It went wrong.", "Another."], "what went wrong stays beside it"
        p.app.show_message("m" * 480, error=True)
        await p.until(lambda: p.main.query(Toast) and p.main.query(Toast).last().region.height > 5)
        await p.pilot.resize_terminal(60, 15)
        await p.until(lambda: stage.region.bottom == 13)
        await p.until(lambda: rack.styles.max_height.value <= 13)
        assert rack.region.bottom <= stage.region.bottom
        p.app.show_message("The last.", error=True)
        await settle(p)
        assert p.messages == ["The last."]

        # A long one is shown whole, and many stand in order.
        p.app.show_message("There is no folder /nope/x; " + "it is said at some length " * 9, error=True)
        p.app.show_message(f"The conversation is in {path}.")
        await p.until(lambda: p.messages == [f"The conversation is in {path}."])
        await p.until(lambda: len(p.main.query(Toast)) == 1 and p.main.query(Toast).first().region.height > 3)
        toast = p.main.query(Toast).first()
        assert toast.region.bottom < p.main.chat_bar.region.y
        assert toast.size.height == len(Content(p.messages[0]).wrap(toast.size.width))
        for turn in range(4):
            p.app.show_message(f"It went wrong {turn}.", error=True)
            p.app.show_message(f"Short {turn}.")
            await p.until(lambda turn=turn: p.messages == [f"It went wrong {turn}.", f"Short {turn}."])
        await p.until(lambda: [one.region.y for one in p.main.query(Toast)] == [1, 5])

        # A chat bar of several rows is not covered either.
        p.main.chat_bar.set_draft("a\nb\nc\nd")
        await p.until(lambda: stage.region.bottom < 11)
        p.app.show_message(
            "It went wrong, and that is told at some length, in three rows of a message. " * 2, error=True
        )
        p.app.show_message("The last, which is told at some length too, in more than one row.")
        await p.until(lambda: len(p.messages) == 1 and p.messages[0].startswith("The last"))
        await p.until(lambda: len(p.main.query(Toast)) == 1 and p.main.query(Toast).first().region.height > 3)
        assert stage.region.contains_region(p.main.query(Toast).first().region)
        p.app.show_message("long " * 99, error=True)
        await p.until(lambda: p.main.query(Toast).last().region.height > 5)
        await p.until(lambda: rack.region.bottom <= stage.region.bottom)


@pytest.mark.parametrize("size", [(60, 15), (160, 50)])
async def test_what_is_told_does_not_cover_what_is_wrong_with_a_file_and_goes_once_it_is_mended(
    tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = ONE + "[model]\nmax_tokens = -5\n"
    async with program(make_store(tmp_path, {"one": broken}), size=size) as p:
        notify = p.app.notify
        monkeypatch.setattr(p.app, "notify", lambda *told, **how: notify(*told, **how | {"timeout": 600}))
        p.app.show_message("Welcome. The agent's model is offline; /model changes it. F1 shows the keys.")
        banner = p.main.prompt_pane.banner

        def told() -> Region:
            return next((toast.region for toast in p.main.query(Toast)), Region())

        await p.until(lambda: told().height > 2 and banner.region and banner.region.bottom <= told().y)
        assert p.main.query_one("#stage").region.contains_region(told())
        p.main.action_go("prompt")
        await p.press("x")
        await p.notified("This cannot be edited: the file is broken")
        p.file("one").write_text(ONE, encoding="utf-8")
        await p.until(
            lambda: p.state == "saved" and not any("the file is broken" in told for told in p.messages)
        )
        p.app.show_message("It stands at the top again.")
        await p.until(lambda: told().y == 1)


def test_rows_are_shared_out_fairly() -> None:
    assert share([8, 4], 20) == [8, 4]
    assert share([30, 4], 12) == [8, 4]
    assert share([30, 30], 12) == [6, 6]
    assert share([30, 30], 2) == [1, 1]
    assert share([5], 3) == [3]
