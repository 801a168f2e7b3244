"""What is looked for: a text, or a regular expression, which is searched in a process that can be stopped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from agent.outputs import regex
from personas.errors import InvalidValue


class Match(NamedTuple):
    """Where something was found, and what takes its place there."""

    start: int
    end: int
    new: str


@dataclass(frozen=True)
class Pattern:
    """What to look for; an empty match is none.

    Attributes:
        text: a text, or a regular expression of Python's `re`, whose `^` and `$` are the ends of lines.
        is_regex: which of both.
        is_word: letters, digits and `_` may stand neither right before nor right behind it.
        any_case: whether the case of letters makes no difference to a text.

    Raises:
        InvalidValue: the text is empty.
    """

    text: str
    is_regex: bool = False
    is_word: bool = False
    any_case: bool = False

    def __post_init__(self) -> None:
        if not self.text:
            raise InvalidValue("There is nothing to look for: the text is empty.")

    def matches(self, text: str, new: str = "") -> list[Match]:
        """Return where it is found in a text, in order, see `matches_of`."""
        return self.matches_of([text], new)[0]

    def matches_of(self, texts: Sequence[str], new: str = "") -> list[list[Match]]:
        """Return for each text where it is found, in order.

        Args:
            texts: to be looked through.
            new: what takes its place; of a regular expression with `\\1` or `\\g<name>` for its groups.

        Raises:
            InvalidValue: the regular expression or `new` is none, or takes too long.
        """
        if self.is_regex:
            try:
                found = [[Match(*one) for one in those] for those in regex.matches(self.text, texts, new)]
            except regex.RegexError as error:
                raise InvalidValue(f"{self.text!r} {error}.") from None
        else:
            found = [[Match(*span, new) for span in self._spans(text)] for text in texts]
        return [
            [one for one in those if one.start < one.end and (not self.is_word or _is_word(text, one))]
            for text, those in zip(texts, found, strict=True)
        ]

    def _spans(self, text: str) -> list[tuple[int, int]]:
        low = text.lower()
        if self.rough not in low:
            return []
        if not self.any_case:
            return [one.span() for one in re.finditer(re.escape(self.text), text)]
        if self.text.isascii() and len(low) == len(
            text
        ):  # places are the same, and the search ten times as fast
            return [one.span() for one in re.finditer(re.escape(self.text.lower()), low)]
        return [one.span() for one in re.finditer(re.escape(self.text), text, re.IGNORECASE)]

    def replaced(self, text: str, new: str) -> str:
        """Return the text with `new` wherever it is found. Arguments and errors as in `matches`."""
        pieces, at = [], 0
        for match in self.matches(text, new):
            pieces += [text[at : match.start], match.new]
            at = match.end
        return "".join([*pieces, text[at:]])

    @cached_property
    def rough(self) -> str:
        """A word in lower case, of ASCII letters and digits, without which nothing is found; empty where none is known."""
        words = [] if self.is_regex else re.findall(r"[a-z0-9]+", self.text.lower())
        return max(words, key=len, default="")


def _is_word(text: str, match: Match) -> bool:
    around = text[max(match.start - 1, 0) : match.start] + text[match.end : match.end + 1]
    return re.search(r"\w", around) is None
