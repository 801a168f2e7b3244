"""A model for a program whose test inputs are run: it answers as the persona, and as the agent it makes given calls."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.agent.outputs.bench import SONNET, answer_of
from tests.support.messages_answers import Answer, Reply, Text, say
from tests.support.messages_server import MessagesServer
from tests.support.program import STAYS
from tui.settings.schema import Settings


class PersonaBrain:
    """As the persona it answers with its prompt and what it was asked.

    Attributes:
        calls: what the agent answers, one after the other; then it is done.
        asked: what the persona was asked.
        gate: the persona answers once it is set.
        hangs: the persona begins to answer and does not go on.
    """

    def __init__(self) -> None:
        self.calls: list[Reply] = []
        self.asked: list[str] = []
        self.gate = threading.Event()
        self.gate.set()
        self.hangs = False

    def __call__(self, body: dict[str, Any]) -> Reply:
        if "tools" in body:
            return self.calls.pop(0) if self.calls else say("Done.")
        self.asked.append(body["messages"][-1]["content"])
        self.gate.wait(60)
        if self.hangs:
            return Answer((Text(answer_of(body)),), delta=4, stall_after_events=4)
        return say(answer_of(body))

    @contextmanager
    def connected(self, **settings: Any) -> Iterator[Settings]:
        """Serve it; gives the settings of a program that is connected to it."""
        with MessagesServer(self, key=None) as server:
            yield Settings(panel_seconds=STAYS, base_url=server.url, model=SONNET, **settings)
            self.gate.set()
