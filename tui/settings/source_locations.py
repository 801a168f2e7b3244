"""Where something stands in the text of a settings file, for messages about it."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from personas.toml.nodes import ScannedText


class KeyLines:
    """The lines of the keys of one text, which is read when first asked about."""

    def __init__(self, text: str) -> None:
        self._text = text

    def of(self, *path: str) -> int:
        """Return the 1-based line of a key, or of the nearest table around it that is written down; 1 where none is.

        Args:
            path: keys from the top; the last may be several, dotted.
        """
        *tables, last = path
        for keys in (path, (*tables, *last.split(".")), tables):
            if keys and (node := self._document.find(tuple(keys))) is not None:
                return self._document.span(node).line
        return 1

    @cached_property
    def _document(self) -> ScannedText:
        from personas.toml.scanner import scan

        return scan(self._text)


def find_break(text: str) -> tuple[int | None, str] | None:
    """Return on which line a text stops to be TOML, and what is wrong there; None where it is TOML.

    What was begun and not ended is told where it begins, by the name of the key.
    """
    from personas.errors import BrokenFile
    from personas.toml.parse import parse

    try:
        parse(text)
    except BrokenFile as error:
        if error.line is None:
            return None, error.message
        lines = text.split("\n")
        number = error.line
        if not "".join(lines[number - 1 :]).strip():  # at the end
            while (
                number > 1 and not lines[number - 1].lstrip().startswith("[") and not _key(lines[number - 1])
            ):
                number -= 1
        if (found := _key(lines[number - 1])) is None:
            return error.line, error.message
        return number, f"{error.message}, at {found[1]}"
    return None


def _key(line: str) -> re.Match[str] | None:
    return re.match(r"""\s*("[^"\n]*"|'[^'\n]*'|[A-Za-z0-9_.-]+)\s*=""", line)
