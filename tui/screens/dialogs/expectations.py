"""The expectations of a test input as a form: a list of them with their verdicts, and the fields of one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Button, Input

from personas.changes import SetExpectation, SetSamples
from personas.errors import InvalidValue
from personas.test_inputs import (
    COUNT_TYPES,
    JSON_TYPES,
    LIST_TYPES,
    MOST_SAMPLES,
    NEGATED,
    THRESHOLD_TYPES,
    Expectation,
    fault_of,
)
from tui.commands.registry import binding, bindings
from tui.document.debounce import Debounce
from tui.document.text_slot import TextSlot
from tui.outputs.labels import SIGNS, expected
from tui.screens.dialogs.base import Dialog
from tui.screens.dialogs.picker import Picker
from tui.screens.dialogs.text_prompt import AnswerEditor, AskLine
from tui.widgets.plain_text import LiteralButton, LiteralStatic, label
from tui.widgets.text.line_input import LineInput
from tui.widgets.virtual_list import Row, VirtualList

if TYPE_CHECKING:
    from agent.outputs.expectations import Verdict
    from personas.changes import Change
    from personas.persona import TestInput

MEANINGS: Mapping[str, str] = {
    "icontains": "has this text, in capitals or not",
    "contains": "has exactly this text",
    "llm-rubric": "a model says that this holds",
    "word-count": "so many words",
    "char-count": "so many characters",
    "regex": "matches this regular expression",
    "starts-with": "begins with this text",
    "equals": "is this text",
    "icontains-all": "has all of these, in capitals or not",
    "icontains-any": "has one of these, in capitals or not",
    "contains-all": "has exactly all of these",
    "contains-any": "has exactly one of these",
    "is-json": "is JSON, as a schema says if you give one",
    "contains-json": "has JSON in it, as a schema says if you give one",
    "levenshtein": "is so few edits away from this text",
    "latency": "took at most so many milliseconds",
    "cost": "cost at most so many dollars",
}
"""What each type checks, in the order in which they are offered."""
NUMBERS = ("min", "max", "value", "threshold")
SAMPLES, MIN_PASS, NEW, BROKEN = "samples", "min_pass", "new", "broken"
DRAFT = "expectation"
"""By this name a text is kept that is typed for a new expectation."""


def shown(expectation: Expectation) -> str:
    """Return an expectation in one line."""
    from agent.outputs.expectations import shown_value

    return expected(expectation.type, shown_value(expectation))


class Expectations(Dialog[None]):
    """The expectations of a test input, to change: each change is stored at once.

    Args:
        test_input: whose they are.
        change: stores a change, after which the text that was kept by this name is needed no longer; `show` tells when
            that is done.
        begun: returns the text that was kept by a name and not given.
        keep: keeps what is typed, by a name.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("expectations")]

    def __init__(
        self,
        test_input: TestInput,
        change: Callable[[Change, str], object],
        *,
        begun: Callable[[str], str] = lambda _name: "",
        keep: Callable[[str, str], object] = lambda _name, _text: None,
    ) -> None:
        super().__init__()
        self._input, self._change, self._begun, self._keep = test_input, change, begun, keep
        self._verdicts: Sequence[Verdict] = ()
        self._added = ""  # the key of the row that is to come

    @property
    def input_id(self) -> str:
        """Whose they are."""
        return self._input.id

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog wide switcher") as box:
            box.border_title = label(f"Expectations of {self.input_id}", 70)
            yield VirtualList(id="choices", classes="gives")
            yield self.hint(
                ("rows.open", "changes"),
                ("expectations.new", "adds"),
                ("expectations.remove", "removes"),
                ("dialog.close", "closes"),
            )

    def on_mount(self) -> None:
        super().on_mount()
        self._fill()
        self._rows.focus()

    @property
    def _rows(self) -> VirtualList:
        return self.query_one(VirtualList)

    def show(self, test_input: TestInput, verdicts: Sequence[Verdict]) -> None:
        """Show the test input as it is now, with the verdict on each expectation; none where there is no output."""
        self._input, self._verdicts = test_input, verdicts
        if self.query(VirtualList):
            self._fill()
            self.fit_soon()

    def _fill(self) -> None:
        from agent.outputs.variant import fault_of_input

        rows = []
        for place, one in enumerate(self._input.expect):
            verdict = self._verdicts[place] if place < len(self._verdicts) else None
            mark, reason = (SIGNS[verdict.verdict], verdict.reason) if verdict is not None else (" ", "")
            rows.append(Row(str(place), shown(one), head=mark, tail=reason))
        if fault := fault_of_input(self._input):
            rows.append(Row(BROKEN, f"{fault}: fix it in the file", head=SIGNS["error"], tone="error"))
        samples, min_pass = self._input.samples or 1, self._input.min_pass or "all"
        rows += [
            Row(NEW, "Add an expectation …", head="+"),
            Row(SAMPLES, f"Outputs of each run: {samples}", head=" ", tone="dim"),
            Row(MIN_PASS, f"How many of them must pass: {min_pass}", head=" ", tone="dim"),
        ]
        there = any(row.key == self._added for row in rows)
        self._rows.set_rows(rows, key=self._added if there else None)
        self._added = "" if there else self._added

    @on(VirtualList.Highlighted)
    def _highlighted(self, event: VirtualList.Highlighted) -> None:
        event.stop()

    @on(VirtualList.Chosen)
    def _chosen(self, event: VirtualList.Chosen) -> None:
        event.stop()
        if event.key == NEW:
            self.action_new()
        elif event.key in (SAMPLES, MIN_PASS):
            self._ask_number(event.key)
        elif event.key != BROKEN:
            self._edit(self._input.expect[int(event.key)])

    def action_new(self) -> None:
        def begin(kind: str | None) -> None:
            if kind is not None:
                self._ask(EditExpectation("New expectation", Expectation(type=kind)), DRAFT, add)

        def add(new: Expectation | None) -> None:
            if new is not None:
                self._added = str(len(self._input.expect))
                self._change(
                    SetExpectation(self.input_id, None, new), DRAFT if "text" in titles_of(new.base) else ""
                )

        self.app.push_screen(pick_kind(), begin)

    def action_remove(self) -> None:
        if self._rows.cursor < len(self._input.expect):
            self._change(SetExpectation(self.input_id, self._input.expect[self._rows.cursor], None), "")

    def _ask(self, form: EditExpectation, name: str, answered: Callable[[Expectation | None], None]) -> None:
        form.begin(self._begun(name), lambda text: self._keep(name, text))
        self.app.push_screen(form, answered)

    def _edit(self, old: Expectation) -> None:
        name = f"{DRAFT} of {self.input_id}: {shown(old)}"

        def change(new: Expectation | None) -> None:
            if new is not None and new != old:
                self._change(SetExpectation(self.input_id, old, new), name)

        self._ask(EditExpectation("Expectation", old), name, change)

    def _ask_number(self, name: str) -> None:
        def change(answer: str | None) -> None:
            if answer is not None:
                now = {SAMPLES: self._input.samples, MIN_PASS: self._input.min_pass}
                self._change(SetSamples(self.input_id, **{**now, name: int(answer) or None}), "")

        self.app.push_screen(ask_number(name, getattr(self._input, name)), change)


@dataclass(frozen=True, slots=True)
class FieldFault(Exception):
    """What is wrong with one field; `why` is a clause."""

    field: str
    why: str


class EditExpectation(Dialog[Expectation]):
    """The fields of one expectation; gives it as it is then, or None.

    Args:
        title: any text.
        expectation: as it is; its type can be changed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [binding("expectations.field")]

    def __init__(self, title: str, expectation: Expectation) -> None:
        super().__init__()
        self._title, self._was = title, expectation
        self._kind = expectation.type
        text = "" if expectation.base in COUNT_TYPES else value_text(expectation.value)
        self._slot = TextSlot("text", text, on_edit=self._edited)
        self._keep: Callable[[str], object] = lambda _text: None
        self._kept = self._text_was = text
        self._debounce = Debounce(self.keep_begun)
        self._text = AnswerEditor(id="answer", prose=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog expectation") as box:
            box.border_title = label(self._title, 70)
            yield LiteralButton("", id="kind")
            yield LiteralStatic("", id="about-text", classes="field-title")
            self._text.add_class("gives")
            yield self._text
            yield LiteralStatic("", id="wrong-text", classes="field-fault")
            for name in NUMBERS:
                number = getattr(self._was, name)
                yield LiteralStatic("", id=f"about-{name}", classes="field-title")
                yield LineInput(f"{number:g}" if type(number) in (int, float) else "", id=f"field-{name}")
                yield LiteralStatic("", id=f"wrong-{name}", classes="field-fault")
            yield self.hint("Enter accepts", ("expectations.field", "next field"), ("dialog.close", "closes"))

    def on_mount(self) -> None:
        super().on_mount()
        self._text.bind(self._slot)
        self._text.move_cursor(self._text.document.end)
        self._show_kind()

    def begin(self, text: str, keep: Callable[[str], object]) -> None:
        """Go on with a text that was begun, empty where none was; `keep` is told the text at each pause and at the end."""
        if text:
            self._slot.begin_with(self._text_was, text)
        self._kept, self._keep = self._slot.text, keep

    def keep_begun(self) -> None:
        """Have what is written kept."""
        if (text := self._slot.text) != self._kept:
            self._kept = text
            self._keep("" if text == self._text_was else text)

    def on_unmount(self) -> None:
        self._debounce.now()

    def _edited(self, _slot: TextSlot) -> None:
        self._debounce.key_pressed()
        self._clear("text")

    def action_cancel(self) -> None:
        self.keep_begun()
        super().action_cancel()

    def desired_rows(self, part: Widget) -> int:
        return 4

    def _field(self, name: str) -> Widget:
        return self._text if name == "text" else self.query_one(f"#field-{name}", LineInput)

    def _show_kind(self) -> None:
        """Show the fields that the type has."""
        base = self._kind.removeprefix(NEGATED)
        self.query_one("#kind", LiteralButton).set_label(f"{in_words(self._kind)} ▾")
        titles = titles_of(base)
        for name in ("text", *NUMBERS):
            self.query_one(f"#about-{name}", LiteralStatic).update(titles.get(name, ""))
            self.query_one(f"#about-{name}").display = self._field(name).display = name in titles
            self._clear(name)
        self._field(next(iter(titles))).focus()
        self.fit_soon()

    def _clear(self, name: str) -> None:
        if self.is_mounted:
            self.query_one(f"#wrong-{name}").display = False

    @on(Button.Pressed, "#kind")
    def _choose_kind(self, event: Button.Pressed) -> None:
        event.stop()
        self.app.push_screen(pick_kind(self._kind), self._kind_chosen)

    def _kind_chosen(self, kind: str | None) -> None:
        if kind is not None:
            self._kind = kind
            self._show_kind()

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self._clear(str(event.input.id).removeprefix("field-"))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_accept()

    def action_accept(self) -> None:
        texts = {name: self.query_one(f"#field-{name}", LineInput).raw for name in NUMBERS}
        self.keep_begun()
        try:
            self.dismiss(expectation_of(self._kind, {**texts, "text": self._slot.text}, self._was))
        except FieldFault as fault:
            label = self.query_one(f"#wrong-{fault.field}", LiteralStatic)
            label.update(fault.why)
            label.display = True
            self._field(fault.field).focus()
            self.fit_soon()


def titles_of(base: str) -> dict[str, str]:
    """Return the fields of a type without its `not-`, with what stands above each."""
    if base in COUNT_TYPES:
        return {"min": "at least", "max": "at most", "value": "or exactly"}
    if base in THRESHOLD_TYPES:
        return {"threshold": "dollars" if base == "cost" else "milliseconds"}
    what = (
        "one on each line (Ctrl+J)"
        if base in LIST_TYPES
        else "a JSON schema, or nothing"
        if base in JSON_TYPES
        else ""
    )
    wanted = what or ("what must hold" if base == "llm-rubric" else "the text")
    return {
        "text": wanted,
        **({"threshold": "most edits; 5 where it is empty"} if base == "levenshtein" else {}),
    }


def in_words(kind: str) -> str:
    """Return a type with what it checks."""
    base = kind.removeprefix(NEGATED)
    return f"{kind}: {'not: ' * kind.startswith(NEGATED)}{MEANINGS.get(base, '')}"


def pick_kind(now: str = "") -> Picker:
    """Return the question which type an expectation has."""
    kinds = [*MEANINGS, *(NEGATED + kind for kind in MEANINGS)]
    rows = [Row(kind, in_words(kind), current=kind == now) for kind in kinds]
    return Picker("What must hold of the output?", rows, filter=True, at=now)


def ask_number(name: str, now: int | None) -> AskLine:
    """Return the question how many `samples` a run makes, or how many of them must pass (`min_pass`, 0 for all)."""

    def check(text: str) -> None:
        if not text.isdecimal() or int(text) > MOST_SAMPLES:
            raise InvalidValue(f"Enter a whole number up to {MOST_SAMPLES}.")

    question = "Outputs of each run" if name == SAMPLES else "How many of them must pass; 0 for all"
    return AskLine(question, text=str(now or int(name == SAMPLES)), check=check)


def value_text(value: Any) -> str:
    """Return the value of an expectation as it stands in its field."""
    if isinstance(value, list | tuple):
        return "\n".join(map(str, value))
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False, indent=2)
    return "" if value is None else str(value)


def expectation_of(kind: str, texts: Mapping[str, str], was: Expectation) -> Expectation:
    """Return the expectation that a form says.

    Args:
        kind: its type.
        texts: what stands in the fields of `titles_of`, by name.
        was: as it was before; its weight stays, and a value that is no text stays what it was if it was not changed.

    Raises:
        FieldFault: a field cannot be so.
    """
    base = kind.removeprefix(NEGATED)
    found: dict[str, Any] = {"type": kind}
    names = list(titles_of(base))
    for name in names:
        text = texts[name]
        if name == "text":
            is_same = kind == was.type and text == value_text(was.value)
            found["value"] = was.value if is_same else _value(base, text)
        elif text.strip():
            found[name] = _number(name, text.strip(), whole=base in COUNT_TYPES)
    found = {name: value for name, value in found.items() if value is not None}
    if fault := fault_of(found):
        raise FieldFault(next((name for name in names if name in fault), names[0]), fault)
    return Expectation(**found, weight=was.weight)


def _value(base: str, text: str) -> Any:
    if base in LIST_TYPES:
        return [line for line in text.split("\n") if line.strip()]
    if base not in JSON_TYPES:
        return text
    try:
        return json.loads(text) if text.strip() else None
    except ValueError as error:
        raise FieldFault("text", f"this is not JSON: {error}") from None


def _number(name: str, text: str, *, whole: bool) -> float:
    try:
        return int(text) if whole or text.isdecimal() else float(text)
    except ValueError:
        raise FieldFault(name, f"{name} must be a {'whole ' * whole}number") from None
