"""Replacing text in many documents: first what would change, then writing it, as one unit of undo."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from agent.search.find import is_skill_file, library_keys, read_texts
from agent.search.pattern import Pattern
from personas.changes import ReplaceContent
from personas.dry_run_store import DryRunStore
from personas.edited_text import edited_diff
from personas.errors import PersonaError
from personas.files.text_file import sha256
from personas.store import Store
from personas.texts import change_of
from personas.versions.authorship import USER

Left = list[tuple[str, str]]
"""Documents that are left as they are, each with the reason."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """What replacing changes in one document.

    Attributes:
        key: a persona's id, or `KIND/NAME`.
        before, after: its text as it is shown.
        content: what it is afterwards.
        revision: of the document that was read.
        count: how often something is replaced.
    """

    key: str
    before: str
    after: str
    content: bytes
    revision: str
    count: int

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        return edited_diff(self.before, self.after, self.key, self.key)


def reason(old: str, new: str) -> str:
    r"""Return what the log says of a replacement, on one line, with a backslash as it was typed, as in `\1`."""
    return f"{old!r} replaced by {new!r}".replace("\\\\", "\\")


def all_keys(store: Store) -> list[str]:
    """Return the keys of everything in which text can be replaced: personas, then the library."""
    return [*store.ids(), *library_keys(store.home)]


def preview(store: Store, pattern: Pattern, new: str, keys: Iterable[str]) -> tuple[list[Replacement], Left]:
    """Return what replacing would change in prompts, test inputs and documents of the library. Writes nothing.

    Args:
        store: where they live.
        pattern: what is replaced.
        new: by what, see `Pattern.matches`.
        keys: in which documents.

    Raises:
        InvalidValue: the pattern or `new` cannot be used.
    """
    found: list[Replacement] = []
    left: Left = []
    for key in keys:
        try:
            revision = sha256(
                store.file(key).read_if_there() or b""
            )  # before the text: never newer than that
            texts = read_texts(store, key, pattern)
        except PersonaError as error:
            left.append((key, str(error)))
            continue
        changes = [(one, matches) for one in texts if (matches := pattern.matches(one.text, new))]
        if not changes:
            continue
        try:
            rehearsal, is_skill = DryRunStore(store), is_skill_file(store.home, key)
            for one, _ in changes:
                value = pattern.replaced(one.text, new)
                rehearsal.change(key, change_of(one, value, is_skill_file=is_skill))
        except PersonaError as error:
            left.append((key, str(error)))
            continue
        before, after = rehearsal.texts[key]
        if after != before:
            count = sum(len(matches) for _, matches in changes)
            content = rehearsal.contents[key][1]
            found.append(Replacement(key, before, after, content, revision, count))
    return found, left


def write(store: Store, replacements: Iterable[Replacement], reason: str) -> tuple[list[str], Left]:
    """Write what was previewed, as one unit of undo; a document that is another by now is left.

    Returns:
        The keys of the documents that are changed, and those that are left.
    """
    unit, done, left = f"replace:{secrets.token_hex(8)}", list[str](), Left()
    for one in replacements:
        change = ReplaceContent(one.content, "texts", f"{one.count} replaced")
        try:
            store.change(
                one.key, change, revision=one.revision, by=USER, reason=reason, own_unit=True, unit=unit
            )
            done.append(one.key)
        except PersonaError as error:
            left.append((one.key, str(error)))
    return done, left
