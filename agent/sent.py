"""The messages of one request after the other, where each conversation sent mostly goes on from the last."""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_not

from agent.messages import Conversion
from agent.read_only import ReadOnlyList
from agent.stretch import Stretch, place_of
from agent.turns import Turn


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
        self._last: Sequence[Turn] = ()  # the turns of the last request
        self._varies = False

    def messages(self, turns: Sequence[Turn]) -> ReadOnlyList:
        """Return the messages for `turns`, whatever the requests before were."""
        place = place_of(turns)
        given = list(turns) if place is None else Stretch(*place)  # ours: a list may be changed by its owner
        common = _in_common(self._last, given)
        if common < self._taken:
            self._conversion, self._taken, self._varies = self._afresh(), 0, True
        settled = common if self._varies else len(given)
        self._conversion.extend(given[self._taken : settled])
        self._taken, self._last = settled, given
        if settled == len(given):
            return self._conversion.messages()
        return self._conversion.messages_with(given[settled:])

    def _afresh(self) -> Conversion:
        return Conversion(model=self._model, endpoint=self._endpoint)


def _in_common(before: Sequence[Turn], now: Sequence[Turn]) -> int:
    """How many of their first turns are the very same."""
    old, new = place_of(before), place_of(now)
    if old is not None and new is not None and old[0] is new[0] and old[1] == new[1]:
        return min(len(before), len(now))
    first = bytes(map(is_not, before, now)).find(True)  # in C: conversations are long
    return min(len(before), len(now)) if first < 0 else first
