"""What is logged is shown to nobody who did not ask for it, and never with a secret or an exception's chain."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from agent.core.agent import Agent
from agent.core.events import Event
from agent.models.scripted import ScriptedModel, ToolUse, answer
from personas.files.home import Home
from tests.support.program import make_store, program
from tui.cli import error_handling
from tui.cli.logging_setup import LARGEST, log_to, set_up

SECRET = "sk-ant-secret-0123456789"


@pytest.fixture
def bare() -> Iterator[Callable[[], None]]:
    """Return what takes all handlers away, as a process has none that did not ask for any; pytest adds its own."""
    root, ours = logging.getLogger(), [logging.getLogger(name) for name in ("agent", "personas", "tui")]
    handlers, levels = list(root.handlers), [logger.level for logger in ours]
    yield root.handlers.clear
    root.handlers[:] = handlers
    for logger, level in zip(ours, levels, strict=True):
        logger.setLevel(level)


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
        error_handling.run(["--debug", "--version"])
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


def lines_of(home: Home) -> str:
    for handler in logging.getLogger().handlers:
        handler.flush()
    return (home.state / "persona.log").read_text(encoding="utf-8")


async def test_the_log_in_the_home_tells_what_the_program_did_and_no_text_and_no_secret(
    tmp_path: Path, bare: Callable[[], None]
) -> None:
    bare()
    set_up()
    store = make_store(tmp_path)
    log_to(store.home)
    rename = answer(ToolUse("update_persona_name", {"name": "Two"}))
    model = ScriptedModel([rename, answer("It is done.")])
    async with program(store, model=model) as p:
        await p.run_to_end("call it Two")
        await p.press("f3")
        await p.until(lambda: p.main.prompt.has_focus)
        await p.press("N", "o", "w")
        await p.until(lambda: p.state == "saved" and "Now" in store.text("one"))
        p.app.show_message(f"it holds {SECRET}", error=True)
        p.app.shutdown.note_fault(RuntimeError(f"with {SECRET}\x1b[2J"))
    said = lines_of(store.home)
    for part in (
        "started in", "opened one", "of one started with", "called update_persona_name", "ended, completed after 2 steps",
        "saved prompt of one", "shown: it holds [secret]", "RuntimeError: with [secret]",
    ):  # fmt: skip
        assert part in said, (part, said)
    assert not [word for word in ("0123456789", "\x1b", "call it Two", "It is done") if word in said]
    assert (store.home.state / "persona.log").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("there", ["pipe", "link", "large"])
def test_what_stands_in_the_place_of_the_log_is_not_waited_for_and_not_written_through(
    tmp_path: Path, bare: Callable[[], None], there: str
) -> None:
    bare()
    set_up()
    home = make_store(tmp_path).home
    path, other = home.state / "persona.log", tmp_path / "other"
    if there == "pipe":
        os.mkfifo(path)
    elif there == "link":
        other.write_text("")
        path.symlink_to(other)
    else:
        path.write_bytes(b"x" * (LARGEST + 1))
    log_to(home)
    for handler in logging.getLogger().handlers:
        handler.flush()
    assert not other.exists() or other.read_text() == ""
    if there == "large":
        assert "started in" in path.read_text() and (home.state / "persona.log.1").exists()
