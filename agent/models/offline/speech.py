"""What the offline model says: short, plain Markdown, never in the persona's voice."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.models.offline.intents import Ask, Hold, Talk
from agent.models.offline.reference import TestInput

CONNECT = (
    "To connect a real model, type `/model` in the full-screen program: paste a key, or find a server; it answers "
    "your next message. For every start, set `ANTHROPIC_API_KEY` in the environment; or give a server that speaks "
    "the Messages API as `base_url` in `config.toml` or as `ANTHROPIC_BASE_URL`; and choose a model "
    "with `--model NAME`."
)
WHAT_I_AM = (
    "I am the offline assistant of persona-editor: a set of fixed rules embedded in the program, "
    "without a neural "
    "model. I am not the persona and cannot speak as it; I change its file when you ask in plain words."
)
RULE_BASED = "I am rule-based, without a neural model."
PASTED = (
    "I have not set up the key you wrote here, and a message stands in the log of this conversation: "
    "replace that key by a new one if others can read this computer."
)
SKILLS = """I understand requests such as:

- rename it to "Sunny"
- add "Be concise." to the system prompt, or at its start, or after "some line"
- replace "short" with "long"; remove the line about the weather
- set the system prompt to: and then the whole text
- add a test input: What is 2+2?
- change the second test input to "…"; delete the one about math
- show the name, the prompt or the test inputs
- undo

Several may be joined by "and" or "then". Exact words go in quotes or after a colon."""


def quote(text: str, longest: int = 200) -> str:
    """Return a text in quotes on one line, cut in the middle when it is long."""
    if len(text) > 8 * longest:
        text = f"{text[: 4 * longest]} … {text[-2 * longest :]}"
    line = " ⏎ ".join(part.strip() for part in text.strip().splitlines()) if "\n" in text else text
    if len(line) > longest:
        line = f"{line[: longest * 2 // 3]} … {line[-longest // 4 :]}"
    return f"“{line}”"


def fenced(text: str) -> str:
    """Return a text as a Markdown code block that nothing in it can close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text.rstrip(chr(10))}\n{fence}"


def block(text: str) -> str:
    """Return a stored text for reading back: on the line when short, else as a code block."""
    return fenced(text) if "\n" in text or len(text) > 300 else f"> {text}"


def read_back(text: str) -> str:
    """Return a text the person has just given, for reading back: of a very long one its beginning and end."""
    if len(text) <= 6000:
        return block(text)
    ends = fenced(f"{text[:2000]}\n…\n{text[-1000:]}")
    return f"{ends}\n\n({len(text)} characters in all)"


def prompt_shown(prompt: str) -> str:
    """Return the answer that shows the whole prompt."""
    if not prompt.strip():
        return "The system prompt is empty."
    return f"The system prompt:\n\n{fenced(prompt)}"


def listed(inputs: Sequence[TestInput]) -> str:
    """Return the answer that lists the test inputs, numbered as they can be referred to."""
    if not inputs:
        return "There are no test inputs yet."
    count = "There is 1 test input:" if len(inputs) == 1 else f"There are {len(inputs)} test inputs:"
    lines = [
        f"{k}. {f'`{item.id}`: ' if item.id else ''}{_on_line(item.content)}"
        for k, item in enumerate(inputs, 1)
    ]
    return count + "\n\n" + "\n".join(lines)


def _on_line(content: str) -> str:
    return "\n   ".join(content.strip().splitlines())


def test_shown(item: TestInput, place: int) -> str:
    """Return the answer that shows one test input."""
    return f"Test input {place}, `{item.id}`:\n\n{block(item.content)}"


def asked(ask: Ask, lead: str = "") -> str:
    """Return a question with its numbered suggestions; nothing was changed before it."""
    parts = [part for part in (lead, ask.question) if part]
    text = " ".join(parts)
    gap = "" if text.endswith("\n") else " "  # what was quoted last stands in a block of its own
    if len(ask.options) == 1:
        text += f"\n\nDid you mean:\n\n1. {ask.options[0].label}\n\nSay “yes”, or tell me otherwise. I have changed nothing so far."
    elif ask.options:
        rows = "\n".join(f"{k}. {option.label}" for k, option in enumerate(ask.options, 1))
        text += f"\n\nDid you mean:\n\n{rows}\n\nAnswer with a number, or in other words. I have changed nothing so far."
    else:
        text += f"{gap}I have changed nothing so far."
    return text


AGAIN = "Say “help” for what I understand and how to connect a real model."
"""What stands for the long help once it was given in a conversation."""


def with_help(lead: str, helped: bool) -> str:
    """Return an answer with the help at its end: whole the first time, one sentence after it was given."""
    return f"{lead} {AGAIN}" if helped else f"{lead}\n\n{SKILLS}\n\n{CONNECT}"


def gave_help(answered: str) -> bool:
    """Whether an answer held the whole help."""
    return said_in(SKILLS, answered)


def left_aside(unread: Sequence[str], midway: Sequence[str]) -> str:
    """Say what came right before a message: of which nothing is done, and of which something is, and not all."""
    parts = ["I take one message at a time."]
    for texts, told in (
        (unread, "Nothing is done yet about {}: please send that again."),
        (midway, "I was in the midst of {}: please say what is still to be done."),
    ):
        if texts:
            parts.append(told.format(", ".join(quote(text, 80) for text in texts[-3:])))
    return " ".join(parts)


def said_in(text: str, answered: str) -> bool:
    """Whether an answer holds a text, whatever the white space; a very long answer is not looked into."""
    return len(answered) < 200_000 and " ".join(text.split()) in " ".join(answered.split())


def not_understood(unclear: Sequence[str], also: bool, helped: bool = False) -> str:
    """Return the answer when a step is not understood and so nothing was done.

    Args:
        unclear: the steps that were not understood, in the person's words.
        also: whether other steps were understood.
        helped: whether the conversation holds the whole help already.
    """
    shown = ", ".join(quote(text, 80) for text in unclear[:3])
    lead = f"I did not understand {shown}" if shown else "I did not understand that"
    rest = (
        ", so I have not done the rest of your request either; nothing was changed."
        if also
        else ", so I have changed nothing."
    )
    if helped:
        return with_help(f"{lead}{rest} {RULE_BASED}", helped)
    return f"{lead}{rest}\n\n{WHAT_I_AM} {SKILLS}\n\n{CONNECT}"


_HOW_TO = (
    (r"renam|\bname|\bcall", 'rename it to "New name"'),
    (r"undo|revert|back", "undo"),
    (r"(?:delet|remov|drop|eras|rid).*\btest|test.*(?:delet|remov)", "delete the second test input"),
    (r"delet|remov|eras", 'remove "some words" from the system prompt'),
    (r"\b(?:add|creat|new|writ).*\b(?:test|input|example)", "add a test input: What is 2+2?"),
    (r"\b(?:add|append|insert|put|extend)", 'add "Be concise." to the system prompt'),
    (r"test|input", 'change the second test input to "What is 3+3?"'),
    (r"replac|chang|edit|updat|prompt|instruct", 'replace "old words" with "new words" in the system prompt'),
)


def held(hold: Hold, helped: bool = False) -> str:
    """Return the answer to a sentence about a change that is no request for it."""
    if hold.mood == "negated":
        return "All right, I leave that as it is. I have changed nothing."
    example = next((words for pattern, words in _HOW_TO if re.search(pattern, hold.about.casefold())), "")
    say = f" If you want it done, say it as a request, for example: *{example}*." if example else ""
    undoable = " Every change I make can be undone with “undo”."
    if hold.mood == "reported":
        return "I take that as something that happened, not as a request, so I have changed nothing. To take back the last change, say “undo”."
    if hold.mood == "conditional":
        return "That depends on a condition, which I cannot judge; I have changed nothing." + say
    if hold.mood == "imagined":
        return "I take that as a thought, not as a request, so I have changed nothing." + say + undoable
    told = "I take that as a question, so I have changed nothing."
    return (
        told + say + undoable
        if example
        else with_help(f"{told} I cannot answer it: {RULE_BASED if helped else WHAT_I_AM}", helped)
    )


def talked(talk: Talk, earlier: Sequence[str] = (), helped: bool = False) -> str:
    """Return the answer to a sentence that only wants words.

    Args:
        talk: what it is about.
        earlier: what the person said before, oldest first.
        helped: whether the conversation holds the whole help already; "help" gives it whole all the same.
    """
    subject = talk.subject
    if subject == "hello":
        return f"Hello! {WHAT_I_AM} Say “help” for what I understand."
    if subject == "identity":
        return f"{WHAT_I_AM}\n\n{SKILLS}\n\n{CONNECT}"
    if subject == "help":
        return f"{SKILLS}\n\nI am rule-based and offline, without a neural model. {CONNECT}"
    if subject == "connect":
        pasted = f"\n\n{PASTED}" if re.search(r"sk-[A-Za-z]", talk.detail) else ""
        return f"I am the embedded offline assistant, without a neural model. {CONNECT}{pasted}"
    if subject == "thanks":
        return "You are welcome."
    if subject == "farewell":
        return "Goodbye. Everything is saved."
    if subject == "nothing":
        return "All right, nothing was changed."
    if subject == "memory":
        if not earlier:
            return "This is the beginning of our conversation: I remember nothing before it."
        rows = "\n".join(f"{k}. {quote(text)}" for k, text in enumerate(earlier[-10:], 1))
        return f"In this conversation you said before, oldest first:\n\n{rows}"
    if subject == "redo":
        return "I cannot redo from here: use `persona redo` on the command line, or Ctrl+Y in the program. Nothing was changed."
    if subject == "elsewhere":
        return (
            "That is not among the things I can do in this conversation: I change the name, the system "
            "prompt and the test inputs "
            "of this persona. See `persona --help` for the other commands (`new`, `rm`, `clear`, `log`, "
            "`restore`). Nothing was changed."
        )
    if subject == "order":
        return (
            "I cannot move test inputs. Their order is changed on the screen, in their list, with Shift+Up and "
            "Shift+Down (or K and J); for another persona, open that one and add the test input there. Nothing was "
            "changed."
        )
    if subject == "persona-voice":
        am = RULE_BASED if helped else WHAT_I_AM
        return with_help(f"I cannot answer as the persona. {am} Nothing was changed.", helped)
    if subject == "creative":
        told = (
            "That takes judgement about language, and I am rule-based, without a neural model: I put exact "
            "words in place and invent none. Nothing was changed."
        )
        return with_help(told, helped)
    return "All right."
