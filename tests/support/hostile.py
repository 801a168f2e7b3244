"""Strings that have broken terminals and screens, and what must never come out for them. Shared by all tests."""

from __future__ import annotations

import re

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
SURROGATE = "half \ud83d of a smile"
LONG = "x" * 100_000

_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def forbidden_in(text: str) -> list[str]:
    """The control characters in `text` that a terminal could obey (tab and newline are fine)."""
    return sorted({repr(match.group()) for match in _FORBIDDEN.finditer(text)})
