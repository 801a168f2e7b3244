"""The registry's entry for one tool: its name, its effect on the persona, its preview, and how it is bound to a persona."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from agent.core.tool import Tool, ToolContext, ToolOutput
from agent.tools.context import NOTHING_CHANGED, SETTLES_WITHIN, WHOLE, ToolEnvironment, fail
from personas.dry_run_store import DryRunStore
from personas.edited_text import edited_diff
from personas.errors import PersonaError

if TYPE_CHECKING:
    from personas.changes import Change
    from personas.store import Store

Effect = Literal["read", "write", "destructive", "control"]
"""What a call may do: nothing to the persona, change it, take something away as a whole, or act on the job alone."""

Run = Callable[[ToolEnvironment, Any, ToolContext], Awaitable[str | ToolOutput]]
Rehearsed = tuple[Mapping[str, tuple[str, str]], str]
Offered = Literal["always", "in tasks", "before tasks", "with outputs", "with library", "with actions"]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a call would change in texts, as a diff of them as they are edited.

    Attributes:
        diff: unified; empty when the call would change nothing.
        added, removed: how many lines.
        note: what else there is to know, in a sentence.
    """

    diff: str
    added: int
    removed: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredTool:
    """One tool, not yet bound to a persona.

    Attributes:
        name, description, label, input: as in `Tool`.
        effect: what a call may do; the approval policy and the screen go by it.
        run: the tool itself; a `PersonaError` it raises is its result.
        offered: to every run, only in tasks, to messages that may become a task, where test inputs can be run, or once
            the library or actions are brought in.
        change: the one change of the file that a call is; the preview follows from it.
        texts: the file's text before and after a call, where it is no single change.
        rehearse: the texts before and after a call by document, and a note on it, where it may change several.
        is_shared: whether a call changes what is not this persona's alone; it is then as good as destructive.
        costs: whether a call costs so much that outside of a task the person is asked first.
        when_cut: what the result says when the call is cancelled while it runs; None: what suits the effect.
        reader: the tool that reads what this one writes.
    """

    name: str
    description: str
    label: str
    input: type[BaseModel]
    effect: Effect
    run: Run
    offered: Offered = "always"
    change: Callable[[Any], Change] | None = None
    texts: Callable[[Store, str], tuple[str, str]] | None = None
    rehearse: Callable[[Store, Any], Rehearsed] | None = None
    is_shared: Callable[[Store, Any], bool] | None = None
    costs: Callable[[ToolEnvironment, Any], bool] | None = None
    when_cut: str | None = None
    reader: str = "get_persona"

    def make(self, env: ToolEnvironment) -> Tool:
        """Return the tool for one persona and session."""
        reads, writes = self.effect == "read", self.effect in ("write", "destructive")
        return Tool(
            self.name,
            self.description,
            self.label,
            self.input,
            partial(self._call, env),
            sequential=writes,
            max_output=WHOLE if reads else None,
            when_cut=self.when_cut or (NOTHING_CHANGED if reads else None),
            settles_within=SETTLES_WITHIN if writes else None,
        )

    async def _call(self, env: ToolEnvironment, given: Any, ctx: ToolContext) -> str | ToolOutput:
        try:
            return await self.run(env, given, ctx)
        except PersonaError as error:
            return fail(error, reader=self.reader)

    def preview(self, store: Store, persona_id: str, given: Any) -> Preview | None:
        """Return what a call would change now, computed without writing; None where that is not known.

        Args:
            store: where the persona lives.
            persona_id: whose file.
            given: the validated input.

        Raises:
            PersonaError: the call could not be made: the value or the file does not allow it.
        """
        note = ""
        if self.rehearse is not None:
            texts, note = self.rehearse(store, given)
        elif self.texts is not None:
            texts = {persona_id: self.texts(store, persona_id)}
        elif self.change is not None:
            rehearsal = DryRunStore(store)
            rehearsal.change(persona_id, self.change(given))
            texts = rehearsal.texts
        else:
            return None
        diffs = [edited_diff(*pair, f"{key}.toml", f"{key}.toml") for key, pair in texts.items()]
        signs = [line[:1] for diff in diffs for line in diff.split("\n")[2:]]
        return Preview("".join(diffs), signs.count("+"), signs.count("-"), note)


def tool(
    label: str,
    description: str,
    input: type[BaseModel],
    effect: Effect,
    *,
    offered: Offered = "always",
    change: Callable[[Any], Change] | None = None,
    texts: Callable[[Store, str], tuple[str, str]] | None = None,
    rehearse: Callable[[Store, Any], Rehearsed] | None = None,
    costs: Callable[[ToolEnvironment, Any], bool] | None = None,
    when_cut: str | None = None,
    reader: str = "get_persona",
) -> Callable[[Run], RegisteredTool]:
    """Make a function a tool of its name. Arguments as for `RegisteredTool`."""

    def make(run: Run) -> RegisteredTool:
        return RegisteredTool(
            name=run.__name__,
            description=description,
            label=label,
            input=input,
            effect=effect,
            run=run,
            offered=offered,
            change=change,
            texts=texts,
            rehearse=rehearse,
            costs=costs,
            when_cut=when_cut,
            reader=reader,
        )

    return make
