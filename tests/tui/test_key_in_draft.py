"""A key that lands in the chat bar: it is on no disk, and goes to no model unless the person insists."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import Paste

from agent.models.scripted import answer
from tests.support.drafts import recall
from tests.support.messages_server import MessagesServer
from tests.support.program import Program, make_store, program
from tests.support.settings import preferences
from tests.tui.test_app_connect import WORKS
from tui.drafts.store import DraftStore
from tui.terminal import secrets
from tui.terminal.secrets import GRACE, SendTwiceGuard, is_key, keep_out, redact
from tui.widgets import chat_bar

PASTED = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize(
    ("text", "is_alone"),
    [
        *((text, True) for text in (PASTED, f" {PASTED}\n", f'"{PASTED}"', f"export ANTHROPIC_API_KEY={PASTED}")),
        *((text, True) for text in (f"/model {PASTED}", "x-api-key: abcdefgh", "in-the-environment")),
        *((text, False) for text in ("", "hello", "[secret]", f"is {PASTED} good?", "/model offline", "sk-1")),
    ],
)  # fmt: skip
def test_what_is_nothing_but_a_key(text: str, is_alone: bool) -> None:
    assert is_key(text, {"SOME_TOKEN": "in-the-environment"}) is is_alone


@pytest.mark.parametrize("secret", ["abcd", "hunter2"])
def test_a_short_secret_that_was_typed_is_left_out(monkeypatch: pytest.MonkeyPatch, secret: str) -> None:
    monkeypatch.setattr(secrets, "_typed", set())
    keep_out("abc")  # no secret, and in too many words
    keep_out(secret)
    assert redact(f"abc {secret}, it said", {}) == "abc [secret], it said"


def test_a_key_that_was_let_through_is_asked_about_again() -> None:
    asks = SendTwiceGuard()
    assert [asks.lets(PASTED, now) for now in (1.0, 1.0 + GRACE / 2, 1.0 + GRACE)] == [False, False, True]
    assert not asks.lets(PASTED, 9.0), "it was let through once, not for good"
    assert not asks.lets("sk-another-key", 19.0)
    assert asks.lets("sk-another-key", 20.0)


@pytest.fixture(autouse=True)
def _own_drafts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a drafts database of its own: what another sent is in the pages of a common one."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def in_any_file(p: Program, text: str) -> bool:
    drafts = DraftStore(p.store.home.root).path
    files = [*p.store.home.root.rglob("*"), *drafts.parent.glob(f"{drafts.name}*")]
    return any(text.encode() in path.read_bytes() for path in files if path.is_file())


async def test_a_key_in_the_chat_bar_is_sent_only_when_it_is_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(chat_bar, "monotonic", lambda: now[0])
    async with program(make_store(tmp_path), answer("A key?")) as p:
        p.main.focus_chat()
        p.main.chat_bar.input.post_message(Paste(PASTED))
        await p.until(lambda: p.main.chat_bar.draft == PASTED)
        await p.main.remember()
        assert recall(p.store.home).drafts == {}
        await p.press("enter")
        await p.notified("looks like an API key")
        await p.press("enter")  # the same press once more
        await p.pilot.pause()
        assert p.main.chat_bar.draft == PASTED
        assert p.main.conversation.sent_messages() == []
        assert not in_any_file(p, PASTED)
        now[0] += 1
        await p.press("enter")
        await p.until(lambda: in_any_file(p, PASTED))
        assert p.main.chat_bar.draft == ""


async def test_model_with_a_key_connects_and_keeps_it_off_every_disk(tmp_path: Path) -> None:
    async with MessagesServer(WORKS, key=PASTED) as server:
        settings = preferences(tmp_path, f'base_url = "{server.url}"\nmodel = "claude-sonnet-5-5"\n')
        async with program(make_store(tmp_path), preferences=settings) as p:
            await p.say(f"/model {PASTED}")
            await p.until(lambda: p.app.model_name == "claude-sonnet-5-5")
            assert PASTED not in p.main.conversation.sent_messages()
            assert not in_any_file(p, PASTED)
