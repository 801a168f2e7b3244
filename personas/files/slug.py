"""Ids of personas: validity, making one from a name (lower-case ASCII), and quoting them in hints. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from personas.toml.escapes import HIDDEN

ID_LIMIT = 64
_NOT_IN_IDS = f"[/\t\n\ud800-\udfff]|{HIDDEN}|(?<![^\0-\x7f])[\u200c\u200d\ufe00-\ufe0f]"
"""What nobody sees would make one id look like another: joiners too, but behind a letter or sign that may need them."""


def is_id(persona_id: str) -> bool:
    """Whether a text can be a persona's id: a plain, visible file name without its ending."""
    if not persona_id or persona_id.startswith("."):
        return False
    if persona_id.isascii():
        is_visible = persona_id.isprintable() and "/" not in persona_id
    else:
        is_visible = re.search(_NOT_IN_IDS, persona_id) is None
    return is_visible and len(persona_id.encode()) <= 250


def shown_id(stem: str) -> str:
    """Return the stem of a file with a replacement character for each one that no id can have."""
    return re.sub(_NOT_IN_IDS, "\ufffd", stem)


def command(words: str, persona_id: str) -> str:
    """Return a command on a persona as one can copy it into a shell, whatever its file is called.

    Args:
        words: the command, such as `rm`.
        persona_id: a file's stem.
    """
    from shlex import quote

    return f"persona {words} {'-- ' if persona_id.startswith('-') else ''}{quote(persona_id)}"


def slug(text: str, *, fallback: str, limit: int = ID_LIMIT) -> str:
    """Return `text` as words of `a-z` and `0-9` joined by hyphens, other scripts transliterated.

    Args:
        text: any text; only its beginning counts.
        fallback: what to return when nothing of it can be said in ASCII.
        limit: most characters; cut at a word where there is one.
    """
    start = text[: 4 * limit]
    if not start.isascii():
        from anyascii import anyascii

        start = anyascii(start)
    words = re.sub(r"[^a-z0-9]+", "-", start.lower()).strip("-")
    if len(words) > limit:
        cut = words[: limit + 1].rpartition("-")[0]
        words = cut if len(cut) * 2 >= limit else words[:limit]
    return words.strip("-") or fallback


def free_id(wanted: str, is_taken: Callable[[str], bool], *, limit: int = ID_LIMIT) -> str:
    """Return `wanted`, or with the first free suffix `-2`, `-3`, …, within `limit` characters."""
    if not is_taken(wanted):
        return wanted
    number = 2
    while True:
        suffix = f"-{number}"
        candidate = wanted[: limit - len(suffix)].rstrip("-") + suffix
        if not is_taken(candidate):
            return candidate
        number += 1
