"""Strings that have broken terminals and screens, and what must never come out for them. Shared by all tests."""

from __future__ import annotations

import re

from textual.app import App

ESCAPES = {
    "clear screen": "\x1b[2J\x1b[H",
    "hide a line": "visible\r\x1b[2Khidden",
    "clipboard": "\x1b]52;c;cm0gLXJmIC8=\x07",
    "hyperlink": "\x1b]8;;file:///etc/passwd\x1b\\click\x1b]8;;\x1b\\",
    "title": "\x1b]0;owned\x07",
    "device status": "\x1b[6n",
    "8-bit CSI": "\x9b31mred",
    "8-bit OSC": "\x9d0;owned\x9c",
    "DCS": '\x1bP$q"p\x1b\\',
    "APC": "\x1b_payload\x1b\\",
    "unterminated OSC": "before \x1b]0;never ends",
    "unterminated CSI": "before \x1b[",
    "lone ESC": "a\x1bb",
    "backspace": "safe\x08\x08\x08\x08evil",
    "bell": "ding\x07",
    "shift out": "\x0e\x0f",
    "DEL": "a\x7fb",
    "bidi override": "user\u202egnp.exe",
    "bidi isolate": "\u2066x\u2069",
    "NUL": "a\x00b",
    "form feed": "a\x0cb",
}
"""Name and text of each escape attack; all can be encoded as UTF-8."""

MARKUP = [
    "[/]",
    "[/some/path]",
    "[b + ] [/b + ]",
    "[@click=app.quit]x[/]",
    "[link=file:///]x[/link]",
    "[red]x",
    "\\[x]",
]
EVIL = "[/] [@click=app.quit]x[/] \x1b[31mred\x1b]0;t\x07 \x9b2J \u202ertl \U000e0041 日本語 👩‍👩‍👧"
"""Some of each in one line."""
QUOTED = EVIL.encode("unicode_escape").decode().replace("\\x", "\\u00")
"""The same as a TOML file quotes it."""

HOSTILE = {
    "markup": "[@click=app.quit]x[/] [bold red on blue]x[/bold red on blue] [link=file:///]x[/link]",
    "broken markup": "[/] [/some/path] [b + ] [/b + ]",
    "screen": "a\x1b[2J\x1b[Hb a\x1b[31mb a\x1b[6nb\x05c a\x00b\x7fc\x08d",
    "strings": "a\x1b]52;c;aGFja2Vk\x07b a\x1b]8;;http://evil\x1b\\b a\x1bP1$r0m\x1b\\b a\x1b]0;never ended",
    "eight bit": "a\x9b2Jb\x9d0;t\x9cc\x90x\x9c",
    "signs": "a\u202eb\u2066c\u200fd\u061ce a\ud800b\udfffc a\u200b\ufeff\u2060\U000e0041b &#27;[2J &#x202e; &lt;",
    "lines": "safe\r\x1b[2Kevil a\u2028b\u2029c\x85d\x0be\x0cf",
    "endless word": "x" * 10_000,
    "escapes in an endless line": "c\x1b[31m\u202eX\x9b2J\x7f" * 1_000,
    "wide and combined": "漢字👨\u200d👩\u200d👧e\u0301" * 50,
    "markdown": "# [x](javascript:alert) ![i](file:///etc/passwd) <script>`[/]`\n```\n[/]\n",
}
"""What a widget may be given; each kind of escape and of markup stands in one of them."""
OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U0010f000-\U0010f1ff]"
)
"""What a terminal would obey, and the stand-ins of editors for it, which it draws as blanks or boxes."""
SURROGATE = "half \ud83d of a smile"
LONG = "x" * 100_000

_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def forbidden_in(text: str) -> list[str]:
    """The control characters in `text` that a terminal could obey (tab and newline are fine)."""
    return sorted({repr(match.group()) for match in _FORBIDDEN.finditer(text)})


def assert_harmless(text: str) -> None:
    for character in text:
        assert character.isprintable() or character in "\u200d\ufe0f", repr(character)


def assert_only_text(app: App[None]) -> str:
    """Return what is on the screen, having looked at every segment of it."""
    shown = []
    for strip in app.screen._compositor.render_strips():
        for text, style, _ in strip:
            assert OBEYED.search(text) is None, repr(text)
            assert style is None or not style.link
            assert style is None or "@click" not in style.meta
        shown.append(strip.text)
    return "\n".join(shown)
