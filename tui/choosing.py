"""Two texts that met, shown to the person until what they chose from is what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from personas.errors import PersonaError
from tui.unsaved import PROMPT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui.desk import Desk
    from tui.draft import Clash
    from tui.editing import Editing
    from tui.widgets.text_editor import TextEditor

CHANGED_AGAIN = "It was changed once more meanwhile: this is what stands there now."
SETTLED = "Nothing was chosen: it was changed once more meanwhile, and holds both by now."


async def choose_newest(
    desk: Desk, editing: Editing, editor: TextEditor, is_open: Callable[[], bool], told: str = ""
) -> tuple[Clash, str] | None:
    """Show both texts of an editor where they touch, again where another was written meanwhile: none is used unseen.

    Args:
        desk: where they are shown.
        editing: reads what is stored.
        editor: has the texts.
        is_open: whether the editor still has the text that the person was asked about.
        told: as in `Desk.choose`.

    Returns:
        What was shown last, and what was chosen of it; None for not now, or where nothing is left to choose.
    """
    clash = editor.clash
    while clash is not None:
        chosen = await desk.choose(clash, "Yours", "On disk", told)
        if chosen is None or not is_open():
            return None
        await editing.read_again(quiet=True)  # the next look is up to a second away
        if not is_open():
            return None
        if editor.clash == clash:
            return clash, chosen
        clash = editor.clash
        desk.tell(SETTLED if clash is None else CHANGED_AGAIN, error=True)
    return None


class PromptChoice:
    """Lets the person choose between the prompt in the editor and the one on disk."""

    def __init__(self, desk: Desk, editing: Editing) -> None:
        self._desk, self._editing = desk, editing
        self._choosing = False

    async def choose(self) -> None:
        """Show both texts where they touch, and store what the person chooses.

        Only when the person asks: a dialog of its own accord would take keys meant for the text as its answer.
        """
        editing = self._editing
        editor, persona_id = self._desk.prompt, editing.id
        if editor.clash is None or persona_id is None or self._choosing:
            return
        self._choosing = True
        try:
            found = await choose_newest(self._desk, editing, editor, lambda: editing.id == persona_id)
        finally:
            self._choosing = False
        if found is None:
            return
        clash, chosen = found
        if chosen != clash.ours:
            try:
                await editing.workspace.keep_version(persona_id, clash.ours, "your text, not taken")
            except PersonaError as error:
                self._desk.tell(f"Nothing was chosen: your text could not be kept. {error}", error=True)
                return
            if editor.clash != clash or editing.id != persona_id:
                return  # settled by another way meanwhile, or to be asked once more
        editor.tell_choice(editing.past, PROMPT, clash, chosen)
        editor.take(chosen)
        editor.mark_saved(clash.theirs)
        self._desk.show_state()
        await editing.save()
