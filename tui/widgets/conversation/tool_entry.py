"""A tool call and its result in the conversation: one line when closed; input, output and changes when open."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agent.core.turns import ToolCallTurn, ToolResultTurn, Turn, thaw
from tui.terminal.diff_view import close_context, diff_lines
from tui.terminal.sanitise import clip, one_line, sanitise, spelled_out
from tui.widgets.conversation.diff_parts import counts, diff_parts
from tui.widgets.conversation.entry import INDENT, TRY, Entry
from tui.widgets.conversation.lines import (
    BOLD,
    DIM,
    ERROR,
    LINK,
    TOOL,
    UNICODE,
    USER,
    Glyphs,
    Line,
    TextRun,
    run_cells,
    wrap_runs,
)
from tui.widgets.conversation.markdown_blocks import split_blocks
from tui.widgets.conversation.render_parts import Part, block_part, fixed_part, plain_parts
from tui.widgets.conversation.search import SearchableText

_ANSWERED: list[TextRun] = [("  you  ", USER | BOLD)]
"""Before what the person answered, behind the question."""
_INNER: list[TextRun] = [("    ", 0)]
_ON_PROMPT = ("edit_system_prompt", "update_system_prompt", "restore_version")
_ESSENCE_KEYS = ("name", "content", "system_prompt", "new", "id", "query", "question", "message")


class ToolEntry(Entry):
    """A tool call and its result: one line when closed, input, output and changes when open."""

    def __init__(self, call: ToolCallTurn | None, glyphs: Glyphs = UNICODE, *, key: str = "") -> None:
        super().__init__(call.id if call is not None else key, glyphs)
        self.call = call
        self.result: ToolResultTurn | None = None
        self.progress = ""
        self.ended: tuple[str, bool, Mapping[str, Any] | None] | None = None

    @property
    def turn(self) -> Turn | None:
        return self.call or self.result

    @property
    def foldable(self) -> bool:  # type: ignore[override]
        """Whether there is more to see: not of a report, which is shown as the agent's words."""
        return self._report is None

    @property
    def changed_prompt(self) -> bool:  # type: ignore[override]
        """Whether it has changed the prompt."""
        return self.call is not None and self.call.tool_name in _ON_PROMPT and bool(self._diff)

    @property
    def _report(self) -> str | None:
        """What the agent reports with this call, once it was taken."""
        return self._word("send_update", "text")

    def _word(self, tool_name: str, field: str) -> str | None:
        """A text in the input of a call of this tool that went well; None for all others."""
        if self.call is None or self.call.tool_name != tool_name or self.ended is None or self.ended[1]:
            return None
        value = self.call.input.get(field)
        return value if isinstance(value, str) else None

    def weight(self) -> tuple[int, int]:
        report = self._report or ""
        return len(report), report.count("\n")

    def finish(self, output: str, is_error: bool, details: Mapping[str, Any] | None) -> None:
        """The call ended with this."""
        self.ended = (output, is_error, details)
        self.remake()

    def set_call(self, call: ToolCallTurn) -> None:
        """The call is complete now."""
        self.call = call
        self.remake()

    def show_progress(self, text: str) -> None:
        """The tool says how far it is."""
        self.progress = text
        self.remake()

    def make_parts(self) -> list[Part]:
        if (report := self._report) is not None:
            return [block_part(block, self.glyphs) for block in split_blocks(sanitise(report))]
        parts = [fixed_part(self._head)]
        if self.opened:
            parts += self._body()
        elif self._word("ask_user", "question") is not None and self.ended is not None:
            rest: list[TextRun] = [(" " * run_cells(_ANSWERED), 0)]
            parts += plain_parts(sanitise(self.ended[0]), USER, _ANSWERED, rest)
        return parts

    def text(self) -> str:
        if (report := self._report) is not None:
            return sanitise(report)
        lines = []
        if self.call is not None:
            arguments = json.dumps(thaw(self.call.input), ensure_ascii=False, indent=2, default=str)
            lines.append(f"{self.call.tool_name} {arguments}")
            if self.call.fault:
                lines.append(self.call.fault)
        if self.ended is not None:
            lines.append(self.ended[0])
        return sanitise("\n".join(lines))

    def searchable(self) -> SearchableText:
        if self._report is not None:
            return SearchableText([self.text()], markdown=True)
        written, drawn = [], []
        if self.call is not None:
            name, values = self.call.tool_name, self.call.input
            written = [
                f"{name} {json.dumps(thaw(values), ensure_ascii=False, default=str)}",
                self.call.fault or "",
            ]
            drawn = [f"{name} {essence(self.call)}"]
            drawn += (f"{field}: {spelled_out(_value(value))}" for field, value in values.items())
        if self.ended is not None:
            written.append(self.ended[0])
            drawn[:1] = ["".join((*drawn[:1], *(text for text, _ in _counts(self.ended[2], self.glyphs))))]
        if self._diff:
            drawn += diff_lines(close_context(self._diff))
        return SearchableText([sanitise("\n".join(written)), sanitise("\n".join(drawn))])

    @property
    def _diff(self) -> str:
        """What the call changed, "" where its result does not say."""
        details = self.ended[2] if self.ended is not None else None
        diff = details.get("diff") if details is not None else None
        return diff if isinstance(diff, str) else ""

    def _head(self, width: int) -> list[Line]:
        glyphs = self.glyphs
        sign = glyphs.opened if self.opened else glyphs.closed
        failed = self.ended is not None and self.ended[1]
        name = one_line(self.call.tool_name, 60, sign=glyphs.dots) if self.call is not None else "result"
        left: list[TextRun] = [(f"{sign} ", DIM), (name, TOOL | (ERROR if failed else 0))]
        right: list[TextRun] = []
        if self.ended is None:
            note = one_line(self.progress or essence(self.call), width, sign=glyphs.dots)
            right = [(f"  {glyphs.dots}", DIM)]
        elif failed:
            note = one_line(self.ended[0], width, sign=glyphs.dots)
            left.insert(1, (f"{glyphs.failed} ", ERROR))
        else:
            note = one_line(essence(self.call), width, sign=glyphs.dots)
            right = _counts(self.ended[2], glyphs) + ([("  ", 0), (TRY, LINK)] if self.changed_prompt else [])
        room = width - run_cells(left) - run_cells(right) - 2
        middle: list[TextRun] = (
            [(f"  {clip(note, room, sign=glyphs.dots)}", ERROR if failed else DIM)]
            if note and room > 3
            else []
        )
        return [Line([*left, *middle, *right])]

    def _body(self) -> list[Part]:
        parts: list[Part] = []
        has_diff = bool(self._diff.strip())
        if has_diff:
            parts += diff_parts(self._diff, self.glyphs)  # first: it is what a person opens the call for
        if self.call is not None:
            if self.call.fault:
                parts += plain_parts(sanitise(self.call.fault), ERROR, INDENT, INDENT)
            for name, value in self.call.input.items():
                parts += _field(name, value)
        if not has_diff and self.ended is not None and self.ended[0]:
            failed = self.ended[1]
            first: list[TextRun] = [("  = ", DIM)]
            parts += plain_parts(sanitise(self.ended[0]), ERROR if failed else 0, first, _INNER)
        if not parts:
            parts = plain_parts("(no input)" if self.ended is None else "(nothing)", DIM, INDENT, INDENT)
        return parts


def essence(call: ToolCallTurn | None) -> str:
    """Return what of a call's input says most in one line; not sanitised."""
    if call is None:
        return ""
    if call.fault:
        return call.fault
    values = call.input
    for key in _ESSENCE_KEYS:
        if isinstance(values.get(key), str):
            return str(values[key])[:1000]
    for value in values.values():
        if isinstance(value, str | int | float):
            return str(value)[:1000]
    return ""


def _counts(details: Mapping[str, Any] | None, glyphs: Glyphs) -> list[TextRun]:
    """Return `+2 −1` from the details of a result, when they say so."""
    if details is None:
        return []
    added, removed = details.get("added"), details.get("removed")
    if not isinstance(added, int) or not isinstance(removed, int):
        return []
    return counts(added, removed, glyphs)


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(thaw(value), ensure_ascii=False, default=str)


def _field(name: str, value: Any) -> list[Part]:
    text = _value(value)
    label: TextRun = (f"{one_line(str(name), 40)}: ", TOOL | DIM)
    if "\n" not in text and len(text) < 200:
        runs: list[TextRun] = [label, (spelled_out(text).replace("\t", "    "), 0)]
        lead = run_cells(INDENT) + len(label[0]), run_cells(_INNER)
        return [Part(lambda width: wrap_runs(runs, width, INDENT, _INNER, lead=lead), len(text), 0)]
    head = [Line([*INDENT, label])]
    return [fixed_part(lambda width: head), *plain_parts(spelled_out(text), 0, _INNER, _INNER)]
