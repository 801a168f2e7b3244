"""Drawing Markdown blocks as lines, with our own renderer over the tokens of markdown-it. No widget.

Nothing that was written is hidden: HTML, entities and reference definitions are shown as they are, links show
where they go, images their address; and a block of which a letter would be lost is shown as plain text instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from tui.terminal.sanitise import sanitise
from tui.widgets.conversation.lines import (
    BOLD,
    CODE,
    DIM,
    HEADING,
    ITALIC,
    LINK,
    STRIKE,
    UNICODE,
    Flow,
    Glyphs,
    Line,
    TextRun,
    run_cells,
    wrap_runs,
)
from tui.widgets.conversation.markdown_blocks import MarkdownBlock

OPEN_BRACKETS = 50
"""Brackets open at once from which on a block is shown as it is: nobody writes so."""
MARKS = 3_000
"""The same for all marks in a block, which has some 16,000 characters at most."""

_BRACKETS = re.compile(r"[][()]")
_NOT_LETTERS = re.compile(r"[\W_]+")


@cache
def load_parser() -> Any:
    """Return the Markdown parser. It is imported here, after the program's first paint."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.disable(["reference", "entity", "html_block", "html_inline"])
    # Addresses are shown exactly as written, and never opened.
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser


def draw_block(block: MarkdownBlock, width: int, glyphs: Glyphs = UNICODE) -> list[Line]:
    """Return the lines of one block at `width` cells, an empty one before it when it has a gap."""
    lines = [Line()] if block.gap else []
    if block.kind == "code":
        lines += draw_code(block, width, glyphs)
    elif block.kind == "plain":
        lines += draw_plain(block.text, width)
    else:
        lines += _draw_parsed(block.text, width, glyphs)
    return lines


def draw_plain(text: str, width: int, ink: int = 0, prefix: Sequence[TextRun] = ()) -> list[Line]:
    """Return the lines of sanitised `text` as it is, wrapped."""
    flow = Flow(width, ink, prefix)
    flow.feed(text)
    return flow.lines


def draw_code(block: MarkdownBlock, width: int, glyphs: Glyphs = UNICODE) -> list[Line]:
    """Return the lines of a code block: each as written, cut where it is too long; prose at spaces."""
    lines = code_heading(block.info, width, glyphs)
    flow = code_flow(width, glyphs, block.info)
    if block.text or not lines:
        flow.feed(block.text)
    return lines + flow.lines


PROSE = frozenset({"text", "txt", "plain", "plaintext"})
"""Languages of fences that name no language: their label says nothing, and their lines are wrapped at spaces."""


def code_heading(info: str, width: int, glyphs: Glyphs = UNICODE) -> list[Line]:
    """Return the line that names a fence's language, if it does."""
    if not info or info.strip().casefold() in PROSE:
        return []
    bar = (f"{glyphs.bar} ", DIM)
    return wrap_runs([(info.replace("\t", " "), DIM | ITALIC)], width, [bar], [bar], lead=(2, 2))


def code_flow(width: int, glyphs: Glyphs = UNICODE, info: str = "") -> Flow:
    """Return a flow for the lines of a code block."""
    return Flow(width, CODE, [(f"{glyphs.bar} ", DIM)], fold=info.strip().casefold() not in PROSE)


def _draw_parsed(text: str, width: int, glyphs: Glyphs) -> list[Line]:
    if _costs_too_much(text):
        return draw_plain(text, width)
    parser = load_parser()
    tokens = parser.parse(text.replace("\t", "    "))
    if any(token.level >= parser.options.maxNesting - 1 for token in tokens):
        return draw_plain(text, width)
    lines = _Drawing(width, glyphs).draw(tokens)
    if _letters(text) > sum(_letters(line.text) for line in lines):
        return draw_plain(text, width)
    return lines


def _costs_too_much(text: str) -> bool:
    """Whether the parser would hold everything up: it looks for the other bracket of each from each on."""
    if len(text) <= OPEN_BRACKETS:
        return False
    if sum(map(text.count, "[|*_~`<")) > MARKS:
        return True
    for opening, closing in ("[]", "()"):
        if text.count(opening) > OPEN_BRACKETS:
            depth = 0
            for sign in _BRACKETS.findall(text):
                if sign == opening:
                    depth += 1
                    if depth > OPEN_BRACKETS:
                        return True
                elif sign == closing and depth:
                    depth -= 1
    return False


def _letters(text: str) -> int:
    return len(_NOT_LETTERS.sub("", text))


class _Drawing:
    """One pass over the Markdown tokens of a block."""

    def __init__(self, width: int, glyphs: Glyphs) -> None:
        self._width = width
        self._glyphs = glyphs
        self._lines: list[Line] = []
        # The prefixes of the next line and of those after it, by level (quotes, list items).
        self._levels: list[tuple[list[TextRun], list[TextRun], bool]] = []
        self._gap = False

    def draw(self, tokens: Sequence[Any]) -> list[Line]:
        ink = 0
        loose: list[bool] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            kind = token.type
            if kind == "inline":
                self._emit_inline(token, ink)
            elif kind == "heading_open":
                self._before_block()
                ink = HEADING | BOLD
            elif kind == "heading_close":
                ink = 0
                self._gap = True
            elif kind == "paragraph_open":
                self._before_block(hidden=token.hidden)
            elif kind == "paragraph_close":
                self._gap = not token.hidden
            elif kind in ("bullet_list_open", "ordered_list_open"):
                loose.append(_is_loose(tokens, at))
                self._before_block(hidden=not self._gap)
            elif kind in ("bullet_list_close", "ordered_list_close"):
                loose.pop()
                self._gap = True
            elif kind == "list_item_open":
                if token.map is not None and self._lines:
                    self._gap = self._gap and loose[-1]
                    self._before_block(hidden=not self._gap)
                marker = f"{token.info}{token.markup}" if token.info else self._glyphs.bullet
                self._levels.append(([(f"{marker} ", DIM)], [(" " * (len(marker) + 1), 0)], False))
            elif kind == "list_item_close":
                _, _, used = self._levels[-1]
                if not used:
                    self._emit([("", 0)])
                self._levels.pop()
                self._gap = loose[-1]
            elif kind == "blockquote_open":
                self._before_block()
                bar = [(f"{self._glyphs.bar} ", DIM)]
                self._levels.append((bar, bar, False))
            elif kind == "blockquote_close":
                self._levels.pop()
                self._gap = True
            elif kind in ("fence", "code_block"):
                self._before_block()
                self._emit_code(token)
                self._gap = True
            elif kind == "hr":
                self._before_block()
                self._emit([(self._glyphs.rule * max(3, min(self._width, 40)), DIM)], fold=True)
                self._gap = True
            elif kind == "table_open":
                self._before_block()
                at = self._emit_table(tokens, at)
                self._gap = True
            at += 1
        return self._lines

    def _before_block(self, *, hidden: bool = False) -> None:
        if self._gap and self._lines and not hidden:
            runs = [run for _, rest, _ in self._levels for run in rest]
            self._lines.append(Line(runs, lead=sum(len(text) for text, _ in runs)))
        self._gap = False

    def _emit(self, runs: Sequence[TextRun], *, fold: bool = False) -> None:
        first: list[TextRun] = []
        rest: list[TextRun] = []
        marked = False
        for number, (once, after, used) in enumerate(self._levels):
            first += after if used else once
            rest += after
            if not used:
                marked = marked or once is not after
                self._levels[number] = (once, after, True)
        lead = sum(len(text) for text, _ in rest)
        self._lines += wrap_runs(
            runs, self._width, first, rest, lead=(0 if marked else lead, lead), fold=fold
        )

    def _emit_inline(self, token: Any, ink: int) -> None:
        for runs in _inline_lines(token.children or (), ink):
            self._emit(runs)

    def _emit_code(self, token: Any) -> None:
        bar = [(f"{self._glyphs.bar} ", DIM)]
        self._levels.append((bar, bar, False))
        if token.info.strip():
            self._emit([(sanitise(token.info.strip()), DIM | ITALIC)])
        for line in token.content.removesuffix("\n").split("\n"):
            self._emit([(line, CODE)], fold=True)
        self._levels.pop()

    def _emit_table(self, tokens: Sequence[Any], at: int) -> int:
        """Draw the table that opens at `at`; return where it closes."""
        rows: list[list[list[TextRun]]] = []
        sides: list[str] = []
        while tokens[at].type != "table_close":
            token = tokens[at]
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "th_open":
                sides.append(str(token.attrGet("style") or "").removeprefix("text-align:"))
            elif token.type == "inline":
                ink = BOLD if tokens[at - 1].type == "th_open" else 0
                cell: list[TextRun] = []
                for runs in _inline_lines(token.children or (), ink):
                    cell += [*([(" ", 0)] if cell else []), *runs]
                rows[-1].append(cell or [("", 0)])
            at += 1
        widths = self._column_widths(rows)
        bar = f" {self._glyphs.bar} "
        for number, row in enumerate(rows):
            cells = [wrap_runs(cell, columns) for cell, columns in zip(row, widths, strict=False)]
            for height in range(max(len(cell) for cell in cells)):
                across: list[TextRun] = []
                for column, cell_lines in enumerate(cells):
                    part = list(cell_lines[height].runs) if height < len(cell_lines) else []
                    across += [(bar, DIM)] if column else []
                    left, right = _blanks(
                        widths[column] - run_cells(part), sides[column] if column < len(sides) else ""
                    )
                    across += [*([(" " * left, 0)] if left else []), *part, (" " * right, 0)]
                self._emit(across, fold=True)
            if number == 0:
                rule = self._glyphs.rule
                joint = f"{rule}{self._glyphs.cross}{rule}"
                self._emit([(joint.join(rule * columns for columns in widths), DIM)], fold=True)
        return at

    def _column_widths(self, rows: list[list[list[TextRun]]]) -> list[int]:
        """Return the widths of the columns, the widest made narrower until the table fits."""
        count = max(len(row) for row in rows)
        widths = [
            max(4, *(run_cells(row[column]) for row in rows if column < len(row))) for column in range(count)
        ]
        indent = sum(run_cells(rest) for _, rest, _ in self._levels)
        room = self._width - indent - 3 * (count - 1)
        while (excess := sum(widths) - room) > 0 and max(widths) > 4:
            widest = max(widths)
            second = max([width for width in widths if width < widest], default=4)
            share = max(1, min(widest - second, -(-excess // widths.count(widest))))
            widths = [max(4, width - share) if width == widest else width for width in widths]
        return widths


def _blanks(count: int, side: str) -> tuple[int, int]:
    """Return the padding of a cell, left and right."""
    left = {"right": count, "center": count // 2}.get(side, 0)
    return left, count - left


def _is_loose(tokens: Sequence[Any], at: int) -> bool:
    """Whether the list that opens at `at` has empty lines between its items."""
    level = tokens[at].level
    for token in tokens[at + 1 :]:
        if token.level == level and token.type.endswith("_list_close"):
            break
        if token.type == "paragraph_open" and token.level == level + 2:
            return not token.hidden
    return False


def _inline_lines(children: Sequence[Any], base: int) -> list[list[TextRun]]:
    """Return the runs of a paragraph, line by line; line ends are kept as they were written."""
    lines: list[list[TextRun]] = [[]]
    ink = base
    links: list[tuple[str, str, bool]] = []
    for token in children:
        kind = token.type
        if kind == "text":
            if token.content:
                lines[-1].append((sanitise(token.content), ink))
        elif kind == "code_inline":
            lines[-1].append((sanitise(token.content), ink | CODE))
        elif kind in ("softbreak", "hardbreak"):
            lines.append([])
        elif kind in ("strong_open", "em_open", "s_open"):
            ink |= _INKS[kind]
        elif kind in ("strong_close", "em_close", "s_close"):
            ink &= ~_INKS[kind.replace("close", "open")] | (base & _INKS[kind.replace("close", "open")])
        elif kind == "link_open":
            links.append(
                (str(token.attrs.get("href", "")), str(token.attrs.get("title", "")), token.info == "auto")
            )
            ink |= LINK
        elif kind == "link_close":
            href, title, auto = links.pop()
            if not links:
                ink &= ~LINK
            if not auto:
                lines[-1].append((sanitise(_target(href, title)), ink | DIM))
        elif kind == "image":
            lines[-1] += [(sanitise(token.content), ink | LINK)] if token.content else []
            target = _target(str(token.attrs.get("src", "")), str(token.attrs.get("title", "")))
            lines[-1].append((sanitise(target), ink | DIM))
        else:
            lines[-1].append((sanitise(token.content), ink))
    return [[(text.replace("\n", " "), ink) for text, ink in runs] or [("", base)] for runs in lines]


_INKS = {"strong_open": BOLD, "em_open": ITALIC, "s_open": STRIKE}


def _target(href: str, title: str) -> str:
    return f" ({href} {title})" if title else f" ({href})"
