"""A message too long to be read word by word: what its head asks for, and the long rest as one piece of content.

Only some hundred characters at the head, and behind a closing quote, are cut into words, so that a pasted book
costs no more than a few copies of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

from agent.models.offline.words import Phrase, Token, tokenize

LONGEST_READ = 40_000
"""Characters of a message up to which every word is looked at."""
_EDGE = 800
_LONGEST_HEAD = 40
_MOST_TRIES = 4
_OPENING = re.compile(r"```[^\n`]*\n|```|\"\"\"\s?|'''\s?|[\"“„«`:\n]")
_CLOSING = {"“": "”", "„": "“", "«": "»", "`": "`", '"': '"', "```": "```", '"""': '"""', "'''": "'''"}


def block_after(raw: str) -> str:
    """Return the content that follows a colon: without the blank lines and spaces around it."""
    lead = raw.lstrip(" \t\r")
    return lead.lstrip("\r\n").rstrip() if lead.startswith("\n") else raw.strip()


def abridged(message: str, accepts: Callable[[Phrase], bool]) -> Phrase | None:
    """Return a long message as a phrase of few tokens, or None when its head does not show what is content.

    Args:
        message: the person's words, of any length.
        accepts: whether a way to read it makes a request.
    """
    return next((whole for whole in islice(_readings(message), _MOST_TRIES) if accepts(whole)), None)


def _readings(message: str) -> Iterator[Phrase]:
    begin = next((match.start() for match in re.finditer(r"\S", message)), 0)
    head = message[begin : begin + _EDGE]
    passed = 0
    for match in _OPENING.finditer(head):
        at, mark = match.start(), match.group().strip() or "\n"
        if at < passed:
            continue
        before = _tokens(message, begin, begin + at)
        while before and before[-1].kind == "newline":
            before = before[:-1]
        if len(before) > _LONGEST_HEAD:
            return
        if mark in ":\n":
            following = message[begin + at + 1 : begin + at + 40].lstrip()
            if not before or ((following[:1] and following[0] in '"“„«`') or following.startswith("'''")):
                continue  # a quote follows: it is the content
            colon = Token("mark", begin + at, begin + at, ":")
            rest = block_after(message[begin + at + (mark == ":") :])
            while before[-1].norm == ":":
                before = before[:-1]
            content = Token("content", begin + at, len(message), "C", rest)
            yield Phrase(message, (*before, colon, content))
            continue
        opened = mark[:3] if mark[:3] in _CLOSING else mark[:1]
        if at and not head[at - 1].isspace() and head[at - 1] not in ":(":
            continue
        start, closer = begin + match.end(), _CLOSING[opened]
        end = message.find(closer, start)
        if end < 0:
            continue
        if end < begin + len(head):
            passed = end + len(closer) - begin
            continue
        tail = end + len(closer)
        if len(message) - tail > _EDGE or message.find(closer, tail) >= 0:
            return  # where it ends is not clear
        quote = Token("quote", begin + at, tail, "Q", message[start:end])
        yield Phrase(message, (*before, quote, *_tokens(message, tail, len(message))))
        return


def _tokens(message: str, start: int, end: int) -> tuple[Token, ...]:
    """Return the tokens of a stretch of the message, with their places in the whole of it."""
    return tuple(
        replace(token, start=token.start + start, end=token.end + start)
        for token in tokenize(message[start:end])
        if token.kind != "newline" or end < len(message)
    )
