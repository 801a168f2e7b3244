"""The conflict of a slot: what is said of it, and how the person chooses between both texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from personas.errors import PersonaError
from personas.persona import read_persona
from tui.commands.registry import sentence
from tui.document.merge import MergeConflict, is_newly_in_conflict
from tui.drafts.draft import INPUT, PROMPT

if TYPE_CHECKING:
    from personas.store import Store
    from tui.commands.registry import Keymap
    from tui.document.document import OpenDocument
    from tui.document.open_documents import OpenDocuments
    from tui.document.text_slot import TextSlot

REPLACED = (
    "The agent changed the lines you are typing in. What you type stays in the editor and is kept; "
    "undo takes the agent's change back."
)
CHANGED_AGAIN = "Your choice was not applied: the text changed again."
SETTLED = "Your choice was not applied: the text changed again and now contains both versions."


def conflict_message(slot: TextSlot, keymap: Keymap) -> str:
    """Return what is said of a test input that was changed on both sides; a prompt has a banner."""
    by_name = "“Show what the last change did”"
    how = sentence(
        "edit.compare", keymap, "{} shows both to choose from.", f"{by_name} shows both to choose from."
    )
    return f"The test input {slot.id.removeprefix(INPUT)} was changed elsewhere in the same lines. {how}"


async def resolve_conflict(controller: OpenDocuments, document: OpenDocument, slot: TextSlot) -> None:
    """Show both texts of a slot and store what the person chooses; a text not taken is kept as a version.

    Only when the person asks: a dialog of its own accord would take keys meant for the text as its answer. Where
    another text was written meanwhile, which was not seen, none is chosen.
    """
    view, conflict = controller.view, slot.conflict
    if conflict is None or controller.choosing:
        return
    controller.choosing = True
    try:
        notice = "" if slot.id == PROMPT else conflict_message(slot, view.keymap)
        chosen = await view.choose(conflict, "Yours", "On disk", notice)
        if chosen is None or controller.document is not document:
            return
        await controller.read_again(quiet=True)  # the next look is up to a second away
        if controller.document is not document or slot.id not in document.slots:
            return
        if not _same(slot.conflict, conflict):
            view.show_message(SETTLED if slot.conflict is None else CHANGED_AGAIN, error=True)
            return
        if chosen != conflict.ours:
            try:
                await controller.workspace.keep_text(
                    document.id, slot.id, conflict.ours, "your text, not chosen"
                )
            except PersonaError as error:
                view.show_message(
                    f"Your choice was not applied: your text could not be kept. {error}", error=True
                )
                return
        if _same(slot.conflict, conflict):  # else settled by another way meanwhile
            slot.take(chosen, conflict.theirs)
            controller.saver.slot_settled(document, slot)
    finally:
        controller.choosing = False


def _same(now: MergeConflict | None, shown: MergeConflict) -> bool:
    return now is not None and (now.ours, now.theirs) == (shown.ours, shown.theirs)


async def show_agent_replaced(
    controller: OpenDocuments, document: OpenDocument, conflict: MergeConflict, stored: str, run_id: str
) -> None:
    """Say that the agent changed what is being typed, unless that is in conflict with what others wrote before.

    Args:
        controller: of the document.
        document: the document.
        conflict: the conflict of the prompt after the agent had written.
        stored: the stored prompt as it was known until then.
        run_id: the agent's run.
    """
    call, store = controller.workspace.call, controller.workspace.store
    before = await call(_prompt_before, store, document.id, run_id)
    is_the_agents = before is None or before == stored or is_newly_in_conflict(conflict, before)
    if is_the_agents and controller.document is document and document.prompt.conflict is not None:
        controller.view.show_message(REPLACED, error=True)


def _prompt_before(store: Store, persona_id: str, run_id: str) -> str | None:
    """Return the system prompt as it was before what a run changed last; None where nobody knows. Blocking."""
    if "/" in persona_id:
        return None
    try:
        version = next(one for one in store.log(persona_id) if one.by.run_id == run_id)
        persona = read_persona(persona_id, store.file(persona_id).versions.load(version.before))
    except (PersonaError, StopIteration):
        return None
    return persona.system_prompt if persona.error is None else None
