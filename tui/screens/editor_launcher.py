"""What is edited in the person's own editor: a message, a persona's file, the settings. It comes back merged."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from personas.errors import PersonaError
from tui.external_editor.process import EditorFailed

if TYPE_CHECKING:
    from personas.assets import Asset
    from personas.files.home import Home
    from tui.app.app import PersonaApp
    from tui.document.controller import DocumentController
    from tui.document.merge import MergeConflict
    from tui.external_editor.persona_file import FileCopy


async def edit_draft(app: PersonaApp) -> None:
    """Let the person write what is in the chat bar in their editor; it comes back into the bar.

    What an editor that failed had saved comes back too; that it failed is told. Where the program must end first, Up brings
    back what is in the file at the next start.

    Raises:
        PersonaError: the editor could not be started, or the text cannot be handed to it.
    """
    from tui.drafts.chat_drafts import after_editor
    from tui.drafts.copies import as_read, hand_out_message, read_copy, remove_copy, remove_if_same

    main, failure = app.main, ""
    async with app.external_editor.reserved() as is_free:
        if not is_free:
            return
        home = main.documents.workspace.store.home if main.documents is not None else None
        bar, persona_id = main.bar, main.conversation.shown_id
        asked, text = bar.asked, bar.draft
        copy = await asyncio.to_thread(hand_out_message, home, text)
        try:
            if not await app.external_editor.run(app, copy):
                return
        except EditorFailed as error:
            failure = str(error)
        except PersonaError:
            await asyncio.to_thread(remove_copy, copy)
            raise
        try:
            written = (await asyncio.to_thread(read_copy, copy)).removesuffix("\n")
        except PersonaError as error:
            is_gone = await asyncio.to_thread(remove_if_same, copy, text)
            where = "" if is_gone else f" It is kept in {copy}."
            raise PersonaError(f"The draft is unchanged: {error}.{where}") from None
        news = written != as_read(text) and not (failure and not written)
        if news and bar is not main.chat_bar:
            bar.set_draft(after_editor(text, bar.draft, written))  # of a talk, whose draft is on no disk
        elif news:
            main.conversation.drafts.take_draft(persona_id, text, written, older=main.chat_bar.asked != asked)
            await main.remember()
        await asyncio.to_thread(remove_copy, copy)
    if failure:
        what = "What it saved is in the chat bar." if news else "It saved no changes."
        app.main.show_message(f"{failure} {what}", error=True)


async def edit_settings(app: PersonaApp, path: Path) -> bool:
    """Let the person edit their settings file, which is made if need be; return whether the file may be another.

    Raises:
        PersonaError: it cannot be made, or the editor failed.
    """
    async with app.external_editor.reserved() as is_free:
        if not is_free:
            return False
        await asyncio.to_thread(_make_settings, path)
        return await app.external_editor.run(app, path)


async def edit_asset(app: PersonaApp, home: Home, asset: Asset) -> None:
    """Let the person edit an asset; it is their file, and what they make of it is not looked at.

    Raises:
        PersonaError: it is no regular file of the home any more, or the editor failed.
    """
    from personas.assets import read_asset

    async with app.external_editor.reserved() as is_free:
        if is_free:
            await asyncio.to_thread(read_asset, home, asset)
            await app.external_editor.run(app, asset.path)


def _make_settings(path: Path) -> None:
    if not path.exists():
        from tui.settings.schema import write_settings

        write_settings(path, {})


async def edit_file(app: PersonaApp, editing: DocumentController) -> None:
    """Let the person edit a copy of each file of the open document; what they wrote is a change of theirs, one undo.

    It is merged with what was changed meanwhile; where both touch, the person chooses. A copy that cannot be taken over
    stays where it is.
    """
    from tui.drafts.copies import copies_of
    from tui.external_editor.persona_file import hand_out

    failure = ""
    async with app.external_editor.reserved() as is_free:
        if not is_free:
            return
        await editing.flush()
        if (key := editing.id) is None:
            return
        store, call = editing.workspace.store, editing.workspace.call
        for left in await call(copies_of, store.home.state, key):
            app.main.show_message(
                f"An earlier edit of {key}, or one that is still open, left its text in {left}."
            )
        copies = await call(hand_out, store, key)
        try:
            await app.external_editor.run(app, *(one.copy for one in copies))
        except EditorFailed as error:
            failure = str(error)
        finally:
            changed, conflicts = await _take_over(app, editing, key, copies)
    if failure:
        what = "What it saved is shown." if changed else "It saved no changes."
        app.main.show_message(f"{failure} {what}", error=True)
    for file, conflict in conflicts:
        await _choose(app, editing, key, file, conflict)


async def _take_over(
    app: PersonaApp, editing: DocumentController, key: str, copies: list[FileCopy]
) -> tuple[bool, list[tuple[Path, MergeConflict]]]:
    """Save what an editor left in the copies; return whether there was anything, and the conflicts, by file.

    The editor's text of a conflict is kept as a version first, whatever is chosen.
    """
    from tui.document.merge import MergeConflict
    from tui.document.store_merged import save_file
    from tui.drafts.copies import read_copy, remove_copy, remove_if_same
    from tui.external_editor.persona_file import BY_HAND, keep_text, unit_of

    workspace, store = editing.workspace, editing.workspace.store
    unit, changed, conflicts = unit_of(copies), False, []
    for file, before, copy in copies:
        try:
            text = await workspace.call(read_copy, copy)
            if text != before:
                changed = True
                done = await workspace.write(save_file, store, key, file, before, text, BY_HAND, unit)
                if isinstance(done, MergeConflict):
                    await workspace.write(keep_text, store, key, file, text)
                    conflicts.append((file, done))
                else:
                    editing.take(done.persona)
                    if done.merged:
                        app.main.show_message("Changes made while your editor was open were merged.")
        except PersonaError as error:
            is_gone = await workspace.call(remove_if_same, copy, before)
            kept = "nothing was changed" if is_gone else f"your text is kept in {copy}"
            app.main.show_message(f"Not saved: {str(error).rstrip('.')}; {kept}.", error=True)
        else:
            if app.external_editor.has_ended:
                await workspace.call(remove_copy, copy)
    return changed, conflicts


async def _choose(
    app: PersonaApp, editing: DocumentController, key: str, file: Path, conflict: MergeConflict
) -> None:
    """Let the person choose between what the editor saved and what is in the file."""
    from tui.document.merge import MergeConflict, spoils
    from tui.document.store_merged import save_file
    from tui.external_editor.persona_file import MERGED

    workspace, why = editing.workspace, ""
    chosen = await editing.view.choose(conflict, "Your editor", "Meanwhile")
    if chosen is None:
        why = "The file was not changed"
    elif spoils(chosen, conflict.ours, conflict.theirs):
        why = "The merged file would not be valid"
    elif chosen != conflict.theirs:
        try:
            done = await workspace.write(
                save_file, workspace.store, key, file, conflict.theirs, chosen, MERGED
            )
        except PersonaError as error:
            why = f"Not saved: {str(error).rstrip('.')}"
        else:
            if isinstance(done, MergeConflict):
                why = "The file changed again in the same lines"
            else:
                editing.take(done.persona)
    if why:
        told = f"{why}; what your editor saved is kept as a version: persona log {key}"
        app.main.show_message(told, error=True)
