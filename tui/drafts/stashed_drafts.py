"""Drafts that the person put away: kept with their persona, over a new start as well, until newer ones take their place.

They come from the home's `state/`, which may be a stranger's: they are text and nothing else. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import merge

KEPT = 20
"""Drafts that are kept for one persona: the newest."""
LARGEST = 4 * 1024 * 1024
"""Characters of all of them together; the newest is kept whatever it has."""


@dataclass(frozen=True, slots=True)
class PutAway:
    """A draft.

    Attributes:
        text: what was written.
        at: when it was put away, as turns have it, UTC ISO 8601.
    """

    text: str
    at: str


Drafts = Mapping[str, tuple[PutAway, ...]]
"""By persona, oldest first."""


def together(*all_drafts: Drafts) -> dict[str, tuple[PutAway, ...]]:
    """Return all drafts of each persona, each text once, where it was put away last; no more than are kept."""
    keys = dict.fromkeys(key for drafts in all_drafts for key in drafts)
    return {key: _kept(one for drafts in all_drafts for one in drafts.get(key, ())) for key in keys}


def _kept(drafts: Iterable[PutAway]) -> tuple[PutAway, ...]:
    newest: dict[str, PutAway] = {}
    length = 0
    for one in sorted(drafts, key=lambda one: (one.at, one.text), reverse=True):
        if one.text in newest:
            continue
        length += len(one.text) + len(one.at)
        if newest and (len(newest) == KEPT or length > LARGEST):
            break
        newest[one.text] = one
    return tuple(reversed(newest.values()))


def among(drafts: Iterable[PutAway], messages: Iterable[tuple[str, str]]) -> list[str]:
    """Return drafts and messages, given as (when, text), in the order in which they were put away or sent."""
    return [
        text for _, text in merge(messages, ((one.at, one.text) for one in drafts), key=lambda one: one[0])
    ]


def store_drafts(drafts: Drafts) -> dict[str, object]:
    """Return them as a JSON object."""
    return {key: [[one.text, one.at] for one in some] for key, some in drafts.items() if some}


def read_drafts(stored: object) -> Drafts:
    """Return them out of a remembered state, which may be anything."""
    found = {
        key: tuple(
            PutAway(pair[0], pair[1])
            for pair in some
            if isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)
        )
        for key, some in (stored.items() if isinstance(stored, dict) else ())
        if isinstance(some, list)
    }
    return together({key: some for key, some in found.items() if some})
