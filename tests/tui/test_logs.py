"""What is logged is shown to nobody who did not ask for it, and never with a secret or an exception's chain."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from typing import NoReturn

import pytest

from agent.core.agent import Agent
from agent.core.events import Event
from agent.models.scripted import ScriptedModel, answer
from tui.cli import error_handling as boundary
from tui.cli.logging_setup import set_up

SECRET = "sk-ant-secret-0123456789"


@pytest.fixture
def bare() -> Iterator[Callable[[], None]]:
    """Return what takes all handlers away, as a process has none that did not ask for any; pytest adds its own."""
    root, agent = logging.getLogger(), logging.getLogger("agent")
    handlers, level = list(root.handlers), agent.level
    yield root.handlers.clear
    root.handlers[:] = handlers
    agent.setLevel(level)


def fail(_event: Event) -> NoReturn:
    try:
        raise KeyError("the first of the chain")
    except KeyError:
        raise RuntimeError(f"with {SECRET}\x1b[2J") from None


async def run() -> None:
    agent = Agent(model=ScriptedModel([answer("a")]))
    agent.subscribe(fail)
    await agent.prompt("x")


async def test_the_agent_by_itself_writes_nothing(
    capsys: pytest.CaptureFixture[str], bare: Callable[[], None]
) -> None:
    bare()
    await run()
    assert capsys.readouterr() == ("", "")


def test_what_the_event_loop_and_libraries_log_is_written_nowhere(
    capsys: pytest.CaptureFixture[str], bare: Callable[[], None]
) -> None:
    bare()
    set_up()
    logging.getLogger("asyncio").error("forgotten", exc_info=RuntimeError(SECRET))
    assert capsys.readouterr() == ("", "")


async def test_who_asks_for_it_gets_the_log_without_secrets_and_chain(
    capsys: pytest.CaptureFixture[str], bare: Callable[[], None]
) -> None:
    bare()
    with pytest.raises(SystemExit):
        boundary.run(["--debug", "--version"])
    capsys.readouterr()
    await run()
    shown = capsys.readouterr().err
    assert "a listener failed; the run goes on: fail: RuntimeError: with [secret]" in shown
    assert __file__ in shown
    assert not [word for word in ("0123456789", "KeyError", "first of the chain\n", "\x1b") if word in shown]


def test_what_cannot_be_written_down_is_dropped(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, bare: Callable[[], None]
) -> None:
    bare()
    set_up(debug=True)
    logging.getLogger("tui").error("%d", "no number")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", None)
        logging.getLogger("tui").error("to nobody")
    assert capsys.readouterr().err == ""
