"""The output pane at work: which output of a test input it shows, and what its commands do."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from personas.errors import PersonaError
from tui.document.version_names import local_now, when
from tui.outputs.labels import SOURCES
from tui.widgets.test_input_list import TestInputList

if TYPE_CHECKING:
    from agent.outputs.output_log import Output
    from personas.changes import Change
    from personas.persona import Persona, TestInput
    from tui.app.host import Host
    from tui.document.controller import DocumentController
    from tui.outputs.controller import OutputsController
    from tui.screens.dialogs.expectations import Expectations
    from tui.screens.main.layout import PaneLayout
    from tui.screens.main.persona_view import PersonaView
    from tui.widgets.output_pane import OutputPane, ShownOutput, ShownRequest

NO_OUTPUT = "No output yet. This is what is sent to the model. Without one, send it elsewhere and paste the answer here."


class OutputViewing:
    """The outputs of one test input at a time, in a pane over the prompt.

    Args:
        host: the main screen.
        panes: where the pane stands.
        view: the open persona, which expectations are stored in.
        outputs: what it answered.
    """

    def __init__(self, host: Host, panes: PaneLayout, view: PersonaView, outputs: OutputsController) -> None:
        self._host, self._panes, self._view, self._outputs = host, panes, view, outputs
        self._tests = panes.widget(TestInputList)
        self._pane: OutputPane | None = None
        self._persona_id = ""
        self.input_id = ""
        """The test input in the pane."""
        self._at = ""  # the id of the output in sight; empty for the newest
        self._pinned = ""
        self._wants_request = False  # what is sent is shown, though there are outputs
        self._form: Expectations | None = None
        self._is_due = False
        self._showing: asyncio.Task[Any] | None = None
        outputs.observe(self.refresh)

    # -- opening and closing ------------------------------------------------------------------------------

    @property
    def has_focus(self) -> bool:
        """Whether the pane has the keys."""
        return self._pane is not None and self._pane.has_focus

    @property
    def is_open(self) -> bool:
        """Whether it stands over the prompt."""
        return self._pane is not None and self._panes.over_prompt is self._pane

    def open(self, input_id: str, *, else_edit: bool = False, output_id: str = "") -> None:
        """Show the outputs of a test input: this one, else the last; with `else_edit` edit it where there are none."""
        persona = self._outputs.persona
        if persona is None or (else_edit and not self._all(input_id)):
            self._tests.action_edit()
            return
        if (persona.id, input_id) != (self._persona_id, self.input_id):
            self._at, self._wants_request = "", False
        self._persona_id, self.input_id = persona.id, input_id
        self._at = output_id or self._at
        pane = self._pane or self._make()
        self._panes.cover_prompt(pane)
        pane.focus()  # at once: what is typed behind the key goes there
        self.refresh()

    def _make(self) -> OutputPane:
        from tui.widgets.conversation import Glyphs
        from tui.widgets.output_pane import OutputPane

        terminal = self._host.program.capabilities
        glyphs = Glyphs(ascii_only=terminal.ascii_only)
        self._pane = pane = OutputPane(glyphs=glyphs, frames_per_second=terminal.frames_per_second)
        return pane

    def close(self) -> None:
        """Show the prompt again, and go back to the test inputs if the pane had the keys."""
        had_focus = self.has_focus
        self._panes.cover_prompt(None)
        if had_focus:
            self._panes.action_go("tests")

    def leave(self) -> None:
        """Go back from what is sent to the output, else close the pane."""
        if self._wants_request:
            self._wants_request = False
            self.refresh()
        else:
            self.close()

    # -- what is shown ------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Something may be another now: show it."""
        if self.is_open or self._form is not None:
            self._is_due = True
            if self._showing is None or self._showing.done():
                self._showing = self._host.start(self._show_due())

    async def _show_due(self) -> None:
        while self._is_due:
            self._is_due = False
            await self._show()

    async def _show(self) -> None:
        from tui.widgets.output_pane import ShownRequest

        if (form := self._form) is not None:
            await self._show_form(form)
        persona, pane = self._outputs.persona, self._pane
        if not self.is_open or pane is None:
            return
        test_input = self._test_input(self.input_id)
        if persona is None or persona.id != self._persona_id or test_input is None:
            self.close()
            return
        outputs = self._all(test_input.id)
        current = self._current(outputs)
        shown: ShownOutput | ShownRequest
        if current is None or self._wants_request:
            note = "This is what is sent to the model." if outputs else NO_OUTPUT
            request, trouble = await asyncio.to_thread(self._request, persona, test_input)
            shown = ShownRequest(request, note, trouble)
        else:
            shown = await self._held(current, test_input)
        if (persona.id, test_input.id) == (self._persona_id, self.input_id) and self.is_open:
            pane.show(*self._frame(outputs, current, shown))

    def _frame(
        self, outputs: list[Output], current: Output | None, shown: ShownOutput | ShownRequest
    ) -> tuple[str, ShownOutput | ShownRequest, list[tuple[str, str]]]:
        is_output = current is not None and not self._wants_request
        keys = [("outputs.older", "older"), ("outputs.newer", "newer")] if len(outputs) > 1 else []
        if is_output and current is not None:
            keys += [("outputs.compare", "compare")] if self._other(outputs, current) is not None else []
            keys += [("outputs.pin", "pin"), ("outputs.keep", "keep")]
        keys.append(("outputs.expectations", "expectations"))
        keys += [("outputs.request", "what is sent" if is_output else "output")] if outputs else []
        keys.append(("outputs.paste", "paste an answer"))
        if not is_output or current is None:
            return f"What is sent for {self.input_id}", shown, keys
        return f"Output of {self.input_id} · {outputs.index(current) + 1} of {len(outputs)}", shown, keys

    def _test_input(self, input_id: str) -> TestInput | None:
        """Return a test input of the open persona as it is stored."""
        persona = self._outputs.persona
        inputs = persona.test_inputs if persona is not None else ()
        return next((one for one in inputs if one.id == input_id), None)

    def _all(self, input_id: str) -> list[Output]:
        """Return the outputs of a test input, the newest first, before them those that are being made."""
        from agent.outputs.output_log import Output
        from tui.widgets.output_pane import STREAMING

        return [
            Output(id=f"{STREAMING} {sample}", input_id=input_id, sample=sample, text=text or "", input_hash="",
                   prompt_hash="", settings_hash="", started_at="")
            for sample, text in sorted(self._outputs.streaming(input_id).items())
            if text is not None
        ] + self._outputs.outputs_of(input_id)  # fmt: skip

    def _current(self, outputs: list[Output]) -> Output | None:
        newest = outputs[0] if outputs else None
        return next((one for one in outputs if one.id == self._at), newest)

    def _other(self, outputs: list[Output], current: Output) -> Output | None:
        """Return what an output is compared with: the pinned one, else the one before it, else the one after."""
        if self._pinned and self._pinned != current.id:
            pinned = next((one for one in outputs if one.id == self._pinned), None)
            if pinned is not None:
                return pinned
        place = outputs.index(current)
        return next((outputs[at] for at in (place + 1, place - 1) if 0 <= at < len(outputs)), None)

    async def _held(self, output: Output, test_input: TestInput) -> ShownOutput:
        """Return an output with what holds of it by now."""
        from tui.widgets.output_pane import STREAMING, ShownOutput

        if output.id.startswith(STREAMING):
            return ShownOutput(output, samples=test_input.samples or 1)
        stored = self._outputs.stored
        return ShownOutput(
            output,
            tuple(await self._outputs.verdicts(output)),
            tuple(await asyncio.to_thread(self._outputs.outdated, output)),
            samples=test_input.samples or 1,
            is_kept=stored is not None and output.id in stored.kept,
            is_pinned=output.id == self._pinned,
            tried_with=self._outputs.tried_with(output),
        )

    def _request(self, persona: Persona, test_input: TestInput) -> tuple[Any, str]:
        """Return what is sent for a test input, and why it cannot be. Blocking."""
        from agent.outputs.variant import fault_of_input

        fault = fault_of_input(test_input)
        try:
            variant = self._outputs.evaluator.variant_now(persona, self._outputs.options)
            request = None if fault else variant.request(test_input)
        except PersonaError as error:
            return None, str(error)
        return request, fault and f"This test input cannot be run: {fault}."

    # -- what is asked ------------------------------------------------------------------------------------

    def on_request(self, operation: str, text: str) -> None:
        """Do what a command of the pane asks; what it needs may be gone by now."""
        outputs = self._all(self.input_id)
        current = self._current(outputs)
        if operation in ("older", "newer") and current is not None:
            place = outputs.index(current) + (1 if operation == "older" else -1)
            self._at = outputs[max(0, min(place, len(outputs) - 1))].id if place > 0 else ""
            self._wants_request = False
        elif operation == "request" and outputs:
            self._wants_request = not self._wants_request
        elif operation == "pin" and current is not None:
            self._pinned = "" if self._pinned == current.id else current.id
        elif operation == "copy" and self._pane is not None:
            self._host.program.copy(self._pane.text)
        elif operation == "keep" and current is not None:
            self._host.start(self._keep(current))
        elif operation == "compare" and current is not None:
            self._host.start(self._compare(outputs, current))
        elif operation == "expectations":
            self.edit_expectations(self.input_id)
        elif operation == "paste":
            self._host.start(self._paste(text))
        self.refresh()

    async def _keep(self, output: Output) -> None:
        stored = self._outputs.stored
        kept = stored is not None and output.id in stored.kept
        await self._outputs.keep(output.id, kept=not kept)
        self._host.show_message(
            "Output no longer kept; it may be deleted with old outputs."
            if kept
            else "Output kept; it will not be deleted with old ones."
        )

    async def _compare(self, outputs: list[Output], current: Output) -> None:
        from tui.screens.dialogs.comparison import ShowComparison, outputs_pair

        if (other := self._other(outputs, current)) is None:
            self._host.show_message("There is no other output to compare with. Run the test input again.")
            return
        pair = sorted((other, current), key=outputs.index, reverse=True)
        names = (await self._title(pair[0]), await self._title(pair[1]))
        texts = (pair[0].error or pair[0].text, pair[1].error or pair[1].text)
        dialog = ShowComparison(f"Two outputs of {self.input_id}", names, [outputs_pair(texts)])
        await self._host.ask(dialog)

    async def _title(self, output: Output) -> str:
        """Return where an output comes from, with the types of expectations that it fails."""
        failed = [one.type for one in await self._outputs.verdicts(output) if one.verdict == "fail"]
        parts = [
            f"version {output.version}",
            self._outputs.tried_with(output),
            output.model,
            SOURCES.get(output.source or "", ""),
            when(output.started_at, local_now()),
        ]
        return " · ".join(filter(None, [*parts, f"fails {', '.join(failed)}" if failed else ""]))

    async def _paste(self, text: str) -> None:
        """Take an answer from elsewhere as an output of what would be sent now."""
        from tui.screens.dialogs.text_prompt import AskText

        documents, persona_id, input_id = self._view.documents, self._persona_id, self.input_id
        if documents is None:
            return
        begun = documents.unsaved.in_dialog(persona_id, "pasted answer")
        keep = partial(self._keep_begun, documents, persona_id, "pasted answer")
        question = f"An answer to {input_id} from elsewhere"
        if not (answer := await self._host.ask(AskText(question, text=text or begun, keep=keep))):
            return
        await documents.flush()
        if (test_input := self._test_input(input_id)) is None or documents.id != persona_id:
            self._host.show_message(
                f"The test input {input_id} was deleted; the answer is kept in the field.", error=True
            )
            return
        await self._outputs.add(await asyncio.to_thread(self._pasted, persona_id, test_input, answer))
        keep("")
        self._at, self._wants_request = "", False
        self.refresh()

    def _keep_begun(self, documents: DocumentController, persona_id: str, dialog: str, text: str) -> None:
        documents.unsaved.note_dialog(persona_id, dialog, text)
        self._host.start(documents.write_drafts())

    def _pasted(self, persona_id: str, test_input: TestInput, answer: str) -> Output:
        """Return a pasted answer as an output of the persona as it is. Blocking."""
        from agent.outputs.output_log import PASTED, make_output
        from agent.outputs.variant import read_runnable, samples_of

        evaluator, stored = self._outputs.evaluator, self._outputs.stored
        persona = read_runnable(evaluator.store, persona_id)
        variant = evaluator.variant(persona, fixed=True, options=self._outputs.options)
        samples = samples_of(test_input)
        taken = stored.fresh(variant, test_input, samples) if stored is not None else {}
        sample = next((one for one in range(1, samples + 1) if one not in taken), 1)
        return make_output(
            variant, test_input, text=answer, sample=sample, stop_reason="end_turn", source=PASTED
        )

    # -- expectations ---------------------------------------------------------------------------------------

    def edit_expectations(self, input_id: str) -> None:
        """Show the expectations of a test input to change; what is changed there is stored and judged at once."""
        from tui.screens.dialogs.expectations import Expectations

        documents = self._view.documents
        if (test_input := self._test_input(input_id)) is None or documents is None or documents.id is None:
            return
        persona_id = documents.id
        self._form = Expectations(
            test_input,
            lambda change, draft: self._host.start(self._store(persona_id, change, draft)),
            begun=partial(documents.unsaved.in_dialog, persona_id),
            keep=partial(self._keep_begun, documents, persona_id),
        )
        self._host.program.push_screen(self._form, lambda _: self._form_closed())
        self.refresh()

    def _form_closed(self) -> None:
        self._form = None

    async def _show_form(self, form: Expectations) -> None:
        if (test_input := self._test_input(form.input_id)) is None:
            form.dismiss(None)
            return
        outputs = self._outputs.outputs_of(test_input.id)
        current = self._current(outputs) if test_input.id == self.input_id else next(iter(outputs), None)
        form.show(test_input, [] if current is None else await self._outputs.verdicts(current))

    async def _store(self, persona_id: str, change: Change, draft: str) -> None:
        documents = self._view.documents
        if documents is not None:
            await documents.flush()
            documents.take(await documents.workspace.change(persona_id, change))
            if draft:
                self._keep_begun(documents, persona_id, draft, "")
            self.refresh()
