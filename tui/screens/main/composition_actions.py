"""The composition of the open persona on the main screen: linking, moving, weighing, stages, what is tried, the compiled prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from personas.errors import InvalidValue
from tui.commands.registry import sentence
from tui.document.composition import LinkRow, neighbour, rows_of
from tui.widgets.composition_pane import CompositionPane
from tui.widgets.prompt_pane import PromptPane

if TYPE_CHECKING:
    from agent.outputs.report import InputReport
    from personas.files.home import Home
    from personas.library.documents import Kind, LibraryDocument
    from tui.app.host import Host
    from tui.document.composition import CompositionController
    from tui.outputs.controller import OutputsController
    from tui.screens.main.layout import PaneLayout
    from tui.screens.main.persona_view import PersonaView
    from tui.widgets.compiled_pane import CompiledPane
    from tui.widgets.virtual_list import Row

NO_PERSONA = "Open a persona first."
NOT_THIS = "This row is not a link that can be changed."


class CompositionActions:
    """What the composition pane and the compiled prompt show, and what their commands do.

    Args:
        host: the main screen.
        panes: the panes.
        view: the open persona, which links are stored in.
        composition: what it is made of.
        outputs: runs its test inputs.
        shown: called when the number of links changed.
    """

    def __init__(
        self,
        host: Host,
        panes: PaneLayout,
        view: PersonaView,
        composition: CompositionController,
        outputs: OutputsController,
        shown: Callable[[], None],
    ) -> None:
        self._shown = shown
        self._host, self._panes, self._view = host, panes, view
        self._composition, self._outputs = composition, outputs
        self._pane, self._prompt = panes.widget(CompositionPane), panes.widget(PromptPane)
        self._compiled: CompiledPane | None = None
        self._linked = ""  # what was linked last, until its row is there and has the cursor
        composition.observe(self.refresh)

    # -- what is shown --------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show the composition as it is now."""
        found, before = self._composition.found, self._pane.tab_mark
        links = rows_of(found) if found is not None else []
        self._pane.show(found, links)
        if any(link.key == self._linked for link in links):
            self._pane.rows.select(self._linked)
            self._linked = ""
        if self.is_open:
            self._show_compiled()
        if self._pane.tab_mark != before:
            self._shown()

    @property
    def is_open(self) -> bool:
        """Whether the compiled prompt stands over the prompt."""
        return self._compiled is not None and self._panes.over_prompt is self._compiled

    @property
    def has_focus(self) -> bool:
        """Whether the compiled prompt has the keys."""
        return self._compiled is not None and self._compiled.has_focus_within

    def action_compiled(self) -> None:
        from tui.widgets.compiled_pane import CompiledPane

        if self._composition.persona is None:
            self._host.show_message(NO_PERSONA)
            return
        pane = self._compiled = self._compiled or CompiledPane()
        self._panes.cover_prompt(pane)
        pane.focus_target.focus()
        self._show_compiled()

    def _show_compiled(self) -> None:
        found, persona = self._composition.found, self._composition.persona
        assert self._compiled is not None
        tried = f" · with {found.tried_with}" if found is not None and found.tried_with else ""
        name = f"{persona.name} · " if persona is not None else ""  # None: it is being read
        self._compiled.show(f"{name}compiled prompt{tried}", self._lines())

    def _compiled_at(self, link: LinkRow | None) -> None:
        """Put the cursor on the first line that comes from a link."""
        if self._compiled is not None and link is not None:
            for at, line in enumerate(self._compiled.lines):
                if line.piece is not None and (line.piece.kind, line.piece.name) == (link.kind, link.name):
                    self._compiled.go_to(at)
                    return

    def _lines(self) -> Sequence[Any]:
        if (found := self._composition.found) is not None:
            return found.assembled.lines
        from personas.library.assembly import assemble

        persona = self._composition.persona  # links nothing
        return assemble(persona, {}).lines if persona is not None else ()

    def close(self) -> None:
        """Show the prompt again, and go back to the composition if the compiled prompt had the keys."""
        had_focus = self.has_focus
        self._panes.cover_prompt(None)
        if had_focus:
            self._panes.action_go("composition")

    def open_line(self, at: int) -> None:
        """Go where a line of the compiled prompt comes from."""
        lines = self._compiled.lines if self._compiled is not None else ()
        line = lines[at] if at < len(lines) else None
        if line is None or line.piece is None:
            self._host.show_message("This line is a separator; it has no source.")
        elif line.piece.document is None:
            self._panes.action_go("prompt")
            self._prompt.editor.move_cursor(((line.source_line or 1) - 1, 0))
        else:
            self._host.open_library(line.piece.document.kind, line.piece.name)

    # -- what is asked --------------------------------------------------------------------------------------

    def on_request(self, operation: str) -> None:
        """Do what a command of the pane asks."""
        persona, link = self._composition.persona, self._pane.link
        if persona is None:
            self._host.show_message(NO_PERSONA)
        elif operation == "compiled":
            self.action_compiled()
            self._compiled_at(link)
        elif operation == "open":
            self._open(link)
        elif operation in ("add", "stage", "try", "each_stage"):
            self._host.start(getattr(self, f"_{operation}")())
        elif link is not None and not link.is_own:
            self._host.show_message(NOT_THIS)
        elif link is not None:
            self._host.start(self._change_link(operation, link))

    def _open(self, link: LinkRow | None) -> None:
        if link is None:
            return
        if link.kind == "persona":
            self._panes.action_go("prompt")
        elif link.is_wrong or link.kind == "note":
            name = "" if link.kind == "note" else f"{link.kind} {link.name}: "
            self._host.show_message(f"{name}{link.description}.")
        else:
            self._host.open_library(cast("Kind", link.kind), link.name)

    async def _change_link(self, operation: str, link: LinkRow) -> None:
        from personas.library_changes import move_link, set_priority, unlink
        from tui.screens.dialogs.text_prompt import AskLine

        persona, kind = self._composition.persona, cast("Kind", link.kind)
        assert persona is not None
        if operation == "remove":
            await self._store(unlink(kind, link.name))
            self._host.show_message(self._undoable(f"Unlinked the {kind} {link.name}."))
        elif operation in ("up", "down"):
            beside = neighbour(persona, kind, link.name, -1 if operation == "up" else 1)
            if beside:
                await self._store(move_link(kind, link.name, beside, before=operation == "up"))
        elif kind != "part":
            self._host.show_message("Only parts have a priority.")
        else:
            now = next(one.priority for one in persona.parts if one.name == link.name)
            explanation = "When the prompt is too long, parts with the lowest priority are dropped first."
            dialog = AskLine(
                f"Priority of {link.name}", text=str(now), explanation=explanation, check=_number
            )
            if (answer := await self._host.ask(dialog)) is not None:
                await self._store(set_priority(link.name, int(answer)))

    def _undoable(self, message: str) -> str:
        return sentence("edit.undo", self._host.keymap, f"{message} {{}} undoes it.", message)

    async def _store(self, change: Any) -> None:
        documents = self._view.documents
        if documents is not None and documents.id is not None:
            persona_id = documents.id
            await documents.flush()
            documents.take(await documents.workspace.change(persona_id, change))

    async def _add(self) -> None:
        from personas.library_changes import link
        from tui.screens.dialogs.picker import Picker

        persona, home = self._composition.persona, self._view.home
        if persona is None or home is None:
            return
        documents = await asyncio.to_thread(_documents, home, ("part", "trait", "skill", "guardrail", "arc"))
        taken = (
            {one.key for one in rows_of(found) if one.is_own} if (found := self._composition.found) else set()
        )
        rows = [_row_of(one) for one in documents.values() if f"{one.kind}/{one.name}" not in taken]
        if not rows:
            self._host.show_message(
                "There is nothing to link: the library has no other documents. /library creates them."
            )
            return
        dialog = Picker("Link", rows, filter=True, preview=lambda key: _preview(documents[key]))
        if (key := await self._host.ask(dialog)) is None:
            return
        one, order = documents[key], max((part.order for part in persona.parts), default=0)
        await self._store(link(one.kind, one.name, order=order or None))
        self._linked = key
        self._panes.action_go("composition")

    async def _stage(self) -> None:
        from personas.library_changes import set_stage
        from tui.screens.dialogs.picker import Picker
        from tui.widgets.virtual_list import Row

        if (found := self._composition.found) is None or not found.stages:
            self._host.show_message("This persona has no arc with stages. Link one first.")
            return
        arc, rows = found.persona.arc, []
        now = (arc.stage if arc is not None else None) or found.stages[0].name
        stages = {one.name: one for one in found.stages}
        width = max(map(len, stages))
        for name, one in stages.items():
            counts = _counts(await self._outputs.reports_with(replace(_plain(), stage=name)))
            said = one.condition or one.description
            rows.append(Row(name, said, name, counts, current=name == now, head_cells=width))
        dialog = Picker(f"Stage of {arc.name if arc is not None else ''}", rows, at=now,
                      preview=lambda name: f"{stages[name].condition}\n{stages[name].description}")  # fmt: skip
        if (stage := await self._host.ask(dialog)) is not None and stage != now:
            await self._store(set_stage(stage))

    async def _try(self) -> None:
        """Let the person choose what to try the persona with; what is tried already is not tried any more."""
        from tui.screens.dialogs.picker import Picker
        from tui.widgets.virtual_list import Row

        home, found = self._view.home, self._composition.found
        if home is None:
            return
        options = self._outputs.options or _plain()
        parts = await asyncio.to_thread(_documents, home, ("part",))
        stages = {f"stage/{one.name}": one for one in found.stages} if found is not None else {}
        rows = [Row("", "the saved composition", "nothing")] if self._outputs.options is not None else []
        rows += [
            Row(
                key,
                one.condition or one.description,
                f"stage = {one.name}",
                current=options.stage == one.name,
            )
            for key, one in stages.items()
        ]
        rows += [
            Row(
                key,
                one.description,
                f"{one.type} = {one.name}",
                current=options.overrides.get(one.type) == one.name,
            )
            for key, one in parts.items()
            if one.error is None and one.type
        ]
        if not rows:
            self._host.show_message(
                "There is nothing to try: the library has no parts, and this persona has no arc."
            )
            return
        dialog = Picker("Try with (until you quit)", rows, filter=True,
                      preview=lambda key: _preview(parts[key]) if key in parts else "")  # fmt: skip
        key = await self._host.ask(dialog)
        if key is None:
            return
        if key in stages:
            name = stages[key].name
            options = replace(options, stage=None if options.stage == name else name)
        elif key:
            kind, name = parts[key].type, parts[key].name
            kept = {one: value for one, value in options.overrides.items() if one != kind}
            is_tried = options.overrides.get(kind) == name
            options = replace(options, overrides=kept if is_tried else {**kept, kind: name})
        self._composition.try_with(options if key and options != _plain() else None)

    async def _each_stage(self) -> None:
        found = self._composition.found
        if found is None or not found.stages:
            self._host.show_message("This persona has no arc with stages. Link one first.")
            return
        options = self._outputs.options or _plain()
        names = [one.name for one in found.stages]
        reports = await self._outputs.run(each=[replace(options, stage=name) for name in names])
        if reports is not None:
            counts = (f"{name}: {_counts(one.inputs)}" for name, one in zip(names, reports, strict=True))
            self._host.show_message("Each stage: " + " · ".join(counts))


def _plain() -> Any:
    from personas.compiled import Options

    return Options()


def _number(text: str) -> None:
    try:
        int(text)
    except ValueError:
        raise InvalidValue("A priority is a whole number.") from None


def _documents(home: Home, kinds: Sequence[Any]) -> dict[str, LibraryDocument]:
    """Return the documents of these kinds by key. Blocking."""
    from personas.library.folders import read_all

    return {f"{kind}/{one.name}": one for kind in kinds for one in read_all(home, kind)}


def _row_of(document: LibraryDocument) -> Row:
    from tui.widgets.virtual_list import Row

    said = document.error.message if document.error is not None else document.description
    return Row(
        f"{document.kind}/{document.name}",
        f"{document.name}: {said}" if said else document.name,
        head=f"{document.kind} {document.type}".strip(),
        tone="error" if document.error is not None else "",
    )


def _preview(document: LibraryDocument) -> str:
    if document.kind == "arc":
        return "\n".join(f"{one.name}: {one.condition or one.description}" for one in document.stages)
    return document.text


def _counts(reports: Sequence[InputReport]) -> str:
    """Return how many test inputs have which verdict, in words; empty where there is no output."""
    if not any(one.outputs for one in reports):
        return ""
    words = {"pass": "passed", "fail": "failed", "error": "open", "none": "without expectations"}
    counts = {word: sum(one.verdict == verdict for one in reports) for verdict, word in words.items()}
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)
