"""`persona doctor`: checks of the installation, each with what to do next."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal

import click

from personas.errors import PersonaError, UnknownPersona
from personas.folder import strays
from tui.cli.group import Invocation
from tui.cli.options import json_option
from tui.cli.printing import LONGEST_LINE, print_json, print_text, summarise
from tui.settings.validation import CONNECTING
from tui.terminal.sanitise import one_line
from tui.terminal.secrets import redact

if TYPE_CHECKING:
    from pathlib import Path

    from personas.files.home import Home
    from personas.persona import Persona
    from personas.store import Store

LONGEST_MESSAGE = 20_000
"""Cells of one message: enough for a whole `about.md`."""
LEAST_SPACE = 1024 * 1024
"""Free bytes below which a change may fail."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check."""

    level: Literal["ok", "note", "problem"]
    subject: str
    message: str


@click.command()
@json_option("Print a JSON array of {level, subject, message}.")
@click.option("--online", is_flag=True, help="Also ask the model's server which models it has.")
@click.option(
    "--local", is_flag=True, help="Look for a model server on this machine and choose a model of it."
)
@click.option(
    "--take",
    metavar="MODEL",
    help="With --local: try this model and write it to the settings without asking.",
)
@click.option(
    "--port",
    "ports",
    type=click.IntRange(1, 65535),
    multiple=True,
    help="With --local: also look at this port.",
)
@click.pass_obj
def doctor(
    invocation: Invocation, as_json: bool, online: bool, local: bool, take: str | None, ports: tuple[int, ...]
) -> None:
    """Check the home, the settings, the model and the terminal.

    The exit code is 1 when something is wrong.

    \b
    persona doctor
    persona doctor --online
    persona doctor --local
    persona doctor --local --take MODEL
    """
    if local:
        from tui.cli.program.local_models import connect_local

        connect_local(ports, take)
        return
    if take or ports:
        raise click.UsageError("--take and --port go with --local")
    findings = [replace(found, message=redact(found.message)) for found in examine(invocation, online)]
    if as_json:
        print_json([asdict(finding) for finding in findings], indent=2)
    else:
        marks = {"ok": "ok  ", "note": "note", "problem": "BAD "}
        for finding in findings:
            subject, message = (
                one_line(finding.subject, LONGEST_LINE),
                one_line(finding.message, LONGEST_MESSAGE),
            )
            print_text(f"{marks[finding.level]}  {subject}: {message}")
    if any(finding.level == "problem" for finding in findings):
        raise click.exceptions.Exit(1)


def examine(invocation: Invocation, online: bool = False) -> Iterator[CheckResult]:
    """Check everything a conversation needs; yield the findings."""
    yield _program()
    yield from _settings(invocation)
    yield from _home(invocation)
    yield from _left_over()
    yield from _model(invocation, online)
    yield _terminal()


def _program() -> CheckResult:
    from importlib.metadata import PackageNotFoundError, version

    def installed(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "not installed"

    parts = ", ".join(
        f"{name} {installed(name)}" for name in ("persona-editor", "textual", "httpx2", "pydantic")
    )
    return CheckResult("ok", "program", f"Python {platform.python_version()}, {parts}")


def _settings(invocation: Invocation) -> Iterator[CheckResult]:
    loaded = invocation.loaded
    for wrong in loaded.wrong:
        yield CheckResult("note" if wrong.setting is None else "problem", "settings", str(wrong))
    if loaded.wrong:
        things = "1 problem" if len(loaded.wrong) == 1 else f"{len(loaded.wrong)} problems"
        yield CheckResult("note", "settings", f"{loaded.path}: {things} in it, see above")
        return
    note = "" if loaded.exists else " (no such file yet; the defaults hold)"
    yield CheckResult("ok", "settings", f"{loaded.path}{note}")


def _home(invocation: Invocation) -> Iterator[CheckResult]:
    try:
        store = invocation.store
        personas = store.list()
    except PersonaError as error:
        yield CheckResult("problem", "home", str(error))
        return
    root = store.home.root
    if not os.access(store.home.personas, os.W_OK):
        yield CheckResult("problem", "home", f"{root} is read-only; personas can be read but not changed")
    elif shutil.disk_usage(root).free < LEAST_SPACE:
        yield CheckResult(
            "problem", "home", f"the disk of {root} is full; nothing can be changed until there is room"
        )
    else:
        yield CheckResult("ok", "home", f"{root}, {len(personas)} persona{'' if len(personas) == 1 else 's'}")
    yield from _about(store.home, invocation.loaded.settings.about)
    yield from _personas(store, personas)
    yield from _library(store, personas)
    yield from _actions(store.home)
    yield from _saved_approvals(root)
    yield from _conversations(store, personas)


def _personas(store: Store, personas: Sequence[Persona]) -> Iterator[CheckResult]:
    from tui.cli.personas.manage import describe, noted, way_back

    for persona in noted(store, personas):
        if persona.note is not None:
            yield CheckResult("note", f"persona {persona.id}", describe(persona.note))
        if persona.error is not None:
            way = way_back(store, persona)
            mend = f"; bring it back with: {way}" if way else f"; fix {store.path(persona.id)}"
            mend = mend if persona.revision else ""
            yield CheckResult("problem", f"persona {persona.id}", f"{describe(persona.error)}{mend}")
    prompts = {store.home.root / persona.system_prompt_file for persona in personas}
    for name in strays(store.home):
        if (path := store.home.personas / name) in prompts:
            continue
        what = f"{path} is not a persona: a persona is a file that ends in .toml"
        yield CheckResult("note", "personas", what + _way_in(path))


def _way_in(path: Path) -> str:
    """Return how a file of another program becomes a persona, empty where no format knows it."""
    from shlex import quote

    from personas.importing import read_path

    try:
        found = None if path.is_dir() else read_path(path)
    except PersonaError:
        return ""
    return f"; `persona import {quote(str(path))}` makes one of it" if found is not None else ""


def _library(store: Store, personas: Sequence[Persona]) -> Iterator[CheckResult]:
    """Report documents of the library that are broken, and links that lead to none, or twice to one."""
    from personas.library.assembly import assemble
    from personas.library.documents import KINDS, LibraryDocument
    from personas.library.folders import Library, read_all
    from tui.cli.personas.manage import describe

    found: list[LibraryDocument] = []
    for kind in KINDS:
        try:
            found += read_all(store.home, kind)
        except PersonaError as error:
            yield CheckResult("problem", f"{kind}s", str(error))
    library, known = Library(store.home), set()
    for one in found:
        subject = f"{one.kind} {one.name}"
        if one.error is not None:
            yield CheckResult("problem", subject, describe(one.error))
        for warning in one.warnings:
            known.add(f"the {subject}: {warning}")
            yield CheckResult("note", subject, warning)
        for stage in one.stages:
            for part in stage.parts:
                if library.get(("part", part)) is None:
                    yield CheckResult("problem", subject, f"the part {part} of stage {stage.name} is missing")
    for persona in personas:
        if persona.error is not None:
            continue
        done, subject = assemble(persona, library), f"persona {persona.id}"
        for missing in done.missing:
            why = f"cannot be used: {missing.reason}" if missing.reason else "is missing"
            yield CheckResult("problem", subject, f"the {missing.kind} {missing.name} {why}")
        for warning in done.warnings:
            if warning not in known:
                yield CheckResult("note", subject, warning)
    if found:
        counts = [f"{sum(one.kind == kind for one in found)} {kind}s" for kind in KINDS]
        yield CheckResult("ok", "library", ", ".join(counts))


def _actions(home: Home) -> Iterator[CheckResult]:
    """Report actions that are broken or about a persona that is gone, and that nothing looks for due work."""
    from agent.actions.listing import idle_warning, list_actions
    from personas.store import utc_now
    from tui.cli.personas.manage import describe

    now = utc_now()
    try:
        rows = list_actions(home, now=now)
    except PersonaError as error:
        yield CheckResult("problem", "actions", str(error))
        return
    for row in rows:
        subject = f"action {row.action.id}"
        if row.action.error is not None:
            mend = f"; fix {home.actions / row.action.id}.toml" if row.action.revision else ""
            yield CheckResult("problem", subject, f"{describe(row.action.error)}{mend}")
        elif not os.path.lexists(home.personas / f"{row.action.persona}.toml"):
            yield CheckResult("problem", subject, f"there is no persona {row.action.persona}")
    if warning := idle_warning(home, rows, now=now):
        yield CheckResult("note", "actions", warning)


def _saved_approvals(root: Path) -> Iterator[CheckResult]:
    from agent.jobs.saved_approvals import SavedApprovals

    if allowed := SavedApprovals.of_person().always(root):
        text = f"always allowed here: {', '.join(allowed)}; persona trust --revoke forgets them"
        yield CheckResult("ok", "approval", text)


def _conversations(store: Store, personas: Sequence[Persona]) -> Iterator[CheckResult]:
    from agent.transcript.session_store import read_history

    for persona in personas:
        try:
            _session, _turns, problems = read_history(store, persona.id)
        except UnknownPersona:
            continue  # a file whose name is no id, reported above
        except PersonaError as error:
            problems = [str(error)]
        for problem in summarise(problems):
            yield CheckResult("note", f"conversation of {persona.id}", problem)


def _about(home: Home, setting: str) -> Iterator[CheckResult]:
    """Report the text about the personas' purpose that the agent gets, and its source; nothing if there is none."""
    from personas.about import read_about

    if setting:
        yield CheckResult("ok", "about", f"the setting about says: {setting}")
        return
    try:
        if said := read_about(home):
            yield CheckResult("ok", "about", f"{home.about} says: {said}")
    except PersonaError as error:
        yield CheckResult("problem", "about", str(error))


def _left_over() -> Iterator[CheckResult]:
    """Report unsaved text that could not be stored in a home when a program ended."""
    from tui.app.emergency_save import find_saved_texts, recovery_message

    if left := find_saved_texts():
        yield CheckResult("note", "unsaved text", recovery_message(left))


def _model(invocation: Invocation, online: bool) -> Iterator[CheckResult]:
    from tui.settings.model_factory import build_model, connection

    if invocation.loaded.unusable.intersection(("", *CONNECTING)):
        return  # reported with the settings
    where = connection(invocation.loaded.settings)
    if where.offline:
        yield CheckResult(
            "ok", "model", "offline, embedded; set ANTHROPIC_API_KEY or base_url to connect another"
        )
        return
    from agent.models.anthropic.endpoint import check_base_url, hide_secrets

    server = hide_secrets(where.base_url) if where.base_url else "Anthropic's API"
    if where.base_url and (wrong := check_base_url(where.base_url)) is not None:
        yield CheckResult("problem", "model", wrong.message)
        return
    key = f"key from {where.source}" if where.source else "no key"
    level: Literal["ok", "problem"] = "ok" if where.source or where.base_url else "problem"
    advice = "" if level == "ok" else "; set ANTHROPIC_API_KEY, or use --model offline"
    yield CheckResult(level, "model", f"{where.model} at {server}, {key}{advice}")
    if (budget := invocation.loaded.settings.task_dollars) and not _has_price(where.model, where.base_url):
        text = (
            f"task_dollars = {budget:g} stops no task: the prices of {where.model} at {server} are not known"
        )
        yield CheckResult("note", "budget", text)
    if online and level == "ok":
        try:
            model = build_model(where)
        except PersonaError as error:
            yield CheckResult("problem", "key", str(error))
            return
        yield _ask_server(model)
        yield from _notes_on_local(where.base_url)


def _has_price(model: str, base_url: str) -> bool:
    from agent.core.model import Usage
    from agent.models.anthropic.endpoint import OFFICIAL
    from agent.models.prices import cost

    return cost(model, Usage(), base_url or OFFICIAL) is not None


def _ask_server(model: object) -> CheckResult:
    """Ask the server for its models; one request."""
    import asyncio

    from agent.models.anthropic.client import AnthropicModel
    from agent.models.anthropic.error_mapping import ModelFailure
    from tui.cli.logging_setup import set_up

    assert isinstance(model, AnthropicModel)
    set_up()
    try:
        offered = asyncio.run(model.list_models())
    except ModelFailure as failure:
        return CheckResult("problem", "server", failure.error.message)
    names = [info.id for info in offered]
    if model.name not in names:
        has = f"it has {', '.join(names[:8])}" if names else "it lists no models"
        return CheckResult("note", "server", f"answers, but does not list {model.name}; {has}")
    return CheckResult("ok", "server", f"answers, and has {model.name}")


def _notes_on_local(base_url: str) -> Iterator[CheckResult]:
    """Report what a local server does not support, for example tools."""
    from agent.models.local_servers import why_no_tools

    if note := why_no_tools(base_url):
        yield CheckResult("note", "server", note)


def _terminal() -> CheckResult:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return CheckResult(
            "note", "terminal", "none here; the commands work, the full-screen program needs one"
        )
    size = os.get_terminal_size(sys.stderr.fileno())
    over = " over SSH" if os.environ.get("SSH_CONNECTION") else ""
    inside = " inside tmux" if os.environ.get("TMUX") else ""
    level: Literal["ok", "note"] = "ok" if size.columns >= 60 and size.lines >= 15 else "note"
    return CheckResult(
        level, "terminal", f"{os.environ.get('TERM', 'unknown')}, {size.columns}x{size.lines}{over}{inside}"
    )
