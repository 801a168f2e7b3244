"""The group `persona`: global options, the commands by name, and an id in place of a command."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from personas.errors import PersonaError
from tui.cli.invocation import Invocation as Invocation

COMMANDS = {
    "open": "tui.cli.program.open:open_persona",
    "list": "tui.cli.personas.manage:list_personas",
    "new": "tui.cli.personas.manage:new",
    "show": "tui.cli.personas.manage:show",
    "edit": "tui.cli.personas.edit:edit",
    "rm": "tui.cli.personas.manage:remove",
    "chat": "tui.cli.agent.chat:chat",
    "reply": "tui.cli.agent.reply:reply",
    "history": "tui.cli.agent.sessions:history",
    "clear": "tui.cli.agent.sessions:clear",
    "log": "tui.cli.personas.versions:log",
    "diff": "tui.cli.personas.versions:diff",
    "restore": "tui.cli.personas.versions:restore",
    "undo": "tui.cli.personas.versions:undo",
    "redo": "tui.cli.personas.versions:redo",
    "find": "tui.cli.personas.find:find",
    "replace": "tui.cli.personas.replace:replace",
    "import": "tui.cli.personas.import_files:import_command",
    "export": "tui.cli.personas.export:export",
    "formats": "tui.cli.personas.formats:list_formats",
    "inputs": "tui.cli.personas.inputs:inputs",
    "run": "tui.cli.outputs.run:run",
    "outputs": "tui.cli.outputs.stored:outputs",
    "test": "tui.cli.outputs.test:test",
    "compare": "tui.cli.outputs.compare:compare",
    "bisect": "tui.cli.outputs.bisect:bisect",
    "coverage": "tui.cli.outputs.coverage:coverage",
    "ask": "tui.cli.outputs.ask:ask",
    "assets": "tui.cli.actions.assets:assets",
    "measurements": "tui.cli.outputs.measurements:measurements",
    **{kind: f"tui.cli.library.documents:{kind}" for kind in ("part", "trait", "skill", "guardrail", "arc")},
    **{name: f"tui.cli.library.documents:{name}" for name in ("link", "unlink", "stage")},
    "action": "tui.cli.actions.action:action",
    "compile": "tui.cli.library.compile:compile_command",
    "manifest": "tui.cli.library.compile:manifest",
    "explain": "tui.cli.library.compile:explain",
    "worker": "tui.cli.actions.worker:worker_command",
    "mcp": "tui.cli.program.mcp:mcp_command",
    "trust": "tui.cli.program.trust:trust",
    "doctor": "tui.cli.program.doctor:doctor",
    "demo": "tui.cli.program.demo:demo",
    "keys": "tui.cli.program.keys:keys",
}


@contextmanager
def _keep_broken_pipe() -> Iterator[None]:
    """Hide the error number of a broken pipe, which click would turn into exit code 1."""
    try:
        yield
    except BrokenPipeError:
        raise BrokenPipeError from None


class PersonaGroup(click.Group):
    """Imports commands when they are used; a first word that is no command is the id of a persona."""

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        with _keep_broken_pipe():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with _keep_broken_pipe():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        target = COMMANDS.get(name)
        if target is None:
            return None
        module, attribute = target.split(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            self._check_is_persona(ctx, args[0])
            args = ["open", *args]
        return super().resolve_command(ctx, args)

    def _check_is_persona(self, ctx: click.Context, word: str) -> None:
        from difflib import get_close_matches

        invocation = _invocation(ctx)
        if invocation.has_file(word):
            return
        try:
            ids = invocation.store.ids()
        except PersonaError:
            ids = []
        if word in ids:
            return
        close = get_close_matches(word, [*COMMANDS, *ids], n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise click.UsageError(f"there is no command and no persona called {word!r}{hint}", ctx)


def _invocation(ctx: click.Context) -> Invocation:
    """Return the one `Invocation` of this command line; click resolves the command before it calls the group."""
    if ctx.obj is None:
        ctx.obj = Invocation(**ctx.params)
    invocation: Invocation = ctx.obj
    return invocation


def _print_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        number = version("persona-editor")
    except PackageNotFoundError:
        number = "(not installed)"
    click.echo(f"persona {number}")
    ctx.exit()


@click.group(
    cls=PersonaGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--home", "home_flag", metavar="DIR", help="The folder with your personas.")
@click.option("--model", "model_flag", metavar="MODEL", help="The agent's model, or `offline`.")
@click.option(
    "--debug", is_flag=True, help="Show what the program does and where an error came from, without secrets."
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version.",
)
@click.pass_context
def persona(ctx: click.Context, /, **_options: Any) -> Any:
    """Shape AI personas by talking to an agent that edits their TOML files.

    \b
    persona                                   open the program
    persona optimist                          open it with one persona
    persona chat optimist "make it shorter"   talk without a screen
    """
    _invocation(ctx)
    if ctx.invoked_subcommand is None:
        return ctx.invoke(PersonaGroup.get_command(persona, ctx, "open"))  # type: ignore[arg-type]
    return None
