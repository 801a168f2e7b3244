"""Test inputs that are made of what a file says, each with an id of its own. Pure."""

from __future__ import annotations

from collections.abc import Collection

from personas.files.slug import free_id, slug

_LENGTH = 24


def input_id(words: str, taken: Collection[str]) -> str:
    """Return a short id for a test input, made of words, not among `taken`."""
    return free_id(slug(words, fallback="test", limit=_LENGTH), taken.__contains__)


def as_inputs(contents: Collection[str]) -> list[dict[str, str]]:
    """Return a test input for each text that is not blank, once."""
    made: dict[str, dict[str, str]] = {}
    for content in contents:
        if content.strip() and content not in made:
            taken = [one["id"] for one in made.values()]
            made[content] = {"id": input_id(content, taken), "content": content}
    return list(made.values())
