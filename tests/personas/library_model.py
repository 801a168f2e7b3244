"""The rules of assembly once more, as plainly as they can be said, over dicts: what the program is held against."""

from __future__ import annotations

from typing import Any

TYPES = [
    "system",
    "agent",
    "soul",
    "identity",
    "skill",
    "specialization",
    "tone",
    "goal",
    "context",
    "protocol",
    "backstory",
    "motivation",
    "voice",
    "archetype",
    "flaw",
    "relationship",
]
Docs = dict[str, dict[str, Any]]


def once(names: list[str]) -> list[str]:
    return [name for at, name in enumerate(names) if name not in names[:at]]


def chosen_parts(
    persona: dict[str, Any],
    docs: dict[str, Docs],
    overrides: dict[str, str],
    stage: str | None,
    types: list[str] | None,
    limit: int | None,
) -> list[str]:
    """Return the names of the winning parts in sequence."""
    parts = docs["part"]
    links: list[dict[str, Any]] = []
    for link in persona["parts"]:
        if link["name"] in parts and link["name"] not in [known["name"] for known in links]:
            links.append(link)
    links = [
        link
        for order in sorted({link["order"] for link in links})
        for link in links
        if link["order"] == order
    ]
    own = [link["name"] for link in links]
    of_stage: list[str] = []
    if persona["arc"] is not None and persona["arc"]["name"] in docs["arc"]:
        stages = docs["arc"][persona["arc"]["name"]]["stages"]
        wanted = stage or persona["arc"].get("stage") or (stages[0]["name"] if stages else "")
        for one in stages:
            if one["name"] == wanted:
                of_stage = [name for name in once(one["parts"]) if name in parts]

    def typed(names: list[str], kind: str) -> list[str]:
        return [name for name in names if parts[name]["type"] == kind]

    def winners(kind: str) -> list[str]:
        return [overrides[kind]] if kind in overrides else typed(of_stage, kind) or typed(own, kind)

    everything = [*own, *of_stage, *overrides.values()]
    kinds_of_own = once([parts[name]["type"] for name in own])
    other_kinds = {parts[name]["type"] for name in everything} - set(kinds_of_own)
    sequence: list[str] = []
    for name in own:
        kind = parts[name]["type"]
        if winners(kind) == typed(own, kind) and kind not in overrides and not typed(of_stage, kind):
            sequence.append(name)
        elif name == typed(own, kind)[0]:
            sequence += winners(kind)
    for kind in [*[one for one in TYPES if one in other_kinds], *sorted(other_kinds - set(TYPES))]:
        sequence += winners(kind)

    def priority(name: str) -> int:
        kind = parts[name]["type"]
        if kind in overrides or typed(of_stage, kind):
            return max([link["priority"] for link in links if parts[link["name"]]["type"] == kind], default=0)
        return next(int(link["priority"]) for link in links if link["name"] == name)

    if types is not None:
        sequence = [name for name in sequence if parts[name]["type"] in types]
    if limit is not None:
        best = sorted(range(len(sequence)), key=lambda at: (-priority(sequence[at]), at))[:limit]
        sequence = [name for at, name in enumerate(sequence) if at in best]
    return sequence


def stripped(text: str) -> str:
    lines = text.split("\n")
    while lines and not lines[0].strip():
        del lines[0]
    while lines and not lines[-1].strip():
        del lines[-1]
    return "\n".join(lines)


def item(head: str, text: str) -> str:
    first, *more = stripped(text).split("\n")
    return "\n".join([f"- {head}{first}", *("  " + line if line.strip() else "" for line in more)])


def text_of(persona: dict[str, Any], docs: dict[str, Docs], chosen: list[str], *, detail: bool) -> str:
    """Return the text of a linked persona."""
    blocks = [persona["system_prompt"] if detail else persona["summary"]]
    for name in chosen:
        part = docs["part"][name]
        blocks.append(part["content"] if detail else stripped(part["summary"]) or part["description"])
    traits = [(name, docs["trait"][name]) for name in once(persona["traits"]) if name in docs["trait"]]
    lines = [
        item(f"{name}: ", text)
        for name, trait in traits
        if stripped(text := trait["instruction" if detail else "description"])
    ]
    blocks += ["## Traits", "\n".join(lines)] if lines else []
    skills = [(name, docs["skill"][name]) for name in once(persona["skills"]) if name in docs["skill"]]
    blocks += ["## Skills"] if skills else []
    for name, skill in skills:
        blocks += [f"### {name}", skill["content" if detail else "description"]]
    guardrails = [
        docs["guardrail"][name] for name in once(persona["guardrails"]) if name in docs["guardrail"]
    ]
    lines = [
        item(f"({one['severity']}) " if one["severity"] else "", text)
        for one in guardrails
        if stripped(text := one["content" if detail else "description"])
    ]
    blocks += ["## Guardrails", "\n".join(lines)] if lines else []
    blocks = [stripped(block) for block in blocks if stripped(block)]
    return "\n\n".join(blocks) + "\n" if blocks else ""


def compiled(
    persona: dict[str, Any],
    docs: dict[str, Docs],
    *,
    overrides: dict[str, str],
    stage: str | None = None,
    types: list[str] | None = None,
    limit: int | None = None,
    detail: bool = True,
) -> str:
    """Return the compiled text of a persona."""
    if not (any(persona[key] for key in ("parts", "traits", "skills", "guardrails", "arc")) or overrides):
        return str(persona["system_prompt"] if detail else persona["summary"])
    chosen = chosen_parts(persona, docs, overrides, stage, types, limit)
    return text_of(persona, docs, chosen, detail=detail)
