"""A worker whose runs only write down that they began and were stored."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from agent.worker import engine, heartbeat
from agent.worker.database import Database
from agent.worker.engine import Engine, Fence
from agent.worker.heartbeat import Heartbeat


async def work(options: argparse.Namespace) -> None:
    folder: Path = options.folder
    database = Database(options.database, options.home, folder / "state")

    def tell(word: str, run_id: str) -> None:
        with open(folder / "told", "a") as told:
            told.write(f"{word} {run_id} {os.getpid()}\n")

    async def execute(_home: str, _action: str, run_id: str, _consent: str, fence: Fence) -> str:
        tell("begin", run_id)
        while not (folder / "go").exists():
            await asyncio.sleep(0.02)
        await fence()
        tell("stored", run_id)
        return "completed"

    worker = Engine(
        database,
        options.home,
        execute,
        jobs=options.jobs,
        heartbeat=Heartbeat(database, machine=options.machine),
    )
    await asyncio.to_thread(worker.start, asyncio.get_running_loop())
    for number in range(options.runs):
        await asyncio.to_thread(worker.enqueue, f"run-{number}", "action", "hash")
    tell("ready", "-")
    await worker.given_up.wait()
    tell("given-up", "-")
    os._exit(0)


def main(arguments: Sequence[str]) -> None:
    """Work until the process is ended."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--database", default="")
    parser.add_argument("--home", default="trial")
    parser.add_argument("--machine", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--beat", type=float, default=5.0)
    given = parser.parse_args(arguments)
    heartbeat.BEAT, heartbeat.SILENT = given.beat, 3 * given.beat
    engine.LOOK = given.beat / 5
    asyncio.run(work(given))
