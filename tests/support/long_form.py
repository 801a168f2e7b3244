"""The long form of a test that tries random things: a command with a number of runs and a seed."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory


def long_form(run: Callable[[Path, int, int], Mapping[str, int]], description: str | None, runs: int) -> None:
    """Run from the command line; what goes wrong is raised, and how the runs ended is printed.

    Args:
        run: takes a folder, the number of runs and the seed; returns how many ended in which way.
        runs: how many, where the person does not say.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--seed", type=int, default=1)
    given, began = parser.parse_args(), time.perf_counter()
    with TemporaryDirectory() as folder:
        ends = run(Path(folder), given.runs, given.seed)
    print(f"{given.runs} runs in {time.perf_counter() - began:.1f} s, nothing wrong: {dict(ends)}")
