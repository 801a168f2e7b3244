"""A home with a persona whose test inputs are run against the loopback server, for tests of outputs."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent.models.anthropic.client import AnthropicModel
from agent.outputs.output_log import OutputLog
from agent.outputs.rate_limiter import RateLimiter
from agent.outputs.runner import OutputEvent, OutputRun, Plan, plan
from agent.outputs.variant import Variant, variant_of
from personas.files.home import open_home
from personas.persona import Persona
from personas.store import Store
from tests.support.messages_answers import Refusal, Reply, say
from tests.support.messages_server import MessagesServer

SONNET = "claude-sonnet-5-5"


def answer_of(body: dict[str, Any]) -> str:
    """What the server answers: it follows from the prompt and the last message, so that a mix-up shows."""
    return f"{body['system']} / {body['messages'][-1]['content']}"


class Storm:
    """A brain that refuses so many of the requests, in bursts, by 429 and 529; seeded."""

    def __init__(self, seed: int, share: float = 0.4, retry_after: str = "0.05") -> None:
        self._chance = random.Random(seed)
        self._share = share
        self._retry_after = retry_after
        self._burst = 0
        self._lock = threading.Lock()
        self.refused: list[int] = []

    def __call__(self, body: dict[str, Any]) -> Reply:
        with self._lock:
            if self._burst == 0 and self._chance.random() < self._share / 8:
                self._burst = self._chance.randint(1, 6)
            if self._burst:
                self._burst -= 1
                if self._chance.random() < 0.5:
                    self.refused.append(429)
                    return Refusal(429, "rate_limit_error", "slow down", {"retry-after": self._retry_after})
                self.refused.append(529)
                return Refusal(529, "overloaded_error", "Overloaded")
        return say(answer_of(body), delay=0.001)  # so that requests meet


class OutputBench:
    """One persona, `kind`, in a home of its own."""

    def __init__(self, folder: Path, text: str) -> None:
        self.store = Store(open_home(folder / "home"))
        self.path = self.store.home.personas / "kind.toml"
        self.path.write_text(text, encoding="utf-8")
        self.log = OutputLog(self.store.home, "kind")
        self.events: list[OutputEvent] = []

    @property
    def persona(self) -> Persona:
        return self.store.get("kind")

    def variant(self, version: int | None = None, model: str | None = SONNET) -> Variant:
        return variant_of(self.store, self.persona, model=model, version=version, fixed=version is None)

    def plan(self, variant: Variant, **options: Any) -> Plan:
        return plan(self.log.read(), variant, self.persona.test_inputs, **options)

    def run(self, server: MessagesServer, trials: Sequence[Any], jobs: int = 4) -> OutputRun:
        """Make a run; to be called within a loop."""
        model = AnthropicModel(SONNET, api_key=server.key, base_url=server.url)
        pace = RateLimiter(jobs, backoff=0.005)
        return OutputRun(
            self.log, trials, lambda _variant: model, pace, on_event=self.events.append, jobs=jobs
        )


def many_inputs(number: int, prompt: str = "One.") -> str:
    """Return a file with so many test inputs."""
    inputs = "".join(f'\n[[test_inputs]]\nid = "n{i}"\ncontent = "question {i}"\n' for i in range(number))
    return f'system_prompt = "{prompt}"\n{inputs}'


async def until(condition: Any, seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.005)
