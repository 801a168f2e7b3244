"""Two texts that met, shown to the person until what they chose from is what there is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from personas.errors import PersonaError
from personas.persona_reading import read_persona
from tui.document.merge import has_met_more
from tui.drafts.unsaved_edits import PROMPT

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from personas.store import Store
    from tui.document.editor_view import Desk
    from tui.document.merge import Clash
    from tui.document.session import Editing
    from tui.document.undo_stack import Stored
    from tui.widgets.text.document_editor import TextEditor

REPLACED = (
    "The agent changed the lines you are typing in. What you type stays in the editor and is kept; "
    "undo takes the agent's change back."
)
CHANGED_AGAIN = "Nothing was chosen: it was changed once more meanwhile."
SETTLED = "Nothing was chosen: it was changed once more meanwhile, and holds both by now."


async def choose_newest(
    desk: Desk, editing: Editing, editor: TextEditor, is_open: Callable[[], bool], told: str = ""
) -> tuple[Clash, str] | None:
    """Show both texts of an editor where they touch. Where another was written meanwhile, which was not seen, none is
    chosen; it is not shown of its own accord, for the keys that are on their way are meant for the text.

    Args:
        desk: where they are shown.
        editing: reads what is stored.
        editor: has the texts.
        is_open: whether the editor still has the text that the person was asked about.
        told: as in `Desk.choose`.

    Returns:
        What was shown, and what was chosen of it; None for nothing.
    """
    clash = editor.clash
    if clash is None:
        return None
    chosen = await desk.choose(clash, "Yours", "On disk", told)
    if chosen is None or not is_open():
        return None
    await editing.read_again(quiet=True)  # the next look is up to a second away
    if not is_open():
        return None
    if editor.clash == clash:
        return clash, chosen
    desk.tell(SETTLED if editor.clash is None else CHANGED_AGAIN, error=True)
    return None


async def take_choice(
    desk: Desk,
    editing: Editing,
    editor: TextEditor,
    place: str,
    is_open: Callable[[], bool],
    keep: Callable[[str, str], Awaitable[object]],
    told: str = "",
) -> bool:
    """Have the person choose between both texts of an editor, which then holds what was chosen, to be stored.

    Args:
        desk, editing, editor, is_open, told: as in `choose_newest`.
        place: the name of the text in the past.
        keep: keeps a text that is not taken as a version, with the reason.

    Returns:
        Whether something was chosen and is still to be stored.
    """
    found = await choose_newest(desk, editing, editor, is_open, told)
    if found is None:
        return False
    clash, chosen = found
    if chosen != clash.ours:
        try:
            await keep(clash.ours, "your text, not taken")
        except PersonaError as error:
            desk.tell(f"Nothing was chosen: your text could not be kept. {error}", error=True)
            return False
    if not is_open() or editor.clash != clash:
        return False  # settled by another way meanwhile, or to be asked once more
    editor.tell_choice(editing.past, place, clash, chosen)
    editor.take(chosen)
    editor.mark_saved(clash.theirs)
    return True


class PromptChoice:
    """Lets the person choose between the prompt in the editor and the one on disk."""

    def __init__(self, desk: Desk, editing: Editing) -> None:
        self._desk, self._editing = desk, editing
        self._choosing = False

    async def tell_replaced(self, clash: Clash, saved: str, deed: Stored) -> None:
        """Say that the agent changed what is being typed, unless that met what others wrote, and the agent did not.

        Args:
            clash: what met when the agent had written.
            saved: what was known to be stored until then.
            deed: the agent's run.
        """
        editing, persona_id = self._editing, self._editing.id
        before = await editing.workspace.call(
            _prompt_before, editing.workspace.store, persona_id or "", deed.run_id
        )
        is_the_agents = before is None or before == saved or has_met_more(clash, before)
        if is_the_agents and editing.id == persona_id and self._desk.prompt.clash is not None:
            self._desk.tell(REPLACED, error=True)

    async def choose(self) -> None:
        """Show both texts where they touch, and store what the person chooses.

        Only when the person asks: a dialog of its own accord would take keys meant for the text as its answer.
        """
        editing = self._editing
        editor, persona_id = self._desk.prompt, editing.id
        if editor.clash is None or persona_id is None or self._choosing:
            return
        keep = partial(editing.workspace.keep_version, persona_id)
        self._choosing = True
        try:
            taken = await take_choice(
                self._desk, editing, editor, PROMPT, lambda: editing.id == persona_id, keep
            )
        finally:
            self._choosing = False
        if taken:
            self._desk.show_state()
            await editing.save()


def _prompt_before(store: Store, persona_id: str, run_id: str | None) -> str | None:
    """Return the system prompt as it was before what a run changed last; None where nobody knows. Blocking."""
    try:
        version = next(one for one in store.log(persona_id) if one.by.run_id == run_id)
        persona = read_persona(persona_id, store.version_text(persona_id, version).encode())
    except (PersonaError, StopIteration):
        return None
    return persona.system_prompt if persona.error is None else None
