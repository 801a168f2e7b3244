"""What a person can want from the offline model, as values. The grammar makes them, the plan carries them out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Reference:
    """Which test input is meant, before the list was read.

    Attributes:
        kind: `exact` an id or a whole content, `number` a 1-based place (negative: from the end),
            `id_or_number` a bare number that may also be an id, `topic` words about it,
            `every` all that are about it,
            `all`, `both`, `pronoun` ("it", "that one": the only one there is).
        value: the id, number or topic as text; empty where it says nothing.
    """

    kind: Literal["exact", "number", "id_or_number", "topic", "every", "all", "both", "pronoun"]
    value: str = ""


@dataclass(frozen=True, slots=True)
class Spot:
    """Which stretch of a text is meant, before the text was read.

    Attributes:
        kind: `text` exactly this, `words` this text without regard to case, `line`, `sentence`, `bullet`, `rule` or `paragraph` by
            number, `about` the sentence on a
            topic, `line_about` the line on it, `block_about` the section or paragraph on it, `starting` the line that
            starts so.
        value: the text, the number (negative: from the end) or the topic.
    """

    kind: Literal[
        "text", "words", "line", "sentence", "bullet", "rule", "paragraph", "about", "line_about", "block_about",
        "starting",
    ]  # fmt: skip
    value: str


NUMBERED = ("line", "sentence", "bullet", "rule", "paragraph")
"""Kinds of `Spot` whose value is a place."""


@dataclass(frozen=True, slots=True)
class Rename:
    """A new name; `was`: what the person says it is called now, "" when they do not say."""

    name: str
    was: str = ""


@dataclass(frozen=True, slots=True)
class Show:
    """Show some of `name`, `prompt`, `tests`, `size`, `count`, in this order."""

    what: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShowTest:
    references: tuple[Reference, ...]


@dataclass(frozen=True, slots=True)
class SearchPrompt:
    """Whether and where the system prompt speaks of something."""

    topic: str


@dataclass(frozen=True, slots=True)
class ShowSpot:
    """One line or sentence of the system prompt."""

    spot: Spot


@dataclass(frozen=True, slots=True)
class AddText:
    """Add to the system prompt: at the `end`, the `start`, or `before`/`after` a spot.

    `next`: what must follow the spot, where the person named both neighbours.
    """

    text: str
    place: Literal["end", "start", "before", "after"] = "end"
    spot: Spot | None = None
    next: Spot | None = None


@dataclass(frozen=True, slots=True)
class ReplaceText:
    """Replace a stretch of the system prompt, or of a test input.

    `where`: None when the person did not say; it is then looked for in the system prompt.
    `within`: the line or sentence of the prompt it is looked for in.
    """

    spot: Spot
    new: str
    where: Literal["prompt"] | Reference | None = None
    every: bool = False
    within: Spot | None = None


@dataclass(frozen=True, slots=True)
class RemoveText:
    spot: Spot
    where: Literal["prompt"] | Reference | None = None
    every: bool = False


@dataclass(frozen=True, slots=True)
class SetPrompt:
    text: str


@dataclass(frozen=True, slots=True)
class AddTest:
    """A new test input; `topic` when only its subject was given and the words are ours."""

    content: str
    topic: str = ""


@dataclass(frozen=True, slots=True)
class ChangeTest:
    reference: Reference
    content: str


@dataclass(frozen=True, slots=True)
class ExtendTest:
    """Put text at the end (or the start) of a test input."""

    reference: Reference
    text: str
    at_start: bool = False


@dataclass(frozen=True, slots=True)
class CopyTest:
    reference: Reference


@dataclass(frozen=True, slots=True)
class DeleteTests:
    """Delete test inputs; `sure`: without asking, when it is clear which."""

    references: tuple[Reference, ...]
    keep: tuple[Reference, ...] = ()
    sure: bool = True


@dataclass(frozen=True, slots=True)
class DeleteThing:
    """Delete something named by its text alone: a test input or a piece of the system prompt."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Undo:
    times: int = 1


@dataclass(frozen=True, slots=True)
class KeepVisible:
    pass


Subject = Literal[
    "hello", "thanks", "farewell", "identity", "help", "connect", "memory", "redo", "elsewhere", "nothing",
    "comment", "creative", "persona-voice", "order",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Talk:
    """Words only. `detail` says more where a subject needs it."""

    subject: Subject
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Hold:
    """A sentence about a change that is not a request for it: negated, asked about, imagined, reported."""

    mood: Literal["negated", "question", "imagined", "reported", "conditional"]
    about: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """One way a question can be answered.

    Attributes:
        label: what the person reads.
        intents: what is then done.
        keys: words by which the person may choose it.
        place: the number of the test input it is about, 0 when it is about none.
    """

    label: str
    intents: tuple[Intent, ...]
    keys: str = ""
    place: int = 0


@dataclass(frozen=True, slots=True)
class Ask:
    """A question instead of a change. `blank`: what a free answer fills (`name`, `prompt`, `text`, `test`)."""

    question: str
    options: tuple[Option, ...] = ()
    blank: Literal["", "name", "prompt", "text", "test", "content"] = ""
    reference: Reference | None = None
    several: bool = False


Intent = (
    Rename | Show | ShowTest | SearchPrompt | ShowSpot | AddText | ReplaceText | RemoveText | SetPrompt
    | AddTest | ChangeTest | ExtendTest | CopyTest | DeleteTests | DeleteThing | Undo | KeepVisible | Talk
    | Hold | Ask
)  # fmt: skip

CHANGES = (
    Rename, AddText, ReplaceText, RemoveText, SetPrompt, AddTest, ChangeTest, ExtendTest, CopyTest,
    DeleteTests, DeleteThing, Undo,
)  # fmt: skip
"""The intents that change the persona."""
