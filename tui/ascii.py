"""For terminals without UTF-8: each sign this program draws as one ASCII character of the same width. Pure.

It is done to what is sent, since box drawing and scroll bars are not ours to choose; what people wrote passes.
"""

from __future__ import annotations

_SIGNS = {
    "╭╮╰╯┌┐└┘├┤┬┴┼": "+",
    "─━╴╶═": "-",
    "│┃║▎▌▏▍▋▊▉█▕▐": "|",
    "▁▂▃▄▅▆▇▀▔": " ",
    "…·": ".",
    "●•◆": "*",
    "▸›❯": ">",
    "▾▼↓": "v",
    "↑▲": "^",
    "×✗": "x",
    "✓": "+",
    "−–—": "-",
    "“”„": '"',
    "‘’": "'",
}
TABLE = {ord(sign): plain for signs, plain in _SIGNS.items() for sign in signs}


def in_ascii(output: str) -> str:
    """Return terminal output with our signs in ASCII; everything else, escape sequences too, stays."""
    return output if output.isascii() else output.translate(TABLE)
