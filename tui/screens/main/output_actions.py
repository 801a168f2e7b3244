"""Running test inputs on the main screen, and showing what comes of it: under the test inputs, and in the strip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tui.commands.registry import first_key
from tui.outputs.labels import OutputLine, output_line
from tui.widgets.run_strip import RunStrip
from tui.widgets.test_input_list import TestInputList

if TYPE_CHECKING:
    from tui.app.host import Host
    from tui.chat.controller import ConversationController
    from tui.outputs.controller import OutputsController
    from tui.screens.main.layout import PaneLayout
    from tui.screens.main.output_viewing import OutputViewing


class OutputActions:
    """What Ctrl+T does, and what is seen of outputs.

    Args:
        host: the main screen.
        outputs: what the open persona answered.
        panes: the panes.
        conversations: the agent works beside the runs.
        viewing: the output pane.
        compare_run: called first while the agent's output is read; returns whether it ran the test inputs on before and
            after the run under the cursor.

    Attributes:
        strip: how far runs are.
    """

    def __init__(
        self,
        host: Host,
        outputs: OutputsController,
        panes: PaneLayout,
        conversations: ConversationController,
        viewing: OutputViewing,
        compare_run: Callable[[], bool],
    ) -> None:
        self.strip = RunStrip(id="runs")
        self._compare_run = compare_run
        self._host, self._outputs, self._panes, self._chat = host, outputs, panes, conversations
        self._viewing, self._tests = viewing, panes.widget(TestInputList)
        self._was_running = False
        outputs.observe(self.show)

    def action_run_inputs(self) -> None:
        if self._chat.panel_controller.reading and self._compare_run():
            return
        if self._viewing.has_focus:
            self.run((self._viewing.input_id,))
        elif self._panes.here != "tests":
            self.run(())
        elif marked := self._tests.rows.marked:
            self.run(marked)
        else:
            self.run((key,) if (key := self._tests.rows.key) is not None else ())

    def action_stop_inputs(self) -> None:
        if not self._outputs.stop():
            self._host.show_message("No test input is being run.")

    def run(self, input_ids: Sequence[str]) -> None:
        """Run these test inputs, all where none is named."""
        self._host.start(self._outputs.run(input_ids))

    def show(self) -> None:
        """Show outputs and runs as they are now."""
        now, persona, lines = datetime.now(UTC), self._outputs.persona, dict[str, OutputLine]()
        for one in persona.test_inputs if persona is not None else ():
            line = output_line(self._outputs.state(one.id), self._outputs.streaming(one.id), now)
            if line is not None:
                lines[one.id] = line
        self._tests.show_outputs(lines)
        progress = self._outputs.progress
        key = "" if self._chat.tasks.can_stop else first_key("back", self._host.keymap)
        broadcast = self._chat.broadcast.parts if self._chat.broadcast is not None else ()
        parts = progress.parts if progress is not None else broadcast
        self.strip.show(parts, f"{key} stops" if key else "")
        is_running = self._outputs.is_running or self._chat.broadcast is not None
        if self._was_running is not is_running:
            self._was_running = is_running
            self._host.show_keys()
