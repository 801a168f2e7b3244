"""Writes to `state/persona.log` what a run did: names, counts and outcomes, never what anybody wrote."""

from __future__ import annotations

import logging
from collections.abc import Callable

from agent.core.events import AgentEnd, AgentStart, Event, ModelNotice, RetryWait, ToolEnd

log = logging.getLogger(__name__)


def log_run(persona_id: str, model_name: Callable[[], str]) -> Callable[[Event], None]:
    """Return a listener that logs the runs of one persona's conversation.

    Args:
        persona_id: whose conversation.
        model_name: says which model is used.
    """

    def listen(event: Event) -> None:
        if isinstance(event, AgentStart):
            log.info("%s of %s started with %s", event.run_id, persona_id, model_name())
        elif isinstance(event, ToolEnd):
            log.info(
                "%s called %s%s", event.run_id, event.call.tool_name, ": failed" if event.is_error else ""
            )
        elif isinstance(event, RetryWait):
            log.warning("%s tries again in %.1f s: %s", event.run_id, event.delay, event.error)
        elif isinstance(event, ModelNotice):
            log.info("%s: %s", event.run_id, event.message)
        elif isinstance(event, AgentEnd):
            tokens = event.usage.input_tokens, event.usage.output_tokens
            why = f": {event.error or event.reason}" if event.error or event.reason else ""
            log.info(
                "%s ended, %s after %d steps, %d tokens in, %d out%s",
                *(event.run_id, event.outcome, event.steps, *tokens, why),
            )

    return listen
