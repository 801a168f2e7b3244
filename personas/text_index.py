"""The texts of all personas, read from an index, so that only files that have changed are read anew. Blocking."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from personas.errors import PersonaError
from personas.files.file_stamp import stamp_of
from personas.files.home import Home
from personas.files.stamped_index import StampedIndex
from personas.folder import prompt_in
from personas.store import Store
from personas.texts import PROMPT, PROMPT_FILE, texts_in


class PersonaTexts(NamedTuple):
    """The texts of one persona.

    Attributes:
        id: of the persona.
        texts: `where` and text of each, see `TextAt`.
        error: why it cannot be read.
    """

    id: str
    texts: list[tuple[str, str]]
    error: PersonaError | None = None


def texts_of_all(store: Store) -> Iterator[PersonaTexts]:
    """Yield the texts of each persona, in the order of the ids.

    Raises:
        OutsideHome, StorageError: the folder cannot be read.
    """
    folder = store.home.inside(store.home.personas)
    index = StampedIndex(store.home.state / "persona-texts.json")
    ids = store.ids()
    try:
        for persona_id in ids:
            path = folder / f"{persona_id}.toml"
            # Taken before reading: never newer than the text. What stands in for a file has none.
            stamp = None if store.home.instead else stamp_of(path)
            try:
                if (texts := _stored(index.get(persona_id, stamp))) is None:
                    texts = [(one.where, one.text) for one in texts_in(persona_id, store.text(persona_id))]
                    index.add(persona_id, stamp, texts)
                found = PersonaTexts(persona_id, [_with_prompt(store.home, *one) for one in texts])
            except PersonaError as error:
                found = PersonaTexts(persona_id, [], error)
            yield found
    finally:  # also where nobody asks for the rest
        index.keep(ids)


def _with_prompt(home: Home, where: str, text: str) -> tuple[str, str]:
    """Return a text; a prompt in a file of its own is read each time, so that no stamp of that is needed."""
    return (PROMPT, prompt_in(home, text)) if where == PROMPT_FILE else (where, text)


def _stored(value: object) -> list[tuple[str, str]] | None:
    try:
        texts = [(where, text) for where, text in value]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        return None
    return texts if all(isinstance(one, str) for pair in texts for one in pair) else None
