"""Arguments and options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from personas.errors import InvalidValue

Command = TypeVar("Command", bound=Callable[..., Any])

RESULT = "Print {id, revision, version, summary}."
"""What `--json` does in the commands that change a persona."""


def _of_persona(_ctx: click.Context, _param: click.Parameter, persona_id: str) -> str:
    return require_persona(persona_id)


def require_persona(persona_id: str) -> str:
    """Return the id of a persona as it is.

    Raises:
        InvalidValue: it is the key of a document of the library.
    """
    if "/" in persona_id:
        raise InvalidValue(
            f"{persona_id} is not a persona; this command takes the id of one, see `persona list`."
        )
    return persona_id


persona_argument = click.argument("persona_id", metavar="ID", callback=_of_persona)
document_argument = click.argument("persona_id", metavar="ID")
"""The id of a persona, or the key of another document, such as `part/calm`."""


def json_option(what: str) -> Callable[[Command], Command]:
    """Return the option `--json`, the argument `as_json` of a command.

    Args:
        what: the help text: what is printed.
    """
    return click.option("--json", "as_json", is_flag=True, help=what)


def _use_model(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    if value:
        ctx.obj.model_flag = value


model_option = click.option(
    "--model",
    metavar="MODEL",
    expose_value=False,
    callback=_use_model,
    help="The agent's model, or `offline`.",
)

jobs_option = click.option("--jobs", type=click.IntRange(1, 100), help="Requests at once.")
samples_option = click.option(
    "--samples", type=click.IntRange(1, 1000), help="Outputs of each input; beats the file."
)
yes_option = click.option("--yes", "agreed", is_flag=True, help="Do not ask before an expensive run.")
batch_option = click.option(
    "--batch", is_flag=True, help="Use the provider's Message Batches: half the price, done within a day."
)
dry_option = click.option("--dry-run", is_flag=True, help="Print the requests and their price; send nothing.")
