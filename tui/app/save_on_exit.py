"""The documents when the program ends: what can be saved is, the rest is in the drafts database."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from personas.errors import PersonaError
from tui.app.shutdown import load

if TYPE_CHECKING:
    from tui.document.controller import DocumentController


async def save_before_exit(controller: DocumentController, within: float | None = None) -> None:
    """Store what can be stored, and keep the rest as drafts. An unexpected fault in the storing is raised at the end.

    Args:
        controller: of the documents.
        within: seconds that the files get to take what is kept as a draft already; None for as long as they take.
    """
    flushing = asyncio.ensure_future(controller.flush())
    flushing.add_done_callback(lambda done: done.cancelled() or done.exception())
    keeping = asyncio.ensure_future(load(controller.unsaved.write))  # in a thread that hangs with no other
    try:
        await asyncio.wait({keeping, flushing}, return_when=asyncio.FIRST_COMPLETED)
        is_kept = keeping.done() and not controller.unsaved.nowhere_else()
        await asyncio.wait({flushing}, timeout=within if is_kept else None)
    except asyncio.CancelledError:
        flushing.cancel()
        raise
    if flushing.done() or controller.unsaved.nowhere_else():
        await load(controller.unsaved.write)
    if flushing.done() and not flushing.cancelled():
        fault = flushing.exception()
        if fault is not None and not isinstance(fault, PersonaError):  # those are said on the screen already
            raise fault


async def settle(controller: DocumentController) -> None:
    """Wait until nothing is being written, unless that is kept already, and leave what is to the next program."""
    if not controller.saver.queue:
        await controller.workspace.settled()
    await load(controller.unsaved.store.close)
