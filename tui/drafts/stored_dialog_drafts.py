"""Texts begun in a dialog and not given yet: they are kept in the home's `state/` until they are.

It may come from a stranger: it is read as text and nothing is done by it. A text may be of any size.
"""

from __future__ import annotations

from personas.files.home import Home
from personas.files.text_file import replace_file
from tui.drafts.blob_store import Found, TextRecord

_NAME = "unfinished"


def unfinished(home: Home, key: str) -> str:
    """Return the text begun under `key`, empty where there is none. Blocking."""
    return _texts(_read(home)).get(key, "")


def look_through(home: Home) -> tuple[str, ...]:
    """Return what there is to say of begun texts that cannot be read, in sentences. Blocking."""
    return _read(home).said


def keep_unfinished(home: Home, key: str, text: str) -> bool:
    """Keep the text begun under `key`, an empty one no longer; return whether that was possible. Blocking."""
    record = TextRecord(home, _NAME)
    with record.alone():
        found = record.read()
        texts = _texts(found)
        if texts.get(key, "") == text:
            return True
        texts.pop(key, None)
        if text:
            texts[key] = text
        return record.write(texts, found, replace=replace_file)


def _read(home: Home) -> Found:
    record = TextRecord(home, _NAME)
    with record.alone():
        return record.read()


def _texts(found: Found) -> dict[str, str]:
    return {key: text for key, text in (found.record or {}).items() if isinstance(text, str)}
