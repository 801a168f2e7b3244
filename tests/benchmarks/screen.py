"""The program in a real pseudo-terminal: what it sends, what it takes, how fast it answers a key.

    python -m tests.benchmarks.screen            # about four minutes
    python -m tests.benchmarks.screen --short    # texts of a fifth of the length

Each case is the program as a process of its own; answers come over HTTP from the test server. The floor, a bare
Textual app with one text area, is measured in the same run. Bytes are those the terminal got, CPU and memory are the
process's own (from /proc).
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from agent.core.turns import Turn
from agent.transcript.session_log import Session
from personas.files.current_sessions import link_session
from personas.files.home import open_home
from tests.benchmarks.conversation import CODE_LINE, ITEM, PROSE, conversation
from tests.support.messages_server import KEY, MessagesServer, say
from tests.support.terminal import Terminal

SIZE = (120, 40)
TICKS = os.sysconf("SC_CLK_TCK")
MARKS = "жщюяфцэъыьбдгплз"
"""Letters that stand nowhere else: one that comes back from the program is the echo of the key."""

BARE = """
from textual.app import App
from textual.widgets import TextArea
class Bare(App):
    def compose(self):
        yield TextArea(id="a")
Bare().run()
"""


class Watched(Terminal):
    """A terminal that only counts: emulating it would cost more than the program."""

    def read(self, seconds: float = 0.02) -> None:
        """Take what was written, without drawing it."""
        keep, self._stream = self._stream, _Nothing()  # type: ignore[assignment]
        try:
            super().read(seconds)
        finally:
            self._stream = keep

    def watch(self, seconds: float) -> None:
        """Let the program work for so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.read(left)

    def quiet(self, seconds: float, within: float = 30.0) -> int:
        """Let the program work until nothing has come for so long; return how many bytes came before that."""
        first, end = len(self.received), time.monotonic() + within
        while True:
            before = len(self.received)
            self.watch(seconds)
            if len(self.received) == before:
                return before - first
            assert time.monotonic() < end, "the program never stops writing"

    def came(self, text: str, since: int = 0, seconds: float = 60.0) -> None:
        """Wait until `text` was sent after the first `since` bytes."""
        wanted = text.encode()
        self.until(lambda: self.received.find(wanted, max(0, since - len(wanted))) >= 0, seconds)

    def cpu(self) -> float:
        """Seconds of CPU the process took so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def megabytes(self) -> float:
        """Resident memory now."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def keys(self, count: int = 12, between: float = 0.15) -> tuple[float, float]:
        """Press letters; return the median milliseconds to their echo, and the median bytes until it was quiet."""
        waited, sent = [], []
        for letter in (MARKS * 4)[:count]:
            before = len(self.received)
            begun = time.monotonic()
            self.send(letter)
            self.came(letter, before, 10)
            waited.append((time.monotonic() - begun) * 1000)
            self.watch(between)
            sent.append(len(self.received) - before)
        return statistics.median(waited), statistics.median(sent)


class _Nothing:
    def feed(self, data: bytes) -> None:
        """Draw nothing."""


@contextlib.contextmanager
def home(prompt: str = "You are short.", turns: Sequence[Turn] = ()) -> Iterator[Path]:
    """Make a folder with a home in it, one persona, and a conversation about it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "home" / "personas").mkdir(parents=True)
        (folder / "home" / "personas" / "a.toml").write_text(
            f'name = "A"\nsystem_prompt = """\n{prompt}\n"""\n', encoding="utf-8"
        )
        if turns:
            place = open_home(folder / "home", env={"PERSONA_CONFIG": str(folder / "config.toml")})
            session = Session.create(place.sessions, "a")
            for turn in turns:
                session.add(turn)
            session.sync()
            session.close()
            link_session(place, "a", session.id)
        yield folder


@contextlib.contextmanager
def served(text: str, delta: int, delay: float) -> Iterator[str]:
    """Serve one answer from a process of its own, whose work does not hold up the clock here; yield its URL."""
    command = [sys.executable, "-m", "tests.benchmarks.screen", "--serve", str(delta), str(delay)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(text)
            process.stdin.close()
            yield process.stdout.readline().strip()
        finally:
            process.kill()  # else its end would be waited for


def serve(delta: int, delay: float) -> None:
    """Be that process."""
    text = sys.stdin.read()
    with MessagesServer(lambda _body: say(text, delta=delta, delay=delay), key=KEY) as server:
        print(server.url, flush=True)
        time.sleep(600)


@contextlib.contextmanager
def started(folder: Path, url: str = "") -> Iterator[Watched]:
    """Start the program on the home in `folder` and wait until it stands still."""
    env = {}
    if url:
        env = {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": KEY,
            "PERSONA_MODEL": "claude-sonnet-5-5",
        }
    with Watched(["--home", str(folder / "home"), "a"], folder, env, SIZE) as terminal:
        terminal.came("Test inputs")
        terminal.watch(2.5)  # the HTTP client is loaded after the first paint
        yield terminal


def report_floor() -> float:
    """A key in a bare Textual app."""
    with (
        tempfile.TemporaryDirectory() as name,
        Watched([], Path(name), size=SIZE, command=(sys.executable, "-c", BARE)) as terminal,
    ):
        terminal.watch(2.0)
        wait, sent = terminal.keys()
    print(f"bare Textual app: key to echo {wait:.1f} ms, {sent:.0f} bytes a key")
    return wait


def report_idle(floor: float) -> None:
    """Nothing happens: what is sent and burned then, and what a key costs."""
    with home() as folder, started(folder) as terminal:
        # A new home is greeted by a message: its going away is no idleness, and is told apart.
        print(f"the greeting of a new home goes away: {terminal.quiet(5)} bytes")
        before, cpu = len(terminal.received), terminal.cpu()
        terminal.watch(5)
        print(
            f"idle for 5 s: {len(terminal.received) - before} bytes, {(terminal.cpu() - cpu) / 5:.1%} of a core, "
            f"{terminal.megabytes():.0f} MB"
        )
        wait, sent = terminal.keys()
        print(
            f"  a key in the chat bar       {wait:8.1f} ms ({wait / floor:.2f} x the floor), {sent:.0f} bytes"
        )


def report_prompt(floor: float) -> None:
    """A key in the middle of a long prompt."""
    with home("word word word word word\n" * 4_000) as folder, started(folder) as terminal:
        terminal.send("\x1bOR")  # F3
        terminal.watch(1.0)
        terminal.send("\x1b[6~" * 5)
        terminal.watch(1.0)
        wait, sent = terminal.keys()
        print(
            f"a key in a 100 KB prompt      {wait:8.1f} ms ({wait / floor:.2f} x the floor), {sent:.0f} bytes"
        )


def report_stream(name: str, text: str, *, delta: int, delay: float) -> None:
    """An answer that streams while the person types."""
    whole = text + "\n\nthe very end"
    with served(whole, delta, delay) as url, home() as folder, started(folder, url) as terminal:
        idle, _ = terminal.keys(8)
        terminal.send("\x15go\r")
        before, cpu, begun = len(terminal.received), terminal.cpu(), time.monotonic()
        terminal.watch(2.0)
        waits = []
        while terminal.received.find(b"the very end", before) < 0 and len(waits) < 400:
            # Not in step with the frames, which come every 50 ms.
            waits.append(terminal.keys(1, between=0.37)[0])
        terminal.came("the very end", before)
        seconds = time.monotonic() - begun
        sent, cpu = len(terminal.received) - before, terminal.cpu() - cpu
        peak = terminal.megabytes()
    print(f"{name}, {len(text) // 1000} KB in {seconds:.0f} s")
    typed = f"{statistics.median(waits):.1f} ms, idle {idle:.1f} ms: {statistics.median(waits) / idle:.2f} x (budget 2)"
    print(f"  key to echo, median         {typed}" if waits else "  too short to type in")
    print(
        f"  bytes per streamed character{sent / len(text):8.1f} ({sent / 1e6:.2f} MB), {cpu / seconds:.0%} of a core, "
        f"{peak:.0f} MB"
    )


def report_runs(number: int) -> None:
    """Test inputs that are run, four at once, while the person types; each answer takes a second."""
    with served(PROSE[:600], 6, 0.01) as url, home() as folder:
        with (folder / "home" / "personas" / "a.toml").open("a", encoding="utf-8") as file:
            file.write(
                "".join(f'[[test_inputs]]\nid = "n{i}"\ncontent = "Question {i}"\n' for i in range(number))
            )
        with started(folder, url) as terminal:
            idle, _ = terminal.keys(12)
            before = len(terminal.received)
            terminal.send("\x14")  # Ctrl+T
            terminal.came(f"/{number}", before)
            waits = [terminal.keys(1, between=0.37)[0] for _ in range(number // 8)]
            cpu, begun = terminal.cpu(), time.monotonic()
            terminal.watch(5)
            load = (terminal.cpu() - cpu) / (time.monotonic() - begun)
    print(f"{number} test inputs are run, four at once")
    print(
        f"  key to echo, median         {statistics.median(waits):.1f} ms, idle {idle:.1f} ms: "
        f"{statistics.median(waits) / idle:.2f} x (budget 2), {load:.0%} of a core"
    )


def report_session(turns: int, floor: float) -> None:
    """The program on a long conversation: open, scroll, key, resize, quit."""
    with home(turns=conversation(turns)) as folder:
        begun = time.monotonic()
        with Watched(["--home", str(folder / "home"), "a"], folder, size=SIZE) as terminal:
            terminal.came("Test inputs")
            painted = time.monotonic() - begun
            terminal.quiet(1.5)
            before = len(terminal.received)
            begun = time.monotonic()
            terminal.send("\x0f")  # Ctrl+O: the panel
            terminal.came("never pretends", before)
            shown = time.monotonic() - begun
            terminal.watch(0.5)
            wait, sent = terminal.keys()
            before = len(terminal.received)
            terminal.send("\x1b[5~")
            terminal.watch(0.5)
            page = len(terminal.received) - before
            memory, cpu = terminal.megabytes(), terminal.cpu()
            terminal.resize(SIZE[0] - 20, SIZE[1])
            terminal.watch(1.0)
            resize = terminal.cpu() - cpu
            terminal.send("\x03\x03\x03")
            begun = time.monotonic()
            terminal.send("\x03\x03")
            terminal.ended(10)
            left = time.monotonic() - begun
    print(
        f"{turns} turns: paint {painted * 1000:.0f} ms, panel {shown * 1000:.0f} ms, {memory:.0f} MB, "
        f"quit {left * 1000:.0f} ms"
    )
    print(
        f"  key / page up / resize      {wait:8.1f} ms ({wait / floor:.2f} x the floor), {sent:.0f} bytes / "
        f"{page} bytes / {resize * 1000:.0f} ms of CPU"
    )


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    if "--serve" in arguments:
        serve(int(arguments[1]), float(arguments[2]))
        return
    part = 5 if "--short" in arguments else 1
    print(f"Python {sys.version.split()[0]}, {SIZE[0]}x{SIZE[1]}, {os.cpu_count()} cores")
    floor = report_floor()
    report_idle(floor)
    report_prompt(floor)
    prose = (PROSE * (200_000 // len(PROSE) + 1))[: 200_000 // part]
    report_stream("prose at 1,000 deltas/s", prose, delta=12, delay=0.0005)
    code = "```python\n" + CODE_LINE * (20_000 // len(CODE_LINE) // part) + "```\n"
    report_stream("one code fence at 100 tokens/s", code, delta=4, delay=0.009)
    report_stream("one list at 100 tokens/s", ITEM * (20_000 // len(ITEM) // part), delta=4, delay=0.009)
    report_runs(200)
    for turns in (1_000, 10_000):
        report_session(turns, floor)


if __name__ == "__main__":
    main(sys.argv[1:])
