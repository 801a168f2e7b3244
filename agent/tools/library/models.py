"""Arguments and answers of the tools on the library; those that differ by kind are made from the keys of the documents."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field, create_model

from personas.library.documents import CHOICES, FIELDS, PART_TYPES, Kind


class Arguments(BaseModel):
    """The arguments of a call; what a call leaves away is not in `model_fields_set`."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    def given(self, *but: str) -> dict[str, Any]:
        """Return the arguments that the call has, all but those named."""
        return self.model_dump(exclude_unset=True, exclude={*but})


class ToolAnswer(BaseModel):
    """What a call answers."""

    model_config = ConfigDict(defer_build=True)


Name = Annotated[str, Field(min_length=1, max_length=250)]
_Texts = Annotated[list[str], Field(max_length=1000)]


def arguments(name: str, /, **fields: Any) -> type[Arguments]:
    """Return a model of arguments.

    Args:
        name: of the model.
        fields: by name the type of one that must be given, or type and field.
    """
    full = {key: one if isinstance(one, tuple) else (one, ...) for key, one in fields.items()}
    return create_model(name, __base__=Arguments, **cast("dict[str, Any]", full))


def optional(kind: Any, description: str = "", /, **more: Any) -> Any:
    """Return type and field of an argument that may be left away."""
    return kind, Field(default_factory=lambda: None, description=description or None, **more)


class StageArguments(Arguments):
    name: Name
    description: str = ""
    condition: str = Field(default="", description="When the next stage begins; whoever uses it reads that.")
    parts: _Texts = Field(
        default_factory=list, description="Names of parts that replace the persona's of the same types."
    )


_DESCRIBED = {
    "type": f"One of {', '.join(PART_TYPES)}; another word is taken with a warning.",
    "description": "What it is for, in a line.",
    "summary": "Its short form.",
    "content": "Its text, which becomes a part of the prompt.",
    "instruction": "How to apply the trait, which becomes a line of the prompt.",
}


def keys_of(kind: Kind) -> dict[str, Any]:
    """Return the keys of the documents of a kind as arguments that may be left away."""
    fields: dict[str, Any] = {}
    for key in FIELDS[kind]:
        if key == "stages":
            fields[key] = optional(list[StageArguments], "All stages, in their order.")
        elif key == "tags":
            fields[key] = optional(_Texts)
        else:
            enum = {"enum": list(CHOICES[key])} if key in CHOICES and key != "type" else None
            fields[key] = optional(str, _DESCRIBED.get(key, ""), json_schema_extra=enum)
    return fields


PERSONA_KEYS: dict[str, Any] = {
    "display_name": optional(str),
    "description": optional(str, _DESCRIBED["description"]),
    "summary": optional(str, _DESCRIBED["summary"]),
    "detail": optional(str, "Its own system prompt, whole, without what it links."),
    "tags": optional(_Texts),
}

OPTIONS: dict[str, Any] = {
    "overrides": optional(
        dict[str, str],
        "By type of part, the name of the one part that replaces all of that type. Nothing is written.",
    ),
    "types": optional(_Texts, "Only parts of these types."),
    "limit": optional(int, "Only so many parts, those of the highest priority."),
    "stage": optional(str, "The stage of its arc to assume."),
}
"""The options of one call, see `personas.compiled.Options`."""


# -- answers ---------------------------------------------------------------------------------------------


class FileFault(ToolAnswer):
    """Why a file is broken, and where."""

    message: str
    line: int | None = None
    column: int | None = None


class StageAnswer(ToolAnswer):
    name: str
    description: str
    condition: str
    parts: list[str]


def _document(kind: Kind, *, is_whole: bool) -> type[ToolAnswer]:
    """Return the model of `LibraryDocument.to_record`."""
    texts = ("summary", "content", "instruction", "stages")
    types: dict[str, Any] = {"tags": list[str], "stages": list[StageAnswer]}
    fields: dict[str, Any] = {
        key: (types.get(key, str), ...) for key in FIELDS[kind] if is_whole or key not in texts
    }
    if is_whole:
        fields["revision"] = (str, ...)
    fields |= {"error": (FileFault | None, ...), "warnings": (list[str], ...)}
    named: dict[str, Any] = {"name": (str, ...), **fields}
    return create_model(f"{kind.title()}{'' if is_whole else 'Listed'}", __base__=ToolAnswer, **named)


def document_answer(kind: Kind) -> type[ToolAnswer]:
    """Return the answer that is one document."""
    return _document(kind, is_whole=True)


def list_answer(kind: Kind) -> type[ToolAnswer]:
    """Return the answer that lists the documents of a kind."""
    listed: dict[str, Any] = {f"{kind}s": (list[_document(kind, is_whole=False)], ...)}  # type: ignore[misc]
    return create_model(f"{kind.title()}List", __base__=ToolAnswer, **listed)


class PersonaListed(ToolAnswer):
    name: str
    display_name: str
    description: str
    tags: list[str]
    error: FileFault | None


class PersonaListAnswer(ToolAnswer):
    personas: list[PersonaListed]


class UserAnswer(ToolAnswer):
    """Who uses a document: a persona, or a stage of an arc."""

    kind: str
    name: str
    stage: str | None = None


class ChangedAnswer(ToolAnswer):
    """What a call has changed.

    Attributes:
        id: a persona's id, or `KIND/NAME` of a document.
        users: who names the document.
        personas: ids of all personas whose effective prompt the document is a part of.
        stage: the stage that the persona is on now.
    """

    id: str
    revision: str
    version: int
    summary: str
    warnings: list[str]
    users: list[UserAnswer] | None = None
    personas: list[str] | None = None
    stage: str | None = None


class MissingAnswer(ToolAnswer):
    """Something linked that is not there, or with `reason` cannot be used."""

    kind: str
    name: str
    reason: str | None = None


class ArcAnswer(ToolAnswer):
    name: str
    stage: str | None


class _PartOf(ToolAnswer):
    name: str
    type: str
    summary: str
    level: str
    order: int
    priority: int
    content: str | None = None


class _TraitOf(ToolAnswer):
    name: str
    trait_type: str
    description: str
    instruction: str | None = None


class _SkillOf(ToolAnswer):
    name: str
    description: str
    content: str | None = None


class _GuardrailOf(_SkillOf):
    severity: str | None = None


class PersonaAnswer(ToolAnswer):
    """A persona with what it links; `detail`, `compiled_detail` and the texts of what is linked only with `detail`."""

    name: str
    display_name: str
    description: str
    tags: list[str]
    summary: str
    detail: str | None = None
    parts: list[_PartOf]
    traits: list[_TraitOf]
    skills: list[_SkillOf]
    guardrails: list[_GuardrailOf]
    arc: ArcAnswer | None
    compiled_summary: str | None
    compiled_detail: str | None = None
    compiled_at: str | None
    stale: bool
    missing: list[MissingAnswer]
    warnings: list[str] | None = None


class _PartNamed(ToolAnswer):
    name: str
    type: str
    description: str


class _TraitNamed(ToolAnswer):
    name: str
    trait_type: str
    description: str


class ManifestAnswer(ToolAnswer):
    """What a persona is made of, without any content; `missing` and `warnings` only where there is something."""

    name: str
    description: str
    parts: list[_PartNamed]
    traits: list[_TraitNamed]
    skills: list[str]
    guardrails: list[str]
    arc: ArcAnswer | None
    on_demand_tools: dict[str, str]
    missing: list[MissingAnswer] | None = None
    warnings: list[str] | None = None


class CompiledAnswer(ToolAnswer):
    name: str
    compiled_summary: str
    compiled_detail: str
    compiled_at: str
    missing: list[MissingAnswer]
    left_out: list[str]
    warnings: list[str] | None = None
