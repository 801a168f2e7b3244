"""A settings file that is changed in another editor while the program runs holds without a new start."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.models.offline import OfflineModel
from agent.models.scripted import ScriptedModel, answer
from tests.support.program import Program, make_store, program
from tests.support.settings import page, preferences, row
from tui.chat.controller import UNREAD
from tui.screens.main import screen
from tui.settings.live_settings import NO_MODEL
from tui.widgets.footer import KeyLine

MENDED = "config.toml changed; the new settings are in use."


def bottom_line(p: Program) -> str:
    return p.main.query_one(KeyLine).render_line(0).text


async def test_the_model_is_named_as_soon_as_what_it_goes_by_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = preferences(tmp_path, 'max_steps = "many"\n')
    async with program(
        make_store(tmp_path), preferences=settings, make_model=settings.make_model, ready=False
    ) as p:
        p.app._name_model = settings.name_model
        await p.notified("max_steps must be a whole number")
        await p.until(lambda: p.main.documents is not None and p.main.documents.id == "one")
        p.app.model_name = settings.name_model()
        assert p.app.model_name == NO_MODEL
        (tmp_path / "config.toml").write_text("max_steps = 9\n")
        await p.notified(MENDED)
        assert (p.app.model_name, p.app.settings.max_steps) == ("offline", 9)
        await p.until(lambda: "offline" in bottom_line(p))


async def test_a_conversation_that_could_not_be_opened_is_once_what_was_wrong_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    async with program(store, answer("Said before.")) as p:
        await p.run_to_end("hello")
    settings = preferences(tmp_path, 'model = "offline"\napproval = "ask-al"\n')
    async with program(store, preferences=settings, make_model=settings.make_model, ready=False) as p:
        await p.until(lambda: p.main.documents is not None and p.main.documents.id == "one")
        await p.until(p.main.conversation.settled.is_set)
        assert p.main.conversation.view.when_empty == UNREAD
        p.main.chat_bar.set_draft("a draft")
        (tmp_path / "config.toml").write_text('model = "offline"\napproval = "ask-all"\n')
        view = p.main.conversation.view
        await p.until(lambda: any("Said before." in entry.text() for entry in view.layout_model.entries))
        assert p.main.chat_bar.draft == "a draft"


async def test_a_message_that_is_sent_at_once_goes_by_what_was_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "LOOK_EVERY", 3600)
    settings = preferences(tmp_path, 'model = "offline"\nmax_steps = "many"\n')
    async with program(
        make_store(tmp_path), preferences=settings, make_model=settings.make_model, ready=False
    ) as p:
        await p.until(lambda: p.main.documents is not None and p.main.documents.id == "one")
        await p.until(p.main.conversation.settled.is_set)
        await p.say("hello")
        await p.until(lambda: p.main.chat_bar.draft == "hello")
        (tmp_path / "config.toml").write_text('model = "offline"\nmax_steps = 9\n')
        await p.say("hello")
        await p.until(
            lambda: p.main.conversation.current is not None and p.main.conversation.current.chat is not None
        )
        await p.until(
            lambda: any(turn.type == "assistant_text" for turn in p.main.conversation.current.chat.turns)
        )


async def test_the_page_of_settings_shows_the_file_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "LOOK_EVERY", 3600)
    settings = preferences(tmp_path, "retries = 2\npanel_seconds = -1.0\n")
    async with program(make_store(tmp_path), model=OfflineModel(), preferences=settings) as p:
        (tmp_path / "config.toml").write_text("retries = 7\n")
        rows = await page(p, "retries")
        await p.until(lambda: row(rows, "retries") == ("7", "the file"))
        assert not any(one.head == "wrong" for one in rows.rows)


async def test_a_file_that_is_broken_elsewhere_is_told_and_what_held_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = preferences(tmp_path, "retries = 2\n")
    async with program(
        make_store(tmp_path), model=ScriptedModel([answer("Fine.")]), preferences=settings
    ) as p:
        (tmp_path / "config.toml").write_text("retries = [\n")
        await p.notified("config.toml:1: ")
        assert p.app.settings.retries == 2
        await p.run_to_end("hello")


def test_what_the_program_writes_itself_is_no_news(tmp_path: Path) -> None:
    settings = preferences(tmp_path, "retries = 2\n")
    assert not settings.look(), "it is as it was at the start"
    settings.store({"retries": 3})
    assert not settings.look()
    (tmp_path / "config.toml").write_text("retries = 7 # mine\n")
    assert settings.look() and settings.settings.retries == 7
    (tmp_path / "config.toml").unlink()
    assert settings.look() and settings.settings.retries == 4
