"""Which model the agent runs on: settings, environment and keys become one `Model`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from tui.settings.schema import DEFAULT_MODEL, OFFLINE, ConfigError, Settings

if TYPE_CHECKING:
    from agent.actions.run import RunContext
    from agent.chat.chat import ChatOptions
    from agent.core.model import Model
    from agent.jobs.options import JobOptions
    from agent.outputs.agent_controls import AgentOutputs
    from agent.outputs.evaluator import Evaluator
    from agent.outputs.runner import RunEvent
    from personas.store import Store

KEY_COMMAND_SECONDS = 30
CLOSE_SECONDS = 5
PASTED = "the key you pasted"


@dataclass(frozen=True, slots=True)
class Connection:
    """Where the agent's model is and how to reach it.

    Attributes:
        model: the model's name, or `offline`.
        base_url: the server, empty for Anthropic's own.
        api_key: the key, sent as a bearer token; empty for none.
        auth_token: a bearer token in place of a key; empty for none.
        source: where the key comes from, for people: a variable's name or "api_key_command".
        key_command: the command to ask for the key when it is first needed; empty for none.
        keyring: whether the key is to be taken from the system's keyring when it is first needed.
    """

    model: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    auth_token: str = field(default="", repr=False)
    source: str = ""
    key_command: str = ""
    keyring: bool = False

    @property
    def offline(self) -> bool:
        """Whether the embedded model is used."""
        return self.model == OFFLINE

    @property
    def lacks_key(self) -> bool:
        """Whether Anthropic's own API would be asked without any key."""
        return not (
            self.offline
            or self.base_url
            or self.api_key
            or self.auth_token
            or self.key_command
            or self.keyring
        )


def connection(
    settings: Settings, env: Mapping[str, str] | None = None, *, pasted_key: str = ""
) -> Connection:
    """Decide which model is used and with which key. Runs nothing and asks no network.

    Offline only when neither a key nor a server is set, or when it is named as the model.

    Args:
        pasted_key: a key the person gave in the program; it is used in place of all others.
    """
    env = os.environ if env is None else env
    if settings.model == OFFLINE:
        return Connection(OFFLINE)
    key, token, source = (pasted_key, "", PASTED) if pasted_key else _key(settings, env)
    command = "" if key or token else settings.api_key_command
    keyring = not (key or token or command) and settings.api_key_in_keyring
    if command or keyring:
        source = "api_key_command" if command else "the keyring"
    if not (key or token or command or keyring or settings.base_url or settings.model):
        return Connection(OFFLINE)
    return Connection(
        settings.model or DEFAULT_MODEL, settings.base_url, key, token, source, command, keyring
    )


def _key(settings: Settings, env: Mapping[str, str]) -> tuple[str, str, str]:
    """Return (key, token, name of the variable); at most one of the first two is set."""
    if settings.api_key_env:
        return env.get(settings.api_key_env, ""), "", settings.api_key_env
    if key := env.get("ANTHROPIC_API_KEY", ""):
        return key, "", "ANTHROPIC_API_KEY"
    if token := env.get("ANTHROPIC_AUTH_TOKEN", ""):
        return "", token, "ANTHROPIC_AUTH_TOKEN"
    return "", "", ""


def key_from_command(command: str) -> str:
    """Run the person's own key command and return what it prints, without the newline.

    It is given nothing to read: what is typed meanwhile is for the program.

    Raises:
        ConfigError: it cannot be run, fails, prints nothing or no text, or takes more than 30 seconds.
    """
    try:
        done = subprocess.run(
            command,
            shell=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=KEY_COMMAND_SECONDS,
            check=False,
        )
        key = done.stdout.decode().strip()
    except subprocess.TimeoutExpired:
        raise ConfigError(
            f"api_key_command took more than {KEY_COMMAND_SECONDS} s; run it by hand once"
        ) from None
    except UnicodeDecodeError:
        raise ConfigError(
            "api_key_command printed something that is not text; run it by hand to see"
        ) from None
    except (OSError, ValueError) as error:  # no shell, no room for a process, a NUL in the command
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigError(f"api_key_command cannot be run: {reason}") from None
    if done.returncode != 0 or not key:
        raise ConfigError(f"api_key_command failed (exit code {done.returncode}); run it by hand to see why")
    return key


def build_model(where: Connection) -> Model:
    """Return the model a connection leads to. Imports no HTTP client and opens no connection.

    Raises:
        ConfigError: the key command failed.
    """
    if where.offline:
        from agent.models.offline import OfflineModel

        return OfflineModel()
    from agent.models.anthropic.client import AnthropicModel

    if where.keyring:
        from tui.settings.keyring import stored_key

        key = stored_key()
    else:
        key = key_from_command(where.key_command) if where.key_command else where.api_key
    return AnthropicModel(
        where.model,
        api_key=key or None,
        auth_token=where.auth_token or None,
        base_url=where.base_url or None,
        key_name=where.source or "ANTHROPIC_API_KEY",
    )


async def close_model(model: Model) -> None:
    """Close the connections a model keeps; what takes too long to close them, or fails to, is left as it is."""
    if (close := getattr(model, "close", None)) is not None:
        import asyncio

        with suppress(Exception):
            await asyncio.wait_for(close(), CLOSE_SECONDS)


def evaluator(
    store: Store,
    settings: Settings,
    *,
    model: str | None = None,
    jobs: int | None = None,
    where: Connection | None = None,
    on_event: Callable[[RunEvent], None] = lambda _event: None,
) -> Evaluator:
    """Return what runs test inputs with these settings.

    Args:
        store: where the personas live.
        settings: the person's.
        model: the model of all personas, whatever they name.
        jobs: requests at once; beats the setting.
        where: how models are reached; None: as the settings say.
        on_event: hears of every run.
    """
    from agent.models.anthropic.endpoint import OFFICIAL
    from agent.outputs.evaluator import Evaluator, OutputOptions
    from agent.outputs.variant import Macros

    where = where or connection(settings)
    return Evaluator(
        store,
        OutputOptions(
            macros=Macros(settings.macro_user, settings.macro_char),
            jobs=jobs or settings.jobs,
            retries=settings.retries,
            judge_model=settings.judge_model,
            runs_unasked=settings.runs_unasked,
            agent_dollars=settings.task_dollars or None,
            outputs_kept=settings.outputs_kept,
        ),
        endpoint=where.base_url or OFFICIAL,
        default_model=None if where.offline or where.lacks_key else where.model,
        forced_model=model,
        make_model=lambda name: build_model(replace(where, model=name)),
        on_event=on_event,
    )


def run_context(store: Store, settings: Settings) -> RunContext:
    """Return what runs of actions are given."""
    from agent.actions.run import RunContext
    from agent.jobs.saved_approvals import SavedApprovals

    return RunContext(
        store=store,
        make_model=lambda: build_model(connection(settings)),
        evaluator=evaluator(store, settings),
        chat=chat_options(settings),
        jobs=task_options(settings),
        grants=SavedApprovals.of_person(),
    )


def agent_outputs(store: Store, persona_id: str, settings: Settings) -> AgentOutputs | None:
    """Return what runs test inputs for the agent, None where no model is connected."""
    from agent.outputs.agent_controls import AgentOutputs

    where = connection(settings)
    if where.offline or where.lacks_key:
        return None
    return AgentOutputs(store, persona_id, cache(lambda: evaluator(store, settings)))


def chat_options(settings: Settings) -> ChatOptions:
    """Return what the settings say about a conversation."""
    from agent.chat.chat import ChatOptions

    return ChatOptions(
        about=settings.about,
        sent_turns=settings.sent_turns,
        thinking=settings.thinking,  # type: ignore[arg-type]  # checked when the settings were read
        max_tokens=settings.max_tokens or None,
        retries=settings.retries,
        max_steps=settings.max_steps,
        max_seconds=settings.max_minutes * 60,
    )


def task_options(settings: Settings) -> JobOptions:
    """Return what the settings say about tasks."""
    from agent.jobs.approval_policy import ApprovalRules
    from agent.jobs.options import JobOptions

    return JobOptions(
        approval=ApprovalRules(settings.approval, settings.approval_of),  # type: ignore[arg-type]  # checked
        max_steps=settings.max_steps,
        max_seconds=settings.max_minutes * 60,
        max_tokens=settings.task_tokens or None,
        max_cost=settings.task_dollars or None,
        request_pause=settings.task_pause,
        at_once=settings.tasks_at_once,
        begin_by_themselves=settings.tasks_begin_themselves,
    )
