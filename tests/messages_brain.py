"""A rule-driven model for the test server."""

from __future__ import annotations

from typing import Any

from tests.messages_answers import Answer, say


class ToolUsingBrain:
    def __call__(self, body: dict[str, Any]) -> Answer:
        return say("Hello.")
