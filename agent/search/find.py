"""Finding text in every persona, in what the personas answered, and in the library."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from agent.outputs.output_log import OutputLog
from agent.search.pattern import Pattern
from personas.errors import PersonaError
from personas.files.home import Home
from personas.library.documents import KINDS, is_name
from personas.library.folders import SKILL_FILE, names, path_of
from personas.library_document import parse_key
from personas.store import Store
from personas.texts import PROMPT, TextAt, texts_in

Among = Literal["prompts", "inputs", "outputs", "library"]
AMONG: tuple[Among, ...] = ("prompts", "inputs", "outputs", "library")
OUTPUT = "output "
_BEFORE, _FAR = 12, 24  # characters shown before what was found, where it stands so far behind the beginning


@dataclass(frozen=True, slots=True)
class Hit:
    """A line in which something was found.

    Attributes:
        id: of the persona, or `KIND/NAME`.
        where: which of its texts, see `TextAt`; `output INPUT` for an answer to a test input.
        line: of that text, from 1.
        text: of the line.
        column: where it was found first in the line, from 0.
        output_id: of the output.
    """

    id: str
    where: str
    line: int
    text: str
    column: int
    output_id: str = ""

    @property
    def shown(self) -> str:
        """The line, where the place is far behind its beginning from shortly before it on."""
        return self.text.strip() if self.column < _FAR else f"…{self.text[self.column - _BEFORE :]}"

    def to_record(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {"id": self.id, "where": self.where, "line": self.line, "text": self.text}


class Search:
    """One search through a home. What is found is read as far as one asks.

    Args:
        store: of the home.
        pattern: what to look for.
        among: in what.

    Attributes:
        unread: the documents that could not be read so far, each with the reason.
    """

    def __init__(self, store: Store, pattern: Pattern, among: Collection[Among] = AMONG) -> None:
        self._store, self._pattern, self._among = store, pattern, among
        self.unread: list[tuple[str, str]] = []

    def hits(self) -> Iterator[Hit]:
        """Yield what is found, each line once: persona by persona, then the library. Blocking.

        Raises:
            InvalidValue: the pattern cannot be used, see `Pattern.matches`.
        """
        personas = self._store.ids() if {*self._among} - {"library"} else []
        for persona_id in personas:
            if {"prompts", "inputs"} & {*self._among}:
                for one in self._read(persona_id):
                    if ("prompts" if one.where == PROMPT else "inputs") in self._among:
                        yield from self._found(persona_id, one.where, one.text)
            if "outputs" in self._among:
                yield from self._outputs(persona_id)
        for key in library_keys(self._store.home) if "library" in self._among else ():
            for one in self._read(key):
                yield from self._found(key, one.where, one.text)

    def _read(self, key: str) -> list[TextAt]:
        try:
            return read_texts(self._store, key, self._pattern)
        except PersonaError as error:
            self.unread.append((key, str(error)))
            return []

    def _outputs(self, persona_id: str) -> Iterator[Hit]:
        log = OutputLog(self._store.home, persona_id)
        try:
            outputs = log.read().outputs if log.holds(self._pattern.rough) else []
        except PersonaError as error:
            self.unread.append((f"outputs of {persona_id}", str(error)))
            return
        for output in reversed(outputs):
            yield from self._found(persona_id, f"{OUTPUT}{output.input_id}", output.text, output.id)

    def _found(self, key: str, where: str, text: str, output_id: str = "") -> Iterator[Hit]:
        line = at = end = 0
        for match in self._pattern.matches(text):
            if match.start < end:
                continue  # in a line that was found
            line += text.count("\n", at, match.start) + (not line)
            at, begin = match.start, text.rfind("\n", 0, match.start) + 1
            end = text.find("\n", match.start)
            end = len(text) if end < 0 else end
            yield Hit(key, where, line, text[begin:end], at - begin, output_id)


def read_texts(store: Store, key: str, pattern: Pattern) -> list[TextAt]:
    """Return the texts of a document; none where its file shows already that nothing is found.

    Raises:
        PersonaError: it cannot be read.
    """
    text = store.text(key)
    if "\\" not in text and pattern.rough not in text.lower():  # without escapes a value is as it reads
        return []
    return texts_in(key, text, is_skill_file=is_skill_file(store.home, key))


def library_keys(home: Home) -> list[str]:
    """Return the keys of all documents of the library."""
    return [f"{kind}/{name}" for kind in KINDS for name in names(home, kind) if is_name(name)]


def is_skill_file(home: Home, key: str) -> bool:
    """Whether a document is a `SKILL.md`."""
    path = path_of(home, *parse_key(key)) if "/" in key else None
    return path is not None and path.name == SKILL_FILE
