"""Finds a passage that differs from the wanted one only in look-alikes: blanks, quotes, dashes, composed letters."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from functools import lru_cache

_PLAIN = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff\r", ""),
    }
)


def near_match(text: str, wanted: str) -> str | None:
    """Return the one passage of `text` that differs from `wanted` only by look-alikes; None for none or several."""
    folded, places = _folded(text)
    sought, _ = _folded(wanted)
    first = folded.find(sought) if sought else -1
    if first < 0 or folded.find(sought, first + 1) >= 0:
        return None
    end = first + len(sought)
    if places[first - 1 : first] == places[first : first + 1] or places[end - 1] == places[end]:
        return None  # it begins or ends within a character
    return text[places[first] : places[end - 1] + 1]


def describe_difference(passage: str, wanted: str) -> str:
    """Return a passage as JSON, its look-alikes escaped, and which characters differ from those of `wanted`."""
    there, sent = Counter(passage), Counter(wanted)
    shown = json.dumps(passage, ensure_ascii=False)
    for character in there - sent:
        if not character.isascii():
            shown = shown.replace(character, json.dumps(character)[1:-1])
    return f"{shown} (there: {_named(there - sent)}; sent: {_named(sent - there)})"


def _named(characters: Counter[str]) -> str:
    return ", ".join(f"U+{ord(one):04X} {unicodedata.name(one, '')}".strip() for one in characters) or "none"


def _folded(text: str) -> tuple[str, list[int]]:
    """The text with plain characters for their look-alikes; for each of them, and the end, its place in the text."""
    pieces = [_fold(character) for character in text]
    places = [place for place, piece in enumerate(pieces) for _ in piece]
    return "".join(pieces), [*places, len(text)]


@lru_cache(maxsize=4096)
def _fold(character: str) -> str:
    if character.isascii() and character not in "`\r":
        return character
    return unicodedata.normalize("NFKD", character.translate(_PLAIN)).translate(_PLAIN)
