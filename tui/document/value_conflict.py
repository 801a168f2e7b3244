"""Where two texts of a persona's file meet in nothing but one value, the conflict is shown as one of that value. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from personas.changes import SetPrompt, UpdateTestInput
from personas.errors import PersonaError
from personas.files.text_file import encode
from personas.persona import read_persona
from tui.document.merge import MergeConflict, merge_texts

if TYPE_CHECKING:
    from personas.changes import Change


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person chooses from.

    Attributes:
        conflict: what is shown.
        whole: gives the file, by the text that was chosen; may raise `PersonaError`.
    """

    conflict: MergeConflict
    whole: Callable[[str], str]


def in_one_value(conflict: MergeConflict) -> Shown:
    """Return the conflict of two files as one of the system prompt, or of a test input, where it lies in that alone.

    Else as it is, one of files. Takes its time with a large file.
    """
    try:
        base, ours, theirs = (_values(text) for text in (conflict.base, conflict.ours, conflict.theirs))
        places = [place for place in theirs if place in base and place in ours]
        merged = {place: merge_texts(base[place], ours[place], theirs[place]) for place in places}
        touched = [(place, value) for place, value in merged.items() if isinstance(value, MergeConflict)]
        if len(touched) == 1:
            place, value = touched[0]
            # With the same value in all three they say whether anything else meets.
            settled = _change(place, value.theirs).apply
            rest = merge_texts(settled(conflict.base), settled(conflict.ours), conflict.theirs)
            if isinstance(rest, str) and _values(rest).get(place) == value.theirs:
                return Shown(value, lambda chosen: _change(place, chosen).apply(rest))
    except PersonaError:  # a file that cannot be read, or not be changed so
        pass
    return Shown(conflict, lambda chosen: chosen)


def _values(text: str) -> dict[str | None, str]:
    """Return the texts in a file: by the id of their test input, by None the system prompt; none of a broken file."""
    persona = read_persona("any", encode(text))
    if persona.error is not None:
        return {}
    return {None: persona.system_prompt, **{each.id: each.content for each in persona.test_inputs}}


def _change(place: str | None, text: str) -> Change:
    return SetPrompt(text) if place is None else UpdateTestInput(place, text)
