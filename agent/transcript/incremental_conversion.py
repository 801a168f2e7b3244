"""The messages of one request after the other, where each conversation sent mostly goes on from the last."""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_not

from agent.core.messages import Conversion
from agent.core.turns import Turn
from agent.transcript.read_only import ReadOnlyList
from agent.transcript.stretch import Place, Stretch, place_of


class Sent:
    """Converts the turns of each request of a run, looking only at those that were not there before.

    Turns that begin with the very turns of the request before are carried on from there. Once that failed,
    because something is said at the end of each request only, just what two requests in a row have in common
    is kept. What comes out is the same as if all was converted from the beginning.

    Args:
        model: the model the requests go to.
        endpoint: its server.
    """

    def __init__(self, *, model: str, endpoint: str) -> None:
        self._model = model
        self._endpoint = endpoint
        self._conversion = self._afresh()
        self._taken = 0  # how many turns of the last request the conversion has taken up
        self._last: Sequence[Turn] = ()  # the turns of the last request; not kept where their place is
        self._place: Place | None = None  # where they are, if they are a stretch of a conversation
        self._varies = False

    def messages(self, turns: Sequence[Turn]) -> ReadOnlyList:
        """Return the messages for `turns`, whatever the requests before were."""
        place = place_of(turns)
        if place is not None:
            return self.messages_at(place)
        return self._converted(list(turns), None)  # ours: a list may be changed by its owner

    def messages_at(self, place: Place) -> ReadOnlyList:
        """Return the messages for the turns of a stretch."""
        if not self._goes_on(place):
            return self._converted(Stretch(*place), place)
        source, start, stop = place
        for index in range(start + self._taken, stop):
            self._conversion.add(source[index])
        self._taken, self._place = stop - start, place
        return self._conversion.messages()

    def _converted(self, given: Sequence[Turn], place: Place | None) -> ReadOnlyList:
        """The messages for turns, what of them was not there before converted."""
        common = _in_common(self._last if self._place is None else Stretch(*self._place), given)
        if common < self._taken:
            self._conversion, self._taken, self._varies = self._afresh(), 0, True
        settled = common if self._varies else len(given)
        self._conversion.extend(given[self._taken : settled])
        self._taken, self._last, self._place = settled, given, place
        if settled == len(given):
            return self._conversion.messages()
        return self._conversion.messages_with(given[settled:])

    def _goes_on(self, place: Place) -> bool:
        """Whether these turns surely are those of the last request, all taken up, and what came since."""
        last = self._place
        return (
            last is not None
            and last[0] is place[0]
            and last[1] == place[1]
            and last[2] - last[1] == self._taken <= place[2] - place[1]
        )

    def _afresh(self) -> Conversion:
        return Conversion(model=self._model, endpoint=self._endpoint)


def _in_common(before: Sequence[Turn], now: Sequence[Turn]) -> int:
    """How many of their first turns are the very same."""
    old, new = place_of(before), place_of(now)
    if old is not None and new is not None and old[0] is new[0] and old[1] == new[1]:
        return min(len(before), len(now))
    first = bytes(map(is_not, before, now)).find(True)  # in C: conversations are long
    return min(len(before), len(now)) if first < 0 else first
