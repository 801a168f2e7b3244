"""What was read of the persona, and what a prepared step is: a call to make or words to say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.models.offline.intents import Ask
from agent.models.offline.reference import TestInput


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call to make; `said` is what to tell once it worked."""

    name: str
    input: Mapping[str, Any]
    said: str
    read_back: Callable[[str], str] | None = None

    def told(self, output: str) -> str:
        """Return what to say about the call, given its result."""
        return self.read_back(output) if self.read_back else self.said


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing to call: words for the answer."""

    text: str


@dataclass
class Draft:
    """The persona as read, and as it will be after the steps prepared so far."""

    name: str = ""
    prompt: str = ""
    inputs: list[TestInput] = field(default_factory=list)
    knows_persona: bool = False
    knows_inputs: bool = False


Prepared = list[Call | Done] | Ask
