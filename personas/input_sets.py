"""Several test inputs at once: added, deleted, moved and copied between personas, each as one unit of undo.

What is to be done is worked out first, on the texts as they are, so that it can be shown; then it is written.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from personas.changes import (
    TEST_INPUT_ID_LIMIT,
    index_of_input,
    new_test_input_id,
    require_line,
    test_input_tables,
)
from personas.edited_text import edited_diff
from personas.errors import BrokenFile, Conflict, InvalidValue
from personas.fields import as_file_error
from personas.files.slug import free_id
from personas.input_records import sent
from personas.library_store import LibraryStore
from personas.persona import Persona, broken_file
from personas.store import Store
from personas.toml.edit import append_tables, remove_tables, rewrite_last, set_value, written_elements
from personas.toml.parse import parse, parsing_once

_PATH = ("test_inputs",)


@dataclass(frozen=True, slots=True)
class InputsChange:
    """A change of the test inputs of one persona, made of the text that it had.

    Attributes:
        persona_id: whose.
        before, after: its file.
        summary: what is done, in a few words.
        ids: of the test inputs that are added, or else taken away.
        there: how many of those to be added are there already, and not added again.
    """

    persona_id: str
    before: str
    after: str
    summary: str
    ids: tuple[str, ...]
    there: int = 0
    typed: ClassVar[bool] = False
    subject: ClassVar[str] = "test inputs"

    def apply(self, text: str) -> str:
        """Return the file's new text.

        Raises:
            Conflict: the text is not the one that it was made of.
        """
        if text != self.before:
            why = f"{self.persona_id} was changed meanwhile; nothing was written. Try again."
            raise Conflict(why, base=self.before, ours=self.after, theirs=text)
        return self.after

    def summarise(self, old: str, new: str) -> str:
        """Say what turned the text `old` into `new`."""
        return self.summary

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        return edited_diff(self.before, self.after, self.persona_id, self.persona_id)


def add(store: Store, persona_id: str, tables: Sequence[Mapping[str, Any]]) -> InputsChange:
    """Return the change that adds test inputs at the end; those that are there already, in all they say, are not added.

    Args:
        store: where the persona lives.
        persona_id: whose.
        tables: of each, as it stands in the file; its `id` gets a number where it is taken, and is made where it has none.

    Raises:
        InvalidValue: an id cannot be one.
        BrokenFile, EditRefused: the file cannot be changed.
    """
    text = _text(store, persona_id)
    known = {repr(said) for table in test_input_tables(text) for said in (table, _without_id(table))}
    new: list[Mapping[str, Any]] = []
    for table in tables:
        if repr(table) not in known:
            known.add(repr(table))
            new.append(table)
    after, ids = _added(text, new, [""] * len(new))
    return InputsChange(persona_id, text, after, f"{counted(len(ids))} added", ids, len(tables) - len(new))


def delete(store: Store, persona_id: str, ids: Iterable[str]) -> InputsChange:
    """Return the change that deletes test inputs, with the comments right above them.

    Raises:
        InvalidValue: there is no such test input.
        BrokenFile, EditRefused: the file cannot be changed.
    """
    text, ids = _text(store, persona_id), tuple(dict.fromkeys(ids))
    summary = f"test input deleted: {ids[0]}" if len(ids) == 1 else f"{counted(len(ids))} deleted"
    return InputsChange(persona_id, text, _without(text, ids), summary, ids)


def move(
    store: Store, persona_id: str, ids: Iterable[str], to: str, *, is_copy: bool = False
) -> list[InputsChange]:
    """Return the changes that move test inputs to the end of another persona's, that one's first.

    All that they say comes along, comments that touch them too where both files write them under headers of their own.
    An id that is taken there gets a number. Outputs stay where they are.

    Args:
        store: where the personas live.
        persona_id: whose they are.
        ids: which.
        to: who gets them.
        is_copy: they stay here too; then `to` may be the same persona.

    Raises:
        InvalidValue: there is no such test input, or nowhere to move it.
        BrokenFile, EditRefused: a file cannot be changed.
    """
    if to == persona_id and not is_copy:
        raise InvalidValue(f"They are already test inputs of {to}.")
    text, ids = _text(store, persona_id), tuple(dict.fromkeys(ids))
    target = _text(store, to)
    with parsing_once():
        places = [index_of_input(text, one) for one in ids]
        known = test_input_tables(text)
    tables, written = [known[at] for at in places], written_elements(text, _PATH, places)
    after, new_ids = _added(target, tables, written)
    how = "copied" if is_copy else "moved"
    got = InputsChange(to, target, after, f"{counted(len(ids))} {how} from {persona_id}", new_ids)
    if is_copy:
        return [got]
    return [
        got,
        InputsChange(persona_id, text, _without(text, ids), f"{counted(len(ids))} moved to {to}", ids),
    ]


def write(store: Store, changes: Sequence[InputsChange]) -> list[Persona]:
    """Make the changes, all or none, as one unit of undo; return the personas as they are then.

    Raises:
        Conflict: one of them was changed meanwhile.
        PersonaError: see `Store.change`.
    """
    unit = f"inputs:{secrets.token_hex(8)}" if len(changes) > 1 else ""
    LibraryStore(store).change_all([(one.persona_id, one, "") for one in changes], unit)
    return [store.get(one.persona_id) for one in changes]


def counted(number: int, what: str = "test input") -> str:
    """Return so many of something in words."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def tables_of(store: Store, persona_id: str) -> list[dict[str, Any]]:
    """Return a persona's test inputs as they stand in its file.

    Raises:
        BrokenFile, EditRefused: they cannot be read.
    """
    return test_input_tables(_text(store, persona_id))


def _text(store: Store, persona_id: str) -> str:
    """Return the text of a persona's file, which is TOML."""
    text = store.text(LibraryStore(store).persona(persona_id).id)
    try:
        parse(text)
    except BrokenFile as error:
        raise broken_file(persona_id, as_file_error(error), is_readable=True) from None
    return text


def _without_id(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key != "id"}


def _added(
    text: str, tables: Sequence[Mapping[str, Any]], written: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """Return the text with test inputs added at the end, and their ids there."""
    taken, ids = {one.get("id") for one in test_input_tables(text)}, list[str]()
    for table in tables:
        wanted = table.get("id") or new_test_input_id(sent(table), taken)
        require_line(wanted, "A test input's id", TEST_INPUT_ID_LIMIT)
        ids.append(free_id(wanted, taken.__contains__, limit=TEST_INPUT_ID_LIMIT))
        taken.add(ids[-1])
    if not tables:
        return text, ()
    text = append_tables(
        text, _PATH, [{"id": one, **_without_id(table)} for table, one in zip(tables, ids, strict=True)]
    )
    lines = [
        set_value(one, (*_PATH, 0, "id"), new) if one else "" for one, new in zip(written, ids, strict=True)
    ]
    return (rewrite_last(text, _PATH, lines) if any(lines) else text), tuple(ids)


def _without(text: str, ids: Iterable[str]) -> str:
    with parsing_once():
        places = {index_of_input(text, one) for one in ids}
    return remove_tables(text, _PATH, places)
