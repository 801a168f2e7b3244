"""What is edited in the person's own editor: a message, a persona's file, the settings. It comes back merged."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from personas.errors import PersonaError, UnknownPersona
from tui.external_editor.process import EditorFailed

if TYPE_CHECKING:
    from personas.assets import Asset
    from personas.files.home import Home
    from tui.app.app import PersonaApp
    from tui.document.controller import DocumentController
    from tui.document.merge import MergeConflict
    from tui.external_editor.message_file import DraftFile
    from tui.external_editor.persona_file import HandedOut


async def edit_draft(app: PersonaApp) -> None:
    """Let the person write what is in the chat bar in their editor; it comes back into the bar.

    What an editor that failed had saved comes back too; that it failed is told. Where the program must end first,
    the next one takes back what is in the file.

    Raises:
        PersonaError: the editor could not be started, or the text cannot be handed to it.
    """
    from tui.external_editor.message_file import hand_out, left_more, merged

    main = app.main
    async with app.external_editor.reserved() as is_free:
        if not is_free:
            return
        home = main.documents.workspace.store.home if main.documents is not None else None
        bar, persona_id = main.bar, main.conversation.shown_id
        asked, text = bar.asked, bar.draft
        failure, more = "", ""
        try:
            draft = await asyncio.to_thread(hand_out, home, persona_id, text)
        except OSError as error:
            raise PersonaError(f"The message cannot be handed to the editor: {error.strerror}.") from None
        try:
            if not await app.external_editor.run(
                app, draft.path, () if draft.lock is None else (draft.lock,)
            ):
                return
        except EditorFailed as error:
            failure = str(error)
        except PersonaError:
            await asyncio.to_thread(draft.remove)
            raise
        written = await _read_back(draft)
        news = draft.is_news(written) and not (failure and not written)
        if news and bar is not main.chat_bar:
            bar.set_draft(merged(text, bar.draft, written))  # of a talk, whose draft is on no disk
        elif news:
            main.conversation.drafts.take_draft(persona_id, text, written, older=main.chat_bar.asked != asked)
            await main.remember()
        left_others = bool(failure) and await asyncio.to_thread(draft.has_others)
        if left_others:
            await asyncio.to_thread(draft.keep, written)
            more = " " + left_more(draft.folder)
        else:
            await asyncio.to_thread(draft.remove)
    if failure:
        what = "What it had saved is in the chat bar." if news else "It had saved nothing new."
        app.main.show_message(f"{failure} {what}{more}", error=True)


async def _read_back(draft: DraftFile) -> str:
    """Return what the editor left of a draft.

    Raises:
        PersonaError: nothing, or nothing that can be read; what there is stays where it is.
    """
    from tui.external_editor.message_file import left_more

    try:
        return await asyncio.to_thread(draft.read)
    except FileNotFoundError:
        said = "Your editor removed the file of the message: the draft is as it was."
        if await asyncio.to_thread(draft.has_others):
            await asyncio.to_thread(draft.keep, draft.before)
            said += " " + left_more(draft.folder)
        else:
            await asyncio.to_thread(draft.remove)
    except OSError as error:
        await asyncio.to_thread(draft.keep, draft.before)
        said = f"What your editor left cannot be read ({error.strerror}): it is in {draft.folder}."
    raise PersonaError(said)


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
    """Let the person edit the open persona's file; what they wrote is a change of theirs, and one step of undo.

    What it took away of changes made meanwhile is put back; where both touch, the person chooses.
    """
    from personas.external_writes import end_edit
    from tui.external_editor.persona_file import hand_out

    failure = ""
    async with app.external_editor.reserved() as is_free:
        if not is_free:
            return
        await editing.flush()
        persona = editing.persona
        if persona is None:
            return
        store, call = editing.workspace.store, editing.workspace.call
        handed = None
        paths = store.file(persona.id).paths_now()
        path, *beside = [one for one in paths if one.exists()] or paths[:1]
        if persona.system_prompt_file and beside:
            path, beside = beside[0], [path]  # the prompt first
        try:
            handed = await call(hand_out, store, persona.id)
            if len(paths) > 1:
                handed = None  # versions of several files in one are no texts that could be merged
        except PersonaError as error:
            app.main.show_message(f"What your editor takes away cannot be brought back: {error}", error=True)
        editing.in_hand = True
        try:
            if not await app.external_editor.run(app, path, beside=beside):
                return
        except EditorFailed as error:
            failure = str(error)
        finally:
            editing.in_hand = False
            unit = await call(end_edit, store, persona.id)
        await editing.read_again(quiet=True, outside=not unit)
        conflict = None if handed is None else await _merge_back(app, editing, handed)
    if failure:
        now = editing.persona
        changed = now is not None and now.id == persona.id and now.revision != persona.revision
        app.main.show_message(
            f"{failure} {'What it had saved is shown.' if changed else 'It had saved nothing new.'}",
            error=True,
        )
    if conflict is not None:
        await _choose(app, editing, persona.id, conflict)


async def _merge_back(
    app: PersonaApp, editing: DocumentController, handed: HandedOut
) -> MergeConflict | None:
    """Put back what the editor's copy took away, and say so; returns where that touches what was written."""
    from tui.document.merge import MergeConflict
    from tui.external_editor.persona_file import take_back

    workspace = editing.workspace
    try:
        done = await workspace.write(take_back, workspace.store, handed)
    except UnknownPersona:
        return None  # the editor removed the file, which is told already
    except PersonaError as error:
        app.main.show_message(
            f"What was changed while your editor was open may be kept only as a version: {error} "
            f"See: persona log {handed.persona_id}",
            error=True,
        )
        return None
    if isinstance(done, MergeConflict):
        return done
    if done is not None:
        editing.take(done.persona)
        app.main.show_message(
            "Your editor saved an older copy: what was changed meanwhile is merged with it."
        )
    return None


async def _choose(
    app: PersonaApp, editing: DocumentController, persona_id: str, conflict: MergeConflict
) -> None:
    """Let the person choose between what the editor saved, which is in the file, and what was there before."""
    from tui.document.merge import MergeConflict
    from tui.external_editor.persona_file import MERGED, save_file, spoils

    chosen = await editing.view.choose(conflict, "Your editor", "Meanwhile")
    if chosen is None:
        app.main.show_message(
            "Your editor saved over lines that were changed meanwhile; what stood there is kept as a version: "
            f"persona log {persona_id}",
            error=True,
        )
        return
    if spoils(chosen, conflict.ours, conflict.theirs):
        app.main.show_message(
            "Both in one would not be a persona file: yours is in the file, the other is kept as a version: "
            f"persona log {persona_id}",
            error=True,
        )
        return
    workspace = editing.workspace
    try:
        done = await workspace.write(
            save_file, workspace.store, persona_id, conflict.ours, chosen, MERGED, own_unit=True
        )
    except PersonaError as error:
        app.main.show_message(f"Not saved: {error}", error=True)
        return
    if isinstance(done, MergeConflict):
        app.main.show_message(
            "The file was changed again in the same lines and stays as it is; both are kept as versions: "
            f"persona log {persona_id}",
            error=True,
        )
    elif editing.id == persona_id:
        editing.take(done.persona)
