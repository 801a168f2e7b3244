"""The fields of a document of the library, and those of a stage of an arc."""

from __future__ import annotations

from personas.library.documents import CHOICES, Kind
from tui.document.library_slots import STAGE_FIELDS, field_keys, stage_slot
from tui.widgets.field_form import Field, FieldForm

HINTS = {
    "type": "what kind of part: tone, goal, …",
    "trait_type": "personality, cognitive, …",
    "description": "what it is for",
    "summary": "its short form in a summary",
    "severity": "how much it matters",
    "tags": "words, with commas between",
    "condition": "when the next stage begins",
    "parts": "parts that take over: icy, wary",
}


class _Form(FieldForm):
    async def on_mount(self) -> None:
        await self.fill()


class DocumentForm(_Form):
    """The fields of the open document.

    Args:
        kind: of the document.
    """

    def __init__(self, kind: Kind) -> None:
        super().__init__(f"fields-of-{kind}")
        self.kind = kind
        self.fields = [_field(key) for key in field_keys(kind)]
        self.choices = {key: CHOICES[key] for key in field_keys(kind) if key in CHOICES}
        self.no_choice = "no known type" if kind == "part" else "none of these"


class StageForm(_Form):
    """The fields of one stage of the open arc.

    Attributes:
        stage: its name; empty for none.
    """

    fields = tuple((key, key.capitalize(), HINTS[key]) for key in STAGE_FIELDS)

    def __init__(self) -> None:
        super().__init__("fields-of-stage")
        self.stage = ""

    def slot_id(self, name: str) -> str:
        return stage_slot(self.stage, name)


def _field(key: str) -> Field:
    return key, key.removeprefix("trait_").capitalize(), HINTS[key]
