"""What is written in the chat bar and not sent, by persona: drafts, and those that were stashed. Knows no widget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import merge
from typing import NamedTuple

from tui.drafts.draft import CHAT, Draft, Key, stash_slot
from tui.terminal.secrets import is_key

KEPT = 20
"""Stashed drafts that are kept for one persona: the newest."""
LARGEST = 4 * 1024 * 1024
"""Characters of all of them together; the newest is kept whatever it has."""


class Stash(NamedTuple):
    """A draft that the person put away.

    Attributes:
        text: what was written.
        at: when it was put away, as turns have it, UTC ISO 8601.
    """

    text: str
    at: str


def below(stored: str, typed: str) -> str:
    """Return two texts, one below the other: neither is lost."""
    return "\n".join(text for text in (stored, typed) if text.strip())


def after_editor(before: str, now: str, written: str) -> str:
    """Return a draft after an editor: what it wrote in place of what it was given, and what came meanwhile."""
    if now in (before, written) or not now.strip():
        return written
    if before and now.endswith(f"\n{before}"):
        return now[: -len(before)] + written
    return f"{now}\n{written}" if written.strip() else now


class ChatDrafts:
    """The drafts of all personas but the one whose draft is in the chat bar.

    Attributes:
        texts: the drafts, by persona; under an empty id what is nobody's yet.
        answers: the id of the question that a draft was written as the answer to.
    """

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.answers: dict[str, str] = {}
        self._stashes: dict[str, tuple[Stash, ...]] = {}

    def take_left(self, drafts: Iterable[Draft]) -> None:
        """Take what ended programs left: a draft for each persona, and stashes."""
        for draft in drafts:
            if draft.slot == CHAT:
                self.texts[draft.document] = draft.text
                if draft.base:
                    self.answers[draft.document] = draft.base
            elif not self.texts.get(draft.document, "").startswith(draft.text):
                self.stash(draft.document, draft.text, draft.base)

    def put_before(self, persona_id: str, text: str) -> None:
        """Put a text before the draft of a persona; together they answer no question."""
        self.texts[persona_id] = below(text, self.texts.get(persona_id, ""))
        self.answers.pop(persona_id, None)

    # -- stashes ------------------------------------------------------------------------------------------

    def stash(self, persona_id: str, text: str, at: str) -> None:
        """Put a draft away; the newest are kept, each text once."""
        self._stashes[persona_id] = _newest((*self.stashes(persona_id), Stash(text, at)))

    def stashes(self, persona_id: str) -> tuple[Stash, ...]:
        """Return what was stashed of a persona, oldest first."""
        return self._stashes.get(persona_id, ())

    def assign(self, persona_id: str) -> None:
        """The first persona is shown: what was stashed before is its."""
        for stash in self._stashes.pop("", ()):
            self.stash(persona_id, stash.text, stash.at)

    def with_stashes(self, persona_id: str, messages: Iterable[tuple[str, str]]) -> list[str]:
        """Return messages, given as (when, text), with the stashes between them."""
        stashes = ((stash.at, stash.text) for stash in self.stashes(persona_id))
        return [text for _, text in merge(messages, stashes, key=lambda one: one[0])]

    # -- storing ------------------------------------------------------------------------------------------

    def to_store(
        self, shown: str | None, draft: str, answered: str, first: str
    ) -> Mapping[Key, tuple[str, str]]:
        """Return what the drafts database is to have, with base and text; what is nothing but a key is left out.

        Args:
            shown: the persona whose draft is in the chat bar; None for none yet.
            draft: what is in the chat bar.
            answered: the id of the question it answers; empty for none.
            first: the persona that gets what is nobody's yet; empty where that is not known.
        """
        texts, answers = dict(self.texts), dict(self.answers)
        if shown is not None:
            texts[shown] = draft
            if answered:
                answers[shown] = answered
        elif draft.strip():
            texts[first] = below(texts.get(first, ""), draft)
            answers.pop(first, None)  # who typed ahead did not see what is asked
        found = {
            (key, CHAT): (answers.get(key, ""), text)
            for key, text in texts.items()
            if text.strip() and not is_key(text)
        }
        for key, stashes in self._stashes.items():
            for stash in stashes:
                if not is_key(stash.text):
                    found[key or first, stash_slot(stash.text)] = stash.at, stash.text
        return found


def _newest(stashes: Iterable[Stash]) -> tuple[Stash, ...]:
    newest: dict[str, Stash] = {}
    length = 0
    for stash in sorted(stashes, key=lambda one: (one.at, one.text), reverse=True):
        if stash.text in newest:
            continue
        length += len(stash.text)
        if newest and (len(newest) == KEPT or length > LARGEST):
            break
        newest[stash.text] = stash
    return tuple(reversed(newest.values()))
