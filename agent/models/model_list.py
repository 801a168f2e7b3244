"""The models a server says it has, in whatever shape, and the nearest names to one it does not have."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from agent.core.model import is_count


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model a server offers; limits in tokens, None where the server does not say."""

    id: str
    max_tokens: int | None = None
    max_input_tokens: int | None = None


def read_models(answer: object) -> list[ModelInfo]:
    """Return the models in the answer to `GET /v1/models`, in Anthropic's shape or OpenAI's."""
    listed = answer.get("data", answer.get("models")) if isinstance(answer, Mapping) else answer
    models = []
    for entry in listed if isinstance(listed, list) else []:
        if not isinstance(entry, Mapping):
            continue
        name = entry.get("id") or entry.get("name") or entry.get("model")
        if isinstance(name, str) and name:
            limits = [entry.get("max_tokens"), entry.get("max_input_tokens")]
            most, context = (limit if is_count(limit) and limit > 0 else None for limit in limits)
            models.append(ModelInfo(name, most, context))
    return models


def unknown_model(name: str, endpoint: str, offered: list[str]) -> str:
    """Return the sentence for a model the server does not have, with the nearest names it has."""
    offered = [model[:200] for model in offered[:500]]  # comparing takes long
    near = difflib.get_close_matches(name, offered, n=3, cutoff=0.4) or offered[:3]
    hint = f"near matches: {', '.join(near)}" if near else "the server lists no models"
    return f"{endpoint} has no model {name}; {hint}. Set another with --model or PERSONA_MODEL."
