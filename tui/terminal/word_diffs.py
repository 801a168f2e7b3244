"""Where two texts differ, word by word and line by line. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST_WORDS = 800
"""Words on either side up to which each difference is found; between longer texts it is one stretch."""
MOST_LINES = 400
"""The same for lines."""

CharRange = tuple[int, int]
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


def differences(ours: str, theirs: str) -> tuple[list[CharRange], list[CharRange]]:
    """Return the stretches (begin, end) in which each of two texts is not like the other; linear for long texts."""
    begin, end = _alike(ours, theirs)
    middles = ours[begin : len(ours) - end], theirs[begin : len(theirs) - end]
    words = [_WORD.findall(middle) for middle in middles]
    if max(map(len, words)) > MOST_WORDS:
        return _whole(middles[0], begin), _whole(middles[1], begin)
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, words[0], words[1], autojunk=False)
    found: tuple[list[CharRange], list[CharRange]] = ([], [])
    starts = [_starts(one, begin) for one in words]
    for kind, a_from, a_to, b_from, b_to in matcher.get_opcodes():
        if kind != "equal":
            for side, first, last in ((0, a_from, a_to), (1, b_from, b_to)):
                if last > first:
                    found[side].append((starts[side][first], starts[side][last]))
    return found


def aligned(ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[Sequence[str], Sequence[str]]]:
    """Return the lines of two texts as stretches of both that belong beside each other: the same, or in place of it."""
    begin = next((at for at, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]), None)
    if begin is None:
        begin = min(len(ours), len(theirs))
    middles = ours[begin:], theirs[begin:]
    found = [(ours[:begin], theirs[:begin])]
    if max(map(len, middles)) > MOST_LINES:
        found.append(middles)
    else:
        from difflib import SequenceMatcher

        for _, a, b, c, d in SequenceMatcher(None, *middles, autojunk=False).get_opcodes():
            found.append((middles[0][a:b], middles[1][c:d]))
    return [(one, other) for one, other in found if one or other]


def first_difference(ours: str, theirs: str) -> int:
    """Return how many characters both texts begin with in common."""
    return _alike(ours, theirs)[0]


def _alike(ours: str, theirs: str) -> tuple[int, int]:
    """Return how many characters are the same at the beginning, up to the begin of a word, and then at the end."""
    least = min(len(ours), len(theirs))
    begin = next((at for at in range(least) if ours[at] != theirs[at]), least)
    while begin and begin < max(len(ours), len(theirs)) and ours[begin - 1].isalnum():
        begin -= 1
    end = next((at for at in range(least - begin) if ours[-1 - at] != theirs[-1 - at]), least - begin)
    while end and ours[-end].isalnum():
        end -= 1
    return begin, end


def _starts(words: Sequence[str], begin: int) -> list[int]:
    starts = [begin]
    for word in words:
        starts.append(starts[-1] + len(word))
    return starts


def _whole(middle: str, begin: int) -> list[CharRange]:
    return [(begin, begin + len(middle))] if middle else []
