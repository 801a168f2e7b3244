"""Rules that replace text in the system prompt."""

from __future__ import annotations

import re

from agent.models.offline import content, prompt_text
from agent.models.offline.intents import Ask, Intent, Option, RemoveText, ReplaceText, Talk
from agent.models.offline.patterns import fit
from agent.models.offline.reference import parse
from agent.models.offline.rules.rule import RuleSet, Said

RULES = RuleSet()

# --- replacing --------------------------------------------------------------------------------------------

_WORDS = (
    "(?:(?:the |every |each |all |all the |any )*(?:words?|phrase|text|sentence|expression|string|"
    "occurrences? of|instances? of|mentions? of|occurrence of) (?:of |: )?)?"
)
_INSIDE = (
    "(?: (?:in|inside|within|of|from|throughout) <prompt>)?(?P<all>(?: (?:everywhere|throughout|"
    "all over|each time|every time|wherever it (?:appears|occurs|stands)))*)"
)


@RULES.on(
    f"(?:replace|swap|substitute|exchange|change|switch|turn|update|edit|fix|correct|modify|alter|"
    f"rewrite|set|make|rephrase|reword) (?P<every>all |every |each |all of |both |any "
    f")?(?:{_WORDS})?{{x}} (?:with|by|to|for|into|to say|to read|to be|as|- >|= >|→)(?: (?:the "
    f"(?:word|words|phrase|text|line|sentence) ))?(?: :)? ?{{n}}{_INSIDE}",
    f"(?:in|inside|within) <prompt> ,? ?(?:replace|swap|substitute|exchange|change|switch|turn|"
    f"update|fix|correct|rewrite) (?P<every>all |every |each )?{_WORDS}{{x}} (?:with|by|to|for|"
    f"into|- >|→) {{n}}(?P<all>)(?P<inside>)",
    "(?:in|inside|within) <prompt> ,? ?(?:use|say|write|put) {n} instead of "
    "(?P<every>){x}(?P<all>)(?P<inside>)",
    f"(?:use|say|write|put|have|make it|make it say|i want|i'd like|i'd prefer|i prefer|let it say|"
    f"it should say|<prompt> should say|<prompt> should read) {{n}} (?:instead of|in place of|"
    f"rather than|in lieu of) (?P<every>){{x}}{_INSIDE}",
    f"instead of (?P<every>){{x}} (?:, )?(?:in <prompt> )?(?:use|say|write|put|have|make it|it "
    f"should say|it should be|let it say|i want|i'd like) {{n}}{_INSIDE}",
    f"(?:where|wherever) (?:it|<prompt>) says (?P<every>){{x}} (?:, )?(?:make it say|put|write|use|"
    f"it should say|change it to|replace it with|say|make it|have it say|change that to|let it "
    f"say) {{n}}{_INSIDE}",
    f"(?P<every>){{xq}} (?:should|must|needs to|has to|is to)(?: now| rather| instead)* (?:be|"
    f"become|read|say|be replaced with|be replaced by|be changed to|turn into) {{n}}{_INSIDE}",
    f"(?P<every>){{xq}} (?:- >|= >|→) {{n}}{_INSIDE}",
    "make (?P<every>){x} (?:say|read|into) {n}(?P<all>)",
    "(?P<every>)(?P<x>(?:<the>(?:first|second|third|last|fourth|fifth|final|sixth) (?:line|"
    "sentence|rule)|(?:line|sentence) (?:number )?\\d{1,3})(?: of <prompt>| in <prompt>)?) "
    "(?:should|must|needs to|has to) (?:now )?(?:be|become|read|say)(?: :)? {n}(?P<all>)",
    "(?:make|set|turn) (?P<every>)(?P<x>(?:<the>(?:first|second|third|last|fourth|fifth|final|"
    "sixth) (?:line|sentence|rule)|(?:line|sentence) (?:number )?\\d{1,3})(?: of <prompt>| in "
    "<prompt>)?) (?:to )?(?P<n>[QC])(?P<all>)",
)
def _replace(said: Said) -> Intent | None:
    old_part, new_part = said.part("x"), said.part("n")
    if old_part is None or new_part is None:
        return None
    if fit("<prompt>|<it>|<name>|everything|all", old_part) or (
        parse(old_part) is not None and not old_part.quotes()
    ):
        return None
    swapped = said.match.string.startswith("substitute ") and re.search(
        r" for (?:the \w+ )?$", said.match.string[: said.match.start("n")]
    )
    if swapped:
        old_part, new_part = new_part, old_part
    located = fit("{x} (?:in|from|of|inside) <prompt>", old_part)
    if located:
        old_part = old_part.group(located, "x") or old_part
    within = None
    if inside := fit("{x} (?:in|on|within|inside|of) {s}", new_part):
        within = content.spot_of(new_part.group(inside, "s"))
        if within is not None and within.kind not in ("text", "words"):
            new_part = new_part.group(inside, "x") or new_part
        else:
            within = None
    spot = content.spot_of(old_part)
    if spot is None or (
        spot.kind == "words"
        and (
            len(old_part) > 14 or (re.search(r"\b(?:to|with|by)\b", old_part.shadow) and not new_part.quoted)
        )
    ):
        return None
    if content.is_too_short(old_part, spot):
        return content.ask_quotes("be replaced")
    explicit = bool(
        located
        or re.search(
            rf"(?:\bin|within|throughout|of|from|inside) {_PROMPT_WORDS}",
            said.match.string[said.match.end("n") :],
        )
    ) or bool(re.match(rf"(?:in|inside|within) {_PROMPT_WORDS}", said.match.string))
    if spot.kind not in ("text", "words"):
        explicit = True
    if new_part.shadow in ("nothing", "an empty string", "an empty text", "the empty string"):
        return RemoveText(spot, "prompt" if explicit else None, bool(said.match["every"]))
    new = content.text_of(new_part, said.text("n") if not swapped and within is None else new_part.raw())
    if new is None:
        return None
    if spot.kind == "text" and spot.value != prompt_text.unticked(spot.value):
        new = content.ticked(new_part) if new_part.quoted else new
    if not new_part.quotes() and re.search(r" (?:and|,) .+ (?:to|with|by|into) ", f"{new_part.shadow} "):
        return Ask("That looks like more than one replacement. Put the old and the new words in quotes.")
    if not new_part.quotes() and (
        _PLACES.search(new_part.shadow)
        or _SCOPE.search(f" {new_part.shadow} ")
        or _ASIDE.search(new_part.shadow)
        or (_DESCRIBED.match(new_part.shadow) and not _DESCRIBED.match(old_part.shadow))
    ):
        option = Option(f"Replace it with the words “{new}”", (ReplaceText(spot, new),), "words")
        return Ask("Put the new words in quotes, so that I do not take more than you mean.", (option,))
    if not new_part.quotes() and spot.kind not in ("text", "words") and new[:1].islower():
        option = Option(
            f"Put the words “{new}” in its place", (ReplaceText(spot, new, "prompt"),), "words literally"
        )
        return Ask("I put exact words in place of a line or sentence, best in quotes.", (option,))
    vague = not new_part.quotes() and re.match(
        r"(?:something|anything|more|less|be|be more|a more|another|sound|someone|some|better|whatever)\b",
        new_part.shadow,
    )
    if vague or fit(
        "<the>(?:tone|style|voice|mood|language|personality|character|attitude|wording|it|them|"
        "everything|format|length|temperature)(?: {y})?",
        old_part,
    ):
        return Talk("creative", said.phrase.raw()[:200])
    every = (
        bool(said.match["every"])
        or bool((said.match.groupdict().get("all") or "").strip())
        or bool(re.match(r"(?:all|every|each)\b", said.match.string[said.match.start("every") :]))
    )
    if (
        not new_part.quoted
        and not explicit
        and spot.kind in ("text", "words")
        and said.end()
        and new.endswith(("!", "."))
        and not spot.value.endswith((".", "!"))
    ):
        new = new.rstrip(".!")
    return ReplaceText(spot, new, "prompt" if explicit or within else None, every, within)


# Words that say where, how often or under which condition to replace: they may be no part of the new text.
_SCOPE = re.compile(
    r" (?:except|excepting|excluding|unless|only|but|once|twice|everywhere|anywhere|throughout|apart from|other than|"
    r"in (?:all|each|every|both|any|the|my|this|that|it|there|case)|wherever|whenever|where|when|if|while|please|"
    r"instead|too|also|as well|again|at least|all over|(?:each|every|the (?:first|second|third|last|next|other)) "
    r"(?:time|occurrence|one|place)|and (?:leave|keep|delete|add|remove|nothing|then|not)|leaving|without changing|"
    r"starting|from now|for now|for the|of them|occurrences?|places?|times?|case - |ignoring|regardless|both|"
    r"because|since|so that|as (?:discussed|agreed|before|usual)|maybe|perhaps|or|not|then|later|tomorrow) "
)


_DESCRIBED = re.compile(r"(?:a|an|the|its|his|her|their|my|your|our|some|another|any|it|that|this|what|how) ")
"""How words begin that may say which words are meant ("a nicer word", "its name") instead of being them."""
_ASIDE = re.compile(
    r"[(/]| [-–—:;] |(?:,|;) (?:it|that|this|i|we|they|you|which|so|thanks|thank|as|like)\b| (?:for|in|on|at|of|to|with|from|by|the|"
    r"a|an|and)$"
)
_PLACES = re.compile(r"\b(?:lines?|sentences?|paragraphs?|bullets?|prompt|tests?|inputs?|instructions)\b")


_PROMPT_WORDS = (
    r"(?:(?:the|its|his|her|this|my|whole|entire|current|persona's) )*(?:system )?(?:prompt|"
    r"instructions|system-prompt|system message)"
)


@RULES.on(
    "(?:<change>|improve|polish) <prompt>(?: (?:a bit|a little|somewhat|for me))?",
)
def _set_what(said: Said) -> Intent | None:
    if said.match.string.startswith(("improve", "polish", "rephrase", "reword", "fix", "correct", "revise")):
        return Talk("creative", said.phrase.raw()[:200])
    return Ask(
        "What should the system prompt be? Give me its whole new text; or say what to add, replace or remove.",
        (),
        "prompt",
    )
