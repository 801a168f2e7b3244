"""Rules for the name, and for undo."""

from __future__ import annotations

import re

from agent.models.offline.intents import Ask, Intent, Option, Rename, Talk, Undo
from agent.models.offline.names import bare_words, is_talk, name_of
from agent.models.offline.patterns import fit
from agent.models.offline.reference import number, parse
from agent.models.offline.rules.rule import RuleSet, Said

RULES = RuleSet()

# --- undo -----------------------------------------------------------------------------------------------

_LAST = (
    "(?:(?:the|my|your|that|this|our) )?(?:very )?(?:(?:last|latest|previous|recent|most recent) "
    ")?(?:change|edit|action|step|one|thing|modification|update|changes|edits|run|operation|move|"
    "request|command)(?: (?:you|we|i) (?:just )?(?:made|did|have made|have done))?"
)


@RULES.on(
    f"(?:undo|revert|reverse|cancel|roll back|rollback|take back|take-back|back out|discard)(?: "
    f"(?:it|that|this|them|{_LAST}|everything you (?:just )?did|what you (?:just )?(?:did|changed)|"
    f"what (?:you|we|i) did last|all that|all of that|it all))?(?: (?:please|now|again|once|one "
    f"time))*",
    "(?:take|roll|put|change|turn|set|bring) (?:it|that|this|them) back(?: (?:to (?:how|what|the "
    "way) it was(?: before)?|the way it was(?: before)?|again|as it was|how it was(?: before)?|to "
    "before|to the previous version))?",
    "(?:go|step) back(?: (?:one|a) (?:step|version|change)| to (?:the )?(?:previous|last) "
    "(?:version|state)| to (?:how|what|the way) it was(?: before)?)?",
    "(?:restore|revert to|go back to|return to|bring back|back to) (?:the )?(?:previous|last|old|"
    "earlier|prior) (?:version|state|one)",
    "(?:ctrl|control) (?:[-+] )?z",
    f"(?:roll|take) {_LAST} back",
    "(?:revert|restore) (?:it|everything|the persona)(?: to (?:how|what|the way) it was(?: before)?)?",
)
def _undo(said: Said) -> Intent | None:
    return Undo()


@RULES.on(
    "undo twice",
    "undo (?:the )?(?:last )?(?P<n>two|2|three|3) (?:changes|edits|steps|times|actions|things)",
    "undo (?:it |that )?(?P<n>two|2|three|3) times",
)
def _undo_more(said: Said) -> Intent:
    return Undo(number(said.match.groupdict().get("n") or "two") or 2)


@RULES.on(
    "(?:undo|revert|bring back|restore|recover|put back) {x}",
    "(?:i )?(?:didn't|did not) (?:mean|want) (?:that|to|it)(?: {x})?",
    "(?:that was|it was|was) (?:a mistake|wrong|not what i meant|an accident)",
    "oops",
)
def _undo_what(said: Said) -> Intent:
    return Ask(
        "I can take back the last change as a whole, but not pick an older one.",
        (Option("Undo the last change", (Undo(),), "undo last"),),
    )


# --- the name ---------------------------------------------------------------------------------------------


def _renamed(said: Said, group: str = "x") -> Intent:
    given = said.part(group)
    if given is None or all(token.norm in ".,;:!?" for token in given.tokens):
        return Ask("What should the new name be?", (), "name")
    name = name_of(said.part(group), asked=said.asked, end=said.end())
    if name is None:
        part = said.part(group)
        quotes = part.quotes() if part is not None else ()
        first = quotes[0] if len(quotes) == 1 else bare_words(part)
        options = (Option(f"Rename it to “{first}”", (Rename(first),), first),) if first else ()
        return Ask(
            "I am not sure what the new name should be. Tell me the exact name, best in quotes.",
            options,
            "name",
        )
    was = said.part("y") if "y" in said.match.groupdict() else None
    return Rename(name, was.said() if was is not None else "")


@RULES.on(
    "rename <it> (?:back|again)",
    "(?:<change>|put|bring|rename) <name> (?:back|to (?:what|how) it was(?: before)?)",
    "(?:rename|change) (?:<it>|<name>)(?: back)? to (?:(?:what|how) it (?:was|used to be)(?: called)?(?: before)?|"
    "(?:its|the|his|her) (?:old|previous|former|original|earlier|prior|last) name)",
)
def _name_back(said: Said) -> Intent:
    return Ask(
        "Tell me the exact name, in quotes; or I take back the last change as a whole.",
        (Option("Undo the last change", (Undo(),), "undo last"),),
        "name",
    )


@RULES.on("call (?:it|this|the whole thing|everything) off")
def _called_off(said: Said) -> Intent:
    return Talk("nothing")


@RULES.on("rename {y} to {x}", "(?:change|update) <name> {y} to {x}")
def _rename_from(said: Said) -> Intent | None:
    part, was = said.part("x"), said.part("y")
    if part is None or was is None or len(was) > 4 or fit("(?:<it>|<name>)(?: .+)?|back|from {z}", was):
        return None
    if not was.quoted and not was.raw()[:1].isupper():
        return None
    name = name_of(part, asked=said.asked, end=said.end())
    return Rename(name, was.said()) if name else None


@RULES.on(
    "rename (?:<it>|<name>|from {y})? ?(?:back )?(?:to|as|into|:|- >|→|=) {x}",
    "rename <it> from {y} to {x}",
    "(?:<change>) <name> from {y} (?:to|into) {x}",
    "(?:<change>|rename) <name> (?:to be|to read|to say|to|into|as|be|:|=|- >|→|is)(?: :)? {x}",
    "<name> (?:should|must|shall|needs to|has to|is to|ought to|will|may)(?: now| instead| rather| "
    "just| simply| really)* (?:be changed to|be set to|be updated to|become|be|read|say|change "
    "to)(?: :)? {x}",
    "(?:<name>|(?:the )?new name) (?::|=|- >|→) {x}",
    "(?:the |its |my |our )?new name (?:is|should be|will be|shall be)(?: :)? {x}",
    "(?:<change>) <name> (?:field |over )+(?:to |:|= )+{x}",
    "(?:i'd prefer|i would prefer|i'd like|i'd love)(?: it)? if <it> (?:was|were|is|would be|could "
    "be|were to be) (?:called|named) {x}",
    "let <it> be (?:called|named) {x}",
    "let <name> be {x}",
    "(?:i want|i'd like|i would like|i'd prefer|i prefer|i need|make) <name> (?:to be |to read |to "
    "say |changed to |set to |updated to )?{x}",
    "(?:use|take|pick|choose|go with|have|set|put|give it|give <it>) {x} (?:as|for) <name>",
    "(?:use|take|go with|i prefer|i'd prefer|i would prefer|i want|i'd like) <name> {xq}",
    "give <it> <name>(?: :| of)? {x}",
    "give <it> (?:a |another )?new name (?:: |, |- |of )?{x}",
    "<it> (?:should|must|shall|will|is to|needs to|has to|ought to|can)(?: now| from now on| "
    "henceforth)*(?: be| go by| get)?(?: called| named| renamed to| renamed| known as| the name| "
    "retitled)+ {x}",
    "(?:i'd like|i would like|i'd love|i would love|i want|i'd prefer|we want|i need|have|i'd "
    "rather have) <it> (?:to be |be )?(?:called|named|renamed to|renamed|known as|titled) {x}",
    "(?:to be |be )?(?:called|named) {x}",
    "from now on ,? ?(?:it is|it's|call it|you are|it|he is|she is|name it|<it>) (?:is |will be |"
    "shall be |should be |goes by )?(?:called |named |known as )?{x}",
    "<it> (?:goes|should go|will go|shall go|is going) by (?:the name (?:of )?)?{x}(?: now| from now on)?",
    "(?:rebrand|retitle|rechristen|christen|dub|baptize|baptise|entitle) (?:<it>)(?: as| to)? {x}",
    "(?:call|name|title) (?:<it>) (?:to )?{x}",
    "(?:<name> (?:is|sounds|seems)|(?:the|its) name's) (?:too |so |a bit |rather |very |really |"
    "quite )*[^ ]+ (?:, |; |- )*(?:i think |maybe |perhaps )?{x} (?:would be|would sound|is|sounds|"
    "fits|suits it|would fit|would suit it)(?: (?:much|far|a lot|way|so much))? (?:better|nicer|"
    "best)",
    "{x} (?:would be|would make) a (?:better|nicer|much better) name(?: for <it>)?",
    "(?:new|different) name , {x}",
    "(?:call) <name> {x}",
)
def _rename(said: Said) -> Intent | None:
    part = said.part("x")
    if (
        part is not None
        and not part.quoted
        and (parse(part) is not None or fit("<prompt>|<tests>|<test>|<name>", part))
    ):
        return None
    if (
        part is not None
        and said.match.string.startswith("make ")
        and (part.raw()[:1].islower() or is_talk(part.raw()))
    ):
        return Talk("creative", said.phrase.raw()[:200])
    return _renamed(said)


@RULES.on("rename <it> {x}")
def _rename_without_to(said: Said) -> Intent | None:
    part = said.part("x")
    if part is not None and not part.quoted and re.search(r"(?:^| )(?:to|as|into)(?: |$)", part.shadow):
        return Ask("What should the new name be? Best in quotes.", (), "name")
    return _renamed(said)


@RULES.on(
    "{x} (?:is|sounds like) (?:a|the) (?:better|nicer|much better|good|right) name(?: for <it>)?",
    "(?:<name>|the name) is (?:now |actually )?{x}",
    "<it> is (?:now |actually )?(?:called|named) {x}",
    "how about (?:calling <it> |renaming <it> to |the name |we call it )?{x}(?: as (?:a|the) name)?",
    "(?:change|set|make|turn) <it> (?:to |into )?{x}",
    "title (?::|=) {x}",
)
def _rename_perhaps(said: Said) -> Intent | None:
    part = said.part("x")
    name = name_of(part, asked=True)
    if name is None or part is None or not (part.quoted or not name[:1].islower()) or parse(part) is not None:
        return None
    return Ask(
        "I am not sure that you want a new name.",
        (Option(f"Rename it to “{name}”", (Rename(name),), name),),
        "name",
    )


@RULES.on(
    "rename {x}",
    "(?:call|name) {x} (?:to )?[QC]",
    "(?:call|name) (?P<x>(?:the|my) .+? (?:<tests>|<test>|one)) .+?",
)
def _rename_test(said: Said) -> Intent | None:
    part = said.part("x")
    located = fit("{x} (?:to|as|into) {y}", part) if part is not None else None
    named = parse(part) or (parse(part.group(located, "x")) if located and part is not None else None)
    if not named or (named[0].kind == "pronoun" and "test" not in said.match.string):
        return None
    return Talk("elsewhere", said.phrase.raw()[:200])


@RULES.on(
    "rename {xq}",
)
def _rename_bare(said: Said) -> Intent:
    return _renamed(said, "x")


@RULES.on(
    "rename(?: <it>| <name>)?",
    "(?:<change>) <name>",
    "(?:give) <it> (?:a |another )?(?:new |better |different |nicer )?name",
    "(?:a )?(?:new|different|better|another) name",
    "(?:call|name) <it>(?: something)?(?: else| different| better)?",
    "(?:<change>) <name> (?:to|into) (?:something|anything) .+",
    "<it> (?:needs|could use|deserves) (?:a|another) (?:better |new |different |nicer )?name",
    "find <it> a (?:better |new )?name",
    "think of a (?:better |new |different )?name(?: for <it>)?",
)
def _rename_to_what(said: Said) -> Intent:
    return Ask("What should the new name be?", (), "name")
