"""Texts begun in a dialog and not given yet: they are kept in the home's `state/` until they are.

It may come from a stranger: it is read as text and nothing is done by it.
"""

from __future__ import annotations

import json

from personas.errors import PersonaError
from personas.home import Home
from personas.textfile import encode, read_regular, replace_file

_NAME = "unfinished.json"
_LARGEST = 8 * 1024 * 1024


def unfinished(home: Home, key: str) -> str:
    """Return the text begun under `key`, empty where there is none. Blocking."""
    return _read(home).get(key, "")


def keep_unfinished(home: Home, key: str, text: str) -> bool:
    """Keep the text begun under `key`, an empty one no longer; return whether that was possible. Blocking."""
    texts = _read(home)
    if texts.get(key, "") == text:
        return True
    texts.pop(key, None)
    if text:
        texts[key] = text
    try:
        replace_file(home.state / _NAME, encode(json.dumps(texts) + "\n"), root=home.root)
    except (OSError, PersonaError):
        return False
    return True


def _read(home: Home) -> dict[str, str]:
    try:
        stored = json.loads(read_regular(home.state / _NAME, root=home.root, limit=_LARGEST))
    except (OSError, PersonaError, ValueError, RecursionError):
        return {}
    if not isinstance(stored, dict):
        return {}
    return {key: text for key, text in stored.items() if isinstance(text, str)}
