"""What comes all at once: a paste without marks is one insertion, a macro keeps its Enter, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events

from tests.examples import examples
from tests.tui.program import Program, make_store, program
from tui.settings.schema import Settings
from tui.terminal.paste_detection import TOGETHER, Typed, TypedRuns
from tui.terminal.textual_compat.input_parser import GuardedParser

LINE = "a line that is longer than what is typed at once"


class Clock:
    """Seconds that go by when they are told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def read(parser: GuardedParser, *reads: str) -> list[str]:
    """What the parser makes of what comes read by read: `"text"` of a run in quotes, or the key."""
    return [
        f'"{event.text}"' if isinstance(event, Typed) else getattr(event, "key", type(event).__name__)
        for data in reads
        for event in parser.feed(data)
    ]


def test_what_a_person_types_stays_keys() -> None:
    assert read(GuardedParser(), "hi\r", "/x\t\n") == ["h", "i", "enter", "slash", "x", "tab", "ctrl+j"]


def test_enter_behind_a_text_is_the_key_and_within_a_paste_it_is_a_line_end() -> None:
    assert read(GuardedParser(), f"{LINE}\r") == [f'"{LINE}"', "enter"]
    assert read(GuardedParser(), f"{LINE}\n{LINE}\r") == [f'"{LINE}\n{LINE}"', "enter"]
    assert read(GuardedParser(), f"{LINE}\r\tb\r\n") == [f'"{LINE}\n\tb\n"']
    assert read(GuardedParser(), f"{LINE}\t") == [f'"{LINE}"', "tab"]


def test_what_follows_at_once_belongs_to_the_paste_but_not_what_follows_later_or_enter_alone() -> None:
    clock = Clock()
    parser = GuardedParser(runs=TypedRuns(clock))
    assert read(parser, f"{LINE}\r{LINE}", "end\rx\r") == [f'"{LINE}\n{LINE}"', '"end\nx\n"']
    assert read(parser, f"{LINE}\r{LINE}", "\r") == [f'"{LINE}\n{LINE}"', "enter"]
    assert read(parser, f"{LINE}\r{LINE}", "\x1b[<35;3;4M", "x\r")[1:] == ["MouseMove", '"x\n"']
    assert read(parser, f"{LINE}\r{LINE}\r", "\nb") == [f'"{LINE}\n{LINE}\n"', '"b"']
    clock.now += 2 * TOGETHER
    assert read(parser, "b\r") == ["b", "enter"]


def test_an_enter_that_may_be_the_cut_of_a_paste_waits_for_what_follows() -> None:
    clock, first = Clock(), LINE * 10
    parser = GuardedParser(runs=TypedRuns(clock))
    assert read(parser, f"{first}\r", "more\rend\r") == [f'"{first}"', '"\nmore\nend\n"']
    clock.now += 1
    assert read(parser, f"{first}\r") == [f'"{first}"']
    assert list(parser.tick()) == []
    clock.now += 2 * TOGETHER
    assert [event.key for event in parser.tick()] == ["enter"]
    assert read(parser, f"{first}\r", "\x1b[A") == [f'"{first}"', "enter", "up"]


RED = "\x1b[31mred"


def test_a_paste_with_sequences_in_it_is_one_text_and_sends_no_line() -> None:
    ten = "".join(f"line {number} {RED}\r" for number in range(10))
    assert read(GuardedParser(), ten) == [f'"{ten}"'.replace("\r", "\n")]
    for before in ("x\x1b(B", "x\x1b]0;title\x07", "x\x1b[K", "x\x1b[Hy\x1b[2J", "a\x1bb"):
        ten = f"{before}longer\r" * 10
        assert read(GuardedParser(), ten) == [f'"{ten}"'.replace("\r", "\n")]


def test_a_paste_with_sequences_that_reads_cut_stays_one() -> None:
    clock = Clock()
    ten = "".join(f"line {number} {RED}\r" for number in range(30))
    for at in range(60, 90):
        parser = GuardedParser(runs=TypedRuns(clock), clock=clock)
        seen = read(parser, ten[:at], ten[at:])
        assert "enter" not in seen and "escape" not in seen, at
        assert "".join(one.strip('"') for one in seen) == ten.replace("\r", "\n")
        clock.now += 1


def test_keys_between_what_is_typed_are_keys() -> None:
    sent = f"{LINE}\r\x1bOR{LINE}\x1b[A\r\x1b{LINE}"
    assert read(GuardedParser(), sent) == [
        f'"{LINE}"', "enter", "f3", f'"{LINE}"', "up", "enter", "escape", f'"{LINE}"',
    ]  # fmt: skip


def test_where_nothing_takes_text_a_run_presses_no_rest_of_a_sequence() -> None:
    assert [key.key for key in Typed("", "a\x1b[31mb\x1b]0;t\x07c\x1bd").pressed()] == ["a", "b", "c"]


@given(
    st.text(st.sampled_from("ab漢😀\r\n\t/0 "), max_size=200),
    st.lists(st.integers(1, 90), max_size=8),
)
@settings(max_examples=examples(70))
def test_nothing_is_lost_or_changes_places_however_it_is_cut(text: str, sizes: list[int]) -> None:
    clock = Clock()
    parser = GuardedParser(runs=TypedRuns(clock))
    seen: list[events.Message] = []
    at = 0
    for size in [*sizes, len(text)]:
        seen += list(parser.feed(text[at : at + size])) if text[at : at + size] else []
        at += size
    clock.now += 1
    seen += list(parser.tick())
    came = "".join(one.sent if isinstance(one, Typed) else one.character or "" for one in seen)  # type: ignore[attr-defined]
    assert came.replace("\r\n", "\r") == text.replace("\r\n", "\r")


def test_runs_that_wait_become_one_and_give_the_keys_they_stand_for() -> None:
    first, second = Typed("a\n", "a\r"), Typed("B ", "B ")
    assert first.can_replace(second) and not first.can_replace(events.Paste("x"))
    assert (second.text, [key.key for key in second.pressed()]) == ("a\nB ", ["a", "enter", "B", "space"])


async def come(p: Program, text: str) -> None:
    """Let a text come in one read."""
    for event in GuardedParser().feed(text):
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
