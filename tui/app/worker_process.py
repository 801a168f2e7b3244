"""The worker of a program that is open: a process of its own, so that its engine is not loaded here."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable
from pathlib import Path


async def run_worker_process(home: Path, model: str, notify: Callable[[str], object]) -> None:
    """Have `persona worker` run for a home while this program is open.

    It reads from a pipe that ends with this program, however that ends.

    Args:
        home: the home's folder.
        model: the agent's model; empty for what the worker's own settings say.
        tell: told why, where it ends before.
    """
    options = ["--home", str(home), *(["--model", model] if model else [])]
    worker = await asyncio.create_subprocess_exec(
        # -P: a stranger's home may be the current folder, and have a `tui` of its own.
        *(sys.executable, "-P", "-m", "tui", *options, "worker", "--while-open"),
        stdin=PIPE,
        stdout=DEVNULL,
        stderr=PIPE,
    )
    assert worker.stderr is not None
    said = ""
    async for line in worker.stderr:
        said = line.decode("utf-8", "replace").strip() or said
    await worker.wait()
    notify(f"The action worker stopped: {said.removeprefix('persona: ')}")
