"""What the open persona is made of: its links into the library, put together with the overrides of this sitting.

The library is read only for a persona that links something of it, or is tried with an override. Knows no widget.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from personas.errors import InvalidValue

if TYPE_CHECKING:
    from personas.compiled import CompileCache, Options
    from personas.files.home import Home
    from personas.library.assembly import Assembled
    from personas.library.documents import Stage
    from personas.persona import Persona
    from tui.outputs.controller import OutputsController, OutputsHost


class Composition(NamedTuple):
    """A persona put together.

    Attributes:
        persona: as it is stored.
        assembled: with the overrides and the stage of this sitting.
        stages: of its arc.
        tried_with: the overrides and the stage of this sitting, in words.
    """

    persona: Persona
    assembled: Assembled
    stages: tuple[Stage, ...] = ()
    tried_with: str = ""


class LinkRow(NamedTuple):
    """One thing that a persona is made of.

    Attributes:
        kind, name: of the document; kind `persona` is its own prompt, `note` a warning.
        what: what it is, in a word: the type of a part, else the kind.
        level: where it comes from: own, stage, override; or why it has no effect: replaced, missing, broken.
        tokens: about how many; 0 where it has none of its own.
        told: more about it; any text.
        is_own: whether the persona's file has this link.
    """

    kind: str
    name: str
    what: str
    level: str = ""
    priority: int = 0
    tokens: int = 0
    description: str = ""
    is_own: bool = False

    @property
    def key(self) -> str:
        """What identifies it."""
        return f"{self.kind}/{self.name}"

    @property
    def is_wrong(self) -> bool:
        """Whether it is linked and cannot be used."""
        return self.level in ("missing", "broken")


def rows_of(composition: Composition) -> list[LinkRow]:
    """Return what a persona is made of: what is in its text in sequence, its arc, what is missing, warnings. Pure."""
    persona, done = composition.persona, composition.assembled
    own = {("part", one.name) for one in persona.parts}
    own |= {("trait", one) for one in persona.traits} | {("skill", one) for one in persona.skills}
    own |= {("guardrail", one) for one in persona.guardrails}
    if persona.arc is not None:
        own.add(("arc", persona.arc.name))
    rows: dict[str, LinkRow] = {}

    def add(kind: str, name: str, *known: Any, **more: Any) -> None:
        row = LinkRow(kind, name, *known, **more)
        rows.setdefault(row.key, row._replace(is_own=(kind, name) in own))

    winners = {piece.name for piece in done.pieces if piece.kind == "part"}
    for piece in done.pieces:
        tokens = done.tokens_of(piece)
        if piece.document is None:
            add("persona", "", "prompt", "own", tokens=tokens, description="its own")
            continue
        what = piece.document.type or piece.kind
        add(
            piece.kind,
            piece.name,
            what,
            piece.level,
            piece.priority,
            tokens,
            description=piece.document.description,
        )
        for name in piece.replaced:
            if name not in winners:
                add("part", name, what, "replaced")
    if persona.arc is not None and ("arc", persona.arc.name) not in {
        (one.kind, one.name) for one in done.missing
    }:
        stage = f"stage {done.stage.name}" if done.stage else "on none of its stages"
        add("arc", persona.arc.name, "arc", description=stage)
    for one in done.missing:
        level = "broken" if one.reason else "missing"
        add(one.kind, one.name, one.kind, level, description=one.reason or "not found in the library")
    for number, warning in enumerate(done.warnings):
        add("note", str(number), "note", description=warning)
    return list(rows.values())


def neighbour(persona: Persona, kind: str, name: str, by: int) -> str:
    """Return the link of the same kind before or behind one in sequence, empty where there is none. Pure."""
    ordered: Iterable[str] = getattr(persona, f"{kind}s", ())
    if kind == "part":
        first = {one.name: one.order for one in reversed(persona.parts)}
        ordered = sorted((one.name for one in persona.parts), key=first.__getitem__)
    names = list(dict.fromkeys(ordered))
    place = names.index(name) + by if name in names else -1
    return names[place] if 0 <= place < len(names) else ""


def in_words(options: Options | None) -> str:
    """Return overrides and a stage as `tone = formal, stage cold`; empty for none."""
    if options is None:
        return ""
    stage = [f"stage {options.stage}"] if options.stage else []
    return ", ".join([*(f"{kind} = {name}" for kind, name in options.overrides.items()), *stage])


class CompositionController:
    """Keeps the open persona put together, as its links and the documents of the library are now.

    Args:
        host: the screen.
        outputs: has the overrides and the stage of this sitting, and is told what the prompts are made with.
    """

    def __init__(self, host: OutputsHost, outputs: OutputsController) -> None:
        self._host, self._outputs = host, outputs
        self._home: Home | None = None
        self._persona: Persona | None = None
        self._assemblies: CompileCache | None = None
        self._stages: tuple[Assembled | None, tuple[Stage, ...]] = (None, ())  # with what they were read for
        self._listeners: list[Callable[[], object]] = []
        self._is_due = False
        self._reading: asyncio.Task[Any] | None = None
        self.found: Composition | None = None
        """The open persona put together; None where it links nothing, or is not read yet."""

    @property
    def persona(self) -> Persona | None:
        """The open persona, as it is stored."""
        return self._persona

    def observe(self, listener: Callable[[], object]) -> None:
        """Call `listener` after anything here is another."""
        self._listeners.append(listener)

    def begin(self, home: Home) -> None:
        """The home is read."""
        self._home = home
        self.look()

    def show(self, persona: Persona | None) -> None:
        """The open persona is this one now; None for none."""
        before, self._persona = self._persona, persona
        if persona is None or before is None or persona.id != before.id:
            self.found = None
        self._notify_listeners()
        self.look()

    def look(self) -> None:
        """Something may be another now: links, a document of the library, or what is tried."""
        self._is_due = True
        if self._home is not None and (self._reading is None or self._reading.done()):
            self._reading = self._host.start(self._read_due())

    def try_with(self, options: Options | None) -> None:
        """Try the open persona with these overrides and this stage from now on, None: as it is stored."""
        self._outputs.try_with(options)
        self.look()

    async def _read_due(self) -> None:
        while self._is_due:
            self._is_due = False
            await self._read()

    async def _read(self) -> None:
        persona, home, options = self._persona, self._home, self._outputs.options
        if persona is None or home is None:
            return
        found, names = None, dict[str, str]()
        if persona.is_linked or options is not None:
            try:
                found, names = await asyncio.to_thread(self._assemble, home, persona, options)
            except InvalidValue as error:
                self._outputs.try_with(None)
                self._is_due = True
                self._host.show_message(f"{error} Back to the saved composition.", error=True)
                return
        if persona is self._persona and options is self._outputs.options:
            self._outputs.name_prompts(names)
            if found != self.found:
                self.found = found
                self._notify_listeners()

    def _assemble(
        self, home: Home, persona: Persona, options: Options | None
    ) -> tuple[Composition, dict[str, str]]:
        """Return the persona put together, and by the hash of a prompt the overrides and stage it has. Blocking."""
        from agent.outputs.variant import digest
        from personas.compiled import CompileCache, Options, stages_of

        assemblies = self._assemblies = self._assemblies or CompileCache(home)
        plain, tried = Options(), options or Options()
        stored = assemblies.of(persona, plain)
        if stored is not self._stages[0]:  # else the arc is as it was
            self._stages = stored, stages_of(home, persona)
        stages = self._stages[1]
        known = [*(replace(tried, stage=one.name) for one in stages), tried]
        known = [*(replace(plain, stage=one.name) for one in stages), *known, plain]
        names = {digest(assemblies.of(persona, one).text): in_words(one) for one in known}
        done = assemblies.of(persona, tried)
        return Composition(persona, done, stages, in_words(options)), names

    def _notify_listeners(self) -> None:
        for listener in self._listeners:
            listener()
