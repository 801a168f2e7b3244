"""A message as tokens: words with their command spelling, quoted texts as one token each, marks, line breaks.

Everything here is linear in the length of the message and keeps offsets, so that what a person quotes
or names is always cut from their own text, never rebuilt.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

TokenKind = Literal["word", "quote", "mark", "newline", "content"]

_CLOSERS = {
    '"': '"”“',
    "“": '”"',
    "„": '“”"',
    "‟": '”"',
    "«": '»"',
    "‹": "›",
    "‘": "’'",
    "‚": "‘’'",
    "'": "'’",
    "`": "`",
    "「": "」",
    "『": "』",
    "《": "》",
}
_ALL_CLOSERS = frozenset("".join(_CLOSERS.values()))
_SINGLE = frozenset("'’‘‚`")
_QUOTE_CHARS = frozenset(_CLOSERS) | _ALL_CLOSERS
_NESTING = 8  # how many open quotes a closing mark is compared with: keeps hostile input linear

_LEXEME = re.compile(r"\{\{[^{}\n]{0,80}\}\}|[^\W_]+(?:['’\-_][^\W_]+)*|\n\s*|[^\s]")
_FENCE = re.compile(
    r'```[^\n`]*\n(.*?)\n?```|```([^\n]+?)```|"""[ \t]*\n?(.*?)\n?"""|\'\'\'[ \t]*\n?(.*?)\n?\'\'\'',
    re.DOTALL,
)
_FENCE_MARKS = ("```", '"""', "'''")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the message.

    Attributes:
        kind: `content` is free text the grammar must not look into (what follows a colon).
        start: offset of the first character in the message.
        end: offset after the last one.
        norm: what patterns see: a word in its command spelling, `Q`, `C`, `NL`, or the mark itself.
        content: what was quoted, without the quotes.
    """

    kind: TokenKind
    start: int
    end: int
    norm: str
    content: str = ""


def _is_wordlike(char: str) -> bool:
    return char.isalnum() or char == "_"


def _quote_pairs(text: str) -> list[tuple[int, int, int, int]]:
    """Return outermost quoted stretches as (start, end, content start, content end), in order."""
    fenced = any(text.count(mark) > 1 for mark in _FENCE_MARKS)
    fences = [(*m.span(), *m.span(m.lastindex or 0)) for m in _FENCE.finditer(text)] if fenced else []
    pairs: list[tuple[int, int, int, int]] = []
    stack: list[int] = []
    fence = iter([*fences, (len(text), 0, 0, 0)])
    skip = next(fence)
    for match in _QUOTE.finditer(text):
        at = match.start()
        while at >= skip[1] and skip[0] < len(text):
            skip = next(fence)
        if skip[0] <= at < skip[1]:
            continue
        char = text[at]
        before = text[at - 1] if at else " "
        after = text[at + 1] if at + 1 < len(text) else " "
        if char in _SINGLE and (_is_wordlike(before) or before == "}") and _is_wordlike(after):
            continue  # an apostrophe
        opens = char in _CLOSERS and not after.isspace() and not _is_wordlike(before)
        closes = char in _ALL_CLOSERS and (not before.isspace() or not opens)
        if opens and closes and not _closing_position(before, after):
            closes = False
        if closes:
            found = next(
                (k for k in range(len(stack) - 1, max(-1, len(stack) - 1 - _NESTING), -1)
                 if char in _CLOSERS[text[stack[k]]]),
                None,
            )  # fmt: skip
            if found is not None:
                opened = stack[found]
                del stack[found:]
                if at > opened + 1 or not opens:
                    pairs.append((opened, at + 1, opened + 1, at))
                    continue
        if opens:
            stack.append(at)
    pairs.extend(fences)
    pairs.sort(key=lambda pair: (pair[0], -pair[1]))
    outermost: list[tuple[int, int, int, int]] = []
    for pair in pairs:
        if not outermost or pair[0] >= outermost[-1][1]:
            outermost.append(pair)
    return outermost


_QUOTE = re.compile("[" + re.escape("".join(sorted(_QUOTE_CHARS))) + "]")


def _closing_position(before: str, after: str) -> bool:
    """Whether a mark that could open or close stands where a closing one would: `word" ` or `."`."""
    return not before.isspace() and before not in "([{:=" and not _is_wordlike(after)


def tokenize(text: str) -> tuple[Token, ...]:
    """Return the tokens of `text` in order; whitespace other than line breaks is dropped."""
    tokens: list[Token] = []
    at = 0
    for start, end, content_start, content_end in [*_quote_pairs(text), (len(text), len(text), 0, 0)]:
        tokens.extend(_plain_tokens(text, at, start))
        if start < end:
            tokens.append(Token("quote", start, end, "Q", text[content_start:content_end]))
        at = end
    return tuple(tokens)


def _plain_tokens(text: str, start: int, end: int) -> Iterator[Token]:
    for match in _LEXEME.finditer(text, start, end):
        piece = match.group()
        if piece[0] == "\n":
            yield Token("newline", match.start(), match.end(), "NL")
        elif _is_wordlike(piece[0]) or piece.startswith("{{"):
            yield Token("word", match.start(), match.end(), spell(piece))
        else:
            yield Token("mark", match.start(), match.end(), piece if piece not in "–—" else "-")


@dataclass(frozen=True)
class Phrase:
    """Some tokens of a message and what patterns match against: their norms, joined by one space."""

    source: str
    tokens: tuple[Token, ...]
    shadow: str = field(init=False)
    _starts: list[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        starts: list[int] = []
        length = 0
        for token in self.tokens:
            starts.append(length)
            length += len(token.norm) + 1
        object.__setattr__(self, "shadow", " ".join(token.norm for token in self.tokens))
        object.__setattr__(self, "_starts", starts)

    def __len__(self) -> int:
        return len(self.tokens)

    def part(self, start: int, end: int | None = None) -> Phrase:
        """Return the phrase of tokens `start` to `end`."""
        return Phrase(self.source, self.tokens[start:end])

    def group(self, match: re.Match[str], name: str) -> Phrase | None:
        """Return the tokens a named group of a match on `shadow` covers, or None if it took no part."""
        begin, end = match.span(name)
        if begin < 0:
            return None
        first = bisect_left(self._starts, begin)
        last = bisect_right(self._starts, max(begin, end - 1))
        return self.part(first, last)

    def raw(self) -> str:
        """Return the person's own text from the first to the last token."""
        if not self.tokens:
            return ""
        return self.source[self.tokens[0].start : self.tokens[-1].end]

    def said(self) -> str:
        """Return the content: what a lone quote holds, otherwise the raw text."""
        if len(self.tokens) == 1 and self.tokens[0].kind in ("quote", "content"):
            return self.tokens[0].content
        return self.raw().strip()

    @property
    def quoted(self) -> bool:
        """Whether this is exactly one quoted text (or the free text after a colon)."""
        return len(self.tokens) == 1 and self.tokens[0].kind in ("quote", "content")

    def quotes(self) -> tuple[str, ...]:
        """Return the contents of all quoted texts in it."""
        return tuple(token.content for token in self.tokens if token.kind in ("quote", "content"))


def phrase(text: str) -> Phrase:
    """Return `text` as a phrase."""
    return Phrase(text, tokenize(text))


def word_set(text: str) -> frozenset[str]:
    """Return the words of `text`, which stands for a long list of them."""
    return frozenset(text.split())


# --- spelling of command words -------------------------------------------------------------------------

_SPELLINGS = {
    "ad": "add", "adn": "and", "nad": "and", "teh": "the", "hte": "the", "th": "the", "pls": "please",
    "plz": "please", "plase": "please", "pleas": "please", "thx": "thanks", "ty": "thanks", "nvm": "nevermind", "theres": "there's", "rn": "right-now",
    "atm": "right-now", "tmrw": "tomorrow", "gimme": "give", "isnt": "isn't", "wont": "won't",
    "didnt": "didn't", "shouldve": "should've", "wouldnt": "wouldn't", "couldnt": "couldn't", "u": "you",
    "ur": "your", "wanna": "want-to", "gonna": "going-to", "dont": "don't", "cant": "can't",
    "doesnt": "doesn't", "shouldnt": "shouldn't", "whats": "what's", "id": "id", "tst": "test",
    "tets": "test", "tset": "test", "tests'": "tests", "sys": "system", "1st": "first", "2nd": "second",
    "3rd": "third", "4th": "fourth", "5th": "fifth", "6th": "sixth", "7th": "seventh", "8th": "eighth",
    "9th": "ninth", "10th": "tenth", "del": "delete", "rm": "remove", "udno": "undo", "aobut": "about",
    "abotu": "about", "abuot": "about", "wiht": "with", "wtih": "with", "fro": "from", "form": "form",
    "lsat": "last", "frist": "first", "secnod": "second", "secon": "second", "sceond": "second",
    "thrid": "third", "nmae": "name", "naem": "name", "nam": "name", "lien": "line", "shwo": "show",
    "hsow": "show", "lsit": "list", "lst": "list", "undoo": "undo", "wth": "with", "chnge": "change", "ot": "to", "coudl": "could", "woudl": "would", "cuold": "could",
    "testinput": "test-input", "testinputs": "test-inputs", "systemprompt": "system-prompt",
    "pormpt": "prompt", "teh-": "the", "wich": "which", "befor": "before", "afetr": "after",
    "aftr": "after", "inital": "initial", "begining": "beginning", "beggining": "beginning",
}  # fmt: skip

_VOCABULARY = (
    "rename", "delete", "remove", "replace", "change", "append", "prepend", "insert", "create",
    "update", "display", "erase", "overwrite", "system", "prompt", "input", "inputs", "persona",
    "instructions", "sentence", "about", "after", "before", "beginning", "please", "second", "third",
    "title", "called", "tests", "substitute", "paragraph", "everything", "thanks",
)  # fmt: skip
# Real words that lie within reach of the vocabulary and mean something else.
_KNOWN = frozenset(
    ["tile", "tiles", "plea", "abut", "abit", "inset", "inapt", "sent", "renamed", "renames", "renaming", "deleted", "deletes", "deleting", "removed", "removes", "removing", "replaced", "replaces", "replacing", "changed", "changes", "changing", "appended", "appends", "appending", "prepended", "inserted", "inserts", "inserting", "created", "creates", "creating", "creator", "creature", "updated", "updates", "updating", "displayed", "displays", "erased", "erases", "phrase", "crease", "grease", "systems", "prompts", "prompted", "prompter", "romp", "output", "outputs", "imports", "import", "impute", "personas", "personal", "person", "personae", "instruction", "instructed", "sentences", "sentenced", "bout", "abort", "above", "abode", "shout", "alter", "altar", "aster", "later", "afters", "befall", "chance", "charge", "charges", "charged", "range", "orange", "strange", "create", "crate", "creates", "great", "greater", "delight", "please", "pleased", "pleases", "pleaser", "pleas", "released", "relate", "rebate", "relay", "report", "deport", "titled", "titles", "little", "tittle", "calls", "caller", "call", "calls", "cabled", "second", "seconds", "reckon", "third", "thirds", "bird", "tests", "test", "texts", "text", "tasks", "rests", "vests", "bests", "nests", "insect", "invert", "insects", "inputting", "assert", "everyone", "everywhere", "thank", "tanks", "thanked", "thinks", "reply", "replay", "recall", "reveal", "remote", "remorse", "remover", "remodel", "renew", "reason", "renamed", "reframe", "refrain", "remain", "remained", "render", "ramp", "prompt", "promptly", "premise", "promise", "people", "pertain", "pirate", "private", "update", "upgrade", "depend", "append", "open", "spend", "preen", "prevent", "present", "pretend", "prefer", "prefers", "system's", "stem", "storm"]
)  # fmt: skip


@lru_cache(maxsize=4096)
def spell(word: str) -> str:
    """Return `word` as the patterns spell it: casefolded, straight apostrophes, command typos fixed."""
    if len(word) > 40:
        return word.casefold()
    folded = word.casefold().replace("’", "'")
    if folded in _SPELLINGS:
        return _SPELLINGS[folded]
    if len(folded) < 4 or not folded.isascii() or not folded.isalpha() or folded in _KNOWN:
        return folded
    if folded in _VOCABULARY:
        return folded
    reach = 1 if len(folded) < 7 else 2
    for known in _VOCABULARY:
        close = len(known) - len(folded) == 1 if len(folded) == 4 else abs(len(known) - len(folded)) <= 1
        if known[0] == folded[0] and close and len(known) >= 5:
            limit = 1 if len(known) < 7 else reach
            if near(folded, known, limit):
                return known
    return folded


def near(one: str, other: str, limit: int) -> bool:
    """Whether the edit distance (a swap of neighbours counts as one) is at most `limit`.

    Both words are short: callers bound them to 40 characters.
    """
    if abs(len(one) - len(other)) > limit:
        return False
    before_last: Sequence[int] = ()
    last: list[int] = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before_last[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return False
        before_last, last = last, row
    return last[-1] <= limit
