"""Rules that set the system prompt or add to it."""

from __future__ import annotations

import re
from dataclasses import replace

from agent.models.offline import content
from agent.models.offline.intents import AddText, Ask, Intent, Option, SetPrompt, Spot, Talk
from agent.models.offline.patterns import fit
from agent.models.offline.reference import NUMBER, ORDINAL, number, ordinal, parse
from agent.models.offline.rules.rule import RuleSet, Said

RULES = RuleSet()

_START = "(?:start|beginning|top|front|head|very start|very beginning|very top)"
_END = "(?:end|bottom|very end|very bottom|close|tail|foot)"
_OWN_LINE = (
    "(?:(?:as|on|in) (?:a |its |an |the )?(?:new |own |separate |extra |single |additional "
    ")*(?:line|sentence|rule|paragraph)(?: of its own)? )?"
)
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
    if (
        text
        and not part.quotes()
        and fit("(?:{a} )?(?:to|in|into|of|from|on) <prompt>(?: {b})?|{c} (?:but|and) only", part)
    ):
        taken = Option(f"Add “{text[:120]}”", (AddText(text, place, spot),), "add words")  # type: ignore[arg-type]
        return Ask("Put the words in quotes, so that I do not take more than you mean.", (taken,), "text")
    if all(token.norm in ":,;-=" for token in part.tokens):
        text = ""
    if re.match(r"(?:to|into|in|under|at|on|after|before|for|about|from|of|below|above) ", part.raw()):
        return content.ask_quotes("be added")
    if text is None or not text.strip():
        return Ask("What should I add to the system prompt? Give me the exact words.", (), "text")
    if not part.quotes() and not content.is_sentence(part):
        if part.tokens[0].norm == "that" and len(part) > 3:
            return content.suggest_line(text)
        if part.tokens[0].norm in content.DESCRIBING:
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
    added = AddText(text, place, spot)  # type: ignore[arg-type]
    return content.ask_literal(part, added) or added


# --- replacing the whole prompt ---------------------------------------------------------------------------


@RULES.on(
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
    "(?:write|create|make|start|here is|here's|use|set|give <it>|i want|i need|i'd like) "
    "(?:a |the |this |my |completely |totally |whole |entirely )*(?:new |"
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
        return content.ask_literal(part, SetPrompt(text)) or SetPrompt(text)
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


@RULES.on(
    "(?:<delete>|empty|reset|blank|blank out) (?:all (?:of )?|everything (?:in|from) |the whole |"
    "the entire |the text of |the content of |the contents of )*<prompt>(?: (?:completely|entirely|"
    "text|out))*",
    "(?:make|leave) <prompt> (?:empty|blank)",
    "set <prompt> to (?:nothing|empty|blank|an empty (?:string|text))",
)
def _empty(said: Said) -> Intent:
    return content.ask_empty()


# --- adding -----------------------------------------------------------------------------------------------


@RULES.on(
    rf"(?:<add>) {{x}} (?:as|at|on|in|into) (?:the )?(?:new )?line (?:number )?(?P<n>{NUMBER})(?: "
    rf"(?:of|in) <prompt>)?",
    rf"(?:<add>) (?:as|at|on) (?:the )?(?:new )?line (?:number )?(?P<n>{NUMBER})(?: (?:of|in) "
    rf"<prompt>)? (?:[:,-] )?{{xq}}",
)
def _insert_as_line(said: Said) -> Intent | None:
    place = number(said.match["n"])
    return _added(said, "x", "before", Spot("line", str(place))) if place else None


@RULES.on(
    rf"(?:<add>) {{x}} between (?:the )?(?:lines? |sentences? )?(?P<a>{NUMBER}|{ORDINAL})(?: line| sentence)?"
    rf" and (?:the )?(?:line |sentence )?(?P<b>{NUMBER}|{ORDINAL})(?: lines?| sentences?)?(?: "
    rf"(?:of|in) <prompt>)?",
    rf"between (?:the )?(?:lines? |sentences? )?(?P<a>{NUMBER}|{ORDINAL})(?: line| sentence)?"
    rf" and (?:the )?(?:line |sentence )?(?P<b>{NUMBER}|{ORDINAL})(?: lines?| sentences?)?(?: "
    rf"(?:of|in) <prompt>)? ,? ?(?:<add>) (?:<the>(?:line|sentence|text|rule) )?(?:: )?{{xq}}",
)
def _insert_between(said: Said) -> Intent | None:
    first, second = (number(said.match[n]) or ordinal(said.match[n]) or 0 for n in ("a", "b"))
    return _added(said, "x", "after", Spot("line", str(first))) if 0 < first == second - 1 else None


@RULES.on(
    "(?:<add>) {xq} (?:in )?between (?P<a>Q) and (?P<b>Q)(?: (?:of|in) <prompt>)?",
    "(?:in )?between (?P<a>Q) and (?P<b>Q)(?: (?:of|in) <prompt>)? ,? ?(?:<add>) (?:<the>(?:line|sentence|text|rule) )?"
    "(?:: )?{xq}",
)
def _insert_between_texts(said: Said) -> Intent | None:
    first, second = content.spot_of(said.part("a")), content.spot_of(said.part("b"))
    added = _added(said, "x", "after", first) if first is not None else None
    return replace(added, next=second) if isinstance(added, AddText) else added


@RULES.on(
    "(?:<add>|prepend) {x} (?:right |directly |immediately |just )?(?P<w>before|above|in front of|"
    "ahead of|preceding|prior to|after|below|beneath|under|underneath|behind|following) {s}(?: "
    "(?:in|of) <prompt>)?",
    "(?:right |directly |immediately |just )?(?P<w>before|above|after|below|under|behind|"
    "following) {s} ,? ?(?:in <prompt> ,? ?)?(?:<add>) (?:<the>(?:line|sentence|text|words?|rule) "
    ")?(?:: )?{xq}",
    "(?:<add>) {x} (?:to|in|into) <prompt> ,? ?(?:right |directly |immediately |just )?(?P<w>before|above|after|"
    "below) {s}",
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


@RULES.on(
    f"(?:<add>|start|begin|open|finish|end|close) {{x}} {_EDGE}",
    f"(?:<add>) (?:at|to|in|on|onto) (?:the )?(?P<p>{_START}|{_END}) of (?:it|<prompt>) {_SAYING}{{x}}",
    f"(?:at|to|in|on) (?:the )?(?P<p>{_START}|{_END}) of (?:it|<prompt>) ,? ?(?:<add>) {_SAYING}{{x}}",
    "(?P<p>start|begin|open|introduce|precede|prefix) <prompt> (?:off )?(?:with|by) {x}",
    "(?P<p>end|finish|close|conclude|extend|complete|continue|supplement|amend) <prompt> (?:off "
    ")?(?:with|by)(?: adding)? {x}",
    "<prompt> (?:should|must|shall|needs to|has to|ought to)(?: also| now)* (?P<p>start|begin|end|"
    "close|finish) with {x}",
    "(?:make|have|let) <prompt> (?P<p>start|begin|end|close|finish) with {x}",
    f"<prompt> (?:should|must|shall|needs to|has to|ought to)(?: also| additionally| now)* (?:say|mention|include|"
    f"contain|state|have) {{xq}} {_EDGE}",
    "(?:make|set|put) {xq} (?:as )?(?:the |its )(?:new |very )*(?P<p>first|opening|last|final|closing) "
    "(?:line|sentence|rule)(?: (?:of|in) <prompt>)?",
    "(?P<p>prepend) {x}(?: (?:to|in|at|before) <prompt>)?",
    "(?P<p>prepend) to <prompt> (?:: )?{x}",
    "(?P<p>first|last) line of <prompt> should be {xq}",
    "(?:<add>|use) {x} as (?:a |the |its |an )?(?:new |very |own |additional )*(?P<p>first|"
    "opening|last|final|closing) (?:line|sentence|rule|paragraph|words|instruction)(?: (?:of|in|"
    "to|for) <prompt>)?",
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


@RULES.on(
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
    "(?:make sure|ensure|see to it|check)(?: that)? <prompt> (?:also )?(?:says|mentions|contains|"
    "includes|has) {xq}",
    "<prompt> (?:also )?(?:needs|needs to have|requires|could use) (?:<the>(?:new |extra )?(?:line|"
    "sentence|rule) (?:saying |that says |that reads |: )?)?{xq}",
    "(?:another |one more |a )?new (?:rule|line|sentence|instruction)(?: for <prompt>)? [:-] {x}",
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


@RULES.on(
    "(?:<add>) (?:something|some text|some words|a line|a sentence|a rule|text|more|stuff|a few "
    "words|a bit|an instruction)? ?(?:to|into|in) <prompt>",
    "(?:extend|expand) <prompt>",
)
def _add_what(said: Said) -> Intent:
    return Ask("What should I add to the system prompt? Give me the exact words.", (), "text")


@RULES.on(
    "(?:<add>|also) (?:<the>(?:text|words?|phrase) )?{xq}",
)
def _add_where(said: Said) -> Intent:
    return content.ask_where(content.clean_block(said.text("x")))
