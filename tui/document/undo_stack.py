"""What was done to the open persona, in order of time, and the place in it that undo and redo move. Pure.

One line of deeds, whatever they were done to: what was typed, stretch by stretch, and what is a unit of the store.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from personas.versions.undo import Retrace

MOST = 500
"""Deeds that are remembered; what came before is undone unit by unit."""
MOST_TEXT = 20_000_000
"""Characters of typed texts that are remembered."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A stretch of typing in one text.

    Attributes:
        place: which text, by the name under which it is kept while unsaved.
        before, after: the text.
        outside: another program wrote it, nobody typed.
    """

    place: str
    before: str
    after: str
    outside: bool = False


@dataclass(frozen=True, slots=True)
class Stored:
    """A unit of the store.

    Attributes:
        run_id: the agent's run that made it; None: it was not a run.
        undone_by: which operation of the store takes it back.
        key: of the unit, where that one is meant whatever was done since; empty for the next one.
    """

    run_id: str | None = None
    undone_by: Retrace = "undo"
    key: str = ""


Deed = Typed | Stored

BEFORE = Stored()
"""Stands for what was done before the persona was opened: the store alone knows it."""


def opposite(operation: Retrace) -> Retrace:
    """Return the operation that takes this one back."""
    return "redo" if operation == "undo" else "undo"


class Past:
    """The deeds since a persona was opened, and which of them are undone. Each has a number: its place in time."""

    def __init__(self) -> None:
        self._done: list[tuple[int, Deed]] = []  # the last one is undone next
        self._undone: list[tuple[int, Deed]] = []  # the last one is done again next
        self._oldest = self._youngest = 0
        self._is_new = (
            False  # something was done since the persona was opened: the store's redo is no longer ours
        )

    def typed(
        self, place: str, texts: Sequence[str], *, goes_on: bool = False, outside: bool = False
    ) -> None:
        """A text was typed in; what was undone cannot be redone any more.

        Args:
            place: which text.
            texts: what it held between the stretches, oldest first.
            goes_on: whether the first stretch goes on with the last one that was told.
            outside: whether another program wrote it.
        """
        for before, after in pairwise(texts):
            last = self._done[-1][1] if self._done else None
            if goes_on and isinstance(last, Typed) and last == Typed(place, last.before, before):
                self._done.pop()
                before = last.before
            goes_on = False
            if before != after:
                self._add(Typed(place, before, after, outside))

    def settled(self, place: str, typed: tuple[str, str], met: str, chosen: str) -> None:
        """What was typed met another text, and it was chosen what is to be: undo leads to what was typed, then to that.

        Args:
            place: which text.
            typed: what was stored before the typing that met it, and what was typed in the end.
            met: the text that came in meanwhile; who made it has been told.
            chosen: the text now.
        """
        stored, ours = typed
        stretches = [ours]  # what the text was after each of them, youngest first
        for at in reversed(range(len(self._done))):
            if stretches[-1] == stored:
                break
            deed = self._done[at][1]
            if isinstance(deed, Typed) and (deed.place, deed.after) == (place, stretches[-1]):
                stretches.append(deed.before)
                del self._done[at]
        if len(stretches) > 1:
            stretches.pop()  # the typing began there; it lies over the other text now
        self.typed(place, (met, *reversed(stretches), chosen))

    def stored(self, deed: Stored) -> None:
        """Something was done in the store. What a run does in a row is one deed, as young as its last change."""
        if deed.run_id is not None:
            self._take_out(self._done, deed)
        self._add(deed)

    def next(self, operation: Retrace) -> Deed | None:
        """Return what is undone or redone next; None where nothing is left, and the store's is not meant."""
        stack = self._stack(operation)
        if stack:
            return stack[-1][1]
        return None if operation == "redo" and self._is_new else BEFORE

    def move(self, operation: Retrace, deed: Deed, *, as_: Deed | None = None) -> None:
        """A deed that `next` returned was undone or redone, whatever was done since.

        `as_`: what can be taken back of it now, where that is another.
        """
        source, target = self._stack(operation), self._stack(opposite(operation))
        place, deed = self._take_out(source, deed), as_ or deed
        if place is None:
            place = self._place_at_the_end(operation)
        if operation == "redo" and target and target[-1][0] > place:
            place = self._place_at_the_end(operation)  # a run undone out of its turn: done last, undone first
        target.append((place, deed))

    def move_run(self, operation: Retrace, run_id: str | None) -> None:
        """A run was undone or redone, whatever was done since: it goes back to its place, as if it never was undone."""
        source, target, deed = self._stack(operation), self._stack(opposite(operation)), Stored(run_id)
        place = None
        if run_id is not None:
            self._take_out(target, deed)
            place = self._take_out(source, deed)
        if operation == "undo" or place is None:
            target.append((self._place_at_the_end(operation) if place is None else place, deed))
        else:
            insort(target, (place, deed), key=itemgetter(0))

    def drop(self, operation: Retrace, deed: Deed) -> bool:
        """A deed that `next` returned has no effect any more; returns whether it was in this line."""
        return self._take_out(self._stack(operation), deed) is not None

    def _stack(self, operation: Retrace) -> list[tuple[int, Deed]]:
        return self._done if operation == "undo" else self._undone

    @staticmethod
    def _take_out(stack: list[tuple[int, Deed]], deed: Deed) -> int | None:
        """Remove a deed and return its place."""
        at = next((at for at in reversed(range(len(stack))) if stack[at][1] == deed), None)
        return None if at is None else stack.pop(at)[0]

    def _place_at_the_end(self, operation: Retrace) -> int:
        """Return the place of what is not in the line: what is undone is older, what is done younger than all."""
        if operation == "undo":
            self._oldest -= 1
            return self._oldest
        self._youngest += 1
        return self._youngest

    def _add(self, deed: Deed) -> None:
        self._undone.clear()
        self._is_new = True
        self._done.append((self._place_at_the_end("redo"), deed))
        if len(self._done) > MOST or isinstance(deed, Typed):
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        left, kept = MOST_TEXT, 0
        for _, deed in reversed(self._done[-MOST:]):
            left -= len(deed.before) if isinstance(deed, Typed) else 0
            if left < 0:
                break
            kept += 1
        del self._done[: len(self._done) - kept]
