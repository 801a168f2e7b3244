"""Finding text in the conversation: as written and as drawn, however its letters are composed.

Letter case, full-width forms, composed and decomposed letters and how many blanks there are make no difference. No widget.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tui.commands.text_matching import composed, joins
from tui.widgets.conversation.lines import Line

_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalnum())

LINES_AT_ONCE = 200
"""Lines that are searched at once."""

BEYOND = 20
"""Lines before and after these that are searched too, for a match that begins or ends there."""

MatchRange = tuple[int, int]
"""A range of characters in a line: its start, and its end (exclusive)."""
MatchRanges = list[MatchRange]


def fold(text: str) -> str:
    """Return `text` without the differences that a search does not look at."""
    return " ".join(_fold_letters(text).split())


def _fold_letters(text: str) -> str:
    if text.isascii():
        return text.lower()
    text = composed(text).casefold()
    text = text.replace("•", "*").replace("│", "|")  # signs of ours, as they are in ASCII
    return composed(text)


def _fold_query(text: str) -> str:
    folded = fold(text)
    if not folded:
        return " " if text else ""
    return f"{' ' * text[0].isspace()}{folded}{' ' * text[-1].isspace()}"


def _skeleton(folded: str) -> bytes:
    """Return folded text without possible markup: a query that is not in it is not in the rendered text either."""
    return folded.encode("utf-8", "surrogatepass").translate(None, _NO_LETTERS)


def _as_read(text: str) -> str:
    from tui.widgets.conversation.strip_markdown import (
        strip_markdown,  # its patterns are made with the first search
    )

    return strip_markdown(text)


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for.

    Attributes:
        folded: the text as it is compared; "" searches for nothing.
        forms: the texts it may be drawn as: itself, and rendered as Markdown.
        skeleton: its letters.
    """

    folded: str
    forms: tuple[str, ...]
    skeleton: bytes

    @classmethod
    def of(cls, text: str) -> Query:
        """Return what to search for; a blank at an end of `text` counts."""
        folded = _fold_query(text)
        read = _fold_query(_as_read(text))
        return cls(
            folded, (folded, read) if read.strip() and read != folded else (folded,), _skeleton(folded)
        )

    def __bool__(self) -> bool:
        return bool(self.folded)


NO_QUERY = Query("", (), b"")


class SearchableText:
    """A text to search, folded once.

    Args:
        texts: the source; further texts, as drawn on the screen.
        markdown: the first is Markdown.
    """

    __slots__ = ("_folded", "_skeleton", "_text", "_unmarked")

    def __init__(self, texts: Iterable[str], *, markdown: bool = False) -> None:
        first, *others = texts
        self._folded = "\0".join(map(fold, (first, *others)))
        self._text = first if markdown else None
        self._skeleton: bytes | None = None
        self._unmarked: str | None = None

    def contains(self, query: Query) -> bool:
        """Return whether the query is found in it."""
        if query.folded in self._folded:
            return True
        if self._text is None:
            return False
        if self._skeleton is None:
            self._skeleton = _skeleton(self._folded)
        if query.skeleton not in self._skeleton:
            return False
        if self._unmarked is None:
            self._unmarked = fold(_as_read(self._text))
        return query.folded in self._unmarked


class Matches:
    """The matches of the query in the lines of one part, searched in chunks of lines as they become visible."""

    __slots__ = ("_found", "_lines", "_query")

    def __init__(self, lines: Sequence[Line], query: Query) -> None:
        self._lines = lines
        self._query = query
        self._found: dict[int, dict[int, MatchRanges]] = {}

    def at(self, number: int) -> MatchRanges:
        """Return the matches in a line."""
        return self._chunk(number // LINES_AT_ONCE).get(number, [])

    def first(self) -> int | None:
        """Return the number of the first line with a match, None for no match."""
        for chunk in range(-(-len(self._lines) // LINES_AT_ONCE)):
            if found := self._chunk(chunk):
                return min(found)
        return None

    def _chunk(self, number: int) -> dict[int, MatchRanges]:
        if number not in self._found:
            begin = number * LINES_AT_ONCE
            first = max(0, begin - BEYOND)
            found = find_matches(self._lines[first : begin + LINES_AT_ONCE + BEYOND], self._query)
            self._found[number] = {
                first + line: spans
                for line, spans in found.items()
                if 0 <= first + line - begin < LINES_AT_ONCE
            }
        return self._found[number]


def find_matches(lines: Sequence[Line], query: Query) -> dict[int, MatchRanges]:
    """Return the matches of a query in consecutive lines, by line number.

    Decoration is left out, but for words: the name before a value is read with it.
    """
    leads: list[int] = []
    starts: list[int] = []
    texts: list[str] = []
    size = 0
    for line in lines:
        text = line.text
        leads.append(0 if any(map(str.isalnum, text[: line.lead])) else line.lead)
        starts.append(size)
        texts.append(text[leads[-1] :] + line.join)
        size += len(texts[-1])
    text = "".join(texts)
    if not any(form.strip() in fold(text) for form in query.forms):
        return {}
    letters, begins, ends = _mapped(text)
    found: dict[int, MatchRanges] = {}
    for form in query.forms:
        at = letters.find(form)
        while at >= 0:
            after = at + len(form)
            begin, end = begins[at], ends[after - 1]
            row = bisect_right(starts, begin) - 1
            while row < len(lines) and starts[row] < end:
                first = max(begin - starts[row], 0)
                last = min(end - starts[row], len(texts[row]) - len(lines[row].join))
                if first < last:
                    found.setdefault(row, []).append((leads[row] + first, leads[row] + last))
                row += 1
            at = letters.find(form, after)
    return found


def _mapped(text: str) -> tuple[str, list[int], list[int]]:
    """Return `text` folded, and of each of its characters where what it came of begins and ends in `text`."""
    letters: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    at = 0
    while at < len(text):
        end = at + 1
        if text[at].isspace():
            while end < len(text) and text[end].isspace():
                end += 1
            folded = " "
        else:
            while end < len(text) and not text[end].isascii() and joins(text, at, end):
                end += 1
            folded = _fold_letters(text[at:end])
        letters.append(folded)
        begins += [at] * len(folded)
        ends += [end] * len(folded)
        at = end
    return "".join(letters), begins, ends
