"""A key stands in nothing that is shown, stored or logged, whatever raised with it in its words."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from pydantic import BaseModel

from agent.core import cancellation
from agent.core.agent import Agent
from agent.core.events import Event
from agent.core.model import BlockEvent, Done, Failed, ModelError, Notice, Request
from agent.core.redaction import Secrets
from agent.core.retry import RetryPolicy
from agent.core.tool import Tool, ToolContext
from agent.core.turns import NoticeTurn, Turn
from agent.models.scripted import ScriptedModel, ToolUse, answer
from agent.transcript.session_log import Session
from personas.errors import PersonaError

KEY = "sk-ant-'quoted'-Ä/+=-0123456789"


class NoInput(BaseModel):
    """Nothing."""


class Leaking:
    """Fails in a given way, with what the request's key is put into."""

    name, endpoint = "leaking", "embedded"

    def __init__(self, how: str, words: str) -> None:
        self.how, self.words = how, words

    async def stream(self, request: Request) -> AsyncIterator[BlockEvent]:
        text = self.words.replace("KEY", request.api_key or "")
        try:
            match self.how:
                case "raise":
                    raise RuntimeError(text) from ValueError(text)
                case "error":
                    yield Failed(ModelError("server", text, retryable=True))
                case _:
                    yield Notice(text)
                    yield Done("end_turn")
        finally:
            if self.how == "close":
                raise RuntimeError(text)


WAYS = ["raise", "error", "notice", "close"]
WORDS = ["Illegal header value b'Bearer KEY'", "x" * 172 + " KEY", "KEY" * 500]


async def everything(agent: Agent, folder: Path, caplog: pytest.LogCaptureFixture) -> str:
    """Run twice and return what there is to see of it."""
    caplog.set_level(logging.DEBUG)
    session = Session.create(folder, "p")
    seen: list[Event] = []
    session.attach(agent)
    agent.subscribe(seen.append)
    for _ in range(2):
        await agent.prompt("hi")
    return repr(seen) + session.path.read_text() + repr(agent.turns) + caplog.text


@pytest.mark.parametrize(
    ("how", "words", "key"),
    [*((how, WORDS[0], f" {KEY}\n") for how in WAYS), *(("raise", words, KEY) for words in WORDS)],
)
async def test_a_key_a_model_was_given_stands_in_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, how: str, words: str, key: str
) -> None:
    agent = Agent(model=Leaking(how, words), get_api_key=lambda: key)
    agent.when_failed = lambda error: NoticeTurn(content=error.message)
    agent.retry = RetryPolicy(retries=1, base=0.0)
    told = await everything(agent, tmp_path, caplog)
    assert "0123456789" not in told and "sk-ant" not in told
    assert "[key]" in told


@pytest.mark.parametrize("form", [repr, lambda key: repr(key.encode()), json.dumps, quote, str.split])
def test_a_key_is_known_in_every_form_in_which_code_quotes_it(form: Any) -> None:
    key = f"{KEY}\n{KEY[::-1]}"
    shown = Secrets(None, "", key).clean(f"before {form(key)} after")
    assert "0123456789" not in shown and "9876543210" not in shown
    assert shown.startswith("before ") and shown.endswith(" after")


@pytest.mark.parametrize("form", [str, repr, lambda key: repr(key.encode()), json.dumps, quote])
def test_a_text_that_was_cut_within_a_key_shows_no_part_of_it(form: Any) -> None:
    whole = f"before {form(KEY)}".encode()
    for size in range(len(whole)):
        cut = whole[:size].decode("utf-8", "replace")
        shown = Secrets(KEY).clean(cut)
        assert "0123456789" not in shown and "quoted" not in shown
        assert shown == cut or shown.startswith("before ")


async def test_what_raised_in_place_of_giving_the_key_is_told_by_its_type(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def raising() -> str:
        raise ValueError(f"the key {KEY} has a newline")

    agent = Agent(model=Leaking("notice", "KEY"), get_api_key=raising)
    told = await everything(agent, tmp_path, caplog)
    assert "0123456789" not in told
    assert "The API key could not be got: get_api_key raised ValueError." in told


async def test_what_an_application_says_to_be_shown_of_its_key_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def raising() -> str:
        raise PersonaError("Log in again.")

    agent = Agent(model=Leaking("notice", "KEY"), get_api_key=raising)
    assert "Log in again." in await everything(agent, tmp_path, caplog)


async def test_a_key_once_given_stands_in_no_failure_of_other_functions(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def transform(turns: Sequence[Turn]) -> Sequence[Turn]:
        if asked:
            raise RuntimeError(f"while {KEY} was used")
        return turns

    def give() -> str:
        asked.append(KEY)
        return KEY

    asked: list[str] = []
    agent = Agent(model=Leaking("error", "again"), get_api_key=give)
    agent.transform_context = transform
    agent.retry = RetryPolicy(retries=1, base=0.0)
    told = await everything(agent, tmp_path, caplog)
    assert "RuntimeError: while [key] was used" in told


@pytest.mark.parametrize("how", ["returns", "raises"])
async def test_a_key_that_is_given_too_late_stands_in_no_log(
    caplog: pytest.LogCaptureFixture, how: str
) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def give() -> str:
        asked.set()
        while not go_on.is_set():
            with suppress(asyncio.CancelledError):
                await go_on.wait()
        if how == "raises":
            raise ValueError(f"no good: {KEY}")
        return KEY

    caplog.set_level(logging.DEBUG)
    agent = Agent(model=Leaking("notice", "KEY"), get_api_key=give)
    agent.grace = 0.01
    earlier = set(cancellation.detached)
    run = asyncio.ensure_future(agent.prompt("hi"))
    await asked.wait()
    agent.abort("stop")
    await run
    late = cancellation.detached - earlier
    go_on.set()
    await asyncio.wait(late)
    await asyncio.sleep(0)
    assert "was dropped" in caplog.text and ("ValueError" in caplog.text) is (how == "raises")
    assert "0123456789" not in caplog.text


@pytest.mark.parametrize(
    "where", ["before_tool_call", "after_tool_call", "on_launch", "execute", "when_idle"]
)
async def test_a_key_once_given_stands_in_no_failure_around_a_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, where: str
) -> None:
    def leak(*_args: object) -> Any:
        raise RuntimeError(f"while {KEY} was used")

    async def work(_input: BaseModel, _ctx: ToolContext) -> str:
        return str(leak()) if where == "execute" else "done"

    call = ToolUse("work", {})
    agent = Agent(
        model=ScriptedModel([answer(call), answer("done"), answer(call), answer("done")]),
        tools=[Tool("work", "d", "l", NoInput, work)],
        get_api_key=lambda: KEY,
    )
    if where != "execute":
        setattr(agent, where, leak)
    told = await everything(agent, tmp_path, caplog)
    assert "while [key] was used" in told and "0123456789" not in told
