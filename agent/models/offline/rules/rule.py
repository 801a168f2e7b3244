"""What a rule is: patterns, and a function that makes intents of what they matched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from agent.models.offline.intents import Intent
from agent.models.offline.patterns import fit
from agent.models.offline.words import Phrase


@dataclass(frozen=True, slots=True)
class Said:
    """A matched phrase, as rules see it. `asked`: the sentence was a polite question ("could you …?")."""

    phrase: Phrase
    match: re.Match[str]
    asked: bool = False

    def part(self, name: str) -> Phrase | None:
        """Return the tokens of a named group."""
        return self.phrase.group(self.match, name)

    def end(self) -> str:
        """Return the marks that end the phrase, as the person typed them."""
        part = self.phrase.group(self.match, "end") if self.match["end"] else None
        return part.raw() if part else ""

    def text(self, name: str) -> str:
        """Return a group's content: quoted text without quotes, else raw with its closing marks."""
        part = self.part(name)
        if part is None:
            return ""
        if part.quoted:
            return part.said()
        whole = part.source[part.tokens[0].start : self.phrase.tokens[-1].end]
        at_end = self.match.end(name) == self.match.start("end")
        return whole.strip() if at_end else part.said()


Build = Callable[[Said], "tuple[Intent, ...] | Intent | None"]


@dataclass(frozen=True, slots=True)
class Rule:
    patterns: tuple[str, ...]
    build: Build


@dataclass(slots=True)
class RuleSet:
    """Rules on one subject, in the order they are tried."""

    rules: list[Rule] = field(default_factory=list)

    def on(self, *patterns: str) -> Callable[[Build], Build]:
        """Register the decorated function as what these patterns mean."""

        def keep(build: Build) -> Build:
            self.rules.append(Rule(patterns, build))
            return build

        return keep


def apply(rules: Iterable[Rule], phrase: Phrase, asked: bool) -> tuple[Intent, ...] | None:
    """Return what the first rule that fits makes of the phrase."""
    for rule in rules:
        for pattern in rule.patterns:
            match = fit(pattern, phrase)
            if match is None:
                continue
            made = rule.build(Said(phrase, match, asked))
            if made is not None:
                return made if isinstance(made, tuple) else (made,)
    return None
