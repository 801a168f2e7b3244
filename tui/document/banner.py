"""What is wrong with the open file, or waits for a decision, for the line above its text. No widget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.commands.registry import sentence

if TYPE_CHECKING:
    from personas.persona import Persona
    from tui.commands.registry import Keymap
    from tui.document.controller import DocumentController

BOTH_SIDES = " {} shows both sides to choose from."


def banner_of(documents: DocumentController, keymap: Keymap, what: str) -> str:
    """Return what is wrong with the open file and what helps, else what waits for a decision; empty for nothing.

    Args:
        documents: has the open document.
        keymap: the person's own keys.
        what: what the text is called, such as "prompt".
    """
    document, persona = documents.document, documents.persona
    if document is None or persona is None:
        return ""
    if documents.state == "gone":
        back = sentence("edit.compare", keymap, " {} restores it.")
        return f"The file is missing. What you typed is kept.{back}"
    if (error := persona.error) is not None:
        where = f" (line {error.line}, column {error.column})" if error.line else ""
        banner = f"{error.message}{where}."
        if persona.lacks_prompt_file:
            return f"{banner} Typing here creates it again."
        if has_git_conflict(persona):
            banner += sentence("edit.compare", keymap, BOTH_SIDES)
        if persona.revision:
            banner += sentence("editor.external", keymap, " {} opens the file to fix it.")
        if document.dirty:
            banner += " What you type is kept and saved once it is fixed."
        return banner
    if documents.state == "conflict":
        both = sentence("edit.compare", keymap, " {} shows both to choose from.")
        return f"This {what} was changed elsewhere in the same lines.{both}"
    if documents.state == "failed":
        return f"Not saved: {documents.trouble}"
    if persona.note is not None:
        both = sentence("edit.compare", keymap, BOTH_SIDES)
        return f"{persona.note.message} of the file.{both if has_git_conflict(persona) else ''}"
    if (count := len(document.proposals)) > 1:
        shows = sentence("edit.compare", keymap, " {} shows the newest.")
        return f"{count} proposals need review.{shows}"
    shows = sentence("edit.compare", keymap, " {} shows it.")
    return f"A proposal needs review.{shows}" if count else ""


def has_git_conflict(persona: Persona) -> bool:
    """Whether a file of it has the markers of git."""
    from personas.conflict_marks import CONFLICT

    return any(one is not None and one.message.startswith(CONFLICT) for one in (persona.note, persona.error))
