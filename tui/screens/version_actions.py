"""The timeline of the versions of the open document, and what is done with one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tui.commands.registry import sentence
from tui.document.version_names import author_name, local_now, reason_of, when

if TYPE_CHECKING:
    from agent.outputs.output_log import Stored
    from agent.outputs.version_counts import VersionCounts
    from personas.persona import Persona
    from personas.store import Store
    from personas.versions.authorship import Version
    from tui.app.host import Host
    from tui.document.controller import DocumentController
    from tui.outputs.controller import OutputsController
    from tui.screens.dialogs.proposal import ShowProposal
    from tui.screens.dialogs.versions import Versions

FIRST_READ = 50
"""Versions that are read before the others: more than a screen shows."""
COUNTED_AT_ONCE = 1_000
"""Versions whose outputs are judged before the next are."""


class _Decided(NamedTuple):
    """What became of a proposal: whether it was kept, None for neither, and in which other documents, in words."""

    kept: bool | None = None
    others: str = ""


class VersionActions:
    """Opens the timeline and does what is chosen in it.

    Args:
        host: the main screen.
        documents: gives what has the open document, None before the home is read.
        outputs: what is known of its outputs; None: it is a document of the library, which has none.
        compare: compares a version with now.
        bisect: finds the version after this one that turned a verdict.
    """

    def __init__(
        self,
        host: Host,
        documents: Callable[[], DocumentController | None],
        outputs: OutputsController | None = None,
        compare: Callable[[int], Awaitable[None]] | None = None,
        bisect: Callable[[int], Awaitable[None]] | None = None,
    ) -> None:
        self._host, self._known, self._outputs = host, documents, outputs
        self._compare, self._bisect = compare, bisect
        self._versions: Sequence[Version] = ()

    @property
    def _documents(self) -> DocumentController:
        documents = self._known()
        assert documents is not None  # else nothing is done
        return documents

    def action_versions(self) -> None:
        self._host.start(self.show())

    async def show(self) -> None:
        """Show the versions of the open document."""
        from tui.screens.dialogs.versions import Versions

        if (documents := self._known()) is None or (persona_id := documents.id) is None:
            self._host.show_message("Open a persona first.")
            return
        await documents.flush()
        dialog = Versions(
            documents.view.name_of(persona_id),
            lambda what, *versions: self._host.start(self._do(dialog, persona_id, what, *versions)),
            has_outputs=self._outputs is not None,
        )
        reading = self._host.start(self._fill(dialog, persona_id))
        await self._host.ask(dialog)
        reading.cancel()

    async def _fill(self, dialog: Versions, persona_id: str) -> None:
        """Show the newest versions and their counts at once, then all others."""
        call, store = self._documents.workspace.call, self._documents.workspace.store
        newest = await call(store.recent_versions, persona_id, FIRST_READ)
        await self._show_versions(dialog, newest, all_read=False)
        if self._outputs is not None and (known := self._outputs.stored) is not None:
            some = {0, *(one.number for one in newest)}
            dialog.show_counts(await call(_count, store, persona_id, known, some))
        await self._read_all(dialog, persona_id)
        if self._outputs is None:
            return
        if (stored := self._outputs.all_stored) is None:
            stored = await call(_read_outputs, store, persona_id)
        numbers = sorted({one.version for one in stored.outputs}, reverse=True)
        for first in range(0, len(numbers), COUNTED_AT_ONCE):
            some = set(numbers[first : first + COUNTED_AT_ONCE])
            dialog.show_counts(await call(_count, store, persona_id, stored, some))

    async def _read_all(self, dialog: Versions, persona_id: str) -> None:
        call, store = self._documents.workspace.call, self._documents.workspace.store
        await self._show_versions(dialog, await call(store.log, persona_id), all_read=True)

    async def _show_versions(self, dialog: Versions, versions: Sequence[Version], *, all_read: bool) -> None:
        from tui.screens.dialogs.versions import version_rows

        self._versions = versions
        await self._documents.look_at_proposals()
        document = self._documents.document
        shown = [*(document.proposals if document is not None else ()), *versions]
        rows = await asyncio.to_thread(version_rows, shown, local_now(), all_read=all_read)
        dialog.show_rows(rows)

    async def _do(self, dialog: Versions, persona_id: str, what: str, version: str, other: str = "") -> None:
        """Do something with a version or two, or a proposal, of the persona whose timeline is open."""
        if self._documents.id != persona_id:
            return
        if not version.isdigit():
            await self.show_proposal(version)
            await self._read_all(dialog, persona_id)
            return
        number = int(version)
        match what:
            case "diff":
                await self._show_diff(persona_id, number)
            case "between":
                await self._show_between(persona_id, number, int(other))
            case "compare" if self._compare is not None:
                await self._compare(number)
            case "bisect" if self._bisect is not None:
                dialog.dismiss()  # what runs is seen below
                await self._bisect(number)
            case "restore":
                await self._restore(persona_id, number)
                await self._read_all(dialog, persona_id)
            case "undo":
                await self._undo(number)
                await self._read_all(dialog, persona_id)
            case "name":
                await self._name(persona_id, number)
                await self._read_all(dialog, persona_id)

    async def _show_diff(self, persona_id: str, number: int) -> None:
        from tui.screens.dialogs.diff import ShowDiff

        version = next((one for one in self._versions if one.number == number), None)
        if version is None:
            self._host.show_message("This is the first text: there is none before it.")
            return
        workspace = self._documents.workspace
        diff = await workspace.call(_diff_of, workspace.store, persona_id, version)
        if not diff:
            self._host.show_message("This version is the same text as the one before.")
            return
        title = f"{when(version.at, local_now())} · {author_name(version.by)} · {reason_of(version)}"
        await self._host.ask(ShowDiff(title, diff))

    async def _show_between(self, persona_id: str, older: int, newer: int) -> None:
        """Show what differs between two versions."""
        from tui.screens.dialogs.diff import ShowDiff

        workspace = self._documents.workspace
        diff = await workspace.call(_diff_between, workspace.store, persona_id, older, newer)
        if diff:
            await self._host.ask(ShowDiff(f"From version {older} to version {newer}", diff))
        else:
            self._host.show_message("These two versions are the same text.")

    async def show_proposal(self, name: str | None = None) -> bool:
        """Show a proposal for the open document, the newest where none is named, and do what the person decides.

        Returns:
            Whether there is one.
        """
        documents = self._documents
        await documents.flush()
        await documents.look_at_proposals()
        if (document := documents.document) is None:
            return False
        proposal = next((one for one in document.proposals if name in (None, one.name)), None)
        if proposal is None:
            return False
        from tui.screens.dialogs.proposal import ShowProposal

        dialog = ShowProposal(stays=True)
        try:
            done = await self._decide(dialog, document.id, proposal)
        finally:
            dialog.dismiss()
        if done is not None:
            back = sentence("agent.undo", self._host.keymap, " {} undoes it.") if done.kept else ""
            also = f", also in {done.others}" if done.others else ""
            outcome = "is kept" if done.kept else "is refused"
            self._host.show_message(f"{proposal.name} {outcome}{also}.{back}")
        return True

    def action_review(self) -> None:
        self._host.start(self.review())

    async def review(self) -> None:
        """Show every proposal of the home that waits, one after another, and do what the person decides of each."""
        from personas.errors import PersonaError
        from personas.proposals import waiting
        from tui.screens.dialogs.proposal import ShowProposal

        if (documents := self._known()) is None:
            return
        workspace = documents.workspace
        queue = await workspace.call(waiting, workspace.store)
        if not queue:
            self._host.show_message("No pending proposals.")
            return
        kept, refused = list[str](), 0
        dialog = ShowProposal(queued=True, stays=True)
        try:
            for place, (key, proposal) in enumerate(queue, 1):
                try:
                    done = await self._decide(dialog, key, proposal, f"{place} of {len(queue)}")
                except PersonaError as error:  # decided elsewhere meanwhile, or the disk refuses: it is left
                    self._host.show_message(str(error), error=True)
                    continue
                if done is None:
                    break
                if done.kept:
                    kept.append(key)
                refused += done.kept is False
        finally:
            dialog.dismiss()
        self._host.show_message(self._reviewed(kept, refused, len(queue)))

    def _reviewed(self, kept: Sequence[str], refused: int, count: int) -> str:
        """Return what came of a review."""
        message = f"{len(kept)} kept, {refused} refused, {count - len(kept) - refused} left."
        if not kept:
            return message
        if self._documents.id in kept:
            return message + sentence("agent.undo", self._host.keymap, " {} undoes what you kept.")
        back = sentence("agent.undo", self._host.keymap, ": {} there undoes what you kept.")
        return f"{message} Open {self._documents.view.name_of(kept[-1])}{back}" if back else message

    async def _decide(
        self, dialog: ShowProposal, key: str, proposal: Version, place: str = ""
    ) -> _Decided | None:
        """Show one proposal, and do what the person decides; None where they close it, and it waits on.

        Args:
            dialog: shows it; it is opened with the first one, and stays open.
            key: of the document.
            proposal: for it.
            place: where it stands in a queue; empty for none.
        """
        from personas.edited_text import edited_diff
        from personas.errors import Conflict
        from personas.proposals import keep, preview, refuse

        documents, workspace, name = self._documents, self._documents.workspace, proposal.name or ""
        shown = [place, documents.view.name_of(key)] if place else []
        title = " · ".join([*shown, name, when(proposal.at, local_now()), reason_of(proposal)])
        while True:
            await documents.flush()
            texts = await workspace.call(preview, workspace.store, key, name)
            diff = "".join(
                edited_diff(one.before, one.after, f"{one.key}.toml", f"{one.key}.toml") for one in texts
            )
            conflict = next((str(one.conflict) for one in texts if one.conflict is not None), "")
            dialog.show(title, diff, conflict, edits="/" not in key)
            if not dialog.is_mounted:
                self._host.start(self._host.ask(dialog))
            match await dialog.decided():
                case None:
                    return None
                case "later":
                    return _Decided()
                case "edit":
                    await self._edit(key, name)
                case decision:
                    await documents.flush()
                    decide = keep if decision == "keep" else refuse
                    try:
                        done = await workspace.write(decide, workspace.store, key, name)
                    except Conflict as error:  # of what was written while it was shown
                        self._host.show_message(str(error), error=True)
                        continue
                    await self._take(key, done.persona, done.run_id if decision == "keep" else None)
                    return _Decided(decision == "keep", done.others if done.also else "")

    async def _edit(self, key: str, name: str) -> None:
        """Let the person edit the prompt that a proposal proposes."""
        from personas.proposals import edit, proposed_prompt
        from tui.screens.dialogs.text_prompt import AskText

        documents, workspace = self._documents, self._documents.workspace

        def keep_begun(text: str) -> None:
            documents.unsaved.note_dialog(key, f"the prompt of {name}", text)
            self._host.start(documents.write_drafts())

        begun = documents.unsaved.in_dialog(key, f"the prompt of {name}")
        text = begun or await workspace.call(proposed_prompt, workspace.store, key, name)
        title = f"The prompt that is proposed for {documents.view.name_of(key)}"
        if prompt := await self._host.ask(AskText(title, text=text, keep=keep_begun, is_long=True)):
            await workspace.write(edit, workspace.store, key, name, prompt)
            keep_begun("")

    async def _take(self, key: str, persona: Persona, run_id: str | None) -> None:
        """Show what a decision made of a document, if it is open; `run_id`: of the run that is kept."""
        if self._documents.id == key:
            if run_id is not None:
                self._documents.take(persona, run_id=run_id)
            await self._documents.look_at_proposals()

    async def look(self) -> None:
        """Look whether a proposal for the open document waits."""
        if (documents := self._known()) is not None:
            await documents.look_at_proposals()

    async def compare(self) -> None:
        """Show both texts of a conflict, offer to write back a file that is gone, or show a proposal or the last change."""
        from tui.screens.dialogs.diff import ShowDiff

        documents = self._documents
        if (document := documents.document) is None:
            return
        if documents.state == "conflict":
            await documents.resolve(document.prompt)
        elif documents.state == "gone":
            text = "It was deleted or moved outside this program. It is restored with your unsaved text."
            if await self._host.confirm("Restore the file?", text, action="Restore", keep="Not now"):
                await documents.write_back()
        elif not (await documents.resolve_git_conflict() or await self.show_proposal()):
            title, diff = await documents.last_change()
            if diff:
                await self._host.ask(ShowDiff(title, diff))
            else:
                self._host.show_message(title)

    async def _restore(self, persona_id: str, number: int) -> None:
        documents = self._documents
        await documents.flush()
        before = await documents.workspace.get(persona_id)
        restored = await documents.workspace.restore(persona_id, number)
        if restored.revision == before.revision:
            self._host.show_message(f"Version {number} is the text as it is now.")
            return
        documents.take(restored)
        back = sentence("edit.undo", self._host.keymap, " {} brings back what was there.")
        self._host.show_message(f"Version {number} is restored.{back}")

    async def _undo(self, number: int) -> None:
        """Undo the unit that a version belongs to, whatever came later; of an undo, redo it."""
        version = next((one for one in self._versions if one.number == number), None)
        if version is None or version.sha is None or version.role in ("kept", "snapshot"):
            self._host.show_message(f"Version {number} is not a change that can be undone.")
            return
        await self._documents.undo.step("redo" if version.role == "undo" else "undo", only=version.unit)

    async def _name(self, persona_id: str, number: int) -> None:
        from tui.screens.dialogs.text_prompt import AskLine

        if not number:
            self._host.show_message("The first text needs no name: it is always kept, and is version 0.")
            return
        workspace = self._documents.workspace
        name = await self._host.ask(
            AskLine(f"Name of version {number}", explanation="A version with a name is always kept.")
        )
        if name:
            await workspace.write(workspace.store.name_version, persona_id, name, version=number)


def _read_outputs(store: Store, persona_id: str) -> Stored:
    from agent.outputs.output_log import OutputLog

    return OutputLog(store.home, persona_id).read()


def _count(
    store: Store, persona_id: str, stored: Stored, numbers: Collection[int]
) -> dict[int, VersionCounts]:
    """Judge what is stored of these versions. Blocking."""
    from agent.outputs.version_counts import count_versions

    return count_versions(stored, numbers, store.get(persona_id).test_inputs, None)


def _diff_between(store: Store, persona_id: str, older: int, newer: int) -> str:
    """Return what differs between two versions. Blocking.

    Raises:
        PersonaError: a text is not stored any more.
    """
    from personas.edited_text import edited_diff

    return edited_diff(*(store.version_text(persona_id, one) for one in (older, newer)))


def _diff_of(store: Store, persona_id: str, version: Version) -> str:
    """Return what a version changed. Blocking.

    Raises:
        PersonaError: a text is not stored any more.
    """
    from personas.edited_text import edited_diff

    before = store.text_before(persona_id, version)
    return edited_diff(before, "" if version.sha is None else store.version_text(persona_id, version))
