"""One message to several personas, as a host application sends it: in turn, each hearing the others by name, or at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from agent.core.model import Model, Request
from agent.core.turns import new_id, utc_now
from agent.outputs.rate_limiter import RateLimiter
from agent.outputs.variant import Variant
from personas.files.home import Home
from personas.files.journal import Journal
from personas.persona import TestInput
from personas.test_inputs import Message

SAID, ANSWERED = "said", "answered"


@dataclass(frozen=True, slots=True)
class PersonaAnswer:
    """What one persona answered, or why it could not."""

    persona_id: str
    name: str
    text: str
    error: str | None = None


@dataclass(slots=True)
class EnsembleConversation:
    """What was said so far, oldest first: by the person (no persona id) and by personas.

    Attributes:
        id: its own.
        said: what was said.
        to: the ids of the personas that the last message was for.
    """

    id: str = field(default_factory=lambda: new_id("ensemble"))
    said: list[PersonaAnswer] = field(default_factory=list)
    to: tuple[str, ...] = ()

    def messages_for(self, persona_id: str) -> tuple[Message, ...]:
        """Return the conversation as one persona sees it: its own answers as such, the others' by name."""
        messages: list[Message] = []
        for one in self.said:
            if not one.text.strip():
                continue  # servers refuse a message without text
            role = "assistant" if one.persona_id == persona_id else "user"
            text = f"{one.name}: {one.text}" if one.persona_id not in ("", persona_id) else one.text
            if messages and messages[-1].role == role:
                text = f"{messages.pop().content}\n\n{text}"
            messages.append(Message(role=role, content=text))
        return tuple(messages)


class EnsembleLog:
    """The conversations with several personas, in the home's `state/ensembles.jsonl`."""

    def __init__(self, home: Home) -> None:
        self._journal = Journal(home.inside(home.state) / "ensembles.jsonl")

    def last(self, to: Collection[str] = ()) -> EnsembleConversation | None:
        """Return the last conversation, None where there is none; `to`: the last with just these personas.

        Raises:
            PersonaError: the file cannot be read.
        """
        found: dict[str, EnsembleConversation] = {}
        for record in self._journal.read().records:
            names = ("conversation", "persona_id", "name", "text")
            values = [record.get(name) for name in names]
            if record.get("type") not in (SAID, ANSWERED) or not all(isinstance(one, str) for one in values):
                continue
            key, persona_id, name, text = (str(one) for one in values)
            conversation = found[key] = found.pop(key, EnsembleConversation(key))  # the last goes to the end
            conversation.said.append(PersonaAnswer(persona_id, name, text))
            if isinstance(meant := record.get("to"), list):
                conversation.to = tuple(map(str, meant))
        wanted = set(to)
        return next((one for one in reversed(found.values()) if not to or set(one.to) == wanted), None)

    def add(self, conversation: EnsembleConversation, one: PersonaAnswer) -> None:
        """Add what was said to a conversation, on the disk first.

        Raises:
            StorageError: the disk refused.
        """
        record: dict[str, Any] = {
            "type": ANSWERED if one.persona_id else SAID,
            "conversation": conversation.id,
        }
        record |= {"persona_id": one.persona_id, "name": one.name, "text": one.text, "at": utc_now()}
        if not one.persona_id:
            record["to"] = list(conversation.to)
        self._journal.append(record, sync=True)
        conversation.said.append(one)


async def ask_all(
    log: EnsembleLog,
    conversation: EnsembleConversation,
    variants: Sequence[Variant],
    model_of: Callable[[Variant], Model],
    pace: RateLimiter,
    *,
    at_once: bool,
    on_answer: Callable[[PersonaAnswer], None],
    on_start: Callable[[Variant], None] = lambda _variant: None,
    on_text: Callable[[Variant, str], None] = lambda _variant, _text: None,
) -> list[PersonaAnswer]:
    """Have each persona answer the conversation; what is answered is stored, and then told in the order of `variants`.

    Args:
        log: where it is stored.
        conversation: ends with the person's message.
        variants: the personas.
        model_of: the model of each.
        pace: how fast.
        at_once: whether nobody hears this round's other answers.
        on_answer: hears each answer.
        on_start: hears who begins to answer; again where an attempt failed, which voids its text.
        on_text: hears the text of an answer as it comes.

    Raises:
        PersonaError: the disk refused.
    """

    def ask(variant: Variant) -> asyncio.Task[PersonaAnswer]:
        hear = {"on_start": partial(on_start, variant), "on_text": partial(on_text, variant)}
        return asyncio.ensure_future(_ask(conversation, variant, model_of(variant), pace, hear))

    tasks = [ask(one) for one in variants] if at_once else []
    answers = []
    try:
        for place, variant in enumerate(variants):
            if not at_once:
                tasks.append(ask(variant))
            answer = await tasks[place]
            if answer.error is None:
                await asyncio.to_thread(log.add, conversation, answer)
            answers.append(answer)
            on_answer(answer)
    finally:
        for task in tasks:
            task.cancel()
    return answers


async def _ask(
    conversation: EnsembleConversation,
    variant: Variant,
    model: Model,
    pace: RateLimiter,
    hear: Mapping[str, Callable[..., None]],
) -> PersonaAnswer:
    said = TestInput(id="ask", content="", messages=conversation.messages_for(variant.persona_id))
    request: Request = variant.request(said)
    reply = await pace.ask(model, request, **hear)
    error = reply.error.message if reply.error is not None else None
    return PersonaAnswer(variant.persona_id, variant.persona_name, reply.text if error is None else "", error)
