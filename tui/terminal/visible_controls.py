"""Text a person edits: what a terminal would obey stands in as a visible sign and comes back unchanged.

The editors of this program never hold a raw control character, so none can reach the terminal, and none is
lost by an edit elsewhere: `from_shown(to_shown(text)) == text`.
"""

from __future__ import annotations

import re

from tui.terminal.sanitise import HIDDEN, SUSPECT

_FIRST_STAND_IN = 0x10F000
_CODES = [code for first, last in HIDDEN for code in range(first, last + 1)]
_TO_SHOWN = {code: _FIRST_STAND_IN + index for index, code in enumerate(_CODES)}
_FROM_SHOWN = {stand_in: code for code, stand_in in _TO_SHOWN.items()}
_SIGNS = {stand_in: 0x2400 + code if code < 0x20 else 0x2421 if code == 0x7F else 0x00B7
          for stand_in, code in _FROM_SHOWN.items()}  # fmt: skip

_stand_in = re.compile(f"[{chr(_FIRST_STAND_IN)}-{chr(_FIRST_STAND_IN + len(_CODES) - 1)}]")


def is_editable(text: str) -> bool:
    """Return whether `to_shown` is reversible for `text` (it holds none of the private stand-ins itself)."""
    return _stand_in.search(text) is None


def to_shown(text: str) -> str:
    """Return `text` with one stand-in for each hidden character; line feeds and tabs stay."""
    if SUSPECT.search(text) is None:
        return text
    # A surrogate cannot be stored in a file at all.
    return re.sub("[\ud800-\udfff]", "\ufffd", text).translate(_TO_SHOWN)


def from_shown(text: str) -> str:
    """Return the text that `to_shown` was given."""
    return text.translate(_FROM_SHOWN) if _stand_in.search(text) else text


def with_signs(line: str) -> str:
    """Return `line` with each stand-in as a printable sign of one cell (`␛`, `␍`, `·`)."""
    return line.translate(_SIGNS) if _stand_in.search(line) else line


def pasted(text: str) -> str:
    """Return pasted text as an editor takes it: every line ending a line feed, hidden characters as stand-ins."""
    return to_shown(text.replace("\r\n", "\n").replace("\r", "\n"))
