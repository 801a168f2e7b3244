"""The screen of a running program as an SVG picture: small, the same every time, a line of it for each row.

It names no font that would have to be fetched, and nothing on the network.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape, unescape
from typing import Any

from rich.cells import cell_len, split_graphemes
from rich.color import Color, blend_rgb
from rich.segment import Segment
from rich.style import Style
from textual.app import App

from tui.widgets.clickable_hints import PRESSES

CELL, LINE, SIZE = 12.04, 23, 20
"""Width and height of a cell and the size of the font, in units of the picture: the proportions of most fonts, so
that lines drawn with characters join."""
MARGIN = 12


def cells(app: App[Any]) -> list[list[Segment]]:
    """Return the rows that are on the screen of a running program."""
    update: Any = app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    return [[segment for strip in row for segment in strip] for row in update.strips]


def draw(app: App[Any]) -> str:
    """Return what is on the screen of a running program, as a picture."""
    theme = app.theme_variables
    return draw_rows(cells(app), app.size.width, theme["foreground"], theme["background"])


def draw_rows(rows: Iterable[Iterable[Segment]], columns: int, fore: str, back: str) -> str:
    """Return rows of segments as a picture `columns` cells wide; `fore` and `back` are for text without style."""
    fore, back = fore.lower(), back.lower()
    classes: dict[str, str] = {}
    grounds: list[str] = []
    texts: list[str] = []
    for row, segments in enumerate(rows):
        spans: list[str] = []
        painted: list[tuple[int, int, str]] = []
        for column, text, style in runs_of(segments):
            ink, ground, look = look_of(style, fore, back)
            width = cell_len(text)
            if painted and painted[-1][2] == ground:
                painted[-1] = (painted[-1][0], column + width, ground)
            else:
                painted.append((column, column + width, ground))
            if text.strip() or "underline" in look or "line-through" in look:
                name = classes.setdefault(f"fill:{ink}{look}", f"s{len(classes)}")
                spans.append(
                    f'<tspan class="{name}" x="{column * CELL:g}" textLength="{width * CELL:g}">{escape(text)}</tspan>'
                )
        grounds += [
            f'<path fill="{ground}" d="M{first * CELL:g} {row * LINE}H{end * CELL:g}v{LINE}H{first * CELL:g}z"/>'
            for first, end, ground in painted
            if ground != back
        ]
        texts.append(f'<text y="{row * LINE + 18}">{"".join(spans)}</text>')
    width, height = round(columns * CELL + 2 * MARGIN), len(texts) * LINE + 2 * MARGIN
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" xml:space="preserve">',
            f"<style>text{{font:{SIZE}px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}}",
            *(f".{name}{{{look}}}" for look, name in classes.items()),
            "</style>",
            f'<rect width="{width}" height="{height}" rx="10" fill="{back}"/>',
            f'<g shape-rendering="crispEdges" transform="translate({MARGIN} {MARGIN})">',
            *grounds,
            "</g>",
            f'<g transform="translate({MARGIN} {MARGIN})">',
            *texts,
            "</g>",
            "</svg>",
            "",
        )
    )


def rows_of(picture: str) -> list[str]:
    """Return the text of a picture's rows, to say in words where two differ."""
    rows = []
    for row in re.findall(r"<text y.*?</text>", picture):
        line = ""
        for column, text in re.findall(r'x="([\d.]+)"[^>]*>([^<]*)<', row):
            line += " " * (round(float(column) / CELL) - cell_len(line)) + unescape(text)
        rows.append(line)
    return rows


def runs_of(segments: Iterable[Segment]) -> Iterator[tuple[int, str, Style]]:
    """Yield (column, text, style): like neighbours joined, but what takes two cells in a place of its own."""
    column = 0
    start, run, run_style = 0, "", Style.null()
    for segment in segments:
        style = _seen(segment.style or Style.null())
        for first, last, width in split_graphemes(segment.text)[0]:
            if run and (style != run_style or width != 1):
                yield start, run, run_style
                run = ""
            piece = segment.text[first:last]
            if width == 1:
                start, run, run_style = (start if run else column), run + piece, style
            else:
                yield column, piece, style
            column += width
    if run:
        yield start, run, run_style


def _seen(style: Style) -> Style:
    """Return a style without which key a click on it presses: that is not seen."""
    if PRESSES in style.meta:
        others = {name: value for name, value in style.meta.items() if name != PRESSES}
        style = style.clear_meta_and_links() + Style.from_meta(others)
    return style


def look_of(style: Style, fore: str, back: str) -> tuple[str, str, str]:
    """Return colour of the text, of the ground, and what else there is to say in CSS."""
    ink = _hex(style.color, fore)
    ground = _hex(style.bgcolor, back)
    if style.reverse:
        ink, ground = ground, ink
    if style.dim:
        ink = blend_rgb(Color.parse(ink).get_truecolor(), Color.parse(ground).get_truecolor(), 0.4).hex
    marks = " ".join(
        mark for mark, on in (("underline", style.underline), ("line-through", style.strike)) if on
    )
    look = ";font-weight:bold" if style.bold else ""
    look += ";font-style:italic" if style.italic else ""
    return ink, ground, look + (f";text-decoration:{marks}" if marks else "")


def _hex(color: Color | None, default: str) -> str:
    return default if color is None or color.is_default else color.get_truecolor().hex
