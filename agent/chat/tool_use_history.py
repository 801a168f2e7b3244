"""Remembers in a home's `state/` which models have been seen to call a tool, and warns after a run without a call."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence

from agent.core.turns import AssistantTextTurn, ToolCallTurn, Turn
from agent.models.anthropic.endpoint import is_official
from personas.errors import PersonaError
from personas.files.home import Home
from personas.files.journal import Journal

log = logging.getLogger(__name__)

NO_CALL = "no_call"
"""Kind of the notice that a run without a tool call changed nothing."""

_CALL_AS_TEXT = re.compile(r"<\W?tool.?call|<function|<invoke|\[TOOL_CALLS\]|```tool_code|<\|python_tag\|>")


class ToolUseHistory:
    """The models that have called a tool, each with its server. All methods block."""

    def __init__(self, home: Home) -> None:
        self._journal = Journal(home.state / "tool-callers.jsonl")

    def has(self, model: str, endpoint: str) -> bool:
        """Whether a model has called a tool at this endpoint; Anthropic's own API and what is no server count as such."""
        if not endpoint.startswith("http") or is_official(endpoint):
            return True
        try:
            found = self._journal.read().records
        except PersonaError as error:
            log.warning("the models that call tools could not be read: %s", error)
            return True
        return any((one.get("model"), one.get("endpoint")) == (model, endpoint) for one in found)

    def add(self, model: str, endpoint: str) -> None:
        """Note that a model has called a tool at this endpoint. Where the disk refuses, it is not known next time."""
        if self.has(model, endpoint):
            return
        try:
            self._journal.path.parent.mkdir(exist_ok=True)
            self._journal.append({"model": model, "endpoint": endpoint})
        except (OSError, PersonaError) as error:
            log.warning("that a model calls tools could not be noted: %s", error)

    def note_on(self, run: Sequence[Turn], model: str, endpoint: str) -> str:
        """Return what to say of the turns of a completed run that seems to have done something and has not, or ""."""
        if any(isinstance(turn, ToolCallTurn) for turn in run):
            return ""
        said = "\n".join(turn.content for turn in run if isinstance(turn, AssistantTextTurn))
        if _CALL_AS_TEXT.search(said):
            return f"Nothing was changed: {model} wrote a tool call as text, which runs nothing."
        if said.strip() and not self.has(model, endpoint):
            return f"Nothing was changed: {model} called no tool, and is not known to have called one at {endpoint}."
        return ""
