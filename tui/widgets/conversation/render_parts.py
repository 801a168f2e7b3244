"""Parts: groups of lines that are drawn when they become visible, and streams, which make parts of arriving text. No widget."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tui.terminal.sanitise import Sanitiser
from tui.widgets.conversation.lines import Flow, Glyphs, Line, TextRun
from tui.widgets.conversation.markdown import code_flow, code_heading, draw_block, draw_plain
from tui.widgets.conversation.markdown_blocks import BlockSplitter, MarkdownBlock

CHUNK = 16_000
"""Characters of plain text in one part, so that of a long text only the visible parts are drawn."""

PLAIN_FROM = 2_000
"""Characters from which an unfinished paragraph or list item is shown as plain text until it is finished."""


class Part:
    """Lines that belong together, drawn for one width at a time.

    Args:
        draw: returns the lines at a width.
        characters: how long its text is, to estimate its height.
        breaks: how many line ends it has, also for the estimate.
    """

    __slots__ = ("_breaks", "_characters", "_count", "_draw", "_width", "lines")

    def __init__(self, draw: Callable[[int], list[Line]], characters: int, breaks: int) -> None:
        self._draw = draw
        self._characters = characters
        self._breaks = breaks
        self._width = 0
        self._count = 0
        self.lines: list[Line] | None = None

    def height(self, width: int) -> int:
        """Return how many lines it has at `width`: exact once drawn, an estimate before."""
        if self._width == width:
            return self._count
        return self._breaks + 1 + self._characters // max(width, 1)

    def is_drawn(self, width: int) -> bool:
        """Whether `lines` are there for this width."""
        return self._width == width and self.lines is not None

    def draw(self, width: int) -> list[Line]:
        """Return the lines at `width`, drawing them if need be."""
        if self.lines is None or self._width != width:
            self.lines = self._draw(width)
            self._count = len(self.lines)
            self._width = width
        return self.lines

    def drop_lines(self) -> None:
        """Free the lines; the height stays known."""
        self.lines = None


def block_part(block: MarkdownBlock, glyphs: Glyphs) -> Part:
    """Return the part of one Markdown block."""
    breaks = block.text.count("\n") + block.gap + bool(block.info)
    return Part(lambda width: draw_block(block, width, glyphs), len(block.text), breaks)


def fixed_part(lines_at: Callable[[int], list[Line]]) -> Part:
    """Return a part of very few lines."""
    return Part(lines_at, 0, 0)


def plain_parts(
    text: str, ink: int = 0, first: Sequence[TextRun] = (), rest: Sequence[TextRun] = ()
) -> list[Part]:
    """Return the parts of sanitised plain `text`, `first` before its first line and `rest` before the others.

    Both are of the same width.
    """
    parts = []
    for number, chunk in enumerate(_chunks(text)):
        before = rest if number else first
        parts.append(_plain_part(chunk, ink, before, rest))
    return parts


def _plain_part(text: str, ink: int, first: Sequence[TextRun], rest: Sequence[TextRun]) -> Part:
    def draw(width: int) -> list[Line]:
        lines = draw_plain(text, width, ink, rest)
        if first != rest:
            head = lines[0]
            lead = sum(len(part) for part, _ in first)
            lines[0] = Line([*first, *head.runs[len(rest) :]], lead=lead, join=head.join)
        return lines

    return Part(draw, len(text), text.count("\n"))


def _chunks(text: str) -> list[str]:
    """Cut `text` into chunks of about `CHUNK` characters, at line ends where there are any."""
    chunks = []
    start = 0
    while len(text) - start > CHUNK:
        cut = text.rfind("\n", start, start + CHUNK)
        if cut < 0:
            cut = start + CHUNK
            chunks.append(text[start:cut])
            start = cut
        else:
            chunks.append(text[start:cut])
            start = cut + 1
    chunks.append(text[start:])
    return chunks


class Tail(Part):
    """The unfinished end of an answer that is being streamed: always drawn, at a bounded cost."""

    __slots__ = ("_flow", "_glyphs", "_heading", "splitter")

    def __init__(self, splitter: BlockSplitter, glyphs: Glyphs) -> None:
        super().__init__(self._redraw, 0, 0)
        self.splitter = splitter
        self._glyphs = glyphs
        self._flow: Flow | None = None
        self._heading = 0
        self.lines = []

    def grow(self, text: str, width: int, *, fresh: bool) -> int:
        """Show `text`, which the splitter has just taken; `fresh`: the unfinished block began within it.

        Returns:
            The number of the first line that changed.
        """
        if self._flow is not None and not fresh and self._width == width and self.lines is not None:
            changed = self._heading + self._flow.feed(text)
            self.lines[changed:] = self._flow.lines[changed - self._heading :]
            self._count = len(self.lines)
            return changed
        old = self.lines or []
        new = self._redraw(width)
        same = 0
        for before, after in zip(old, new, strict=False):
            if before.runs != after.runs or before.join != after.join:
                break
            new[same] = before
            same += 1
        self.lines, self._width, self._count = new, width, len(new)
        return same

    def drop_lines(self) -> None:
        """A tail is small and changes all the time: its lines stay."""

    def _redraw(self, width: int) -> list[Line]:
        splitter = self.splitter
        self._flow = None
        if splitter.open_size == 0 and not splitter.in_code:
            return []
        if not splitter.in_code and splitter.open_size <= PLAIN_FROM:
            return [
                line for block in splitter.open_blocks() for line in draw_block(block, width, self._glyphs)
            ]
        lines = [Line()] if splitter.open_gap else []
        if splitter.in_code:
            lines += code_heading(splitter.open_info, width, self._glyphs)
            self._flow = code_flow(width, self._glyphs, splitter.open_info)
        else:
            self._flow = Flow(width)
        self._heading = len(lines)
        self._flow.feed(splitter.open_text())
        return lines + self._flow.lines


class MarkdownStream:
    """An arriving answer: raw deltas in, finished parts and a tail out."""

    def __init__(self, glyphs: Glyphs) -> None:
        self._glyphs = glyphs
        self._sanitiser = Sanitiser()
        self._splitter = BlockSplitter()
        self._pending: list[str] = []
        self._raw: list[str] = []
        self._was_plain = False
        self.tail = Tail(self._splitter, glyphs)

    def add(self, text: str) -> None:
        """Take a delta; nothing is drawn yet."""
        self._pending.append(text)

    @property
    def has_pending(self) -> bool:
        """Whether deltas wait to be drawn."""
        return bool(self._pending)

    def raw(self) -> str:
        """Return everything that arrived, as it arrived."""
        return "".join([*self._raw, *self._pending])

    def advance(self, width: int) -> tuple[list[Part], int]:
        """Draw what waits.

        Returns:
            The parts that were finished, and the first line of the tail that changed (0 when a part was).
        """
        raw = "".join(self._pending)
        self._pending.clear()
        self._raw.append(raw)
        text = self._sanitiser.feed(raw)
        closed = self._splitter.feed(text)
        plain = self._splitter.in_code or self._splitter.open_size > PLAIN_FROM
        fresh = bool(closed) or plain != self._was_plain
        self._was_plain = plain
        changed = self.tail.grow(text, width, fresh=fresh)
        return [block_part(block, self._glyphs) for block in closed], 0 if closed else changed

    def finish(self) -> list[Part]:
        """The answer is over: return its last parts."""
        raw = "".join(self._pending)
        self._pending.clear()
        self._raw.append(raw)
        text = self._sanitiser.feed(raw) + self._sanitiser.flush()
        closed = self._splitter.feed(text) + self._splitter.finish()
        return [block_part(block, self._glyphs) for block in closed]


class PlainTail(Part):
    """The unfinished end of arriving plain text. Growing costs time in proportion to the new text."""

    __slots__ = ("_flow", "_ink", "_prefix", "_text")

    def __init__(self, ink: int, prefix: Sequence[TextRun]) -> None:
        super().__init__(self._redraw, 0, 0)
        self._ink = ink
        self._prefix = prefix
        self._text: list[str] = []
        self._flow: Flow | None = None

    @property
    def text(self) -> str:
        """What it shows."""
        return "".join(self._text)

    def begin(self, text: str) -> None:
        """Show `text` and nothing else."""
        self._text = [text]
        self._flow = self.lines = None
        self._characters, self._breaks, self._width = len(text), text.count("\n"), 0

    def grow(self, text: str, width: int) -> int:
        """Show `text` as well; return the number of the first line that changed."""
        self._text.append(text)
        if self._flow is None or self._width != width:
            self.lines = None
            self.draw(width)
            return 0
        changed = self._flow.feed(text)
        self._count = len(self._flow.lines)
        return changed

    def drop_lines(self) -> None:
        """It is small and changes all the time: its lines stay."""

    def _redraw(self, width: int) -> list[Line]:
        self._flow = Flow(width, self._ink, self._prefix)
        self._flow.feed(self.text)
        return self._flow.lines


class PlainStream:
    """Arriving plain text: raw deltas in, finished parts and a tail out. The parts equal those of the whole text.

    Args:
        raw: what has arrived so far; its parts are `done` and the tail.
        ink: of the text.
        prefix: the text before every line.
    """

    def __init__(self, raw: str, ink: int, prefix: Sequence[TextRun]) -> None:
        self._ink = ink
        self._prefix = prefix
        self._sanitiser = Sanitiser()
        self._pending: list[str] = []
        self._size = 0
        self.tail = PlainTail(ink, prefix)
        self.done = self._cut(self._sanitiser.feed(raw))

    def add(self, text: str) -> None:
        """Take a delta; nothing is drawn yet."""
        self._pending.append(text)

    @property
    def has_pending(self) -> bool:
        """Whether deltas wait to be drawn."""
        return bool(self._pending)

    def advance(self, width: int) -> tuple[list[Part], int]:
        """Draw what waits.

        Returns:
            The parts that were finished, and the first line of the tail that changed (0 when a part was).
        """
        text = self._sanitiser.feed("".join(self._pending))
        self._pending.clear()
        if self._size + len(text) > CHUNK:
            return self._cut(self.tail.text + text), 0
        self._size += len(text)
        return [], self.tail.grow(text, width)

    def _cut(self, text: str) -> list[Part]:
        """Return the parts of `text` but for the last, which becomes the tail."""
        *chunks, rest = _chunks(text)
        self.tail.begin(rest)
        self._size = len(rest)
        return [_plain_part(chunk, self._ink, self._prefix, self._prefix) for chunk in chunks]
