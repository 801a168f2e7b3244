"""What comes all at once: a paste without marks is one insertion, a macro keeps its Enter, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events

from tests.support.examples import examples
from tests.support.program import Program, make_store, program
from tui.settings.schema import Settings
from tui.terminal.textual_compat.input_parser import SAME_PASTE, InputParser, UnmarkedPaste

LINE = "a line that is longer than what is typed at once"


class Clock:
    """Seconds that go by when they are told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def read(parser: InputParser, *reads: str) -> list[str]:
    """What the parser makes of what comes read by read: `"text"` of a run in quotes, or the key."""
    return [
        f'"{event.text}"' if isinstance(event, UnmarkedPaste) else getattr(event, "key", type(event).__name__)
        for data in reads
        for event in parser.feed(data)
    ]


def test_what_a_person_types_stays_keys() -> None:
    assert read(InputParser(), "hi\r", "/x\t\n") == ["h", "i", "enter", "slash", "x", "tab", "ctrl+j"]


def test_enter_behind_a_text_is_the_key_and_within_a_paste_it_is_a_line_end() -> None:
    assert read(InputParser(), f"{LINE}\r") == [f'"{LINE}"', "enter"]
    assert read(InputParser(), f"{LINE}\n{LINE}\r") == [f'"{LINE}\n{LINE}"', "enter"]
    assert read(InputParser(), f"{LINE}\r\tb\r\n") == [f'"{LINE}\n\tb\n"']
    assert read(InputParser(), f"{LINE}\t") == [f'"{LINE}"', "tab"]


def test_what_follows_at_once_belongs_to_the_paste_but_not_what_follows_later_or_enter_alone() -> None:
    clock = Clock()
    parser = InputParser(clock=clock)
    assert read(parser, f"{LINE}\r{LINE}", "end\rx\r") == [f'"{LINE}\n{LINE}"', '"end\nx\n"']
    assert read(parser, f"{LINE}\r{LINE}", "\r") == [f'"{LINE}\n{LINE}"', "enter"]
    assert read(parser, f"{LINE}\r{LINE}", "\x1b[<35;3;4M", "x\r")[1:] == ["MouseMove", '"x\n"']
    clock.now += 2 * SAME_PASTE
    assert read(parser, "b\r") == ["b", "enter"]


RED = "\x1b[31mred"


def test_a_paste_with_sequences_in_it_is_one_text_and_sends_no_line() -> None:
    ten = "".join(f"line {number} {RED}\r" for number in range(10))
    assert read(InputParser(), ten) == [f'"{ten}"'.replace("\r", "\n").replace("\x1b[31m", "")]
    for sequence in ("\x1b[0;1m", "\x1b]0;title\x07", "\x1b[?25l"):
        ten = f"x{sequence}longer\r" * 10
        assert read(InputParser(), ten) == ['"' + "xlonger\n" * 10 + '"']


@given(
    st.text(st.sampled_from("ab漢😀\r\n\t/0 "), max_size=200),
    st.lists(st.integers(1, 90), max_size=8),
)
@settings(max_examples=examples(25))
def test_nothing_is_lost_or_changes_places_however_it_is_cut(text: str, sizes: list[int]) -> None:
    clock = Clock()
    parser = InputParser(clock=clock)
    seen: list[events.Message] = []
    at = 0
    for size in [*sizes, len(text)]:
        seen += list(parser.feed(text[at : at + size])) if text[at : at + size] else []
        at += size
    clock.now += 1
    seen += list(parser.tick())
    came = "".join(one.sent if isinstance(one, UnmarkedPaste) else one.character or "" for one in seen)  # type: ignore[attr-defined]
    assert came.replace("\r\n", "\r") == text.replace("\r\n", "\r")


def test_runs_that_wait_become_one_and_give_the_keys_they_stand_for() -> None:
    first, second = UnmarkedPaste("a\n", "a\r"), UnmarkedPaste("B ", "B ")
    assert first.can_replace(second) and not first.can_replace(events.Paste("x"))
    assert (second.text, [key.key for key in second.pressed()]) == ("a\nB ", ["a", "enter", "B", "space"])


async def come(p: Program, text: str) -> None:
    """Let a text come in one read."""
    for event in InputParser().feed(text):
        p.app.post_message(event)


async def test_a_paste_without_marks_is_one_step_of_undo_and_sends_nothing(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), settings=Settings()) as p:
        bar = p.main.chat_bar
        await come(p, f"{LINE}\r{LINE}\r")
        await p.until(lambda: bar.draft == f"{LINE}\n{LINE}\n")
        await p.press("ctrl+z")
        await p.until(lambda: bar.draft == "")
        await p.press("f3")
        await p.until(lambda: p.main.prompt.has_focus)
        before = p.main.prompt.raw
        await come(p, f"{LINE}\n{LINE}")
        await p.until(lambda: p.main.prompt.raw.startswith(f"{LINE}\n{LINE}"))
        await p.press("ctrl+z")
        await p.until(lambda: p.main.prompt.raw == before)


async def test_in_a_list_a_run_is_keys_and_what_they_open_gets_the_rest(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), settings=Settings()) as p:
        p.main.action_go("personas")
        await p.until(lambda: p.main.personas.rows.has_focus)
        await come(p, f"n{LINE}\r")
        await p.until(lambda: any(entry.name == LINE for entry in p.main.personas.entries.values()))
