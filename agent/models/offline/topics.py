"""Whether a text is about something: word stems and small families of related words. No model, no guess
beyond these lists."""

from __future__ import annotations

import re

_FAMILIES = tuple(
    frozenset(family.split())
    for family in (
        "math maths mathematics mathematical arithmetic arithmetics algebra geometry calculus number numbers "
        "numeric sum sums addition multiplication division equation equations calculate calculation "
        "calculations plus minus times numeral",
        "code coding coder program programs programming programmer python javascript typescript rust java "
        "function functions software developer development script scripts scripting bug bugs debugging "
        "algorithm algorithms compiler computer computing",
        "weather rain raining rainy rained sun sunny sunshine storm stormy snow snowing snowy forecast "
        "umbrella cloud clouds cloudy wind windy temperature climate drizzle thunder",
        "food foods cook cooks cooking recipe recipes eat eating meal meals dinner lunch breakfast bake "
        "baking bread pasta pizza restaurant kitchen cuisine dish dishes soup cake",
        "travel travelling traveling trip trips journey vacation holiday holidays flight flights hotel tourism "
        "tourist abroad",
        "animal animals pet pets dog dogs cat cats puppy kitten bird birds horse horses",
        "health healthy doctor doctors medicine medical illness ill sick sickness disease pain therapy "
        "headache",
        "money finance finances financial budget salary invest investing investment investments bank savings "
        "debt rent price prices economy economics",
        "music song songs sing singing band guitar piano melody concert",
        "love romance romantic relationship relationships dating girlfriend boyfriend marriage wedding partner",
        "work job jobs career boss office colleague colleagues employment interview workplace",
        "school study studying student students exam exams homework teacher university college education",
        "sport sports football soccer basketball tennis running gym fitness workout exercise",
        "sadness sad depressed depression unhappy grief crying lonely loneliness gloomy",
        "greeting greetings greet hello hi hey",
        "joke jokes funny humor humour humorous comedy pun",
        "picnic outing barbecue",
    )
)
_DIGITS = re.compile(r"\d\s*[-+*/x×÷=^]\s*\d")
_WORD = re.compile(r"[^\W_]+")
_EMPTY = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "in",
        "on",
        "at",
        "to",
        "for",
        "with",
        "from",
        "by",
        "and",
        "or",
        "is",
        "are",
        "was",
        "be",
        "it",
        "its",
        "this",
        "that",
        "these",
        "those",
        "my",
        "your",
        "our",
        "their",
        "his",
        "her",
        "i",
        "you",
        "we",
        "they",
        "me",
        "him",
        "them",
        "one",
        "ones",
        "thing",
        "things",
        "stuff",
        "some",
        "any",
        "all",
        "about",
        "regarding",
        "concerning",
        "which",
        "what",
        "who",
        "whose",
        "where",
        "when",
        "how",
        "do",
        "does",
        "did",
        "has",
        "have",
        "had",
        "can",
        "could",
        "would",
        "should",
        "will",
        "says",
        "said",
        "say",
        "saying",
        "mention",
        "mentions",
        "mentioning",
        "talks",
        "talk",
        "talking",
        "asks",
        "ask",
        "asking",
        "contains",
        "contain",
        "containing",
        "test",
        "tests",
        "input",
        "inputs",
        "line",
        "lines",
        "sentence",
        "sentences",
        "bit",
        "part",
        "rule",
        "rules",
        "there",
        "not",
        "never",
    ]
)


def stem(word: str) -> str:
    """Return a crude English stem of a lower-case word; other scripts stay as they are."""
    if not word.isascii() or len(word) < 4:
        return word
    for ending in ("ations", "ation", "ings", "ing", "ies", "ers", "er", "ed", "es", "ly", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word[:-1] if word[-1] in "ey" and len(word) > 3 else word


def words_of(text: str) -> list[str]:
    """Return the lower-case words of `text` that carry meaning, in order."""
    return [word for word in _WORD.findall(text.casefold()) if word not in _EMPTY]


_FAMILY_OF = {word: family for family in _FAMILIES for word in family}


def family_of(word: str) -> frozenset[str]:
    """Return the family of related words `word` belongs to, or an empty set."""
    return _FAMILY_OF.get(word, frozenset())


def score(topic: str, text: str) -> tuple[int, int]:
    """Return how many words of `topic` the text has (literally or by stem, by family alone).

    (0, 0) means the text is not about it as far as these lists know.
    """
    wanted = words_of(topic)
    found = _WORD.findall(text.casefold())
    present = set(found)
    stems = {stem(word) for word in found}
    families = {id(family) for word in present if (family := family_of(word))}
    calculates = bool(_DIGITS.search(text))
    literal = related = 0
    for word in dict.fromkeys(wanted):
        if word in present or stem(word) in stems:
            literal += 1
            continue
        family = family_of(word)
        if family and (id(family) in families or (calculates and "math" in family)):
            related += 1
    return literal, related


def all_about(topic: str, texts: list[str], *, literal: bool = False) -> list[int]:
    """Return the places of all texts that have every word of `topic`, or one related to it.

    Args:
        topic: the words looked for.
        texts: where they are looked for.
        literal: related words do not count.
    """
    count = len(set(words_of(topic)))
    scores = [score(topic, text) for text in texts]
    return [
        k for k, (same, related) in enumerate(scores) if count and same + related * (not literal) == count
    ]


def best(topic: str, texts: list[str]) -> list[int]:
    """Return the places of the texts that fit `topic` best: one when it is clear, several when not."""
    count = len(set(words_of(topic)))
    scores = [score(topic, text) for text in texts]
    # A text that has every word literally leaves those with related words behind.
    for full in (
        [k for k, (literal, _) in enumerate(scores) if count and literal == count],
        [k for k, (literal, related) in enumerate(scores) if count and literal + related == count],
    ):
        if full:
            return full
    return [k for k, (literal, related) in enumerate(scores) if literal + related]


def sample_about(topic: str) -> str:
    """Return a plain test input about `topic`, for when the person gave only the subject."""
    for word in words_of(topic):
        family = family_of(word)
        if "coding" in family:
            return f"I need help with {topic}: write a function that checks whether a word is a palindrome."
        if "math" in family:
            return f"Can you help me with {topic}? What is 17 times 24, step by step?"
        if "weather" in family:
            return f"Let's talk about {topic}: it has not stopped raining for days. What do you make of it?"
        if "food" in family:
            return f"I have a question about {topic}: what can I make from rice, eggs and tomatoes?"
    return f"I have a question about {topic}. What should I know first?"
