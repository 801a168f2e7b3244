"""The light colouring of a prompt: headings, lists, code, emphasis, tags and `{{macros}}`, line by line."""

from __future__ import annotations

import re
from collections.abc import Callable

from rich.style import Style
from rich.text import Text

LONGEST = 2_000
"""Characters of a line that are looked at; a longer line is plain beyond them."""

_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_LIST_MARK = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s")
_INLINE = re.compile(
    r"(?P<macro>\{\{[^{}\n]{1,80}\}\})"
    r"|(?P<code>`[^`\n]{1,200}`)"
    r"|(?P<strong>\*\*[^*\n]{1,200}\*\*)"
    r"|(?P<mark></?[A-Za-z][\w:-]{0,60}[^<>\n]{0,100}>)"
)


def style_line(shown: Text, line: str, style_of: Callable[[str], Style]) -> None:
    """Colour `shown`, which has a character for each of `line`'s."""
    head = line[:LONGEST]
    if _HEADING.match(head):
        shown.stylize(style_of("heading"))
    elif found := _LIST_MARK.match(head):
        shown.stylize(style_of("mark"), found.start(), found.end())
    for found in _INLINE.finditer(head):
        shown.stylize(style_of(found.lastgroup or "mark"), found.start(), found.end())
