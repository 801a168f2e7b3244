"""What is written to a terminal never makes the program wait, and a signal is heard whatever hangs."""

from __future__ import annotations

import asyncio
import os
import pty
import select
import signal
import sys
import threading
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

import pytest

from tui.app import signals
from tui.app.signals import Guard
from tui.terminal.textual_compat import nonblocking_writer
from tui.terminal.textual_compat.nonblocking_writer import BEHIND, RESET, TerminalWriter, reset

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nonblocking_writer, "PATIENCE", 30.0)
    monkeypatch.setattr(nonblocking_writer, "LEAVE_WITHIN", 30.0)


@dataclass
class Line:
    """A terminal: the program's end of it, and the person's."""

    file: TextIO
    master: int

    def read(self, last: bytes) -> bytes:
        """Read until it ends so."""
        read = b""
        while not read.endswith(last):
            assert select.select([self.master], [], [], 30)[0], read[-200:]
            read += os.read(self.master, 65536)
        return read


@contextmanager
def terminal() -> Iterator[Line]:
    master, slave = pty.openpty()
    tty.setraw(slave)
    with open(slave, "w", encoding="utf-8") as file:
        yield Line(file, master)
    os.close(master)


@pytest.mark.parametrize("can_reopen", [True, False])
def test_nothing_that_is_written_waits_and_all_of_it_arrives_in_order(
    can_reopen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not can_reopen:
        monkeypatch.setattr(nonblocking_writer, "reopen", lambda _number: None)
    drained = threading.Event()
    with terminal() as line:
        writer = TerminalWriter(line.file)
        writer.start()
        with writer.picture():
            writer.write("\x1b[?2026h")
            writer.write("漢" * BEHIND)
        for number in range(1000):
            writer.write(f"\x1b]0;{number}\x07")
        assert writer.is_behind
        writer.when_drained(drained.set)
        assert not drained.is_set()
        wanted = "\x1b[?2026h" + "漢" * BEHIND + "".join(f"\x1b]0;{number}\x07" for number in range(1000))
        assert line.read(b"\x1b]0;999\x07").decode() == wanted
        assert drained.wait(30)
        assert not writer.is_behind
        writer.stop()
        assert not writer.is_alive()


def test_pictures_that_were_not_begun_are_left_out_whole_when_the_terminal_is_left() -> None:
    with terminal() as line:
        writer = TerminalWriter(line.file)
        writer.write("\x1b[?1049h")
        with writer.picture():
            writer.write("a picture")
        writer.write("\x1b[?1049l")
        stopping = threading.Thread(target=writer.stop)
        writer.start()
        stopping.start()
        sent = line.read(b"\x1b[?1049l")
        stopping.join()
        assert sent.replace(b"a picture", b"") == b"\x1b[?1049h\x1b[?1049l"


def test_a_terminal_that_takes_nothing_is_left_all_the_same_and_is_as_it_should_be_when_it_reads_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nonblocking_writer, "PATIENCE", 0.3)
    drained = threading.Event()
    with terminal() as line:
        writer = TerminalWriter(line.file)
        writer.start()
        with writer.picture():
            writer.write("x" * 500_000)
        while select.select([], [line.file], [], 0)[1]:
            writer.join(0.01)  # until the terminal is full
        writer.when_drained(drained.set)
        writer.stop()
        writer.join(30)
        assert not writer.is_alive()
        assert drained.is_set()
        writer.write("more")
        assert len(line.read(RESET)) < 100_000


def test_a_terminal_that_is_gone_ends_the_writing_and_nothing_else() -> None:
    with terminal() as line:
        writer = TerminalWriter(line.file)
        os.close(line.master)
        line.master = os.open(os.devnull, os.O_RDONLY)
        writer.start()
        writer.write("x")
        writer.join(30)
        assert not writer.is_alive()
        writer.write("x" * 2 * BEHIND)
        assert not writer.is_behind
        writer.stop()
        reset(line.file.fileno())


@pytest.fixture
def kept_handlers() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in signals.SIGNALS}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("kept_handlers")
def test_a_signal_is_heard_and_ends_the_process_though_the_loop_hangs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signals, "GRACE", 0.05)
    ended = threading.Event()
    codes: list[int] = []
    left: list[int] = []

    def end(code: int) -> None:
        codes.append(code)
        ended.set()

    async def hang(guard: Guard) -> None:
        guard.start()
        os.kill(os.getpid(), signal.SIGTERM)
        assert ended.wait(30)
        assert left == []

    with terminal() as line:
        number = line.file.fileno()
        guard = Guard(left.append, files=(number, number), end=end, last_words=lambda: "it is there")
        asyncio.run(hang(guard))
        assert codes == [143]
        assert line.read(b"it is there\n").endswith(RESET + b"persona: it is there\n")


@pytest.mark.usefixtures("kept_handlers")
@pytest.mark.parametrize("number", [signal.SIGQUIT, signal.SIGHUP, signal.SIGINT])
def test_whatever_signal_ends_it_is_heard(number: int) -> None:
    codes: list[int] = []

    async def wait() -> None:
        heard = asyncio.Event()

        def leave(code: int) -> None:
            codes.append(code)
            heard.set()

        guard = Guard(leave, end=codes.append)
        guard.start()
        os.kill(os.getpid(), number)
        await asyncio.wait_for(heard.wait(), 30)
        guard._over.set()

    asyncio.run(wait())
    assert codes == [128 + number]


@pytest.mark.usefixtures("kept_handlers")
def test_a_lost_terminal_is_noticed_without_a_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "LOOK_EVERY", 0.02)
    monkeypatch.setattr(signals, "GRACE", 0.05)
    ended = threading.Event()

    async def lose(line: Line) -> tuple[int, int | None]:
        left: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        number = line.file.fileno()
        guard = Guard(left.set_result, files=(number, number), end=lambda _code: ended.set())
        guard.start()
        os.close(line.master)
        line.master = os.open(os.devnull, os.O_RDONLY)
        return await asyncio.wait_for(left, 30), guard.code

    with terminal() as line:
        assert asyncio.run(lose(line)) == (129, 129)
        assert ended.wait(30)


def test_what_ends_with_a_disk_that_hangs_gives_the_terminal_back_and_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signals, "GRACE", 0.02)
    ended, codes = threading.Event(), []

    def end(code: int) -> None:
        codes.append(code)
        ended.set()

    with terminal() as line:
        number = line.file.fileno()
        guard = Guard(lambda _code: None, files=(number, number), end=end, last_words=lambda: "unexpected")
        guard.end_soon(1)
        assert ended.wait(30) and codes == [1]
        assert line.read(b"persona: unexpected\n")
