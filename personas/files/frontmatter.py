"""Where the frontmatter of a Markdown text begins and ends: what stands between two lines of `---` at its top. Pure."""

from __future__ import annotations

import re

_FRONTMATTER = re.compile(r"---[ \t]*\r?\n(?P<fields>(?:.*\n)*?)---[ \t]*\r?(?:\n|\Z)")


def frontmatter_span(text: str) -> tuple[int, int, int]:
    """Return where the fields of the frontmatter begin and end, and where the content begins; 0, 0, 0: there is none."""
    found = _FRONTMATTER.match(text)
    return (0, 0, 0) if found is None else (*found.span("fields"), found.end())
