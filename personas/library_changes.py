"""Changes of links to the library, and of documents of the library, as values like those of `personas.changes`. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from personas.errors import InvalidValue
from personas.fields import NUMBER_LIMIT
from personas.files.frontmatter import frontmatter_span
from personas.library.documents import Kind
from personas.library.skill_file import line_of_key
from personas.toml import edit as toml_edit
from personas.toml.parse import parse


@dataclass(frozen=True, slots=True)
class TextChange:
    """A change that a function makes of the text of a file.

    Attributes:
        subject: what it changes.
        summary: what it does, in a few words.
        edit: returns the new text; raises `InvalidValue` where there is nothing to be done.
        typed: whether it comes from typing, see `Change`.
    """

    subject: str
    summary: str
    edit: Callable[[str], str]
    typed: bool = False

    def apply(self, text: str) -> str:
        """Return the file's new text."""
        return self.edit(text)

    def summarise(self, old: str, new: str) -> str:
        """Say what turned the text `old` into `new`."""
        return self.summary


def link(
    kind: Kind, name: str, *, order: int | None = None, priority: int | None = None, stage: str = ""
) -> TextChange:
    """Return the change of a persona that links a document; an arc takes the place of another one."""

    _require_number("order", order)
    _require_number("priority", priority)

    def edit(text: str) -> str:
        fields = parse(text)
        if kind == "arc":
            if (fields.get("arc") or {}).get("name") == name:
                raise InvalidValue(f"The arc {name} is linked already.")
            return toml_edit.set_value(text, ("arc",), {"name": name, **({"stage": stage} if stage else {})})
        linked = list(fields.get(f"{kind}s") or [])
        if name in [_name_of(one) for one in linked]:
            raise InvalidValue(f"The {kind} {name} is linked already.")
        if kind != "part":
            return toml_edit.set_value(text, (f"{kind}s",), [*linked, name])
        given = {"name": name, "order": order, "priority": priority}
        return toml_edit.append_table(
            text, ("parts",), {key: one for key, one in given.items() if one is not None}
        )

    return TextChange("links", f"{kind} {name} linked", edit)


def unlink(kind: Kind, name: str) -> TextChange:
    """Return the change of a persona that takes a link away."""

    def edit(text: str) -> str:
        fields = parse(text)
        places = _places(fields, kind, name)
        if not places:
            raise InvalidValue(f"The {kind} {name} is not linked.")
        for path in reversed(places):
            text = (
                toml_edit.remove_key(text, path[:1])
                if kind == "arc"
                else toml_edit.remove_table(text, path[:2])
            )
        return text

    return TextChange("links", f"{kind} {name} unlinked", edit)


def set_priority(part: str, priority: int) -> TextChange:
    """Return the change of a persona that sets the priority of a part that it links."""
    _require_number("priority", priority)

    def edit(text: str) -> str:
        return toml_edit.set_value(
            text, ("parts", _index_of_link(parse(text), "part", part), "priority"), priority
        )

    return TextChange("links", f"part {part}: priority {priority}", edit)


def move_link(kind: Kind, name: str, beside: str, *, before: bool) -> TextChange:
    """Return the change of a persona that puts a link right before or behind another one of its kind.

    A part gets the `order` of the other one where they differ.
    """

    def edit(text: str) -> str:
        fields, key = parse(text), f"{kind}s"
        index, other = (_index_of_link(fields, kind, one) for one in (name, beside))
        if kind == "part":
            orders = [fields[key][at].get("order", 0) for at in (index, other)]
            if orders[0] != orders[1]:
                text = toml_edit.set_value(text, (key, index, "order"), orders[1])
        return toml_edit.move_table(text, (key, index), other - (index < other) + (not before))

    return TextChange("links", f"{kind} {name} moved", edit)


def rename_reference(kind: Kind, old: str, new: str) -> TextChange:
    """Return the change of a persona or an arc that lets what names a document by its old name name it by its new one."""

    def edit(text: str) -> str:
        for path in _places(parse(text), kind, old):
            text = toml_edit.set_value(text, path, new)
        return text

    return TextChange("links", f"{kind} {old} renamed to {new}", edit)


def set_stage(stage: str) -> TextChange:
    """Return the change of a persona that puts it on a stage of its arc."""
    return TextChange(
        "stage", f"stage: {stage}", lambda text: toml_edit.set_value(text, ("arc", "stage"), stage)
    )


def set_key(kind: Kind, key: str, value: Any) -> TextChange:
    """Return the change of a document that sets one of its keys."""

    def edit(text: str) -> str:
        if key == "stages" and key not in parse(text):
            for stage in value:
                text = add_stage(stage).apply(text)
            return text
        return toml_edit.set_value(text, (key,), value) if value or key in parse(text) else text

    return TextChange(key, f"{key} set", edit)


def add_stage(stage: dict[str, Any]) -> TextChange:
    """Return the change of an arc that adds a stage behind the others; keys without a value are not written."""

    def edit(text: str) -> str:
        if _stage_at(text, stage["name"]) is not None:
            raise InvalidValue(f"There is already a stage {stage['name']!r}.")
        return toml_edit.append_table(text, ("stages",), {key: one for key, one in stage.items() if one})

    return TextChange("stages", f"stage {stage['name']} added", edit)


def remove_stage(stage: str) -> TextChange:
    """Return the change of an arc that takes a stage away."""
    return TextChange(
        "stages",
        f"stage {stage} removed",
        lambda text: toml_edit.remove_table(text, ("stages", _existing_stage(text, stage))),
    )


def rename_stage(stage: str, new: str) -> TextChange:
    """Return the change of an arc that gives a stage another name."""

    def edit(text: str) -> str:
        if _stage_at(text, new) is not None:
            raise InvalidValue(f"There is already a stage {new!r}.")
        return toml_edit.set_value(text, ("stages", _existing_stage(text, stage), "name"), new)

    return TextChange("stages", f"stage {stage} renamed to {new}", edit)


def set_stage_value(stage: str, key: str, value: Any) -> TextChange:
    """Return the change of an arc that sets a value of a stage."""

    def edit(text: str) -> str:
        at = _existing_stage(text, stage)
        known = key in parse(text)["stages"][at]
        return toml_edit.set_value(text, ("stages", at, key), value) if value or known else text

    return TextChange("stages", f"{key} of stage {stage} set", edit)


def set_stage_part(stage: str, part: str, *, is_there: bool) -> TextChange:
    """Return the change of an arc that adds a part to a stage, or takes it away."""

    def edit(text: str) -> str:
        at = _existing_stage(text, stage)
        parts = list(parse(text)["stages"][at].get("parts") or [])
        if (part in parts) == is_there:
            said = f"has the part {part} already" if is_there else f"does not have the part {part}"
            raise InvalidValue(f"The stage {stage} {said}.")
        now = [*parts, part] if is_there else [one for one in parts if one != part]
        return toml_edit.set_value(text, ("stages", at, "parts"), now)

    return TextChange(
        "stages", f"part {part} {'added to' if is_there else 'removed from'} stage {stage}", edit
    )


def set_skill_key(key: str, value: Any) -> TextChange:
    """Return the change of a `SKILL.md` that sets its name, description or content."""

    def edit(text: str) -> str:
        start, end, body = frontmatter_span(text)
        if key == "content":
            return text[:body] + str(value)
        if key == "tags":
            raise InvalidValue("A SKILL.md has no tags.")
        line = f"{key}: {value if key == 'name' else json.dumps(value, ensure_ascii=False)}\n"
        if not body:
            return f"---\n{line}---\n{text}"
        first, last = line_of_key(text[start:end], key)
        return text[: start + first] + line + text[start + last :]

    return TextChange(key, f"{key} set", edit)


def _require_number(key: str, value: int | None) -> None:
    """Refuse a number with which no persona can be read."""
    if value is not None and not -NUMBER_LIMIT <= value < NUMBER_LIMIT:
        raise InvalidValue(f"{key} is too large a number.")


def _index_of_link(fields: dict[str, Any], kind: Kind, name: str) -> int:
    """Return the place of the first link to a document.

    Raises:
        InvalidValue: it is not linked.
    """
    for _, at, *_ in _places(fields, kind, name):
        return int(at)
    raise InvalidValue(f"The {kind} {name} is not linked.")


def _stage_at(text: str, stage: str) -> int | None:
    stages = parse(text).get("stages")
    tables = stages if isinstance(stages, list) else []
    names = [one.get("name") if isinstance(one, dict) else None for one in tables]
    return names.index(stage) if stage in names else None


def _existing_stage(text: str, stage: str) -> int:
    at = _stage_at(text, stage)
    if at is None:
        raise InvalidValue(f"The arc has no stage {stage!r}.")
    return at


def _name_of(link: Any) -> Any:
    return link.get("name") if isinstance(link, dict) else link


def _places(fields: dict[str, Any], kind: Kind, name: str) -> list[tuple[str | int, ...]]:
    """Return where a persona or an arc names a document."""
    found: list[tuple[str | int, ...]] = []
    if kind == "arc":
        return [("arc", "name")] if _name_of(fields.get("arc")) == name else []
    links = fields.get(f"{kind}s")
    for at, one in enumerate(links if isinstance(links, list) else []):
        if _name_of(one) == name:
            found.append((f"{kind}s", at, "name") if isinstance(one, dict) else (f"{kind}s", at))
    stages = fields.get("stages")
    for at, stage in enumerate(stages if kind == "part" and isinstance(stages, list) else []):
        parts = stage.get("parts") if isinstance(stage, dict) else None
        for place, part in enumerate(parts if isinstance(parts, list) else []):
            if part == name:
                found.append(("stages", at, "parts", place))
    return found
