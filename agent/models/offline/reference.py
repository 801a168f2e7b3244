"""Which test input is meant: from words to a `Reference`, and from a `Reference` to places in the list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.models.offline.intents import Reference
from agent.models.offline.patterns import fit
from agent.models.offline.topics import all_about, best
from agent.models.offline.words import Phrase, word_set

ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10, "last": -1, "latest": -1, "final": -1, "newest": -1, "bottom": -1, "top": 1,
    "penultimate": -2, "initial": 1,
}  # fmt: skip
NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
ORDINAL = (
    "(?:very )?(?:"
    + "|".join(ORDINALS)
    + r"|second (?:to )?(?:last|- last)|second-last|second-to-last|next to last|\d{1,4}(?:st|nd|rd|th))"
)
NUMBER = r"(?:\d{1,4}|" + "|".join(NUMBERS) + ")"
_BAD_TOPIC = re.compile(r"\b(?:if|unless|because|when|except|but|not|or|instead|then|and then|so)\b")


@dataclass(frozen=True, slots=True)
class TestInput:
    """A test input as `list_test_inputs` gave it."""

    __test__ = False

    id: str
    content: str


_NO_ID = word_set(
    "C input inputs case cases prompt prompts message messages question questions entry entries about and "
    "or to with in of for on by is it that this one ones too list again now please first last all line "
    "lines sentence sentences word words rule rules text section bullet paragraph name file output "
    "outputs result results run"
)


def ordinal(shadow: str) -> int | None:
    """Return the place an ordinal names (`first` 1, `last` -1, `22nd` 22), or None."""
    word = shadow.removeprefix("very ")
    if word in ORDINALS:
        return ORDINALS[word]
    if word.startswith(("second", "next")) and word.endswith("last"):
        return -2
    match = re.fullmatch(r"(\d{1,4})(?:st|nd|rd|th)", word)
    return int(match.group(1)) if match else None


def number(shadow: str) -> int | None:
    """Return the number a word or digits name, or None."""
    if shadow.isascii() and shadow.isdigit():
        return int(shadow)
    return NUMBERS.get(shadow)


def _at(place: int | None) -> tuple[Reference, ...] | None:
    return (Reference("number", str(place)),) if place else None


def _topic(part: Phrase | None) -> tuple[Reference, ...] | None:
    """One topic, or two joined by "and" where the noun was plural (the caller decides)."""
    if part is None or len(part) > 10 or _BAD_TOPIC.search(part.shadow) or ":" in part.shadow:
        return None
    return (Reference("topic", part.said()),)


def parse(part: Phrase | None, *, noun: bool = False) -> tuple[Reference, ...] | None:
    """Return the test inputs a phrase refers to, or None when it is no such phrase.

    Args:
        part: the words, for example `the second test` or `the one about math`.
        noun: the sentence already said "test input", so that a bare "second" or "rain" will do.
    """
    if part is None or not part.tokens:
        return None

    def group(match: re.Match[str], name: str) -> Phrase | None:
        return part.group(match, name)

    if match := fit(
        rf"<the>(?P<n>{ORDINAL}) (?:<tests>|<test>|one|entry|item|of them)(?: (?:of|in|from|on|among) "
        rf"(?:the |my |all |our |these |those )*(?:<tests>|list|them))?",
        part,
    ):
        return _at(ordinal(match["n"]))
    if match := fit(
        rf"<the>(?:<tests>|<test>|one|entry|item) (?:number |no |no \. |nr |nr \. |num |# )?(?P<n>{NUMBER})",
        part,
    ):
        return (
            (Reference("id_or_number", str(number(match["n"]))),)
            if match["n"].isdigit()
            else _at(number(match["n"]))
        )
    if match := fit(rf"(?:(?:the )?number |no \. |# )(?P<n>{NUMBER})", part):
        return _at(number(match["n"]))
    if fit("(?:both|both of|both of the|both the|both of them|both of my|both my)(?: <tests>)?", part):
        return (Reference("both"),)
    if fit(
        "(?:all|all of|every|each|every single|each and every|the entire|the whole|all my|all our|all "
        "the|all of the|all of my"
        "|all of our|all these|all those|all existing|all of its|all its)(?: one of)?(?: the| my)?(?: "
        "(?:list|set) of)?(?: existing| current)? (?:<tests>|<test>)",
        part,
    ):
        return (Reference("all"),)
    if match := fit(
        "(?:all|every|each|any|all of)(?: the| my| our| of the)? (?:<tests>|<test>) (?:<about>) {x}", part
    ):
        about = _topic(_without_article(group(match, "x")))
        return (Reference("every", about[0].value),) if about else None
    if match := fit(rf"<the>(?P<which>first|last) (?P<n>{NUMBER}) (?:<tests>|ones|entries)", part):
        count = number(match["n"]) or 0
        places = range(1, count + 1) if match["which"] == "first" else range(-count, 0)
        return tuple(Reference("number", str(place)) for place in places) if 0 < count <= 50 else None
    if match := fit(
        rf"<the>(?:<tests>|numbers) (?P<a>{NUMBER})(?: - | to | through | until |-)(?P<b>{NUMBER})", part
    ):
        first, last = number(match["a"]) or 0, number(match["b"]) or 0
        if 0 < first <= last <= first + 50:
            return tuple(Reference("number", str(place)) for place in range(first, last + 1))
        return None
    listed = _parse_list(part, noun)
    if listed:
        return listed
    if match := fit(
        "<the>(?:<test>|one) (?:with (?:the )?id |with (?:the )?identifier |with (?:the )?(?:text |"
        "content )|called |named |id |labelled |that says |saying |which says |that reads |that asks |"
        ": )?{xq}",
        part,
    ):
        return _exact(group(match, "x"))
    if match := fit(
        "<the>(?:<test>|one) (?:with (?:the )?id |with (?:the )?identifier |called |named |id |"
        "labelled )(?P<x>[^ ]+(?: [-_] ?[^ ]+)*)",
        part,
    ):
        return _exact(group(match, "x"))
    if match := fit(
        "<the>(?:<tests>|<test>|ones?|entry|thing|item) (?:(?:that|which) (?:is|are|was|were) |that's "
        ")?(?:all )?(?:<about>|where|that (?:says|asks|has|uses)|which (?:says|asks|has|uses)) {x}",
        part,
    ):
        return _topic(_without_article(group(match, "x")))
    if match := fit("(?:the |my |our |that |this )(?P<x>.+?) (?:<test>|one|entry)", part):
        return _named(group(match, "x"))
    if match := fit("{xq} <test>", part):
        return _exact(group(match, "x"))
    if match := fit("(?P<x>[^ ]+(?: [^ ]+)?) (?:test input|test-input|test case|test|input)", part):
        return _named(group(match, "x"))
    if (match := fit("(?:the )?(?:<tests>|<test>) (?P<x>[^ ]+)", part)) and match["x"] not in _NO_ID:
        return _exact(group(match, "x"))
    if fit("(?:the|that|this|my|our) <test>", part) or fit("(?:that|this) one", part) or fit("it", part):
        return (Reference("pronoun"),)
    if noun:
        if match := fit(rf"<the>(?P<n>{ORDINAL})(?: one)?", part):
            return _at(ordinal(match["n"]))
        if match := fit(rf"(?:number |# )?(?P<n>{NUMBER})", part):
            return (Reference("id_or_number", str(number(match["n"]))),)
        if match := fit("{xq}", part):
            return _exact(group(match, "x"))
        if len(part) <= 3:
            return _named(_without_article(part))
    return None


def _without_article(part: Phrase | None) -> Phrase | None:
    while part is not None and len(part) > 1 and part.tokens[0].norm in ("the", "a", "an", "my", "some"):
        part = part.part(1)
    return part


def _exact(part: Phrase | None) -> tuple[Reference, ...] | None:
    return (Reference("exact", part.said()),) if part is not None else None


def _named(part: Phrase | None) -> tuple[Reference, ...] | None:
    """`the rain test`, `the "sum" test`: the id when there is one of that name, else what it is about."""
    if part is None or len(part) > 4:
        return None
    if part.quoted:
        return _exact(part)
    if re.search(
        r"\b(?:a|an|new|another|more|some|few|any|no|following|this|that|these|other|same|wrong|old|"
        r"extra|additional|whole|entire|current|original|in|from|within)\b|[:?!,;.]",
        part.shadow,
    ):
        return None
    return _topic(part)


def _parse_list(part: Phrase, noun: bool) -> tuple[Reference, ...] | None:
    """`tests 1, 2 and 4`, `the first and the third test`, `the tests about math and coding`."""
    places = [k for k, token in enumerate(part.tokens) if token.norm in (",", "and", "&", "plus")]
    if not places or len(places) > 12:
        return None
    pieces: list[Phrase] = []
    at = 0
    for place in [*places, len(part)]:
        if place > at:
            pieces.append(part.part(at, place))
        at = place + 1
    if len(pieces) < 2 or (
        all(part.tokens[k].norm == "," for k in places) and APPOSED.match(pieces[-1].shadow)
    ):
        return None  # "the second test, the one about math" is one, said twice
    plural = fit("<the>(?:two )?(?:<tests>|<test>|ones) (?:numbers? |# |with (?:the )?ids? )?{x}", pieces[0])
    about = fit("<the>(?:two )?(?P<noun><tests>|ones) (?:<about>) {x}", pieces[0])
    one = fit("<the>(?:one )?(?P<noun><tests>|<test>|one|entry) (?:<about>) {x}", pieces[0])
    if one and not one["noun"].endswith("s") and not all(parse(piece) for piece in pieces[1:]):
        return None  # "the test about my job and the rain": one test, or two?
    ends = fit("{x} (?:<tests>|<test>|ones|one)", pieces[-1])
    named = noun or plural is not None or about is not None or ends is not None
    found: list[Reference] = []
    for k, piece in enumerate(pieces):
        this: tuple[Reference, ...] | None
        if k == 0 and about is not None:
            this = _topic(_without_article(piece.group(about, "x")))
        elif k == 0 and plural is not None:
            this = parse(piece.group(plural, "x"), noun=True)
        elif about is not None:
            bare = fit("(?:the (?:one|test) )?(?:about |on )?{x}", piece)
            this = _topic(_without_article(piece.group(bare, "x"))) if bare else None
        else:
            this = parse(piece) or (parse(piece, noun=True) if named else None)
        if not this or this[0].kind in ("all", "both", "pronoun"):
            return None
        found.extend(this)
    return tuple(found)


_COUNTED = re.compile(r"^(?:the )?(?:numbers?|digits?|figures?|no\.?|#) ?")


APPOSED = re.compile(
    r"(?:namely |i mean |that is |meaning )?(?:the|that) (?:[^ ]+ )?(?:one|test|input)\b(?! input)"
)


def resolve(reference: Reference, inputs: Sequence[TestInput]) -> list[int]:
    """Return the places in `inputs` a reference may mean: none, the one, or several where it is unclear.

    For `all` and `both` several is the clear answer; the caller knows.
    """
    everything = list(range(len(inputs)))
    if reference.kind == "every":
        return all_about(reference.value, [f"{item.id} {item.content}" for item in inputs])
    kind, value = reference.kind, reference.value
    if kind == "all":
        return everything
    if kind == "both":
        return everything if len(inputs) == 2 else []
    if kind == "pronoun":
        return everything if not value else []  # "it" alone may mean anything: never taken for granted
    by_id = [k for k, item in enumerate(inputs) if item.id == value]
    if kind in ("number", "id_or_number"):
        place = int(value)
        at = place - 1 if place > 0 else len(inputs) + place
        by_place = [at] if 0 <= at < len(inputs) else []
        return sorted({*by_id, *by_place}) if kind == "id_or_number" else by_place
    if kind == "topic" and (counted := number(_COUNTED.sub("", value.strip().casefold()))):
        named = all_about(
            _COUNTED.sub("", value.casefold()), [f"{item.id} {item.content}" for item in inputs]
        )
        return sorted({*by_id, *named, *([counted - 1] if counted <= len(inputs) else [])})
    bare = _bare(value)
    folded = by_id or [k for k, item in enumerate(inputs) if _bare(item.id) == bare]
    if len(folded) == 1:
        # "The bill test" has the id `bill`; but when others speak of a bill as well, it is not clear.
        others = all_about(value, [item.content for item in inputs], literal=True) if kind == "topic" else []
        return sorted({*folded, *others})
    same = [k for k, item in enumerate(inputs) if item.content.strip() == value.strip()]
    same = same or [k for k, item in enumerate(inputs) if _bare(item.content) == bare]
    if same and kind == "topic" and len(same) == 1:
        # "The dog test" may be the one that says "dog", or another that speaks of one.
        return sorted({*same, *all_about(value, [item.content for item in inputs], literal=True)})
    if same:
        return same
    if kind == "exact":
        part = [k for k, item in enumerate(inputs) if bare and bare in _bare(item.content)]
        return part or best(value, [f"{item.id} {item.content}" for item in inputs])
    texts = [f"{item.id} {item.content}" for item in inputs]
    if " and " in value and not any(bare in _bare(text) for text in texts):
        # "The test about my job and the rain" may be one that has both, or two.
        pieces = [all_about(piece, texts) for piece in value.split(" and ")]
        return sorted({place for places in pieces for place in places}) or best(value, texts)
    return best(value, texts)


_QUALITY = re.compile(
    r"(?:(?:very|really|so|too|most|least|more|less|the|and|,|rather|quite|\d+|one|two|three|four|five|ten|first|"
    r"few|many|only|a|an|no|long|short|longer|shorter|longest|shortest|big|small|biggest|smallest|large|largest|new|"
    r"newest|newer|old|oldest|older|good|best|bad|worst|better|worse|boring|funny|funniest|fun|simple|simplest|easy|"
    r"easiest|hard|hardest|difficult|weird|strange|odd|nice|nicest|silly|stupid|useless|useful|important|duplicates?|"
    r"duplicated|empty|redundant|broken|wrong|right|middle|main|other|same|similar|different|latter|former|example|sample|demo|default|german|"
    r"english|french|spanish|italian|words?|lines?|sentences?|characters?|letters?|question marks?|exclamation "
    r"marks?|typos?|mistakes?|errors?)(?: |$))+"
)


def describes(reference: Reference) -> bool:
    """Whether a reference says what a test input is like ("the short one"), which its words do not show."""
    return reference.kind == "topic" and _QUALITY.fullmatch(reference.value.casefold().strip()) is not None


def is_sure(reference: Reference, item: TestInput) -> bool:
    """Whether a test input found for a reference has all it names; with some of the words only it is a guess."""
    if reference.kind not in ("topic", "exact"):
        return True
    bare = _bare(reference.value)
    if describes(reference):
        return bare == _bare(item.id)
    if bare in (_bare(item.id), _bare(item.content)) or (bare and bare in _bare(item.content)):
        return True
    return bool(all_about(reference.value, [f"{item.id} {item.content}"]))


def _bare(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split()).rstrip(".!?… ")
