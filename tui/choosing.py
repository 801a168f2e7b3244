"""Two texts that met, shown to the person until what they chose from is what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui.desk import Desk
    from tui.draft import Clash
    from tui.editing import Editing
    from tui.widgets.text_editor import TextEditor

CHANGED_AGAIN = "It was changed elsewhere once more: this is what stands there now."
SETTLED = "Nothing was chosen: it was changed elsewhere once more, and holds both by now."


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
