"""Finding text in every persona, in what the personas answered, and in the library."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from agent.outputs.output_log import OutputLog
from agent.search.pattern import Match, Pattern
from personas.errors import PersonaError
from personas.files.home import Home
from personas.folder import prompt_in
from personas.library.documents import KINDS, is_name
from personas.library.folders import SKILL_FILE, names, path_of
from personas.library_document import parse_key
from personas.store import Store
from personas.text_index import PersonaTexts, texts_of_all
from personas.texts import PROMPT, PROMPT_FILE, TextAt, texts_in

Among = Literal["prompts", "inputs", "outputs", "library"]
AMONG: tuple[Among, ...] = ("prompts", "inputs", "outputs", "library")
OUTPUT = "output "
_AT_ONCE = 200  # texts
_BEFORE, _FAR = 12, 24  # characters shown before what was found, where it stands so far behind the beginning


class _Text(NamedTuple):
    """What is looked through: whose, which of its texts, the text, the output that it is."""

    id: str
    where: str
    text: str
    output_id: str = ""


class Hit(NamedTuple):
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
        texts = self._texts()
        while some := list(islice(texts, _AT_ONCE)):
            found = self._pattern.matches_of([one.text for one in some])
            for one, matches in zip(some, found, strict=True):
                yield from _lines(one, matches)

    def _texts(self) -> Iterator[_Text]:
        if {"prompts", "inputs"} & {*self._among}:
            personas = texts_of_all(self._store)
        else:
            personas = (PersonaTexts(one, []) for one in self._store.ids() if "outputs" in self._among)
        logs = self._store.home.inside(self._store.home.outputs)
        for persona_id, texts, error in personas:
            if error is not None:
                self.unread.append((persona_id, str(error)))
            for where, text in texts:
                if ("prompts" if where == PROMPT else "inputs") in self._among:
                    yield _Text(persona_id, where, text)
            if "outputs" in self._among:
                yield from self._outputs(persona_id, logs)
        for key in library_keys(self._store.home) if "library" in self._among else ():
            try:
                for one in read_texts(self._store, key, self._pattern):
                    yield _Text(key, one.where, one.text)
            except PersonaError as error:
                self.unread.append((key, str(error)))

    def _outputs(self, persona_id: str, folder: Path) -> Iterator[_Text]:
        log = OutputLog(self._store.home, persona_id, folder=folder)
        try:
            outputs = log.texts() if log.holds(self._pattern.rough) else []
        except PersonaError as error:
            self.unread.append((f"outputs of {persona_id}", str(error)))
            return
        for output_id, input_id, text in outputs:
            yield _Text(persona_id, f"{OUTPUT}{input_id}", text, output_id)


def _lines(one: _Text, matches: Sequence[Match]) -> Iterator[Hit]:
    key, where, text, output_id = one
    line = at = end = 0
    for match in matches:
        if (start := match.start) < end:
            continue  # in a line that was found
        line += text.count("\n", at, start) + (not line)
        at, begin = start, text.rfind("\n", 0, start) + 1
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield Hit(key, where, line, text[begin:end], start - begin, output_id)


def read_texts(store: Store, key: str, pattern: Pattern) -> list[TextAt]:
    """Return the texts of a document; none where its file shows already that nothing is found.

    Raises:
        PersonaError: it cannot be read.
    """
    text = store.text(key)
    is_all = "system_prompt_file" not in text and "\\" not in text  # without escapes a value is as it reads
    if is_all and pattern.rough not in text.lower():
        return []
    texts = texts_in(key, text, is_skill_file=is_skill_file(store.home, key))
    return [
        TextAt(PROMPT, one.path, prompt_in(store.home, one.text)) if one.where == PROMPT_FILE else one
        for one in texts
    ]


def library_keys(home: Home) -> list[str]:
    """Return the keys of all documents of the library."""
    return [f"{kind}/{name}" for kind in KINDS for name in names(home, kind) if is_name(name)]


def is_skill_file(home: Home, key: str) -> bool:
    """Whether a document is a `SKILL.md`."""
    path = path_of(home, *parse_key(key)) if "/" in key else None
    return path is not None and path.name == SKILL_FILE
