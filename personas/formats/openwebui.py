"""`openwebui`: an export of models of Open WebUI, a list in JSON. Users, accounts and rights in it are never taken."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from personas.formats.common import as_inputs, losses, take_text
from personas.formats.json_file import load_json
from personas.formats.text import hyphened, one_line, plain_text
from personas.formats.toml_ready import toml_ready
from personas.formats.types import Exported, Format, Imported, ImportedPersona, Note, Source, Unreadable

_TABLE = "x.openwebui"
_LEFT_OUT = {
    "id": "an id of that program; an export makes one of the persona's",
    "user": "it names an account",
    "user_id": "it names an account",
    "access_control": "who may use it there",
    "access_grants": "who may use it there",
    "created_at": "when it was made there",
    "updated_at": "when it was changed there",
}


def read(content: bytes, name: str) -> Imported:
    """Return the personas of an export: one for each model."""
    data = load_json(content)
    models = data if isinstance(data, list) else [data]
    return Imported(tuple(_persona(model, number) for number, model in enumerate(models, 1)))


def _persona(model: Any, number: int) -> ImportedPersona:
    notes: list[Note] = []
    if isinstance(model, dict) and isinstance(model.get("info"), dict):  # as its list of models has it
        notes += [
            Note(key, None, "it is of that program's list") for key in model if key not in model["info"]
        ]
        model = model["info"]
    if not isinstance(model, dict) or not isinstance(model.get("params"), dict) or not model.get("name"):
        raise Unreadable(f"entry {number} is not a model of Open WebUI: it needs a name and params")
    rest = dict(model)
    notes += [Note(key, None, why) for key, why in _LEFT_OUT.items() if rest.pop(key, None) is not None]
    display = one_line(take_text(rest, "name", "name", notes)) or f"Model {number}"
    rest["params"] = params = dict(model["params"])
    fields: dict[str, Any] = {}
    if isinstance(params.get("system"), str):
        fields["system_prompt"] = plain_text(params.pop("system"))
        notes.append(Note("params.system", "system_prompt"))
    if isinstance(rest.get("meta"), dict):
        rest["meta"] = meta = dict(rest["meta"])
        if isinstance(meta.get("description"), str):
            fields["description"] = plain_text(meta.pop("description"))
            notes.append(Note("meta.description", "description"))
        tags = meta.get("tags")
        if isinstance(tags, list) and tags and all(map(_is_tag, tags)):
            fields["tags"] = list(dict.fromkeys(one["name"] for one in meta.pop("tags")))
            notes.append(Note("meta.tags", "tags"))
        if inputs := as_inputs([one["content"] for one in _suggestions(meta)]):
            fields["test_inputs"] = inputs
            notes.append(Note("meta.suggestion_prompts", "test_inputs"))
            if all(set(one) == {"content"} for one in meta["suggestion_prompts"]):
                del meta["suggestion_prompts"]
        if str(meta.get("profile_image_url", "")).startswith("data:"):
            del meta["profile_image_url"]
            notes.append(Note("meta.profile_image_url", None, "a picture"))
    kept, more = toml_ready({key: value for key, value in rest.items() if value != {}}, _TABLE)
    return ImportedPersona(name=display, fields=fields, kept=kept, report=(*notes, *more))


def _is_tag(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"name"} and isinstance(value["name"], str)


def _suggestions(meta: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the suggestions that have a text."""
    found = meta.get("suggestion_prompts")
    return [
        one
        for one in (found if isinstance(found, list) else [])
        if isinstance(one, dict) and isinstance(one.get("content"), str)
    ]


def write(source: Source) -> Exported:
    """Return an export of one model with the effective prompt of a persona, and its test inputs as suggestions."""
    persona, kept = source.persona, dict(source.kept)
    params, meta = _table(kept.pop("params", None)), _table(kept.pop("meta", None))
    known = {one["content"]: one for one in _suggestions(meta)}
    said = [one for one in persona.test_inputs if one.content and not one.messages]
    if said:
        meta["suggestion_prompts"] = [known.get(one.content, {"content": one.content}) for one in said]
    if persona.description:
        meta["description"] = persona.description
    if persona.tags:
        meta["tags"] = [{"name": tag} for tag in persona.tags]
    model = {
        "id": hyphened(persona.id, "persona"),
        "base_model_id": None,
        "name": persona.name,
        "params": {"system": source.prompt, **params} if source.prompt else params,
        "meta": meta,
        **kept,
    }
    report = [
        Note("id", "id", "Open WebUI does not change a model whose id exists: delete the old one first"),
        Note("name", "name"),
        Note("system_prompt", "params.system"),
        *(Note(key, f"meta.{key}") for key in ("description", "tags") if source.fields.get(key)),
        *(Note(f"test_inputs.{one.id}", "meta.suggestion_prompts", _lost(one)) for one in said),
        *(
            Note(f"test_inputs.{one.id}", None, "a suggestion is one text")
            for one in persona.test_inputs
            if one not in said
        ),
        *(Note(f"{_TABLE}.{key}", key) for key in source.kept),
        *([] if "base_model_id" in kept else [Note("model", "base_model_id", "choose the model there")]),
        *losses(source, but=("tags", "test_inputs", "model")),
    ]
    text = json.dumps([model], ensure_ascii=False, indent=2) + "\n"
    return Exported({f"{persona.id}.json": text.encode()}, tuple(report))


def _table(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}


def _lost(test_input: Any) -> str:
    return "what is expected of an answer stays here" if test_input.expect else ""


def fits(content: bytes, name: str) -> bool:
    """Whether a JSON file is a list of what has the parameters of a model and what it is based on."""
    start = content[:16].removeprefix(b"\xef\xbb\xbf").lstrip()
    return (
        name.endswith(".json") and start.startswith(b"[") and b'"params"' in content and b'"meta"' in content
    )


FORMATS = (
    Format(
        name="openwebui",
        label="Open WebUI export of models",
        suffix=".json",
        read=read,
        write=write,
        fits=fits,
    ),
)
