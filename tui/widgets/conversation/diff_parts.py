"""A unified diff in the conversation: one part for consecutive lines of the same kind. No widget."""

from __future__ import annotations

from tui.terminal.diff_view import close_context, diff_lines
from tui.widgets.conversation.entry import INDENT
from tui.widgets.conversation.lines import (
    ADDED,
    DIM,
    REMOVED,
    UNICODE,
    Glyphs,
    Line,
    TextRun,
    run_cells,
    wrap_runs,
)
from tui.widgets.conversation.render_parts import CHUNK, Part

_INKS = {"@": DIM, "+": ADDED, "-": REMOVED}


def counts(added: int, removed: int, glyphs: Glyphs) -> list[TextRun]:
    """Return how many lines were added and removed, for the end of a head line."""
    return [("  ", 0), (f"+{added}", ADDED), (" ", 0), (f"{glyphs.minus}{removed}", REMOVED)]


def diff_parts(diff: str, glyphs: Glyphs = UNICODE) -> list[Part]:
    """Return the parts that show a unified diff, with little context before the first change.

    A wrapped row has a bar in the column of the signs, so that it cannot look like another line.
    """
    parts: list[Part] = []
    block: list[str] = []
    ink = size = 0
    for line in diff_lines(close_context(diff)):
        of_line = _INKS.get(line[:1], 0)
        if block and (of_line != ink or size > CHUNK):
            parts.append(_part(block, size, ink, glyphs))
            block, size = [], 0
        ink = of_line
        block.append(line.replace("\t", "    "))
        size += len(block[-1])
    if block != [""]:
        parts.append(_part(block, size, ink, glyphs))
    return parts


def _part(lines: list[str], size: int, ink: int, glyphs: Glyphs) -> Part:
    """Return the part of some lines of the same ink, `size` characters long."""
    rest = [*INDENT, (glyphs.bar, ink)]
    lead = run_cells(INDENT), run_cells(rest)

    def draw(width: int) -> list[Line]:
        return [row for line in lines for row in wrap_runs([(line, ink)], width, INDENT, rest, lead=lead)]

    return Part(draw, size, len(lines) - 1)
