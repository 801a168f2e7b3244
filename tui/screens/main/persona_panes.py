"""The row of panes: what is asked and left in them goes to the controllers, and the borders can be dragged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from textual import events, on
from textual.containers import Horizontal

from tui.widgets.composition_pane import CompositionPane
from tui.widgets.persona_fields import SettingsPane
from tui.widgets.persona_list import PersonaList
from tui.widgets.prompt_pane import Banner
from tui.widgets.test_input_list import TestInputList
from tui.widgets.text.document_editor import DocumentEditor
from tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from tui.app.host import Host
    from tui.screens.main.composition_actions import CompositionActions
    from tui.screens.main.layout import PaneLayout
    from tui.screens.main.output_viewing import OutputViewing
    from tui.screens.main.persona_actions import PersonaActions
    from tui.screens.main.persona_commands import PersonaCommands
    from tui.screens.main.persona_view import PersonaView
    from tui.widgets.compiled_pane import CompiledPane
    from tui.widgets.output_pane import OutputPane


class PersonaPanes(Horizontal):
    """The panes side by side.

    Args:
        host: the main screen.
        layout: how they stand.
        view: shows the open persona.
        actions: what the editors ask.
        commands: what the lists ask.
        viewing: what the output pane shows.
        composition: what the composition pane asks.
    """

    def __init__(
        self,
        host: Host,
        layout: PaneLayout,
        view: PersonaView,
        actions: PersonaActions,
        commands: PersonaCommands,
        viewing: OutputViewing,
        composition: CompositionActions,
    ) -> None:
        super().__init__(*layout.columns, id="panes")
        self._host, self._layout = host, layout
        self._view, self._actions, self._commands, self._viewing = view, actions, commands, viewing
        self._composition = composition
        self._dragging = ""

    # -- the editors and fields -----------------------------------------------------------------------------

    @on(DocumentEditor.UndoExhausted)
    def _undo_exhausted(self, event: DocumentEditor.UndoExhausted) -> None:
        event.stop()
        self._actions.undo_exhausted(event)

    @on(DocumentEditor.RedoDropped)
    def _redo_dropped(self, event: DocumentEditor.RedoDropped) -> None:
        event.stop()
        self._actions.redo_dropped(event)

    @on(DocumentEditor.Blurred)
    def _editor_left(self, event: DocumentEditor.Blurred) -> None:
        event.stop()
        self._actions.save_now(event.editor.slot)

    @on(SettingsPane.FieldBlurred)
    def _field_left(self, event: SettingsPane.FieldBlurred) -> None:
        event.stop()
        self._actions.save_now(event.slot)

    @on(SettingsPane.ChoiceRequested)
    def _choose_setting(self, event: SettingsPane.ChoiceRequested) -> None:
        event.stop()
        self._host.start(self._actions.choose_setting(event.field))

    @on(DocumentEditor.Refused, "#prompt")
    def _refused_in_prompt(self, event: DocumentEditor.Refused) -> None:
        event.stop()
        self._actions.refuse_in_prompt()

    @on(TestInputList.Refused)
    def _refused_in_input(self, event: TestInputList.Refused) -> None:
        event.stop()
        self._actions.refuse_in_input(event.typed)

    @on(Banner.Changed)
    def _banner_changed(self, event: Banner.Changed) -> None:
        event.stop()
        self._host.program.place_messages()

    # -- the lists --------------------------------------------------------------------------------------------

    @on(TestInputList.OperationRequested)
    def _test_operation(self, event: TestInputList.OperationRequested) -> None:
        event.stop()
        rows = self._layout.widget(TestInputList).rows
        self._host.start(self._operate(self._commands.on_test_input, event, event.input_id, rows))

    @on(TestInputList.Pasted)
    def _pasted_among_inputs(self, event: TestInputList.Pasted) -> None:
        event.stop()
        self._host.start(self._commands.paste_test_inputs(event.text))

    @on(PersonaList.OperationRequested)
    def _persona_operation(self, event: PersonaList.OperationRequested) -> None:
        event.stop()
        rows = self._layout.widget(PersonaList).rows
        self._host.start(self._operate(self._commands.on_persona, event, event.persona_id, rows))

    async def _operate(
        self,
        operate: Callable[..., Awaitable[bool]],
        event: TestInputList.OperationRequested | PersonaList.OperationRequested,
        key: str | None,
        rows: VirtualList,
    ) -> None:
        """Do what is asked; what is done to all that is marked clears the marks."""
        if event.marked and event.operation in ("delete", "duplicate", "move_to", "copy_to"):
            if await operate(event.operation, key, event.marked):
                rows.clear_marks()
        else:
            await operate(event.operation, key)

    @on(PersonaList.Opened)
    def _opened(self, event: PersonaList.Opened) -> None:
        event.stop()
        self._host.start(self._view.open_persona(event.persona_id))

    @on(VirtualList.Marked)
    def _marks_changed(self, event: VirtualList.Marked) -> None:
        event.stop()
        self._host.show_keys()

    # -- outputs ----------------------------------------------------------------------------------------------

    @on(TestInputList.OutputRequested)
    def _open_output(self, event: TestInputList.OutputRequested) -> None:
        event.stop()
        self._viewing.open(event.input_id, else_edit=event.else_edit)

    @on(TestInputList.ExpectationsRequested)
    def _edit_expectations(self, event: TestInputList.ExpectationsRequested) -> None:
        event.stop()
        self._viewing.edit_expectations(event.input_id)

    def on_output_pane_requested(self, event: OutputPane.Requested) -> None:
        event.stop()
        self._viewing.on_request(event.operation, event.text)

    # -- the composition --------------------------------------------------------------------------------------

    @on(CompositionPane.Requested)
    def _composition_operation(self, event: CompositionPane.Requested) -> None:
        event.stop()
        self._composition.on_request(event.operation)

    def on_compiled_pane_opened(self, event: CompiledPane.Opened) -> None:
        event.stop()
        self._composition.open_line(event.line)

    # -- the borders ------------------------------------------------------------------------------------------

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if border := self._layout.border_at(int(event.screen_x)):
            self._dragging = border
        if self._dragging:
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragging and not event.button:
            self._release()  # its button was let go where nobody told of it: over a dialog, outside the window
        if self._dragging:
            self._layout.drag_border(self._dragging, int(event.screen_x))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._dragging:
            self._release()

    def _release(self) -> None:
        self._dragging = ""
        self.release_mouse()
