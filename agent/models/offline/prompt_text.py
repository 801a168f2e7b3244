"""Places in a text: finding what a `Spot` means and the exact, unique stretch an edit has to name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.models.offline.intents import NUMBERED, Spot
from agent.models.offline.topics import all_about, best

Span = tuple[int, int]

_BULLET = re.compile(r"[ \t]*(?:[-*•+]|\d{1,3}[.)])[ \t]")
_PARAGRAPH = re.compile(r"\S[^\n]*(?:\n[^\n]*\S[^\n]*)*")

_SENTENCE = re.compile(r"[^\s.!?…][^.!?…\n]*(?:[.!?…]+[\"'”’)]*|(?=\n)|$)")


@dataclass(frozen=True, slots=True)
class Edit:
    """`old` occurs exactly once in the text and becomes `new`."""

    old: str
    new: str


def line_spans(text: str) -> list[Span]:
    """Return the spans of the lines that are not blank, without their line breaks."""
    spans: list[Span] = []
    at = 0
    for line in text.split("\n"):
        if line.strip():
            spans.append((at, at + len(line)))
        at += len(line) + 1
    return spans


def sentence_spans(text: str) -> list[Span]:
    """Return the spans of the sentences; a line break ends one too."""
    return [match.span() for match in _SENTENCE.finditer(text)]


def occurrences(text: str, wanted: str, *, fold: bool = False) -> list[Span]:
    """Return the spans of `wanted` in `text`, not overlapping; `fold`: whatever the case."""
    if not wanted:
        return []
    if fold:
        return [m.span() for m in re.finditer(re.escape(wanted), text, re.IGNORECASE)]
    spans: list[Span] = []
    at = text.find(wanted)
    while at >= 0:
        spans.append((at, at + len(wanted)))
        at = text.find(wanted, at + len(wanted))
    return spans


def whole_words(text: str, spans: list[Span]) -> list[Span]:
    """Return those spans that do not cut a word, or all when none is left."""
    kept = [
        (start, end)
        for start, end in spans
        if not (start and text[start - 1].isalnum() and text[start].isalnum())
        and not (end < len(text) and text[end - 1].isalnum() and text[end].isalnum())
    ]
    return kept or spans


def _counted(text: str, kind: str) -> list[Span]:
    """Return the spans a place counts among: lines, sentences, bullets, paragraphs.

    "The second rule" counts bullets where there are any, else lines.
    """
    if kind == "sentence":
        return sentence_spans(text)
    if kind == "paragraph":
        return [match.span() for match in _PARAGRAPH.finditer(text)]
    lines = line_spans(text)
    bullets = [span for span in lines if _BULLET.match(text, *span)]
    if kind == "bullet":
        dotted = [span for span in bullets if not text[slice(*span)].lstrip()[0].isdigit()]
        return dotted or bullets
    return bullets if kind == "rule" and bullets else lines


_HEADING = re.compile(
    r"[ \t]*(?:(#{1,6})[ \t]+\S.*|(?:\*\*|__)[^*_]+(?:\*\*|__):?|<(\w[^<>/]*)>|[^\s:].*:)[ \t]*"
)


def _line_at(text: str, at: int) -> Span:
    end = text.find("\n", at)
    return text.rfind("\n", 0, at) + 1, len(text) if end < 0 else end


def block_at(text: str, at: int) -> Span:
    """Return the section that a heading at `at` begins, else the paragraph there.

    A section goes to the next heading of its rank, to its closing tag, or with "Style:" to the end of its paragraph.
    """
    start, line_end = _line_at(text, at)
    heading = _HEADING.fullmatch(text, start, line_end)
    if heading is None:
        paragraphs = [match.span() for match in _PARAGRAPH.finditer(text)]
        return next(((first, last) for first, last in paragraphs if first <= at < last), (start, line_end))
    rest = text[line_end:]
    if heading[1]:
        after = re.search(rf"^#{{1,{len(heading[1])}}}[ \t]", rest, re.MULTILINE)
        end = after.start() if after else len(rest)
    elif heading[2] and (tag := rest.find(f"</{heading[2]}>")) >= 0:
        end = tag + len(heading[2]) + 3
    else:
        below = re.match(rf"\s*\n(?:{_PARAGRAPH.pattern})", rest)
        end = below.end() if below else 0
    return start, start + len(text[start : line_end + end].rstrip())


def is_heading(text: str, at: int) -> bool:
    """Whether the line at `at` is a heading with something under it."""
    line = _line_at(text, at)
    return _HEADING.fullmatch(text, *line) is not None and block_at(text, at)[1] > line[1]


def unticked(text: str) -> str:
    """Return a text without the backticks around it."""
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] == "`" else text


def find(text: str, spot: Spot) -> list[Span]:
    """Return the spans a spot may mean: none, the one, or several where it is unclear."""
    if spot.kind in ("text", "words"):
        for value in (spot.value, unticked(spot.value)):
            if spans := whole_words(text, occurrences(text, value)):
                return spans
        bare = unticked(spot.value).strip()
        return whole_words(text, occurrences(text, bare, fold=True))
    if spot.kind in NUMBERED:
        spans = _counted(text, spot.kind)
        place = int(spot.value)
        at = place - 1 if place > 0 else len(spans) + place
        return [spans[at]] if 0 <= at < len(spans) else []
    if spot.kind == "block_about":
        lines = find(text, Spot("line_about", spot.value))
        headed = [span for span in line_spans(text) if is_heading(text, span[0])]
        named = [span for span in headed if spot.value.casefold() in text[slice(*span)].casefold()]
        return list(dict.fromkeys(block_at(text, span[0]) for span in named or lines))
    lines = sentence_spans(text) if spot.kind == "about" else line_spans(text)
    if spot.kind == "starting":
        wanted = spot.value.strip().casefold()
        return [span for span in lines if text[span[0] : span[1]].strip().casefold().startswith(wanted)]
    literal = [span for span in lines if spot.value.casefold() in text[span[0] : span[1]].casefold()]
    if len(literal) == 1:
        return literal
    return [lines[k] for k in best(spot.value, [text[start:end] for start, end in lines])]


def is_sure(text: str, spot: Spot, span: Span) -> bool:
    """Whether the stretch found for a subject has all its words and is whole; else it is a guess.

    A heading without what stands under it is not whole, and how far a section goes is always asked.
    """
    if spot.kind == "block_about":
        return text[slice(*span)].strip() == spot.value.strip()
    if spot.kind not in ("about", "line_about"):
        return True
    if is_heading(text, span[0]):
        return False
    if spot.value.casefold() in ("test", "tests", "test input", "input", "example", "prompt", "system"):
        return False  # "the test line": a word of ours more likely than one of the text
    found = text[span[0] : span[1]]
    return spot.value.casefold() in found.casefold() or bool(all_about(spot.value, [found]))


def unique(text: str, span: Span, new: str) -> Edit:
    """Return the edit that puts `new` at `span`, with as many lines around it as make `old` occur once.

    The lines taken in double with each try, so that a text of equal lines costs no more than its length
    times a few.
    """
    start, end = span
    lines = 1
    while not _occurs_once(text, start, end) and (start, end) != (0, len(text)):
        for _ in range(lines):
            start = text.rfind("\n", 0, max(0, start - 1)) + 1 if start else 0
            after = text.find("\n", end)
            end = len(text) if after < 0 else after + 1
        lines *= 2
    return Edit(text[start:end], text[start : span[0]] + new + text[span[1] : end])


def _occurs_once(text: str, start: int, end: int) -> bool:
    old = text[start:end]
    return bool(old) and text.find(old) == start and text.find(old, start + 1) < 0


def with_mark(old: str, new: str) -> str:
    """Return `new` behind the mark that `old` has in a list ("2. ", "- "), unless it has one itself."""
    mark = _BULLET.match(old)
    return new if mark is None or _BULLET.match(new) else mark.group() + new


def removal(text: str, span: Span) -> tuple[Span, str]:
    """Return what to take out, and what stays in its place, so that removing `span` leaves no mess.

    A line that would be left with nothing but marks goes as a whole, with its line break; within a line
    one of the two spaces around the gap goes too.
    """
    start, end = span
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    rest = _BULLET.sub("", text[line_start:start] + " ", count=1) + text[end:line_end]
    if not any(char.isalnum() for char in rest) and not _has_macro(rest):
        if line_end < len(text):
            return (line_start, line_end + 1), ""
        return (max(0, line_start - 1), line_end), ""
    before = text[start - 1] if start > line_start else "\n"
    after = text[end] if end < line_end else "\n"
    if after == " " and (before in " \n"):
        return (start, end + 1), ""
    if before == " " and (after == "\n" or after in ".,;:!?"):
        return (start - 1, end), ""
    return span, ""


def is_whole(text: str, span: Span) -> bool:
    """Whether a span is one or more whole sentences or lines, but for marks around it."""
    line_start = text.rfind("\n", 0, span[0]) + 1
    line_end = text.find("\n", span[1])
    around = text[line_start : span[0]] + text[span[1] : line_end if line_end >= 0 else len(text)]
    if not any(char.isalnum() for char in around):
        return True
    end = span[1]
    while end < len(text) and text[end] in ".!?":
        end += 1
    sentences = sentence_spans(text)
    return any(start == span[0] for start, _ in sentences) and any(last == end for _, last in sentences)


def _has_macro(text: str) -> bool:
    return "{{" in text or "<" in text


def appended(text: str, more: str) -> str:
    """Return `text` with `more` as a line of its own at the end; the final line break stays as it is."""
    if not text.strip():
        return more
    if text.endswith("\n"):
        return text + more.rstrip("\n") + "\n"
    return text + "\n" + more


def prepended(text: str, more: str) -> str:
    """Return `text` with `more` as a line of its own before it."""
    return more if not text.strip() else more.rstrip("\n") + "\n" + text


def inserted(text: str, span: Span, more: str, *, before: bool) -> str:
    """Return `text` with `more` before or after `span`: as a line where the span is a whole line,
    else within the line, set off by a space."""
    start, end = span
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    more = more.strip("\n")
    around = text[line_start:start] + text[end:line_end]
    if not any(char.isalnum() for char in around):
        if before:
            return text[:line_start] + more + "\n" + text[line_start:]
        return text[:line_end] + "\n" + more + text[line_end:]
    if before:
        return text[:start] + more + " " + text[start:]
    while end < line_end and text[end] in ".,;:!?":
        end += 1
    return text[:end] + " " + more + text[end:]
