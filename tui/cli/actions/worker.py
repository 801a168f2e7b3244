"""`persona worker`: runs due actions while nobody watches. Only this command loads the engine."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from personas.errors import PersonaError
from personas.files import trust
from tui.cli.exit_codes import INTERRUPTED, OF_SIGNAL
from tui.cli.group import Invocation
from tui.cli.printing import LONGEST_LINE
from tui.cli.stderr import print_note
from tui.terminal.sanitise import one_line
from tui.terminal.secrets import safe_message

if TYPE_CHECKING:
    from agent.worker.worker import Worker

LEAVE_SECONDS = 2.0
"""How long the database gets at the end to hear that this worker leaves."""


@click.command("worker")
@click.option("--once", is_flag=True, help="Run what is due now, and end: for cron.")
@click.option(
    "--jobs", type=click.IntRange(1, 100), default=4, show_default=True, help="Actions at work at once."
)
@click.option("--while-open", is_flag=True, hidden=True, help="End when stdin does: for the open program.")
@click.pass_obj
def worker_command(invocation: Invocation, once: bool, jobs: int, while_open: bool) -> None:
    """Run approved actions when they are due.

    It runs until you end it, in a terminal, under tmux or systemd. Several workers may run at the same time: each run
    is done once, and what a worker leaves unfinished another one takes over.

    \b
    persona worker
    */10 * * * * persona worker --once
    """
    home = invocation.store.home
    if not trust.is_trusted(home.root):
        raise PersonaError(
            f"{home.root} is not trusted, so nothing in it runs by itself; look at it, then: persona trust"
        )
    try:
        import agent.worker.database  # noqa: F401
    except ModuleNotFoundError as error:
        raise PersonaError(
            f"The package {error.name} is missing: pip install 'dbos>=3.4,<3.5'. Only `persona worker` needs it; "
            "`persona action run ID` runs an action at once."
        ) from None
    from tui.cli.logging_setup import log_to, set_up

    set_up()
    log_to(home)
    worker = _make_worker(invocation, jobs)
    if not once:
        print_note(f"Runs the actions of {home.root} when they are due. Ctrl+C ends it.")
    asyncio.run(_serve(worker, once, while_open))


def _make_worker(invocation: Invocation, jobs: int) -> Worker:
    from platformdirs import user_state_path

    from agent.actions.estimate import price_of_backlog
    from agent.actions.run import run_action
    from agent.worker.database import Database, name_of_home
    from agent.worker.worker import Worker
    from tui.settings.model_factory import run_context

    settings, store = invocation.agent_settings, invocation.store
    context = run_context(store, settings)
    home = name_of_home(store.home.root, settings.worker.get("home", ""))
    folder = Path(user_state_path("persona-editor", appauthor=False)) / "worker"
    return Worker(
        store,
        home,
        Database(settings.worker.get("database", ""), home, folder),
        run=lambda action, run_id, due, fence: run_action(
            context, action, run_id=run_id, due=due, fence=fence
        ),
        price=lambda action, count: price_of_backlog(context, action, count),
        confirm_dollars=settings.confirm_dollars,
        jobs=jobs,
        now=lambda: datetime.now(UTC),
        notify=lambda line: print_note(
            f"{datetime.now():%H:%M:%S} {one_line(safe_message(line), LONGEST_LINE)}"
        ),
    )


async def _serve(worker: Worker, once: bool, while_open: bool) -> None:
    from agent.worker.engine import LeaseLost

    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[int] = loop.create_future()

    def stop(code: int) -> None:
        if not stopped.done():
            stopped.set_result(code)

    def stop_with_stdin() -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stdin.buffer.read()
        loop.call_soon_threadsafe(stop, 0)

    for number, code in OF_SIGNAL.items():
        with contextlib.suppress(NotImplementedError, ValueError):  # a platform or thread without signals
            loop.add_signal_handler(number, stop, code)
    if while_open:
        threading.Thread(target=stop_with_stdin, daemon=True).start()
    serving = asyncio.ensure_future(worker.serve(once=once))
    waiting: set[asyncio.Future[object]] = {serving, stopped}  # type: ignore[arg-type]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    if stopped.done():
        if stopped.result():
            start = "\n" if stopped.result() == INTERRUPTED and sys.stderr.isatty() else ""  # after its ^C
            print_note(f"{start}Stopped. The next worker continues its runs.")
        with contextlib.suppress(Exception):
            await asyncio.wait_for(asyncio.to_thread(worker.leave), LEAVE_SECONDS)
        _end(stopped.result())
    try:
        await serving
    except LeaseLost as error:
        logging.getLogger(__name__).warning("%s It restarts.", error)
        _flush()
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def _end(code: int) -> NoReturn:
    """End the process where it stands, as if it were killed: whatever is at work, another worker goes on with it."""
    _flush()
    os._exit(code)


def _flush() -> None:
    for handler in logging.getLogger().handlers:
        handler.flush()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
