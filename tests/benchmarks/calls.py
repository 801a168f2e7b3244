"""Through how many modules and calls of ours one letter and one message run.

    python -m tests.benchmarks.calls

The letter is typed into the prompt, up to its echo and up to the file; the message is one that the model answers in one
word. Both are the second of their kind: what is imported or cached with the first is not counted.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from agent.models.scripted import ScriptedModel
from tests.support.forked import ROOT
from tests.support.program import make_store, program

OURS = tuple(str(ROOT / package) + "/" for package in ("tui", "agent", "personas"))


class Calls:
    """Counts the calls of functions of ours while it is entered, in all threads."""

    def __init__(self) -> None:
        self.of_module: Counter[str] = Counter()

    def __enter__(self) -> Calls:
        threading.setprofile_all_threads(self._count) if sys.version_info >= (
            3,
            12,
        ) else threading.setprofile(self._count)
        sys.setprofile(self._count)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _count(self, frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            self.of_module[frame.f_code.co_filename] += 1

    def __str__(self) -> str:
        return f"{len(self.of_module):4} modules {self.of_module.total():6} calls"


async def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        store = make_store(Path(name))
        async with program(store, model=ScriptedModel([["Yes."]] * 2), frames=True) as p:
            file = p.file("one")

            async def letter(to_the_file: bool) -> None:
                before = file.stat().st_mtime_ns
                await p.press("x")
                if to_the_file:
                    await p.until(lambda: file.stat().st_mtime_ns != before)

            p.prompt.focus()
            for what, to_the_file in (("a letter, to its echo", False), ("a letter, to the file", True)):
                await letter(to_the_file=True)
                with Calls() as calls:
                    await letter(to_the_file)
                print(f"{what:24} {calls}")
            await p.run_to_end("Is it?")
            with Calls() as calls:
                await p.run_to_end("Is it really?")
            print(f"{'a message, to its answer':24} {calls}")


if __name__ == "__main__":
    asyncio.run(main())
