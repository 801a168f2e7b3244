"""Cutting Markdown, while it arrives, into blocks that are drawn independently and once. No widget.

A block is a paragraph, heading, table, quote, one item of a list or a part of a code fence. Blocks depend
only on the text, not on how it was cut into deltas, so a streamed answer and a loaded one look the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

BLOCK_LIMIT = 16_000
"""Characters after which a block ends at the next line end, so that no block costs too much at once."""

MAX_BLOCKS = 5_000
"""Blocks of one answer; what follows is shown as plain text, since each block costs memory."""

Kind = Literal["text", "item", "code", "plain"]

_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})(?P<info>.*)")
_INNER_FENCE = re.compile(r" *(?:[-*+]|\d{1,9}[.)])? *(?P<mark>`{3,}|~{3,})[^`]*")
_BULLET = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?: |\t|$)")
_INTERRUPTS = re.compile(r" {0,3}(?:[-*+] +\S|1[.)] +\S)")
_HEADING = re.compile(r" {0,3}#{1,6}(?: |\t|$)")
_RULE = re.compile(r" {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$")


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """A part of an answer: its source text, what it is, and whether an empty line goes before it.

    `info`: the info string of a code fence (`python`); `plain`: shown as it is, not as Markdown.
    """

    kind: Kind
    text: str
    gap: bool = True
    info: str = ""


class BlockSplitter:
    """Takes sanitised text as it arrives; `feed` returns the finished blocks, `open_blocks` the unfinished end.

    Feeding costs time in proportion to the new text.
    """

    def __init__(self) -> None:
        self._kind: Kind | None = None
        self._lines: list[str] = []
        self._size = 0
        self._info = ""
        self._fence = ""
        self._inner_fence = ""
        self._gap = False
        self._blanks = 0
        self._cut = False
        self._partial: list[str] = []
        self._partial_size = 0
        self._first = True
        self._after_item = False
        self._continued = False
        self._count = 0
        self._closed: list[MarkdownBlock] = []

    @property
    def open_size(self) -> int:
        """Characters of the unfinished block."""
        return self._size + self._partial_size

    @property
    def in_code(self) -> bool:
        """Whether the unfinished block is a code fence, whose lines are final as they are."""
        return self._kind == "code"

    @property
    def open_gap(self) -> bool:
        """Whether the unfinished block has an empty line before it."""
        return self._gap

    @property
    def open_info(self) -> str:
        """The info string of the unfinished code fence."""
        return "" if self._cut else self._info

    def feed(self, text: str) -> list[MarkdownBlock]:
        """Take more text; return the blocks it finished."""
        start = 0
        while (end := text.find("\n", start)) >= 0:
            self._partial.append(text[start:end])
            line = "".join(self._partial) if len(self._partial) > 1 else self._partial[0]
            self._partial, self._partial_size = [], 0
            self._take(line)
            start = end + 1
        if start < len(text):
            self._partial.append(text[start:])
            self._partial_size += len(text) - start
        closed, self._closed = self._closed, []
        return closed

    def finish(self) -> list[MarkdownBlock]:
        """The text is over; return the last blocks."""
        if self._partial:
            self._take_partial()
        self._close()
        closed, self._closed = self._closed, []
        return closed

    def _take_partial(self) -> None:
        """Take the unfinished last line as a whole one."""
        line = "".join(self._partial)
        self._partial, self._partial_size = [], 0
        self._take(line)

    def open_text(self) -> str:
        """The source of the unfinished block as far as it came."""
        return "\n".join([*self._lines, *([""] * self._blanks), "".join(self._partial)])

    def open_blocks(self) -> list[MarkdownBlock]:
        """What the unfinished text would be if it ended here: as a rule one block, a few at most."""
        ahead = BlockSplitter()
        ahead._kind, ahead._lines, ahead._size = self._kind, list(self._lines), self._size
        ahead._info, ahead._fence, ahead._inner_fence = self._info, self._fence, self._inner_fence
        ahead._gap, ahead._blanks, ahead._cut = self._gap, self._blanks, self._cut
        ahead._first, ahead._after_item, ahead._continued = self._first, self._after_item, self._continued
        ahead._count = self._count
        ahead._partial = list(self._partial)
        return ahead.finish()

    def _take(self, line: str) -> None:
        if self._kind == "code":
            self._take_code(line)
        elif self._count >= MAX_BLOCKS:
            self._take_plain(line)
        elif not line.strip():
            self._take_blank(line)
        elif self._kind == "item":
            self._take_in_item(line)
        elif self._kind == "text" and not self._starts_anew(line):
            self._append(line)
        else:
            self._close()
            self._start(line)

    def _take_plain(self, line: str) -> None:
        if self._kind != "plain":
            self._close()
            self._gap, self._blanks = not self._first and not self._continued, 0
            self._kind, self._first, self._continued = "plain", False, False
        self._append(line)

    def _take_code(self, line: str) -> None:
        if self._closes_fence(line):
            self._close()
            return
        self._append(line)
        if self._size > BLOCK_LIMIT:
            fence, info = self._fence, self._info
            self._close()
            self._kind, self._fence, self._info, self._gap, self._cut = "code", fence, info, False, True

    def _closes_fence(self, line: str) -> bool:
        mark = line.strip()
        return (
            len(mark) >= len(self._fence)
            and not mark.strip(self._fence[0])
            and len(line) - len(line.lstrip(" ")) < 4
        )

    def _take_blank(self, line: str) -> None:
        if self._kind == "item":
            if self._inner_fence:
                self._append(line)
            else:
                self._blanks += 1
        elif self._kind is not None:
            self._close()
            self._blanks = 1
        else:
            self._blanks += 1

    def _take_in_item(self, line: str) -> None:
        indent = len(line) - len(line.lstrip(" \t"))
        inside = indent >= 2 or line[0] == "\t"
        if inside:
            self._append(line)
            self._watch_fence(line)
        elif (
            not self._blanks
            and not self._inner_fence
            and not self._starts_anew(line)
            and not _BULLET.match(line)
        ):
            self._append(line)
        else:
            blanks = self._blanks
            self._blanks = 0
            self._close()
            self._blanks = blanks
            self._start(line)

    def _watch_fence(self, line: str) -> None:
        """Follow the fences inside a list item: an empty line in one does not matter."""
        match = _INNER_FENCE.fullmatch(line)
        if match is None:
            return
        mark = match["mark"]
        if not self._inner_fence:
            self._inner_fence = mark
        elif mark[0] == self._inner_fence[0] and len(mark) >= len(self._inner_fence):
            self._inner_fence = ""

    def _starts_anew(self, line: str) -> bool:
        """Whether `line` begins a block without an empty line before it."""
        if _HEADING.match(line) or self._fence_of(line) is not None:
            return True
        return _INTERRUPTS.match(line) is not None and _RULE.match(line) is None

    @staticmethod
    def _fence_of(line: str) -> re.Match[str] | None:
        match = _FENCE.match(line)
        if match is None or (match["mark"][0] == "`" and "`" in match["info"]):
            return None
        return match

    def _start(self, line: str) -> None:
        fence = self._fence_of(line)
        is_item = fence is None and _BULLET.match(line) is not None and _RULE.match(line) is None
        joined = not self._blanks and (self._continued or (is_item and self._after_item))
        self._gap = not self._first and not joined
        self._blanks = 0
        self._first = self._continued = False
        if fence is not None:
            self._kind, self._fence, self._info = "code", fence["mark"], fence["info"].strip()
            return
        self._kind = "item" if is_item else "text"
        self._append(line)
        if is_item:
            self._watch_fence(line)
        elif _HEADING.match(line) or _RULE.match(line):
            self._close()

    def _append(self, line: str) -> None:
        if self._blanks:
            self._lines.extend([""] * self._blanks)
            self._size += self._blanks
            self._blanks = 0
        self._lines.append(line)
        self._size += len(line) + 1
        if self._size > BLOCK_LIMIT and self._kind in ("text", "item", "plain"):
            self._close(oversize=len(line) > BLOCK_LIMIT)
            self._continued = True

    def _close(self, *, oversize: bool = False) -> None:
        if self._kind is not None and (self._lines or (self._kind == "code" and not self._cut)):
            kind: Kind = "plain" if oversize else self._kind
            info = "" if self._cut else self._info
            self._count += 1
            self._closed.append(MarkdownBlock(kind, "\n".join(self._lines), self._gap, info))
        self._after_item = self._kind == "item"
        self._kind, self._lines, self._size = None, [], 0
        self._info = self._fence = self._inner_fence = ""
        self._cut = False


def split_blocks(text: str) -> list[MarkdownBlock]:
    """Return the blocks of a whole sanitised text."""
    splitter = BlockSplitter()
    return splitter.feed(text) + splitter.finish()
