"""A free answer to an open question ("What should the name be?"): what it completes, or why it is none."""

from __future__ import annotations

from dataclasses import replace

from agent.models.offline import content
from agent.models.offline.evasions import evades
from agent.models.offline.intents import (
    AddTest,
    AddText,
    Ask,
    ChangeTest,
    Intent,
    Option,
    Rename,
    SetPrompt,
    Talk,
)
from agent.models.offline.mood import mood_of, strip_fillers, unwrap
from agent.models.offline.names import name_of
from agent.models.offline.patterns import fit
from agent.models.offline.split import Understood
from agent.models.offline.words import Phrase


def speaks_aside(understood: Understood, ask: Ask) -> bool:
    """Whether a message was understood as something else than an answer to an open question."""
    if ask.blank in ("test", "content"):  # a question or a greeting is a fine test input
        return any(
            isinstance(i, Talk) and i.subject in ("nothing", "help", "thanks", "connect")
            for i in understood.intents
        )
    aside = ("creative",) if ask.blank == "name" else ("creative", "comment")  # "ok" is no name
    return (
        bool(understood.intents)
        and not understood.unclear
        and not isinstance(understood.intents[0], Ask)
        and not (isinstance(understood.intents[0], Talk) and understood.intents[0].subject in aside)
    )


def _corrects(said: Phrase, ask: Ask) -> bool:
    """Whether bare words rather correct what was offered ("no, German", "in French") than are the text themselves."""
    if said.quotes():
        return False
    offered = bool(ask.options) and ask.blank == "text"
    return (offered and said.raw()[:1].islower()) or bool(
        fit("(?:no|nope|yes|yeah|ok|okay|well|actually) , {x}", said)
    )


def filled_by(message: str, ask: Ask) -> Intent | None:
    """Return the intent that a free answer completes ("What should the name be?" "Sunny")."""
    said = content.again(message.strip())
    if not ask.blank or not said.tokens:
        return None
    hold = mood_of(said)
    if hold is not None and (hold.mood == "negated" or ask.blank not in ("test", "content")):
        return None
    pausing = evades(said) or _corrects(said, ask)
    if ask.blank == "name":
        if pausing:
            return None
        plain = strip_fillers(unwrap(said).phrase)
        match = fit(
            "(?:to |call it |it's |it is |how about |maybe |the name is |name it |let's say )*{x}", plain
        )
        part = plain.group(match, "x") if match else None
        name = (
            name_of(part, asked=False, end=(part and plain.source[part.tokens[-1].end :].strip()) or "")
            if part
            else None
        )
        return Rename(name) if name and len(name.split()) <= 6 else None
    quotes = said.quotes()
    text = (
        said.said() if said.quoted else quotes[0] if len(quotes) == 1 and len(said) <= 6 else message.strip()
    )
    if not text.strip():
        return None
    made = _made_of(text, said, ask)
    if made is None or not pausing:
        return made
    taken = Option(f"Take “{text[:120]}” as the words", (made,), "take words")
    return replace(
        ask, question="Is that what it should say, or an answer to me? " + ask.question, options=(taken,)
    )


def _made_of(text: str, said: Phrase, ask: Ask) -> Intent | None:
    """Return what an open question asks for, with the text that was given."""
    quotes = said.quotes()
    if ask.blank == "prompt":
        return SetPrompt(text) if said.quoted or len(said) > 3 else None
    if ask.blank == "text":
        return (
            AddText(text) if said.quoted or quotes or (content.is_sentence(said) and len(said) > 1) else None
        )
    if ask.blank == "test":
        return AddTest(text)
    if ask.blank == "content" and ask.reference is not None:
        return ChangeTest(ask.reference, text)
    return None
