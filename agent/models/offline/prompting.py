"""Rules for sentences that ask for a change of the system prompt, and those that only describe one."""

from __future__ import annotations

import re
from typing import Literal

from agent.models.offline import content
from agent.models.offline.grammar import Build, Rule, Said
from agent.models.offline.intents import (
    AddTest,
    AddText,
    Ask,
    DeleteThing,
    Intent,
    Option,
    RemoveText,
    ReplaceText,
    SetPrompt,
    Spot,
    Talk,
)
from agent.models.offline.patterns import fit
from agent.models.offline.reference import ordinal, parse
from agent.models.offline.words import Phrase

PROMPTING: list[Rule] = []
VAGUE: list[Rule] = []
"""Tried last: sentences that describe a change without giving the words."""


def _rule(*patterns: str, into: list[Rule] = PROMPTING):  # type: ignore[no-untyped-def]
    def keep(build: Build) -> Build:
        into.append(Rule(patterns, build))
        return build

    return keep


_START = "(?:start|beginning|top|front|head|very start|very beginning|very top)"
_END = "(?:end|bottom|very end|very bottom|close|tail|foot)"
_OWN_LINE = "(?:(?:as|on|in) (?:a |its |an |the )?(?:new |own |separate |extra |single |additional )*(?:line|sentence|rule|paragraph)(?: of its own)? )?"
_EDGE = f"{_OWN_LINE}(?:(?:at|to|in|on|onto|as) )?(?:the )?(?P<p>{_START}|{_END})(?: of (?:it|<prompt>))?"
_SAYING = (
    "(?:(?:saying|that says|which says|that reads|reading|stating|that states|like|as follows) )?(?:[:,-] )*"
)


def _place(word: str | None) -> str:
    return "start" if word and re.search(r"start|begin|top|front|head|first|prepend|before", word) else "end"


def _added(said: Said, group: str, place: str, spot: Spot | None = None) -> Intent | None:
    part = said.part(group)
    if part is None:
        return None
    text = content.text_of(part, said.text(group))
    if text is None and part.quotes():
        return None
    if text is None or not text.strip():
        return Ask("What should I add to the system prompt? Give me the exact words.", (), "text")
    if not part.quotes() and not content.is_sentence(part):
        if part.tokens[0].norm == "that" and len(part) > 3:
            return content.suggest_line(text)
        if part.tokens[0].norm in (
            "something",
            "some",
            "more",
            "a",
            "an",
            "the",
            "another",
            "anything",
            "how",
            "what",
        ):
            return Talk("creative", said.phrase.raw()[:200])
        line = AddText(text, place, spot)  # type: ignore[arg-type]
        return Ask(
            "I add words only as you give them.",
            (Option(f"Add “{text}” to the system prompt", (line,), text),),
            "text",
        )
    if not part.quotes() and spot is None:
        typed = part.shadow
        if parse(part) is not None or re.match(r"(?:it|this|that)$", typed):
            return None
    return AddText(text, place, spot)  # type: ignore[arg-type]


# --- replacing the whole prompt ---------------------------------------------------------------------------


@_rule(
    "(?:<change>|overwrite|reset|use|define) <prompt> (?:<to>|:|, to|so that it (?:says|reads)|"
    "such that it says|completely with|entirely with|to (?:be|say|read)|=)(?: (?:just|only|simply|"
    "this|the following|exactly))*(?: [:,])* {x}",
    "<prompt> (?:should|must|shall|needs to|has to|is to|ought to)(?: now| instead| rather| just| "
    "simply| only)* (?:be changed to|be set to|be replaced with|be replaced by|be|become|read)(?: "
    "(?:just|only|simply|this|the following|exactly))*(?: :)? {x}",
    "(?:make) <prompt> (?:(?:say |read )(?:just |only |simply |exactly )+|be |into )?(?:just |only "
    "|simply |exactly )*(?:: )?{xq}",
    "(?:use|take|set|put|have|make) {xq} (?:as|for|to be) <prompt>",
    "(?:use|take) (?:this|the following) (?:as|for) <prompt> (?:: )?{xq}",
    "(?:write|create|make|start|here is|here's|use|set|give <it>) (?:a |the |this |my )*(?:new |"
    "different )+(?:system )?prompt (?:[:,-] )*{xq}",
    "(?:the )?(?:new )?(?:system )?(?:prompt|instructions) (?::|=|- >|→) {x}",
    "let <prompt> be {x}",
    "<prompt> {xq}",
    "(?:replace|swap|overwrite|exchange) (?:the )?(?:whole|entire|full|complete|all of|all|"
    "everything in|everything of|whole text of|whole content of|text of|content of|contents of)(?: "
    "of)?(?: the)? ?<prompt> (?:with|by|for|to) {x}",
    "(?:replace|change|swap|overwrite|rewrite) (?:everything|all of it|the whole thing|it all)(?: "
    "in <prompt>)? (?:with|by|to|as) {x}",
    "(?:set|change|update) <it> (?:system )?prompt (?:to|:) {x}",
    "(?:i want|i'd like|i would like|i need) <prompt> to (?:be(?: :)?|(?:say|read)(?: :)? (?:just|"
    "only|simply|exactly))(?: :)? {x}",
)
def _set(said: Said) -> Intent | None:
    part = said.part("x")
    if part is None:
        return None
    if fit("{x} in <the>(?:<prompt>)", part):
        return None
    text = content.text_of(part, said.text("x"))
    if text is None:
        return Ask("What should the new system prompt be? Give me its whole text.", (), "prompt")
    if not text.strip():
        return Ask(
            "Should the system prompt really be empty?",
            (Option("Empty the system prompt", (SetPrompt(""),), "empty"),),
        )
    if part.quoted or (part.tokens[0].kind == "quote" and len(part) == 1):
        return SetPrompt(text)
    raw = part.raw()
    if (
        re.match(r"(?:you are|you're|act as|your task|your job|always|never|answer|be an?) ", part.shadow)
        and not raw[:1].isupper()
        and not re.match(r"(?:you are|you're|act as)", part.shadow)
    ):
        return Ask(
            "That would replace the whole system prompt.",
            (
                Option(f"Set the whole system prompt to “{text}”", (SetPrompt(text),), "set whole replace"),
                Option(f"Add “{text}” to the system prompt", (AddText(text),), "add append"),
            ),
        )
    if (
        (raw[:1].isupper() and len(part) > 2)
        or re.match(r"(?:you are|you're|act as)", part.shadow)
        or not raw[:1].isascii()
        or raw[:1] == "{"
    ):
        return SetPrompt(text)
    return Talk("creative", said.phrase.raw()[:200])


@_rule(
    "(?:<delete>|empty|reset|blank|blank out) (?:all (?:of )?|everything (?:in|from) |the whole |"
    "the entire |the text of |the content of |the contents of )*<prompt>(?: (?:completely|entirely|"
    "text|out))*",
    "(?:make|leave) <prompt> (?:empty|blank)",
    "set <prompt> to (?:nothing|empty|blank|an empty (?:string|text))",
)
def _empty(said: Said) -> Intent:
    return Ask(
        "That would leave the system prompt empty. Should I?",
        (Option("Empty the system prompt", (SetPrompt(""),), "empty clear"),),
    )


# --- adding -----------------------------------------------------------------------------------------------


@_rule(
    "(?:<add>|prepend) {x} (?:right |directly |immediately |just )?(?P<w>before|above|in front of|"
    "ahead of|preceding|prior to|after|below|beneath|under|underneath|behind|following) {s}(?: "
    "(?:in|of) <prompt>)?",
    "(?:right |directly |immediately |just )?(?P<w>before|above|after|below|under|behind|"
    "following) {s} ,? ?(?:in <prompt> ,? ?)?(?:<add>) (?:<the>(?:line|sentence|text|words?|rule) "
    ")?(?:: )?{xq}",
    "(?:<add>) (?:right |directly |immediately |just )?(?P<w>before|above|after|below|under|behind|"
    "following) {s} (?:: |the (?:line|sentence) |a (?:new )?line |the text )*{xq}",
)
def _insert(said: Said) -> Intent | None:
    where = said.part("s")
    if (
        where is None
        or parse(where) is not None
        or fit("(?:that|it|this|all|you|we|i|the (?:rest|others?)|everything)(?: {x})?", where)
    ):
        return None
    head = said.part("x") if "x" in said.match.groupdict() else None
    if head is not None and not head.quotes() and not where.quoted and not content.is_sentence(head):
        return None
    if fit("<prompt>", where):
        spot = None
    else:
        spot = content.spot_of(where)
        if spot is None or (
            spot.kind == "words" and not (head is not None and head.quotes()) and len(where) > 8
        ):
            return None
    before = said.match["w"] in ("before", "above", "in front of", "ahead of", "preceding", "prior to")
    if spot is None:
        return _added(said, "x", "start" if before else "end")
    return _added(said, "x", "before" if before else "after", spot)


@_rule(
    f"(?:<add>|start|begin|open|finish|end|close) {{x}} {_EDGE}",
    f"(?:<add>) (?:at|to|in|on|onto) (?:the )?(?P<p>{_START}|{_END}) of (?:it|<prompt>) {_SAYING}{{x}}",
    f"(?:at|to|in|on) (?:the )?(?P<p>{_START}|{_END}) of (?:it|<prompt>) ,? ?(?:<add>) {_SAYING}{{x}}",
    "(?P<p>start|begin|open|introduce|precede|prefix) <prompt> (?:off )?(?:with|by) {x}",
    "(?P<p>end|finish|close|conclude|extend|complete|continue|supplement|amend) <prompt> (?:off "
    ")?(?:with|by)(?: adding)? {x}",
    "<prompt> (?:should|must|shall|needs to|has to|ought to)(?: also| now)* (?P<p>start|begin|end|"
    "close|finish) with {x}",
    "(?:make|have|let) <prompt> (?P<p>start|begin|end|close|finish) with {x}",
    "(?P<p>prepend) {x}(?: (?:to|in|at|before) <prompt>)?",
    "(?P<p>prepend) to <prompt> (?:: )?{x}",
    "(?P<p>first|last) line of <prompt> should be {xq}",
    f"(?:<add>|use) {{x}} as (?:a |the |its |an )?(?:new |very |own |additional )*(?P<p>first|"
    f"opening|last|final|closing) (?:line|sentence|rule|paragraph|words|instruction)(?: (?:of|in|"
    f"to|for) <prompt>)?",
)
def _add_at_edge(said: Said) -> Intent | None:
    part = said.part("x")
    if part is not None and re.search(r"\b(?:to|from|of)$", part.shadow):
        return None
    if part is not None and (trimmed := fit("{x} (?:to|in|into|of) <prompt> ,?", part)):
        inner = part.group(trimmed, "x")
        text = content.text_of(inner) if inner is not None and inner.quotes() else None
        return AddText(text, _place(said.match["p"])) if text else None  # type: ignore[arg-type]
    return _added(said, "x", _place(said.match["p"]))


@_rule(
    "(?P<v><add>) {x} (?:to|into|in|onto|within|inside|on) (?:the text of |the end of "
    ")?<prompt>(?: as (?:a|the) (?:new )?(?P<p>last|final|first|closing|opening)? ?(?:line|"
    "sentence|rule))?",
    f"(?P<v><add>) (?:to|into|in|onto|inside) <prompt> (?:that )?{_SAYING}{{x}}",
    f"(?:in|to|inside|within|for) <prompt> ,? ?(?P<v><add>) {_SAYING}{{x}}",
    "(?:i'd like|i would like|i want|i need) <prompt> to (?:also |additionally )?(?:say|mention|"
    "include|contain|state|have)(?: also)?(?: :)? {x}",
    "<prompt> (?:should|must|shall|needs to|has to|ought to)(?: also| additionally| now)* (?:say|"
    "mention|include|contain|state|have|tell it)(?: also)?(?: :)? {x}",
    f"(?P<v><add>) (?:<the>(?:following |new |extra |another |one more |last |final |more "
    f")*(?:line|lines|sentence|sentences|rule|rules|text|instruction|instructions|paragraph|words|"
    f"note|guideline|bullet|bullet point|phrase)) (?:(?:to|in|into) <prompt> )?{_SAYING}{{x}}(?: "
    f"(?:to|in|into) <prompt>)?",
    "(?P<v>append|tack on|attach) {x}",
    "(?P<v>append) (?:: )?{x}",
    "(?:make|let|have) <prompt> (?:also )?(?:to )?(?:say|mention|include|contain) {x}",
    "{xq} (?:should|must|needs to|has to) (?:also )?(?:be (?:added|appended|in|included|part of|"
    "put)|go)(?: (?:to|in|into|of))* <prompt>",
    "(?:get|work|squeeze|slip|write|also|i want|i'd like|i need|have) {xq} (?:in|into|added to|to "
    "be in|to be added to|to) <prompt>",
    "<prompt> (?:\\+|\\+ =) {xq}",
    "(?:<add>) (?:as )?(?:a |the )?(?P<p>last|final|first|closing|opening) (?:line|sentence)(?: "
    "(?:to|of|in) <prompt>)? (?:: )?{xq}",
)
def _add(said: Said) -> Intent | None:
    groups = said.match.groupdict()
    part = said.part("x")
    if part is None or fit("<prompt>", part) or re.search(r"\b(?:instead of|rather than)\b", part.shadow):
        return None
    if (
        groups.get("v") in ("make", "include", "save", "store", "create", "write")
        and not part.quotes()
        and not content.is_sentence(part)
    ):
        return None
    added = _added(said, "x", _place(groups.get("p")))
    if isinstance(added, AddText) and re.search(
        r" (?:should|must|shall|to|prompt|instructions) (?:say|state) (?::? ?)$",
        said.match.string[: said.match.start("x")],
    ):
        return Ask(
            "Should it say that as well, or nothing but that?",
            (
                Option(
                    f"Add “{added.text}” at the end of the system prompt",
                    (added,),
                    "add also well too as append end",
                ),
                Option(
                    f"Set the whole system prompt to “{added.text}”",
                    (SetPrompt(added.text),),
                    "set whole only nothing but replace",
                ),
            ),
        )
    return added


@_rule(
    "(?:<add>) (?:something|some text|some words|a line|a sentence|a rule|text|more|stuff|a few "
    "words|a bit|an instruction)? ?(?:to|into|in) <prompt>",
    "(?:extend|expand) <prompt>",
)
def _add_what(said: Said) -> Intent:
    return Ask("What should I add to the system prompt? Give me the exact words.", (), "text")


@_rule(
    "(?:<add>|also) (?:<the>(?:text|words?|phrase) )?{xq}",
)
def _add_where(said: Said) -> Intent:
    return _where(content.clean_block(said.text("x")))


def _where(text: str) -> Ask:
    return Ask(
        f"Where should “{text[:120]}” go?",
        (
            Option(
                "Add it at the end of the system prompt", (AddText(text),), "prompt system end instructions"
            ),
            Option("Add it as a test input", (AddTest(text),), "test input"),
        ),
    )


# --- removing ---------------------------------------------------------------------------------------------


@_rule(
    "(?:<delete>) {x} (?:from|in|out of|off|of) (?:the (?:text|end|start|beginning|top|bottom|"
    "rest) of )?<prompt>(?: (?:completely|entirely|altogether))?",
    "(?:from|in) <prompt> ,? ?(?:<delete>) {x}",
    "(?:take|get|strip|cut|leave|throw) {x} out of <prompt>",
    "<prompt> (?:should not|shouldn't|must not|need not|mustn't|should no longer|no longer needs "
    "to|does not need to|doesn't need to) (?:say|mention|contain|include|have|tell it to) {xq}(?: "
    "(?:any more|anymore))?",
    "<prompt> without {xq}",
    "(?:i|we) (?:do not|don't|no longer) want {xq} in <prompt>(?: (?:any more|anymore))?",
    "{xq} (?:can|should|must|has to|needs to) (?:go|be removed|be deleted|disappear)(?: from <prompt>)?",
)
def _remove(said: Said) -> tuple[Intent, ...] | Intent | None:
    part = said.part("x")
    if part is None or fit(
        "(?:something|anything|some|it|that|this|some lines?|a line|a sentence|everything else|the rest|stuff)",
        part,
    ):
        return Ask("Which words should go? Give me the exact text, or say which line.", ()) if part else None
    if fit(
        "(?:everything|all|all of it|the whole text|all text|all lines|all the lines|all of the text)", part
    ):
        return _empty(said)
    if len(part.quotes()) > 1 and all(
        token.kind == "quote" or token.norm in ("and", ",", "&") for token in part.tokens
    ):
        return tuple(RemoveText(Spot("text", quote), "prompt") for quote in part.quotes())
    every = bool(re.match(r"(?:all|every|each|any)\b", part.shadow))
    if several := _several_lines(part):
        return several
    spot = content.spot_of(part)
    return RemoveText(spot, "prompt", every) if spot is not None else None


def _several_lines(part: Phrase) -> tuple[Intent, ...] | None:
    """`lines 2 and 3`, `the first and the last line`: one removal each, from the end so that places hold."""
    match = fit(r"<the>(?P<u>lines|sentences|rules) (?P<x>\d{1,3}(?: (?:,|and|, and) \d{1,3})+)", part)
    match = match or fit(
        r"(?P<x><the>[^ ]+(?: (?:,|and|, and) (?:the )?[^ ]+)+) (?P<u>lines?|sentences?|rules?)", part
    )
    if match is None:
        return None
    words = [
        word for word in re.split(r" (?:,|and|, and) |^the | the ", match["x"]) if word and word != "the"
    ]
    places = [int(word) if word.isdigit() else ordinal(word.removeprefix("the ")) for word in words]
    if not all(places):
        return None
    unit: Literal["line", "sentence"] = "sentence" if match["u"].startswith("sentence") else "line"
    ordered = sorted(
        (place for place in places if place), key=lambda place: place if place > 0 else 10**6 + place
    )
    return tuple(RemoveText(Spot(unit, str(place)), "prompt") for place in reversed(ordered))


@_rule(
    "(?:<delete>) {x}",
    "(?:the|that) {y} (?:line|sentence|rule|instruction|bullet) (?:can|should|must|has to|needs "
    "to) (?:go|be removed|be deleted|disappear)",
    "(?:i|we) (?:do not|don't|no longer)(?: need| want)+ {x}(?: (?:any more|anymore|any longer))?",
)
def _remove_somewhere(said: Said) -> tuple[Intent, ...] | Intent | None:
    if said.match.groupdict().get("y"):
        part = said.part("y")
        return RemoveText(Spot("about", part.said()), "prompt") if part and len(part) <= 4 else None
    part = said.part("x")
    if part is None or len(part) > 14:
        return None
    if part.quoted:
        return DeleteThing(part.said(), True)
    if several := _several_lines(part):
        return several
    spot = content.spot_of(part)
    if spot is None or re.search(r" (?:and|then|or) ", part.shadow):
        return None
    if spot.kind in ("line", "sentence", "starting", "text") or fit(
        "(?:the )?(?:word|words|phrase) {x}", part
    ):
        return RemoveText(spot, "prompt")
    if spot.kind in ("about", "line_about"):
        if fit(
            "(?:everything|anything|the thing|the stuff|the one|any mention|all mentions|one) {x}|{x} (?:thing|stuff|one)".replace(
                "{x}|{x}", "{x}|.+"
            ),
            part,
        ):
            return DeleteThing(spot.value, False)
        return RemoveText(spot, "prompt")
    if re.match(
        r"(?:a|an|some|any|something|anything|it|them|this|that|everything|all|more|the (?:last|first)? ?(?:one|thing|part)|every|half|your|nothing|me|you)\b",
        part.shadow,
    ):
        return None
    return DeleteThing(part.said(), False) if len(part) <= 6 else None


# --- replacing --------------------------------------------------------------------------------------------

_WORDS = "(?:(?:the |every |each |all |all the |any )*(?:words?|phrase|text|sentence|expression|string|occurrences? of|instances? of|mentions? of|occurrence of) (?:of |: )?)?"
_INSIDE = "(?: (?:in|inside|within|of|from|throughout) <prompt>)?(?P<all>(?: (?:everywhere|throughout|all over|each time|every time|wherever it (?:appears|occurs|stands)))*)"


@_rule(
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
    spot = content.spot_of(old_part)
    if spot is None or (
        spot.kind == "words"
        and (
            len(old_part) > 14 or (re.search(r"\b(?:to|with|by)\b", old_part.shadow) and not new_part.quoted)
        )
    ):
        return None
    explicit = bool(
        located
        or re.search(
            rf"(?:\bin|within|throughout|of|from|inside) {_PROMPT_WORDS}",
            said.match.string[said.match.end("n") :],
        )
    ) or bool(re.match(rf"(?:in|inside|within) {_PROMPT_WORDS}", said.match.string))
    if spot.kind in ("line", "sentence", "about", "line_about", "starting"):
        explicit = True
    new = content.text_of(new_part, said.text("n") if not swapped else new_part.raw())
    if new is None:
        return None
    vague = not new_part.quotes() and re.match(
        r"(?:something|anything|more|less|be|be more|a more|another|sound|someone|some|better|whatever)\b",
        new_part.shadow,
    )
    if vague or fit(
        "<the>(?:tone|style|voice|mood|language|personality|character|attitude|wording|it|them|everything|format|length|temperature)(?: {y})?",
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
        and spot.kind == "text"
        and said.end()
        and new.endswith(("!", "."))
        and not spot.value.endswith((".", "!"))
    ):
        new = new.rstrip(".!")
    return ReplaceText(spot, new, "prompt" if explicit else None, every)


_PROMPT_WORDS = r"(?:(?:the|its|his|her|this|my|whole|entire|current|persona's) )*(?:system )?(?:prompt|instructions|system-prompt|system message)"


@_rule(
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


# --- descriptions of a change -----------------------------------------------------------------------------

_BEHAVE = "(?:always|never|answer|speak|talk|respond|reply|write|use|avoid|be|stay|sound|act|only|not|keep|end|start|finish|begin|mention|ask|give|explain|make|say|refuse|address|call|include|sign|greet|tell|stop|rhyme|quote|think|help|don't|do)"


@_rule(
    f"(?:tell|instruct|ask|teach|get|force|have|let|order|train|remind|allow|advise|want|i want|"
    f"i'd like|i would like|i need) <it> (?:to )?(?P<x>{_BEHAVE} .+?)",
    f"(?:make|let|have) <it> (?P<x>{_BEHAVE}(?: .+?)?)",
    f"<it> (?:should|must|shall|needs to|has to|ought to|is supposed to|is to|may|can)(?: also)? "
    f"(?P<x>{_BEHAVE} .+?)",
    "<it> (?:should not|shouldn't|must not|mustn't|may not|can't|cannot|should never|must never) (?P<x>.+?)",
    "(?:make|ensure|be) (?:sure|certain)?(?: that)? ?<it> (?P<x>.+?)",
    "(?P<x>(?:always|never|don't|do not) .+?)",
    "(?P<x>be (?:more |less |a bit more |a little more |always |very |really )?[^ ]+(?: and [^ ]+)?)",
    into=VAGUE,
)
def _describe(said: Said) -> Intent | None:
    part = said.part("x")
    if part is None or len(part) > 40:
        return None
    text = part.said()
    if re.search(
        r"(?:should not|shouldn't|must not|mustn't|may not|can't|cannot) ",
        said.match.string[: said.match.start("x")],
    ) or re.search(r"(?:should never|must never) $", said.match.string[: said.match.start("x")]):
        text = "never " + text
    if re.match(r"(?:make|ensure|be) ", said.match.string) and not re.match(rf"{_BEHAVE}\b", part.shadow):
        return Talk("creative", said.phrase.raw()[:200])
    return content.suggest_line(
        text, "I do not write or judge texts; I put words into the system prompt as you give them."
    )


@_rule(
    "(?:<add>) (?:: )?{x}",
    into=VAGUE,
)
def _add_somewhere(said: Said) -> Intent | None:
    part = said.part("x")
    if part is None or part.quotes() or not content.is_sentence(part):
        return None
    return _where(said.text("x"))


@_rule(
    "(?P<x>(?:answer|speak|talk|respond|reply|avoid|stay|sound|greet|refuse|address|apologi[sz]e|"
    "rhyme|use|write|keep|end|start|finish|begin|mention|be) .+?)",
    into=VAGUE,
)
def _imperative(said: Said) -> Intent | None:
    part = said.part("x")
    if (
        part is None
        or len(part) > 40
        or fit(
            "(?:start|begin|end|finish|keep|use|write) (?:<it>|<prompt>|<tests>|<test>|over|again){y}".replace(
                "{y}", "(?: {y})?"
            ),
            part,
        )
    ):
        return None
    return content.suggest_line(
        part.said(), "I am not the persona; that reads like words for its system prompt."
    )


@_rule(
    "(?P<x>(?:you are|you're|act as|from now on you are|from now on ,? ?you|you will be|you speak|"
    "you always|you never|you must|you should always) .+?)",
    into=VAGUE,
)
def _speaks_to_persona(said: Said) -> Intent | None:
    text = said.text("x")
    if len(text) > 4000:
        return None
    text = text[:1].upper() + text[1:]
    return Ask(
        "I am not the persona; that reads like words for its system prompt.",
        (
            Option(f"Add “{text}” at the end of the system prompt", (AddText(text),), "add append end"),
            Option(f"Set the whole system prompt to “{text}”", (SetPrompt(text),), "set whole replace"),
        ),
    )


@_rule(
    "(?:make|turn|keep|get|render|have|let) (?:<it>|<prompt>|everything|them|<the>(?:tone|style|"
    "voice|answers?|text|wording|tests?|persona's answers|language)) (?:(?:sound|feel|be|become|"
    "look|seem|read) )?{x}",
    "(?:translate|improve|polish|shorten|summari[sz]e|simplify|rewrite|rephrase|reword|condense|"
    "optimi[sz]e|refine|enhance|tweak|clean up|tidy up|tidy|proofread|fix|expand|elaborate|format|"
    "reformat|correct|check|review|evaluate|rate|judge|critique|compare|analy[sz]e|spice up|tone "
    "down|soften|strengthen|tighten|reorganize|restructure|reorder|sort|merge|combine|split|move) "
    "{x}",
    "(?:write|generate|compose|invent|draft|come up with|think of|think up|design|brainstorm|"
    "suggest|propose|recommend|find|make up|create|give me|tell me|imagine|pick|choose|sing|draw|"
    "paint|play|explain|describe|compute|calculate|solve) {x}",
    "(?:add|put|include|use|give <it>) (?:some|more|a bit of|a little|a little more|a touch of|"
    "lots of|a lot of|less|a few|something|any|several|a|an) {x}",
    "(?:<change>) {x}",
    "(?:more|less|shorter|longer|warmer|funnier|nicer|simpler|better|stricter|friendlier|softer|"
    "bolder|calmer) ?(?:{x})?",
    into=VAGUE,
)
def _creative(said: Said) -> Intent | None:
    return Talk("creative", said.phrase.raw()[:200])
