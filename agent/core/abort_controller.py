"""How the outside reaches into a run: to end it, or one of its tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.core.events import Outcome
from agent.core.model import Usage
from agent.core.turns import NoticeTurn

if TYPE_CHECKING:
    from agent.core.run import Run


class Interrupts:
    """How the outside reaches into the run that uses it: ends it, or one of its tools.

    One run at a time may use it; it belongs to the thread of the event loop.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self._outcome: Outcome = "cancelled"
        self._notice: NoticeTurn | None = None
        self._run: Run | None = None

    def abort(
        self, reason: str = "", *, outcome: Outcome = "cancelled", notice: NoticeTurn | None = None
    ) -> None:
        """End the run with this outcome, at once, wherever it is. Later calls change nothing.

        Args:
            reason: why.
            outcome: `cancelled`, or `limit` when a limit of the application was reached.
            notice: what the conversation says about it, as the run's last turn.
        """
        if self.reason is None:
            self.reason = reason or "stopped by the user"
            self._outcome, self._notice = outcome, notice
            if self._run is not None:
                self._run.stop(outcome, self.reason, notice)

    def cancel_tool(self, call_id: str) -> bool:
        """End one tool without ending the run; return whether a call of this id was open."""
        return self._run is not None and self._run.cancel_call(call_id)

    @property
    def usage(self) -> Usage:
        """Tokens of all requests of the run so far."""
        return self._run.usage if self._run is not None else Usage()

    def attach(self, run: Run) -> None:
        """Reach into `run` from now on; an abort that came before counts."""
        self._run = run
        if self.reason is not None:
            run.stop(self._outcome, self.reason, self._notice)

    def detach(self, run: Run) -> None:
        """The run is over; the next one starts without its abort."""
        if self._run is run:
            self._run = self.reason = self._notice = None
            self._outcome = "cancelled"
