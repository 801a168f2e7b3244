"""What the terminal sends: pastes stay pastes, whatever is in them and however it is cut."""

from __future__ import annotations

import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events

from tui.driver_guard import GuardedParser, install
from tui.keystrokes import KeystrokeReader
from tui.widgets.chat_input import NEWLINE_KEYS

START, END = "\x1b[200~", "\x1b[201~"


def read(parser: GuardedParser, text: str) -> list[str]:
    """What the parser makes of `text`: `paste:…` or the key."""
    return [
        f"paste:{event.text}"
        if isinstance(event, events.Paste)
        else getattr(event, "key", type(event).__name__)
        for event in parser.feed(text)
    ]


def test_an_escape_within_a_paste_presses_no_key() -> None:
    text = "one\x1b\rtwo\x1b[A\x1bthree\n"
    assert read(GuardedParser(), f"{START}{text}{END}") == [f"paste:{text}"]


@given(
    st.text(st.sampled_from("a\x1b[201~0\r\n漢;M<"), max_size=30), st.lists(st.integers(1, 9), max_size=40)
)
@settings(max_examples=300)
def test_a_paste_is_whole_however_it_is_cut(text: str, sizes: list[int]) -> None:
    text = text.replace(END, "")
    stream = f"a{START}{text}{END}b\x1b[A"
    parser = GuardedParser()
    seen: list[str] = []
    at = 0
    for size in [*sizes, len(stream)]:
        seen += read(parser, stream[at : at + size]) if at < len(stream) else []
        at += size
    if END in text + END[:-1]:
        return
    assert seen == ["a", f"paste:{text}", "b", "up"]


def test_keys_and_mouse_around_a_paste_are_what_they_were() -> None:
    assert read(GuardedParser(), f"\x1b[A{START}x{END}\x1b[<0;3;4M\r\x03") == [
        "up", "paste:x", "MouseDown", "enter", "ctrl+c",
    ]  # fmt: skip


def test_escape_and_return_are_a_newline_and_not_enter() -> None:
    assert read(GuardedParser(), "a\x1b\rb\r") == ["a", "shift+enter", "b", "enter"]


@pytest.mark.parametrize(
    ("sent", "key"),
    [
        *(("27;2;13", "shift+enter"), ("27;5;13", "ctrl+enter"), ("27;3;13", "alt+enter")),
        *(("27;4;13", "shift+alt+enter"), ("27;6;13", "ctrl+shift+enter")),
        *(("27;7;13", "ctrl+alt+enter"), ("27;8;13", "ctrl+shift+alt+enter")),
    ],
)
def test_enter_with_a_modifier_in_the_form_of_modify_other_keys_is_a_newline(sent: str, key: str) -> None:
    assert read(GuardedParser(), f"a\x1b[{sent}~b") == ["a", key, "b"]
    assert key in NEWLINE_KEYS
    (stroke,) = KeystrokeReader().feed(f"\x1b[{sent}~".encode())
    assert stroke.name == key


@given(st.text(st.sampled_from("\x1b[27;2350681~\r\x01\x7f\x9bu"), max_size=14))
def test_no_name_of_a_key_has_a_control_in_it(sent: str) -> None:
    reader = KeystrokeReader()
    assert all(stroke.name.isprintable() for stroke in [*reader.feed(sent.encode()), *reader.tick()])


def test_a_lone_escape_key_is_still_one() -> None:
    parser = GuardedParser()
    assert read(parser, "\x1b") == []
    time.sleep(0.12)  # the parser itself waits so long, by its own clock
    assert [event.key for event in parser.tick()] == ["escape"]
    assert read(parser, "[200~") == list(read(GuardedParser(), "[200~"))


def test_a_megabyte_is_pasted_in_a_moment() -> None:
    parser = GuardedParser()
    stream = START + "x\n" * 500_000 + END
    start = time.process_time()
    seen = [event for at in range(0, len(stream), 4096) for event in parser.feed(stream[at : at + 4096])]
    assert time.process_time() - start < 2
    assert [len(event.text) for event in seen] == [1_000_000]


def test_nuls_are_left_out_of_a_paste() -> None:
    assert read(GuardedParser(), f"{START}a\x00b{END}") == ["paste:ab"]


@pytest.mark.skipif(sys.platform == "win32", reason="the driver of other systems")
def test_the_terminal_driver_reads_with_the_guarded_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    from textual.drivers import linux_driver

    monkeypatch.setattr(linux_driver, "XTermParser", linux_driver.XTermParser)
    install()
    install()
    assert linux_driver.XTermParser is GuardedParser
