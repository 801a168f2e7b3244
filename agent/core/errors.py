"""The errors of the core. What the person may be shown as it is stems from `PersonaError`."""

from __future__ import annotations

from personas.errors import PersonaError as PersonaError


class AgentBusy(PersonaError):
    """A run is active; steer it, wait for it, or stop it first."""


class NothingToContinue(PersonaError):
    """The conversation has nothing the model could go on from."""


class EmptyMessage(PersonaError, ValueError):
    """A message in which nothing is said."""


class InvalidInput(Exception):
    """A tool's input does not validate; the message is for the model."""


class ApiKeyError(Exception):
    """The function that gives the API key failed."""


class GaveUpWaiting(Exception):
    """Code that the core called was not waited for to its end; the message says why."""


class ListenerTimeout(Exception):
    """A listener exceeded its grace period and was detached."""
