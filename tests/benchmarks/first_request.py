"""How long a message takes to leave as a request, and the memory it costs: `persona chat`, and the program's first messages.

    python -m tests.benchmarks.first_request [--runs 7]

The server is on loopback and notes when each request arrives. Medians; the budgets of DESIGN stand beside them, and the
exit code is 1 where one is broken.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from personas.files.home import open_home
from tests.benchmarks.screen import SIZE, Watched
from tests.support.forked import ROOT
from tests.support.messages_server import KEY, Answer, MessagesServer, say

BUDGET = 0.8
"""Seconds from the start of `persona chat` to its request."""
MEMORY = 85.0
"""Megabytes at the most, once the first answer is there."""
ANSWER = "zyzzyva"
CHAT = """
import atexit
atexit.register(lambda: print(open("/proc/self/status").read()))
from tui.cli import main
main()
"""


class Noting:
    """Answers every request and notes when it came."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def __call__(self, _body: dict[str, Any]) -> Answer:
        self.times.append(time.perf_counter())
        return say(f"{ANSWER}{len(self.times)}.")


def peak(status: str) -> float:
    """Return the peak of resident memory in megabytes, from the text of /proc/PID/status."""
    match = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert match is not None, status
    return int(match[1]) * 1024 / 1e6


def chat(env: dict[str, str], noted: Noting) -> tuple[float, float, float]:
    """Return the seconds from the start of `persona chat` to its request, the CPU it takes in all, and its memory."""
    cpu = os.times()
    before = len(noted.times)
    started = time.perf_counter()
    command = [sys.executable, "-c", CHAT, "chat", "optimist", "hello", "--new"]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ANSWER in done.stdout
    spent, burned = noted.times[before] - started, os.times()
    taken = burned.children_user + burned.children_system - cpu.children_user - cpu.children_system
    return spent, taken, peak(done.stdout)


def program(folder: Path, env: dict[str, str], noted: Noting) -> tuple[float, float, float]:
    """Return the seconds from Enter to the request for the first and the second message, and the peak of memory."""
    waits = []
    with Watched(["--home", str(folder / "home"), "optimist"], folder, env, SIZE, cold=True) as terminal:
        terminal.came("Test inputs")
        terminal.quiet(2.0)
        for word in ("hello", "again"):
            before, seen = len(noted.times), len(terminal.received)
            terminal.send(f"{word}")
            terminal.came(word[-1], seen)
            terminal.watch(0.3)
            sent = time.perf_counter()
            terminal.send("\r")
            terminal.until(lambda before=before: len(noted.times) > before, 30)  # type: ignore[misc]
            waits.append(noted.times[before] - sent)
            terminal.came(f"{ANSWER}{before + 1}", seen)
            terminal.quiet(0.5)
        memory = peak(Path(f"/proc/{terminal.process.pid}/status").read_text())
    return waits[0], waits[1], memory


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    noted = Noting()
    with tempfile.TemporaryDirectory() as name, MessagesServer(noted) as server:
        folder = Path(name)
        open_home(folder / "home")
        env = {
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": KEY,
            "PERSONA_MODEL": "claude-sonnet-5-5",
        }
        place = {"PERSONA_HOME": str(folder / "home"), "PERSONA_CONFIG": str(folder / "config.toml")}
        whole = {"PATH": os.environ["PATH"], "HOME": name, "PYTHONPATH": str(ROOT), **place, **env}
        chat(whole, noted)  # the first one reads files from the disk
        chats = [chat(whole, noted) for _ in range(runs)]
        took, cpu, memory = (statistics.median(column) for column in zip(*chats, strict=True))
        print(
            f"persona chat to its request   {took:6.2f} s (budget {BUDGET} s), {cpu:.2f} s of CPU to its end"
        )
        print(f"  memory after the answer     {memory:6.0f} MB (budget {MEMORY:.0f} MB)")
        measured = [program(folder, env, noted) for _ in range(max(1, runs // 2))]
        first, second, peak_then = (statistics.median(column) for column in zip(*measured, strict=True))
        print(f"the program: first message    {first:6.2f} s, second {second:.2f} s, {peak_then:.0f} MB")
    sys.exit(took > BUDGET or max(memory, peak_then) > MEMORY)


if __name__ == "__main__":
    main()
