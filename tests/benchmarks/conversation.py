"""Figures of the conversation on the screen: run `python -m tests.benchmarks.conversation`.

Time is compressed: what would arrive within one frame is fed at once, then the frame is drawn and painted, and
the CPU time of that is what the loop would have been busy. Nothing waits. Figures that depend on the machine are
given beside ratios that do not.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator

from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from agent.core.turns import AssistantTextTurn, ToolCallTurn, ToolResultTurn, Turn, UserTurn
from tui.chat.panel_state import PanelState
from tui.widgets.agent_panel import AgentPanel
from tui.widgets.chat_bar import ChatBar

SIZE = (120, 40)
FRAMES_PER_SECOND = 20
CHARACTERS_PER_TOKEN = 4

PROSE = (
    "A persona is **warm** when it *listens* first; see `system_prompt` and the [guide](https://example.com/g). "
    "It answers in short sentences, asks one question at a time, and never pretends to know.\n\n"
    "- it says what it does\n- it does what it says\n\n"
)
CODE_LINE = "    value = compute(first, second, third)  # a line of code as long as lines are\n"
ITEM = "- an item with **bold**, `code` and enough words to be wrapped at the end of the line it stands on\n"


class Stage(App[None]):
    """The part of the program's screen that streaming touches."""

    CSS = "#stage { height: 1fr; layers: base panel; } ChatBar { dock: bottom; }"

    def compose(self) -> ComposeResult:
        with Vertical(id="stage"):
            yield Static("You are an optimist. " * 200)
            yield AgentPanel()
        yield ChatBar()

    def on_mount(self) -> None:
        self.query_one(ChatBar).input.focus()
        self.query_one(AgentPanel).show_state(PanelState.PINNED)


def cut(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


def p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


async def stream(text: str, characters_per_frame: int, deltas_per_frame: int) -> tuple[list[float], int]:
    """Stream `text`; return the seconds of CPU of each frame and the characters written to the terminal."""
    app = Stage()
    seconds: list[float] = []
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        view = app.query_one(AgentPanel).conversation
        written = count_writes(app)
        turn = AssistantTextTurn(content="")
        view.begin_turn(turn)
        view._ask_frame = lambda: None  # type: ignore[method-assign]  # frames are drawn here, not by the clock
        for frame in cut(text, characters_per_frame):
            start = time.process_time()
            for delta in cut(frame, max(1, len(frame) // deltas_per_frame)):
                view.extend_turn(turn.id, delta)
            view.draw_frame()
            await paint(app)
            seconds.append(time.process_time() - start)
        start = time.process_time()
        view.end_turn(AssistantTextTurn(id=turn.id, content=text))
        await paint(app)
        seconds.append(time.process_time() - start)
        return seconds, written()


async def paint(app: App[None]) -> None:
    """Let the messages that are waiting be handled, lay out and paint, as the screen's timer would."""
    for _ in range(8):
        await asyncio.sleep(0)
    app.screen._on_timer_update()


def count_writes(app: App[None]) -> Callable[[], int]:
    """Count what the app would send to a terminal."""
    total = 0
    driver = app._driver
    assert driver is not None

    def write(text: str) -> None:
        nonlocal total
        total += len(text)

    # A driver without a head is written nothing.
    driver.__class__ = type("CountingDriver", (type(driver),), {"is_headless": False})
    driver.write = write  # type: ignore[method-assign]
    return lambda: total


async def report_late_deltas() -> None:
    text = (PROSE * (200_000 // len(PROSE) + 1))[:200_000]
    seconds, written = await stream(text, 100, 10)
    tenth = len(seconds) // 10
    early, late = statistics.median(seconds[tenth : 2 * tenth]), statistics.median(seconds[-tenth:-1])
    print(
        f"200 KB of prose, a frame of 100 characters: early {early * 1000:.2f} ms, late {late * 1000:.2f} ms"
    )
    print(f"  late / early                {late / early:8.2f}   (budget 1.2)")
    print(f"  characters out per one in   {written / len(text):8.1f}")


async def report_fast_stream() -> None:
    text = (PROSE * (200_000 // len(PROSE) + 1))[:200_000]
    per_second = 1000 * CHARACTERS_PER_TOKEN
    seconds, _ = await stream(text, per_second // FRAMES_PER_SECOND, 1000 // FRAMES_PER_SECOND)
    duration = len(text) / per_second
    print(f"200 KB of prose at 1,000 deltas/s: {sum(seconds):.1f} s of CPU for {duration:.0f} s of stream")
    print(f"  share of one core           {sum(seconds) / duration * 100:8.1f} %")
    print(f"  frame p95 / max             {p95(seconds) * 1000:8.1f} / {max(seconds) * 1000:.1f} ms")


async def report_block(name: str, text: str) -> None:
    per_second = 100 * CHARACTERS_PER_TOKEN
    seconds, written = await stream(text, per_second // FRAMES_PER_SECOND, 100 // FRAMES_PER_SECOND)
    duration = len(text) / per_second
    print(f"{name}, {len(text) // 1000} KB at 100 tokens/s ({duration:.0f} s)")
    print(
        f"  stall p95 / max             {p95(seconds) * 1000:8.1f} / {max(seconds) * 1000:.1f} ms   (budget p95 50)"
    )
    print(f"  share of one core           {sum(seconds) / duration * 100:8.1f} %")
    print(f"  characters out per one in   {written / len(text):8.1f}")


def conversation(turns: int) -> list[Turn]:
    result: list[Turn] = []
    for number in range(turns // 4):
        call = ToolCallTurn(tool_use_id=f"c{number}", tool_name="edit_system_prompt", input={"new": "warm"})
        output = ToolResultTurn(tool_use_id=call.tool_use_id, output="ok", details={"added": 1, "removed": 1})
        result += [UserTurn(content=f"message {number}"), call, output, AssistantTextTurn(content=PROSE)]
    return result


async def report_turns(turns: int) -> float:
    app = Stage()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        view = app.query_one(AgentPanel).conversation
        loaded = conversation(turns)
        tracemalloc.start()
        start = time.process_time()
        view.load(loaded)
        await paint(app)
        load = time.process_time() - start
        kept = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        bar = app.query_one(ChatBar).input
        keys, scrolls = [], []
        for number in range(30):
            start = time.process_time()
            bar.insert("x" if number % 10 else "\n")
            await paint(app)
            keys.append(time.process_time() - start)
            start = time.process_time()
            view.page(-1)
            await paint(app)
            scrolls.append(time.process_time() - start)
        start = time.process_time()
        await pilot.resize_terminal(SIZE[0] - 20, SIZE[1])
        resize = time.process_time() - start
    print(f"{turns} turns: load {load * 1000:.0f} ms (traced), {kept / 1e6:.1f} MB kept beside the turns")
    print(
        f"  key / page up / resize      {p95(keys) * 1000:8.1f} / {p95(scrolls) * 1000:.1f} / {resize * 1000:.0f} ms"
    )
    return statistics.median(keys)


async def main() -> None:
    print(f"Python {sys.version.split()[0]}, {SIZE[0]}x{SIZE[1]}")
    await report_late_deltas()
    await report_fast_stream()
    await report_block("one code fence", "```python\n" + CODE_LINE * (20_000 // len(CODE_LINE)) + "```\n")
    await report_block("one list", ITEM * (20_000 // len(ITEM)))
    await report_block("one line without an end", "x" * 20_000)
    few = await report_turns(1_000)
    many = await report_turns(10_000)
    print(f"  a key, 10,000 / 1,000 turns {many / few:8.2f}")


if __name__ == "__main__":
    asyncio.run(main())
