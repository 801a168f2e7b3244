"""What a tool on the library is: its name, its input and answer, what a call may do, and the function that does it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from agent.tools.spec import Effect
from personas.dry_run_store import DryRunStore
from personas.errors import InvalidValue
from personas.library.documents import Kind
from personas.library_store import LibraryStore
from personas.store import Store
from personas.versions.authorship import Author


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryTool:
    """One tool on the library.

    Attributes:
        name: as a model calls it.
        label: for the person, a few words.
        description: for the model.
        input: pydantic model of the arguments; a key that was not given is not in its `model_fields_set`.
        answer: pydantic model of what `call` returns.
        effect: `read`, `write` or `destructive`.
        run: the tool itself; returns the fields of the answer.
        kind, key: the kind of document that a call changes, and the argument that names it; None: it changes none.
    """

    name: str
    label: str
    description: str
    input: type[BaseModel]
    answer: type[BaseModel]
    effect: Effect
    run: Callable[[LibraryStore, Any], Mapping[str, Any]]
    kind: Kind | None = None
    key: str = "name"

    def call(self, store: Store, by: Author, given: BaseModel, *, is_read_only: bool = False) -> BaseModel:
        """Make a call and return its answer, an instance of `answer`; see `to_record`. Blocking.

        Args:
            store: of the home.
            by: who asks; what is changed is recorded as theirs.
            given: an instance of `input`.
            is_read_only: nothing is changed or stored.

        Raises:
            PersonaError: the call cannot be made; nothing is changed.
        """
        if is_read_only and self.effect != "read":
            raise InvalidValue(f"{self.name} changes something, and only reading is allowed here.")
        library = LibraryStore(store, by=by, is_read_only=is_read_only)
        return self.answer.model_validate(self.run(library, given))

    def rehearse(self, store: Store, given: BaseModel) -> tuple[Mapping[str, tuple[str, str]], str]:
        """Return the texts before and after a call, by document, and who uses what it changes. Nothing is written.

        Raises:
            PersonaError: the call could not be made.
        """
        rehearsal = DryRunStore(store)
        done = self.run(LibraryStore(rehearsal), given)
        users = [
            one["name"] if one["kind"] == "persona" else f"arc/{one['name']}" for one in done.get("users", ())
        ]
        named = ", ".join(dict.fromkeys([*users, *done.get("personas", ())]))
        return rehearsal.texts, f"Used by {named}." if named else ""

    def is_shared(self, store: Store, given: BaseModel) -> bool:
        """Return whether a call changes a document that has more than one user. Blocking."""
        return self.kind is not None and LibraryStore(store).is_shared(self.kind, getattr(given, self.key))


def to_record(answer: BaseModel) -> dict[str, Any]:
    """Return an answer as a JSON object, without keys that this call has no value for."""
    return answer.model_dump(mode="json", exclude_unset=True)
