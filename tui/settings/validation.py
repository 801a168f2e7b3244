"""What the value of a setting may be, beyond its type: each rule is a sentence for the person. Pure.

Rules stand beside their field in the schema, as pydantic's do; they are checked here since loading pydantic and building
a model takes 0.15 s, which every command would wait for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any, NamedTuple

LEVELS = ("off", "minimal", "low", "medium", "high", "max")
"""How much a model may think before it answers: those of `agent.models.base.ThinkingLevel`."""

WORKER = ("database", "home")
"""What there is in `worker`."""

RULES_OF_TOOLS = ("ask", "allow", "deny")
"""What `approval_of` may say of a tool."""


class Rules(NamedTuple):
    """What the value of a setting may be.

    Attributes:
        choices: the values there are.
        least: the least number.
        above: what a number must be above.
        looks: it is a setting of the screen. All others are the agent's, which never goes by a default where the person
            set another value: not by another server, and not without being asked.
    """

    choices: tuple[str, ...] = ()
    least: float | None = None
    above: float | None = None
    looks: bool = False


CONNECTING = ("model", "base_url", "api_key_env", "api_key_command", "api_key_in_keyring")
"""The settings that lead to a model; the offline one needs none of them."""

RENAMED: Mapping[str, str] = {"history_turns": "sent_turns"}
"""Settings by the names they once had: understood in the file, with a warning that names the new one."""

KEYS = frozenset({"api_key", "auth_token", "anthropic_api_key", "anthropic_auth_token"})
"""Names under which people write a key itself into the file."""

TYPES: Mapping[type, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table of texts",
}
"""What a value must be, by the type of its setting."""


def faults(name: str, rules: Rules, value: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what is wrong with a value that has the type of its setting.

    Args:
        name: the setting.
        rules: what its value may be.
        value: its value.

    Yields:
        Where in the settings, as keys from the top, and what may stand there: a sentence without its full stop, and
        never with what could be a key.
    """
    least, above = rules.least, rules.above
    if rules.choices and value not in rules.choices:
        yield (name,), f"{name} must be {allowed(rules)}{_not(value)}"
    elif name == "approval_of":
        for tool, rule in value.items():
            if rule not in RULES_OF_TOOLS:
                yield (name, tool), f"{name}.{tool} must be one of {', '.join(RULES_OF_TOOLS)}{_not(rule)}"
    elif name == "worker":
        for key, text in value.items():
            if not isinstance(text, str):
                yield (name, key), f"{name}.{key} must be text"
    elif isinstance(value, float) and value == inf:
        yield (name,), f"{name} must be a number that is not infinite"
    elif least is not None and not value >= least:  # so that nan, which compares with nothing, is refused too
        yield (name,), f"{name} must be {least} or more"
    elif above is not None and not value > above:
        yield (name,), f"{name} must be above {above}"
    elif name == "api_key_env" and value and not (value.isascii() and value.isidentifier()):
        yield (
            (name,),
            "api_key_env must be the name of an environment variable, such as MY_KEY; not the key itself",
        )


def faults_in_file(name: str, rules: Rules, value: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what else is wrong with a value that is to stand in the settings file.

    Of the environment the same is told when it is used, and a theme by the screen.
    """
    if not isinstance(value, str) or rules.choices or name == "api_key_env":
        return
    fault = fault_of_key(name, value)
    if not fault and name == "base_url":
        fault = fault_of_server(value)
    elif not fault and name == "theme":
        fault = fault_of_theme(value)
    if fault:
        yield (name,), fault


def fault_of_key(where: str, value: str) -> str:
    """Return what is wrong with a text that looks like a key, empty with others. Never shows it.

    Args:
        where: what it was given for: a setting, a variable or a flag.
    """
    from tui.terminal.secrets import is_key

    if not value or not is_key(value):
        return ""
    return (
        f"{where} contains what looks like an API key, which is not allowed there; put it into ANTHROPIC_API_KEY, or name its "
        "variable in api_key_env or a command that prints it in api_key_command"
    )


def fault_of_theme(name: str) -> str:
    """Return what is wrong with a theme, empty where there is one of that name."""
    if name in ("", "dark", "light"):
        return ""
    from textual.theme import BUILTIN_THEMES  # only here: it takes long to load where there is no screen

    if name in BUILTIN_THEMES:
        return ""
    from difflib import get_close_matches

    near = get_close_matches(name, ["dark", "light", *BUILTIN_THEMES], n=1)
    hint = f"; did you mean {near[0]}?" if near else "; /settings lists the names"
    return f"theme must be dark, light or the name of a theme{_not(name)}{hint}"


def fault_of_server(url: str) -> str:
    """Return what is wrong with `base_url`, empty where a request can go there. Never shows it: it may hold a password."""
    from agent.models.anthropic.endpoint import check_base_url

    if not url or check_base_url(url.strip()) is None:
        return ""
    return (
        "base_url must be the address of a server, like https://example.org or http://127.0.0.1:8080, "
        "without user, password and query"
    )


def allowed(rules: Rules) -> str:
    """Return what a setting that names one of a few things may be, empty for the others."""
    return f"one of {', '.join(rules.choices)}" if rules.choices else ""


def _not(value: object) -> str:
    from tui.terminal.secrets import redact

    shown = redact(repr(value))  # before it is cut: what is left of a key then looks like none
    return f", not {shown if len(shown) <= 40 else shown[:39] + '…'}"
