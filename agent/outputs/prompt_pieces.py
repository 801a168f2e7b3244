"""The pieces of a prompt that can be taken out: a bullet, a paragraph, or a heading with its section. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from personas.lines import split_lines

_HEADING = re.compile(r"(#{1,6})\s")
_BULLET = re.compile(r"(\s*)(?:[-*+•]|\d+[.)])\s")
_FENCE = re.compile(r"\s*(```|~~~)")


@dataclass(frozen=True, slots=True)
class PromptPiece:
    """Lines of a prompt. `line` counts from 1; `end` is the last line, inclusive."""

    line: int
    end: int
    text: str


def pieces_of(prompt: str) -> list[PromptPiece]:
    """Return the pieces in order, a section before what is in it; what is the whole prompt is none."""
    lines = split_lines(prompt)
    blocks, headings = _blocks(lines)
    for at, (start, level) in enumerate(headings):
        end = next((later for later, other in headings[at + 1 :] if other <= level), len(lines))
        inside = [block for block in blocks if start < block[0] < end]
        blocks = [block for block in blocks if len(inside) > 1 or block not in inside]
        blocks.append((start, end))
    found = []
    for start, end in sorted(blocks, key=lambda block: (block[0], -block[1])):
        while not lines[end - 1].strip():
            end -= 1
        piece = PromptPiece(start + 1, end, "".join(lines[start:end]).rstrip("\n"))
        if without(prompt, piece).strip():
            found.append(piece)
    return found


def without(prompt: str, piece: PromptPiece) -> str:
    """Return the prompt without a piece, and without the blank lines that it leaves in pairs."""
    lines = split_lines(prompt)
    before, after = lines[: piece.line - 1], lines[piece.end :]
    while after and not after[0].strip() and (not before or not before[-1].strip()):
        after.pop(0)
    return "".join(before + after)


def _blocks(lines: list[str]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return bullets and paragraphs as (first line, line after the last), and headings as (line, level)."""
    blocks: list[tuple[int, int]] = []
    headings: list[tuple[int, int]] = []
    start: int | None = None  # of the block that is open
    indent: int | None = None  # of its bullet; None: it is a paragraph
    in_fence = False
    for at, line in enumerate([*lines, ""]):
        heading, bullet = _HEADING.match(line), _BULLET.match(line)
        if in_fence and at < len(lines):
            in_fence = not _FENCE.match(line)
            continue
        is_new = bullet is not None and (indent is None or len(bullet[1]) <= indent)
        if start is not None and (heading or is_new or not line.strip()):
            blocks.append((start, at))
            start = indent = None
        if heading:
            headings.append((at, len(heading[1])))
        elif line.strip() and start is None:
            start, indent = at, len(bullet[1]) if bullet else None
        in_fence = bool(_FENCE.match(line))
    return blocks, headings
