"""What the terminal sends: pastes stay pastes, whatever is in them and however it is cut."""

from __future__ import annotations

import sys
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from textual import events

from tests.support.examples import examples
from tests.tui.test_unmarked_pastes import Clock
from tui.cli.program.key_probe import KeystrokeReader
from tui.terminal.textual_compat.input_parser import CUT_WAITS, PASTE_WAITS, InputParser, install
from tui.widgets.chat_input import NEWLINE_KEYS

START, END = "\x1b[200~", "\x1b[201~"
ESC = "\x1b"


def read(parser: InputParser, text: str) -> list[str]:
    """What the parser makes of `text`: `paste:…` or the key."""
    return [
        f"paste:{event.text}"
        if isinstance(event, events.Paste)
        else getattr(event, "key", type(event).__name__)
        for event in parser.feed(text)
    ]


def test_an_escape_within_a_paste_presses_no_key() -> None:
    text = "one\x1b\rtwo\x1b[A\x1bthree\n"
    assert read(InputParser(), f"{START}{text}{END}") == [f"paste:{text}"]


@given(
    st.text(st.sampled_from("a\x1b[201~0\r\n漢;M<"), max_size=30), st.lists(st.integers(1, 9), max_size=40)
)
@settings(max_examples=examples(30))
def test_a_paste_is_whole_however_it_is_cut(text: str, sizes: list[int]) -> None:
    text = text.replace(END, "")
    stream = f"a{START}{text}{END}b\x1b[A"
    parser = InputParser()
    seen: list[str] = []
    at = 0
    for size in [*sizes, len(stream)]:
        seen += read(parser, stream[at : at + size]) if at < len(stream) else []
        at += size
    if END in text + END[:-1]:
        return
    assert seen == ["a", f"paste:{text}", "b", "up"]


def test_keys_and_mouse_around_a_paste_are_what_they_were() -> None:
    assert read(InputParser(), f"\x1b[A{START}x{END}\x1b[<0;3;4M\r\x03") == [
        "up", "paste:x", "MouseDown", "enter", "ctrl+c",
    ]  # fmt: skip


def test_escape_and_return_are_a_newline_and_not_enter() -> None:
    assert read(InputParser(), "a\x1b\rb\r") == ["a", "alt+enter", "b", "enter"]


@pytest.mark.parametrize(
    ("sent", "key"),
    [
        *(("27;2;13", "shift+enter"), ("27;5;13", "ctrl+enter"), ("27;3;13", "alt+enter")),
        *(("27;4;13", "shift+alt+enter"), ("27;6;13", "ctrl+shift+enter")),
        *(("27;7;13", "ctrl+alt+enter"), ("27;8;13", "ctrl+shift+alt+enter")),
    ],
)
def test_enter_with_a_modifier_in_the_form_of_modify_other_keys_is_a_newline(sent: str, key: str) -> None:
    assert read(InputParser(), f"a\x1b[{sent}~b") == ["a", key, "b"]
    assert key in NEWLINE_KEYS
    (stroke,) = KeystrokeReader().feed(f"\x1b[{sent}~".encode())
    assert stroke.name == key


@given(st.text(st.sampled_from("\x1b[27;2350681~\r\x01\x7f\x9bu"), max_size=14))
def test_no_name_of_a_key_has_a_control_in_it(sent: str) -> None:
    reader = KeystrokeReader()
    assert all(stroke.name.isprintable() for stroke in [*reader.feed(sent.encode()), *reader.tick()])


def test_a_lone_escape_key_is_still_one() -> None:
    clock = Clock()
    parser = InputParser(clock=clock)
    assert read(parser, "\x1b") == list(parser.tick()) == []
    clock.now += 0.12
    assert [event.key for event in parser.tick()] == ["escape"]
    assert read(parser, "[200~") == list(read(InputParser(), "[200~"))


LONG = "please make the tone warmer and shorter, thanks"


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        (f"{ESC}{LONG}", ["escape", f"paste:{LONG}"]),
        (f"{ESC}Please make{ESC}OR", ["escape", *"Please", "space", *"make", "f3"]),
        (f"{ESC}be brief{ESC}O", ["escape", *"be", "space", *"brief"]),
        (f"{ESC}Okay{ESC}x", ["escape", *"Okay", "escape", "x"]),
        (f"{ESC}1{ESC}5{ESC}-", ["escape", "1", "escape", "5", "escape", "minus"]),
        (f"{ESC}[link](x)", ["escape", "left_square_bracket", *"link", "right_square_bracket", "left_parenthesis", "x", "right_parenthesis"]),
        (f"{ESC}[[A{ESC}[23${ESC}b{ESC}f{ESC}\t{ESC}Ok", ["f1", "f23", "ctrl+left", "ctrl+right", "shift+tab", "plus"]),
        (f"{ESC}[I{ESC}[<35;3;4M{ESC}[A", ["AppFocus", "MouseMove", "up"]),
        (f"a{ESC}[?62;22c{ESC}]11;rgb:0/0/0{ESC}\\{ESC}P>|tmux 3.4\x07b", ["a", "b"]),
        (f"a{ESC}[31m{ESC}[1;2;3;4;5;6;7;8;9;10;11;12;13;14xb", ["a", "b"]),
    ],
)  # fmt: skip
def test_an_escape_that_begins_nothing_is_the_key_and_what_no_key_sends_is_no_text(
    sent: str, keys: list[str]
) -> None:
    assert read(InputParser(), sent) == keys


@given(
    st.lists(
        st.sampled_from(["a", "1", "[", "O", ";", "~", "\r", LONG, ESC, f"{ESC}[", f"{ESC}[3"]),
        max_size=9,
    )
)
@example([f"{ESC}[3", "1", "1", "~"])  # the number of a key that nobody knows
@example([f"{ESC}[", "65~"])
@settings(max_examples=examples(30))
def test_no_escape_ever_becomes_a_letter(pieces: list[str]) -> None:
    clock, sent = Clock(), "".join(pieces)
    parser = InputParser(clock=clock)
    seen = list(parser.feed(sent))
    clock.now += 10
    seen += parser.tick()
    typed = "".join(getattr(event, "text", None) or getattr(event, "character", None) or "" for event in seen)  # type: ignore[attr-defined]
    for letter in "^¡º":
        assert letter not in typed
    left = iter(sent.replace("\r", "\n"))
    assert all(letter in left for letter in typed.replace("\r", "\n").replace(ESC, ""))


def test_a_sequence_that_a_slow_line_cuts_is_what_it_was_and_its_rest_alone_is_no_text() -> None:
    clock = Clock()
    parser = InputParser(clock=clock)
    seen = []
    for part in (f"a{ESC}[<35;1", "0;20", f"M{ESC}[1;5", "Hb"):
        seen += read(parser, part)
        clock.now += 0.3
        seen += [event.key for event in parser.tick()]  # type: ignore[attr-defined]
    assert seen == ["a", "MouseMove", "ctrl+home", "b"]
    read(parser, f"{ESC}[<35;1")
    clock.now += CUT_WAITS
    assert list(parser.tick()) == []
    assert read(parser, "c") == ["c"]


def test_a_paste_whose_end_mark_never_comes_is_over_after_a_while() -> None:
    clock = Clock()
    parser = InputParser(clock=clock)
    assert read(parser, f"{START}one\rtwo\x1b[201") == []
    clock.now += PASTE_WAITS - 0.1
    assert list(parser.tick()) == []
    clock.now += 0.2
    assert [event.text for event in parser.tick()] == ["one\rtwo\x1b[201"]  # type: ignore[attr-defined]
    assert read(parser, "\x03q") == ["ctrl+c", "q"]


def test_an_end_mark_within_a_paste_ends_nothing() -> None:
    for sent in (
        [f"{START}a{END}b\rc\rd{END}\r"],
        [f"{START}a{END}", f"b\rc\r{END}", "\r"],
        [f"{START}a{END}b\rc\r", END, "\r"],
        [f"{START}a{END}b\rc\r{START}d{END}\r"],
    ):
        parser = InputParser(clock=Clock())
        keys = [key for part in sent for key in read(parser, part)]
        assert keys.pop() == "enter"
        assert all(key.startswith("paste:") for key in keys), keys


def test_enter_behind_a_paste_and_behind_a_word_after_it_is_the_key() -> None:
    clock = Clock()
    parser = InputParser(clock=clock)
    assert read(parser, f"{START}a{END}\r") == ["paste:a", "enter"]
    assert read(parser, f"{START}a{END}b\r") == ["paste:a", "b", "enter"]


@pytest.mark.parametrize(
    "sent",
    [
        *(
            "[99999999u",
            "[27;5;9999999~",
            "[55296u",
            "[;;u",
            "[0u",
            "[97;;1114112u",
            "[:u",
            "[1:2:3A",
            "[97;5:3u",
        ),
        *("[97;" + "9" * 250 + "u", "[48;" + "9" * 30 + ";5;5;5t", "[<" + "9" * 200 + ";1;1M"),
    ],
)
def test_a_sequence_with_odd_numbers_is_nothing(sent: str) -> None:
    assert read(InputParser(), f"a{ESC}{sent}b") == ["a", "b"]


def test_a_letter_with_a_modifier_in_the_form_of_modify_other_keys_is_that_letter() -> None:
    assert read(InputParser(), f"{ESC}[97u{ESC}[27;5;49~{ESC}[27;2;65~") == ["a", "ctrl+1", "A"]
    assert [event.character for event in InputParser().feed(f"{ESC}[27;5;49~{ESC}[27;2;65~")] == [None, "A"]  # type: ignore[attr-defined]


def test_a_megabyte_is_pasted_in_a_moment() -> None:
    parser = InputParser()
    stream = START + "x\n" * 500_000 + END
    start = time.process_time()
    seen = [event for at in range(0, len(stream), 4096) for event in parser.feed(stream[at : at + 4096])]
    assert time.process_time() - start < 2
    assert [len(event.text) for event in seen] == [1_000_000]


@pytest.mark.parametrize("before", ["\x1b", "\x1b[", "a\x1b"])
def test_an_esc_before_a_paste_comes_before_it(before: str) -> None:
    typed = {"\x1b": ["escape"], "\x1b[": ["escape", "left_square_bracket"], "a\x1b": ["a", "escape"]}[before]
    assert read(InputParser(), f"{before}{START}b{END}") == [*typed, "paste:b"]
    parser = InputParser()
    assert [*read(parser, before), *read(parser, f"{START}b{END}")] == [*typed, "paste:b"]


def test_nuls_are_left_out_of_a_paste() -> None:
    assert read(InputParser(), f"{START}a\x00b{END}") == ["paste:ab"]


@pytest.mark.skipif(sys.platform == "win32", reason="the driver of other systems")
def test_the_terminal_driver_reads_with_the_guarded_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    from textual.drivers import linux_driver

    monkeypatch.setattr(linux_driver, "XTermParser", linux_driver.XTermParser)
    install()
    install()
    assert issubclass(linux_driver.XTermParser, InputParser)
