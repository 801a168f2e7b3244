"""Proposals: changes of an agent's run that are not written, but wait for the person's word.

A run has one proposal, kept or refused as a whole; what is kept of runs that one message began together is one unit of
undo. It is stored with the versions of each document that it changes, and with those of the run's persona, as
`proposal-N` outside of their numbers. `ProposalStore` is what the run's tools use in
place of `Store`: they read what they propose, and nobody else does. To have a run propose, begin its job with
`AgentJobs.start(..., proposes=True)`; `Chat.proposal` names what it has made.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from personas.document import Document
from personas.errors import Conflict, InvalidValue, NothingToUndo, OutsideHome, UnknownVersion
from personas.files.home import Home
from personas.files.slug import command
from personas.files.text_file import require_size
from personas.persona import Persona
from personas.store import Store
from personas.undo import UndoConflict, without
from personas.versions.authorship import USER, Author, Note, Undone, Version
from personas.versions.log import PROPOSAL, VersionLog, proposal_to_journal
from personas.versions.merge import unified_diff
from personas.versions.undo import Hop, Unit, key_of_proposal
from personas.versions.unit_index import UnitIndex

NOT_PROPOSED = "A run whose changes are a proposal cannot {}; tell the owner what you would do."
NOTHING_PROPOSED = "This run has proposed nothing yet."


@dataclass(frozen=True, slots=True)
class ProposedText:
    """What keeping a proposal does to one document.

    Attributes:
        key: of the document.
        before, after: its text now and as it would be; where that cannot be, the texts that the run began and ended with.
        conflict: why it cannot be kept, None where it can.
    """

    key: str
    before: str
    after: str
    conflict: Conflict | None = None

    @property
    def diff(self) -> str:
        """The unified diff."""
        title = f"{self.key}.toml"
        return unified_diff(self.before, self.after, f"{title} (now)", f"{title} (proposed)")


def is_proposal(name: object) -> bool:
    """Return whether this is the name of a proposal, and not of a version."""
    return isinstance(name, str) and PROPOSAL.match(name) is not None


def open_proposals(store: Store, key: str) -> list[Version]:
    """Return the proposals for a persona or document of the library that wait for the person's word, newest first.

    Raises:
        PersonaError: the key is none, or the disk refuses.
    """
    return store.file(key).versions.proposals()[::-1]


def preview(store: Store, key: str, name: str) -> list[ProposedText]:
    """Return what keeping a proposal would do now to each document, the named one first; nothing is written.

    Raises:
        UnknownVersion: there is no such proposal, or it was kept or refused.
        PersonaError: a document is gone or broken, or the disk refuses.
    """
    found = []
    for file, proposal in _parts(store, key, name):
        before = file.read()
        try:
            after = _merged(file, proposal, before)
            found.append(ProposedText(file.key, file.text(before), file.text(after)))
        except Conflict as conflict:
            found.append(ProposedText(file.key, conflict.base, conflict.ours, conflict))
    return [one for one in found if one.before != one.after] or found[:1]


def keep(store: Store, key: str, name: str) -> Undone:
    """Merge a proposal into the texts as they are now, each as a new version by the run's agent; return what was done.

    Raises:
        Conflict: in one of the documents what was written since is in the same place; nothing is written in any.
        UnknownVersion: there is no such proposal, or it was kept or refused.
        PersonaError: a document is gone, or the disk refuses; what is not kept yet still waits.
    """
    with _held(store, key, name) as parts:
        made = []
        for file, proposal in parts:
            before = file.read()
            made.append((file, proposal, before, _merged(file, proposal, before)))
        for file, proposal, before, after in made:
            # A persona of whose text nothing changes notes that the run changed others: undone from here, so are they.
            if after != before or _is_note(proposal):
                log = file.catch_up(before)
                summary = f"{proposal.name} kept: {proposal.reason}"
                file.write(log, before, after, by=proposal.by, note=("file", proposal.reason), reason=summary)
        _close(parts)
        file, proposal = parts[0]
        also = tuple(other.key for other, _, before, after in made if other.key != key and before != after)
        version = file.log(file.read()).current
    return Undone(store.get(key), version, f"{name} kept: {proposal.reason}", proposal.by.run_id, also)


def refuse(store: Store, key: str, name: str) -> Undone:
    """Drop a proposal in all its documents; return the persona and what was dropped.

    Raises:
        UnknownVersion: there is no such proposal, or it was kept or refused.
        PersonaError: the disk refuses; what is not dropped yet still waits.
    """
    with _held(store, key, name) as parts:
        _close(parts)
        summary = f"{name} refused: {parts[0][1].reason}"
    return Undone(store.get(key), store.current_version(key), summary, parts[0][1].by.run_id)


def _close(parts: list[tuple[Document, Version]]) -> None:
    """Have a proposal wait no more; the one that the person named comes last, so that it can be named again till then."""
    for file, proposal in reversed(parts):
        file.versions.append({"type": "proposal", "name": proposal.name, "closed": True}, sync=True)


def _is_note(proposal: Version) -> bool:
    """Whether it only notes, with the run's persona, that the run proposes changes of other documents."""
    return proposal.before == proposal.sha


def _parts(store: Store, key: str, name: str) -> list[tuple[Document, Version]]:
    """Return each document of a proposal with what is proposed for it, the named one first."""
    file = store.file(key)
    proposal = next((one for one in file.versions.proposals() if one.name == name), None)
    if proposal is None:
        raise UnknownVersion(
            f"{key} has no open proposal {name!r}; `{command('log', key)}` lists those that need review."
        )
    parts = [(file, proposal)]
    for other in UnitIndex(store.home).documents(proposal.unit):
        if other != key:
            parts += ((file, one) for file, one in _of_unit(store, other, proposal.unit))
    return parts


def _of_unit(store: Store, key: str, unit: str) -> list[tuple[Document, Version]]:
    file = store.file(key)
    return [(file, one) for one in file.versions.proposals() if one.unit == unit]


@contextmanager
def _held(store: Store, key: str, name: str) -> Iterator[list[tuple[Document, Version]]]:
    """Hold the locks of all documents of a proposal, the personas' last, as `ProposalStore` does."""
    with ExitStack() as held:
        for file, _ in sorted(
            _parts(store, key, name), key=lambda part: ("/" not in part[0].key, part[0].key)
        ):
            held.enter_context(file.lock())
        yield _parts(store, key, name)  # read again: it may have grown, or be closed by now


def _merged(file: Document, proposal: Version, now: bytes) -> bytes:
    """Return a document's content with what is proposed in it.

    Raises:
        Conflict: what was written since is in the same place, or the outcome would be a broken file.
    """
    assert proposal.sha is not None, "what is proposed is a text"
    unit = Unit(
        proposal.unit, "agent", [Hop(proposal.sha, proposal.before)]
    )  # taken out backwards, it is put in
    try:
        return without(file, unit, now, "redo")
    except UndoConflict as conflict:
        why = str(conflict).rpartition(": ")[2]
        raise Conflict(
            f"Could not keep {proposal.name} of {file.key}: {why}",
            base=conflict.base,
            ours=conflict.ours,
            theirs=conflict.theirs,
        ) from None


def waiting(store: Store) -> list[tuple[str, Version]]:
    """Return every proposal of the home that waits for the person's word, each with its persona's id, oldest first.

    Raises:
        PersonaError: the disk refuses.
    """
    found = []
    for key in UnitIndex(store.home).documents():
        with suppress(OutsideHome):  # its file is none of the home
            if "/" not in key and store.file(key).read_if_there() is not None:
                found += [(key, one) for one in open_proposals(store, key)]
    return sorted(found, key=lambda one: one[1].at)


def proposed_prompt(store: Store, key: str, name: str) -> str:
    """Return the prompt of a persona as a proposal for it would have it, for the person to edit.

    Raises:
        UnknownVersion: there is no such proposal, or it was kept or refused.
        PersonaError: the persona is gone or broken, or the disk refuses.
    """
    return ProposalStore(store, key, _parts(store, key, name)[0][1].by).get(key).system_prompt


def edit(store: Store, key: str, name: str, prompt: str) -> None:
    """Have a proposal for a persona propose this prompt; the rest of it stays, and it waits on.

    Raises:
        UnknownVersion: there is no such proposal, or it was kept or refused.
        InvalidValue: the prompt cannot be stored.
        PersonaError: the persona is gone or broken, or the disk refuses.
    """
    from personas.changes import SetPrompt

    by = _parts(store, key, name)[0][1].by
    ProposalStore(store, key, by).change(key, SetPrompt(prompt), revision=None, by=by)


def _key_of(by: Author) -> str:
    """Return the key of what a run proposes."""
    return key_of_proposal(by.session_id, by.run_id or "")


class ProposalStore(Store):
    """The store of one run whose changes are a proposal: what it changes is proposed, and read here as if it were written.

    What the run proposed before, in this process or another, is there from the beginning. Whatever is not a change of a
    document is refused.

    Args:
        store: where the personas live.
        persona_id: the run's.
        by: the run.
    """

    def __init__(self, store: Store, persona_id: str, by: Author) -> None:
        home = Home(store.home.root)
        super().__init__(home, now=store._now)
        self.real = store
        self.persona_id = persona_id
        self._unit = _key_of(by)
        self._make_document = partial(_ProposedDocument, self)
        for key in UnitIndex(store.home).documents(self._unit):
            for file, proposal in _of_unit(store, key, self._unit):
                if not _is_note(proposal) and proposal.sha is not None:
                    self.read_instead(file, file.versions.load(proposal.sha))

    @property
    def name(self) -> str | None:
        """The name of the run's proposal, None as long as there is none."""
        return next((one.name for _, one in _of_unit(self.real, self.persona_id, self._unit)), None)

    def read_instead(self, file: Document, content: bytes) -> None:
        """Have this content read in place of a document's files."""
        self.home.instead.update(file.unpack(content))

    def fix_version(self, persona_id: str) -> int:
        """Return the number of the version that is written."""
        return self.real.fix_version(persona_id)

    def note_unit(self, persona_id: str, *, by: Author, subject: str, reason: str) -> None:
        """Note nothing: what is proposed for other documents is noted already."""

    def preview_undo(self, persona_id: str) -> tuple[str, str]:
        """Return the text as it is proposed, and as it is written."""
        if self.name is None:
            raise NothingToUndo(NOTHING_PROPOSED)
        return self.shown(persona_id), self.real.shown(persona_id)

    def undo(
        self, persona_id: str, *, by: Author = USER, only: str | None = None, version: str | int | None = None
    ) -> Undone:
        """Take back all that the run has proposed: it is the run's last unit.

        Raises:
            NothingToUndo: it has proposed nothing.
        """
        if (name := self.name) is None:
            raise NothingToUndo(NOTHING_PROPOSED)
        refused = refuse(self.real, self.persona_id, name)
        self.home.instead.clear()
        return replace(refused, persona=self.get(persona_id), summary="what this run has proposed")

    def create(self, name: str, **_given: Any) -> Persona:
        """Refuse."""
        raise InvalidValue(NOT_PROPOSED.format("make a persona"))

    def delete(self, persona_id: str, *, by: Author) -> int | None:
        """Refuse."""
        raise InvalidValue(NOT_PROPOSED.format("delete a persona"))

    def restore(self, persona_id: str, version: str | int, *, by: Author) -> Persona:
        """Refuse; a tool that restores a version makes a change of it."""
        raise InvalidValue(NOT_PROPOSED.format("restore a file"))


class _ProposedDocument(Document):
    """A document as the run reads it: its versions are those that are written, a write of it is proposed."""

    def __init__(self, store: ProposalStore, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._store = store

    def log(self, content: bytes | None) -> VersionLog:
        """Return the log of what is written."""
        written = self._store.real.file(self.key)
        return written.log(written.read_if_there())

    def catch_up(self, content: bytes | None) -> VersionLog:
        """Return the log of what is written, with what others have written meanwhile."""
        written = self._store.real.file(self.key)
        now = written.read_if_there()
        return written.know(now) if now else written.catch_up(now)

    def write(
        self,
        log: VersionLog,
        before: bytes,
        after: bytes,
        *,
        by: Author,
        note: Note,
        **_given: Any,
    ) -> Version:
        """Make a change a part of the run's proposal, on the disk before it is read. Arguments and errors as in `Document`."""
        require_size(after, "document")
        if self.key != self._store.persona_id:
            self._note(by)
        key = _key_of(by)
        known = next((one for one in log.proposals.values() if one.unit == key), None)
        first = before if known is None or _is_note(known) else self.versions.load(known.before)
        changed = [*(known.reason.split(", ") if known is not None else ()), note[0]]
        proposal = self._propose(log, first, after, by, ", ".join(dict.fromkeys(changed)))
        self._store.read_instead(self, after)
        return proposal

    def _note(self, by: Author) -> None:
        """Note with the run's persona that the run proposes something, so that it is found there."""
        file = self._store.file(self._store.persona_id)
        assert isinstance(file, _ProposedDocument), "the store makes no others"
        with file.lock():
            log, content = file.catch_up(None), file.read()
            if all(one.unit != _key_of(by) for one in log.proposals.values()):
                file._propose(log, content, content, by, "the library")

    def _propose(self, log: VersionLog, first: bytes, after: bytes, by: Author, changed: str) -> Version:
        """Record what the run proposes for this document by now, from the text `first` on."""
        made = self._version(
            log, first, after, role="proposal", by=by, subject="file", summary=changed, unit=_key_of(by)
        )
        names = [name for name, one in log.proposals.items() if one.unit == made.unit]
        name = names[0] if names else f"proposal-{log.proposed + 1}"
        for content in (first, after):
            self.versions.store(content)
        self._index.add(made.unit, self.key)
        proposal = replace(made, number=0, name=name)
        self.versions.append(proposal_to_journal(proposal), sync=True)
        return proposal
