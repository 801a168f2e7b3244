"""Finding text in the conversation: as it is written and as it reads on the screen, however its letters are composed.

Letter case, full-width forms, composed and decomposed letters and how many blanks there are make no difference. Pure.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tui.commands.unicode_folding import composed, joins
from tui.widgets.conversation.lines import Line

_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalnum())

STRETCH = 200
"""Lines that are looked through at one time."""

BEYOND = 20
"""Lines before and behind these that are looked at too, for what begins or ends there."""

Span = tuple[int, int]
"""Where something stands in a line: from which character to before which."""
Spans = list[Span]


def fold(text: str) -> str:
    """Return `text` without the differences that a search does not look at."""
    return " ".join(_fold_letters(text).split())


def _fold_letters(text: str) -> str:
    if text.isascii():
        return text.lower()
    text = composed(text).casefold()
    text = text.replace("•", "*").replace("│", "|")  # signs of ours, as they are in ASCII
    return composed(text)


def _fold_needle(text: str) -> str:
    folded = fold(text)
    if not folded:
        return " " if text else ""
    return f"{' ' * text[0].isspace()}{folded}{' ' * text[-1].isspace()}"


def _skeleton(folded: str) -> bytes:
    """Return folded text without all that may be a sign of Markdown: what is not in it does not stand there either."""
    return folded.encode("utf-8", "surrogatepass").translate(None, _NO_LETTERS)


def _as_read(text: str) -> str:
    from tui.widgets.conversation.strip_markdown import (
        unmarked,  # its patterns are made with the first search
    )

    return unmarked(text)


@dataclass(frozen=True, slots=True)
class Needle:
    """What is searched for.

    Attributes:
        folded: the text as it is compared; "" searches for nothing.
        forms: what may stand on the screen for it: itself, and what it reads like as Markdown.
        skeleton: its letters.
    """

    folded: str
    forms: tuple[str, ...]
    skeleton: bytes

    @classmethod
    def of(cls, text: str) -> Needle:
        """Return what to search for; a blank at an end of `text` counts."""
        folded = _fold_needle(text)
        read = _fold_needle(_as_read(text))
        return cls(
            folded, (folded, read) if read.strip() and read != folded else (folded,), _skeleton(folded)
        )

    def __bool__(self) -> bool:
        return bool(self.folded)


NOTHING = Needle("", (), b"")


class Sought:
    """A text that is searched, folded once.

    Args:
        texts: it as it is written; further, as it stands on the screen.
        markdown: the first is Markdown.
    """

    __slots__ = ("_folded", "_skeleton", "_text", "_unmarked")

    def __init__(self, texts: Iterable[str], *, markdown: bool = False) -> None:
        first, *others = texts
        self._folded = "\0".join(map(fold, (first, *others)))
        self._text = first if markdown else None
        self._skeleton: bytes | None = None
        self._unmarked: str | None = None

    def holds(self, needle: Needle) -> bool:
        """Return whether the needle is found in it."""
        if needle.folded in self._folded:
            return True
        if self._text is None:
            return False
        if self._skeleton is None:
            self._skeleton = _skeleton(self._folded)
        if needle.skeleton not in self._skeleton:
            return False
        if self._unmarked is None:
            self._unmarked = fold(_as_read(self._text))
        return needle.folded in self._unmarked


class Places:
    """Where the needle stands in lines that belong together, looked for in stretches of them as they are seen."""

    __slots__ = ("_found", "_lines", "_needle")

    def __init__(self, lines: Sequence[Line], needle: Needle) -> None:
        self._lines = lines
        self._needle = needle
        self._found: dict[int, dict[int, Spans]] = {}

    def at(self, number: int) -> Spans:
        """Return where it stands in the line of this number."""
        return self._stretch(number // STRETCH).get(number, [])

    def first(self) -> int | None:
        """Return the number of the first line in which some of it stands, None where it stands in none."""
        for stretch in range(-(-len(self._lines) // STRETCH)):
            if found := self._stretch(stretch):
                return min(found)
        return None

    def _stretch(self, number: int) -> dict[int, Spans]:
        if number not in self._found:
            begin = number * STRETCH
            first = max(0, begin - BEYOND)
            found = places(self._lines[first : begin + STRETCH + BEYOND], self._needle)
            self._found[number] = {
                first + line: spans for line, spans in found.items() if 0 <= first + line - begin < STRETCH
            }
        return self._found[number]


def places(lines: Sequence[Line], needle: Needle) -> dict[int, Spans]:
    """Return where the needle stands in lines that belong together, by their numbers.

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
    if not any(form.strip() in fold(text) for form in needle.forms):
        return {}
    letters, begins, ends = _mapped(text)
    found: dict[int, Spans] = {}
    for form in needle.forms:
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
