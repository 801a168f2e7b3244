"""Rules tried last: sentences that describe a change, or speak to the persona, without giving the words."""

from __future__ import annotations

import re

from agent.models.offline import content
from agent.models.offline.intents import AddText, Ask, Intent, Option, SetPrompt, Talk
from agent.models.offline.patterns import fit
from agent.models.offline.rules.rule import RuleSet, Said

RULES = RuleSet()

# --- descriptions of a change -----------------------------------------------------------------------------

_BEHAVE = (
    "(?:always|never|answer|speak|talk|respond|reply|write|use|avoid|be|stay|sound|act|only|not|"
    "keep|end|start|finish|begin|mention|ask|give|explain|make|say|refuse|address|call|include|"
    "sign|greet|tell|stop|rhyme|quote|think|help|don't|do)"
)


@RULES.on(
    f"(?:tell|instruct|ask|teach|get|force|have|let|order|train|remind|allow|advise|want|i want|"
    f"i'd like|i would like|i need) <it> (?:to )?(?P<x>{_BEHAVE} .+?)",
    f"(?:make|let|have) <it> (?P<x>{_BEHAVE}(?: .+?)?)",
    f"<it> (?:should|must|shall|needs to|has to|ought to|is supposed to|is to|may|can)(?: also)? "
    f"(?P<x>{_BEHAVE} .+?)",
    "<it> (?:should not|shouldn't|must not|mustn't|may not|can't|cannot|should never|must never) (?P<x>.+?)",
    "(?:make|ensure|be) (?:sure|certain)?(?: that)? ?<it> (?P<x>.+?)",
    "(?P<x>(?:always|never|don't|do not) .+?)",
    "(?P<x>be (?:more |less |a bit more |a little more |always |very |really )?[^ ]+(?: and [^ ]+)?)",
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


@RULES.on(
    "(?:<add>) (?:: )?{x}",
)
def _add_somewhere(said: Said) -> Intent | None:
    part = said.part("x")
    if part is None or part.quotes() or not content.is_sentence(part):
        return None
    return content.ask_where(said.text("x"))


@RULES.on(
    "(?P<x>(?:answer|speak|talk|respond|reply|avoid|stay|sound|greet|refuse|address|apologi[sz]e|"
    "rhyme|use|write|keep|end|start|finish|begin|mention|be) .+?)",
)
def _imperative(said: Said) -> Intent | None:
    part = said.part("x")
    if (
        part is None
        or len(part) > 40
        or fit(
            "(?:start|begin|end|finish|keep|use|write) (?:<it>|<prompt>|<tests>|<test>|over|again)(?: {y})?",
            part,
        )
    ):
        return None
    return content.suggest_line(
        part.said(), "I am not the persona; that reads like words for its system prompt."
    )


@RULES.on(
    "(?P<x>(?:you are|you're|act as|from now on you are|from now on ,? ?you|you will be|you speak|"
    "you always|you never|you must|you should always) .+?)",
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


@RULES.on(
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
)
def _creative(said: Said) -> Intent | None:
    return Talk("creative", said.phrase.raw()[:200])
