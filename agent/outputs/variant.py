"""What a test input is run against: a prompt of one version, a model and its settings, and the hashes of them.

An output is outdated when one of these hashes is another one now.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from agent.core.messages import sendable
from agent.core.model import Request, ThinkingLevel
from personas.errors import BrokenFile, InvalidValue
from personas.files.home import Home
from personas.persona import Persona, TestInput, broken_file
from personas.store import Store

if TYPE_CHECKING:
    from personas.compiled import CompileCache, Options

EFFORTS: tuple[ThinkingLevel, ...] = ("off", "minimal", "low", "medium", "high", "max")
_MACRO = re.compile(r"\{\{(user|char)\}\}", re.IGNORECASE)


class UnknownInput(InvalidValue):
    """A persona has no test input of this id."""


def digest(value: Any) -> str:
    """Return the SHA-256 (hex) of a JSON value."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Macros:
    """What `{{user}}` and `{{char}}` stand for; an empty `char` is the persona's name."""

    user: str = "User"
    char: str = ""

    def fill(self, text: str, persona_name: str) -> str:
        """Return the text with both filled in; other `{{…}}` stay."""
        values = {"user": self.user, "char": self.char or persona_name}
        return _MACRO.sub(lambda found: values[found[1].lower()], text)


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One version of a persona on one model.

    Attributes:
        persona_id, persona_name: whose prompt it is.
        prompt: the effective prompt, before macros.
        version: the number of the persona's version it comes from.
        model: the model's name, None where no model is connected: outputs of all models are then as good.
        effort, max_tokens: of the persona's `[model]`.
        macros: filled for the run only.
        apart: where outputs are kept of a prompt that never was a version; empty for all others, see `OutputLog`.
    """

    persona_id: str
    persona_name: str
    prompt: str
    version: int = 0
    model: str | None = None
    effort: str | None = None
    max_tokens: int | None = None
    macros: Macros = Macros()
    apart: str = ""

    @cached_property
    def prompt_hash(self) -> str:
        """SHA-256 of the effective prompt."""
        return digest(self.prompt)

    def settings_hash(self, model: str | None) -> str:
        """Return the SHA-256 of the settings, as they would be with `model`."""
        return digest([model, self.effort, self.max_tokens, self.macros.user, self.macros.char])

    def request(self, test_input: TestInput) -> Request:
        """Return what is sent for a test input."""
        messages = []
        for role, content in conversation(test_input):
            text = sendable(self.macros.fill(content, self.persona_name))
            # Servers refuse an answer that ends in blanks.
            messages.append({"role": role, "content": text.rstrip() if role == "assistant" else text})
        return Request(
            system=sendable(self.macros.fill(self.prompt, self.persona_name)),
            messages=messages,
            thinking=self.effort if self.effort in EFFORTS else "off",
            max_tokens=self.max_tokens,
        )


def conversation(test_input: TestInput) -> list[tuple[str, str]]:
    """Return the messages of a test input as role and content; its content alone is one of the user."""
    if test_input.messages:
        return [(message.role, message.content) for message in test_input.messages]
    return [("user", test_input.content)]


def input_hash(test_input: TestInput) -> str:
    """Return the SHA-256 of what a test input says to the persona; expectations are no part of it."""
    return _hash_of(tuple(conversation(test_input)))


@lru_cache(maxsize=1024)
def _hash_of(messages: tuple[tuple[str, str], ...]) -> str:
    return digest(messages)


def fault_of_input(test_input: TestInput) -> str:
    """Return why a test input cannot be run, empty where it can."""
    if test_input.error is not None:
        line = f" (line {test_input.error.line})" if test_input.error.line else ""
        return f"{test_input.error.message}{line}"
    if not all(content.strip() for _, content in conversation(test_input)):
        return "a message of it is empty"
    return ""


def read_runnable(store: Store, persona_id: str) -> Persona:
    """Return a persona whose file is whole.

    Raises:
        BrokenFile: it is broken.
        PersonaError: see `Store.get`.
    """
    persona = store.get(persona_id)
    if persona.error is not None:
        raise broken_file(persona.id, persona.error, is_readable=bool(persona.revision))
    return persona


def variant_of(
    store: Store,
    persona: Persona,
    *,
    model: str | None,
    version: str | int | None = None,
    macros: Macros = Macros(),
    fixed: bool = False,
    options: Options | None = None,
) -> Variant:
    """Return a version of a persona, with the settings as they are now.

    Args:
        store: where it lives.
        persona: as it is now.
        model: the model's name, None for none.
        version: whose prompt and links are taken; None: the text as it is now.
        macros: the values of the settings.
        fixed: whether the text as it is now is stored as a version, for a run.
        options: overrides and stage that its prompt is put together with.

    Raises:
        InvalidValue: the effort is none, or an override cannot be.
        PersonaError: there is no such version, or it is broken.
    """
    effort = persona.model.effort
    if effort is not None and effort not in EFFORTS:
        raise InvalidValue(f"The effort of {persona.id} must be one of {', '.join(EFFORTS)}, not {effort!r}.")
    source, number = persona, 0
    if version is not None:
        number, source = store.version_number(persona.id, version), store.at_version(persona.id, version)
        if source.error is not None and not source.system_prompt:
            raise BrokenFile(f"version {number} of {persona.id} is broken: {source.error.message}")
    else:
        number = store.fix_version(persona.id) if fixed else store.current_version(persona.id)
    prompt = effective_prompt(store.home, source, options)
    return replace(variant_now(persona, prompt, model=model, macros=macros), version=number)


def effective_prompt(home: Home, persona: Persona, options: Options | None = None) -> str:
    """Return what is sent as the system prompt: the persona's own, and what it links as it is now."""
    return EffectivePrompts(home).of(persona, options)


class EffectivePrompts:
    """The effective prompts of personas. Each is assembled again only where a file it comes from has changed.

    Args:
        home: where the personas live.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self._assemblies: CompileCache | None = None

    def of(self, persona: Persona, options: Options | None = None) -> str:
        """Return the effective prompt of a persona; the disk is looked at only where it links something.

        Raises:
            InvalidValue: an override cannot be.
        """
        if not persona.is_linked and not (options and options.overrides):
            return persona.system_prompt
        from personas.compiled import CompileCache, Options

        self._assemblies = self._assemblies or CompileCache(self._home)
        return self._assemblies.of(persona, options or Options()).text


def variant_now(persona: Persona, prompt: str, *, model: str | None, macros: Macros = Macros()) -> Variant:
    """Return a persona as it is now, for judging outputs: what version that is, is not looked up. Pure.

    Args:
        persona: as it is now.
        prompt: its effective prompt.
        model, macros: see `variant_of`.
    """
    return Variant(
        persona_id=persona.id,
        persona_name=persona.name,
        prompt=prompt,
        model=model,
        effort=persona.model.effort,
        max_tokens=persona.model.max_tokens,
        macros=macros,
    )


def samples_of(test_input: TestInput, wanted: int | None = None) -> int:
    """Return how many outputs a run makes of a test input; `wanted` beats the file."""
    return wanted or test_input.samples or 1


def needed_of(test_input: TestInput, samples: int, wanted: int | None = None) -> int:
    """Return how many of so many samples must pass: `wanted`, else what the file says, else all."""
    return min(wanted or test_input.min_pass or samples, samples)


def chosen_inputs(persona: Persona, ids: Sequence[str]) -> list[TestInput]:
    """Return the test inputs with these ids, all of them where none is named.

    Raises:
        InvalidValue: there is none of such an id.
    """
    known = {one.id: one for one in persona.test_inputs}
    for wanted in ids:
        if wanted not in known:
            there = ", ".join(known) or "none"
            raise UnknownInput(f"{persona.id} has no test input {wanted!r}; there is {there}.")
    return [one for one in persona.test_inputs if not ids or one.id in ids]
