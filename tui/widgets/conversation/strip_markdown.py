"""Markdown without its markup, for searching: one pass over the text, much quicker than drawing it.

It agrees with what `markdown` draws in what people and models write. Items of a list keep a dot, links show where
they go, code stays as written.
"""

from __future__ import annotations

import re

BULLET = "•"
LONGEST_RUN = 8
"""The longest run of backticks that opens inline code."""

_ANY = re.compile(r"[*_`~\\\[<>#]|^[ \t]*[-+] ", re.MULTILINE)
_SIGN = re.compile(r"[*_`~\\\[\]<!]")
_BLOCK = re.compile(r"[ \t>]*(?P<item>[-*+][ \t]+|\d{1,9}[.)][ \t]+|#{1,6}[ \t]+|)")
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})(?P<info>[^\n`]*)(?=\n|\Z)")
_SIGNS = re.compile(
    r"""
      \\ (?P<escaped> [!-/:-@\[-`{-~] )
    | (?P<code> `+ )
    | (?P<open> !?\[ )
    | \] \( [ \t]*+ <? (?P<target> [^\s()<>]{0,2000}+ (?: \( [^\s()<>]{0,200} \) [^\s()<>]{0,200} )? ) >?
      (?: [ \t]++ (?: "(?P<title>[^"\n]{0,500})" | '(?P<quoted>[^'\n]{0,500})' ) )?+ [ \t]*+ \)
    | (?P<close> \] )
    | < (?P<address> [A-Za-z][A-Za-z0-9+.-]{1,31} : [^\s<>]{0,2000} ) >
    | (?P<run> \*+ | _+ | ~~ )
    """,
    re.VERBOSE,
)


def strip_markdown(text: str) -> str:
    """Return sanitised Markdown as it is drawn, apart from line breaks, in linear time."""
    return _Stripper(text).read() if _ANY.search(text) else text


class _Stripper:
    """One pass over the markup of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._out: list[str] = []
        # What may still be closed: the indexes in `_out` of the runs of each sign, and of the brackets.
        self._runs: dict[str, list[int]] = {"*": [], "_": [], "~": []}
        self._brackets: list[int] = []
        self._alone: set[int] = (
            set()
        )  # lengths of backtick runs for which no closing run of that length follows

    def read(self) -> str:
        text, at = self._text, 0
        while at < len(text):
            at = self._begin(at)
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            while at < end and (found := _SIGN.search(text, at, end)) is not None:
                self._out.append(text[at : found.start()])
                at = self._take(found.start())
                if at > end:  # code that went on in another line
                    end = text.find("\n", at)
                    end = len(text) if end < 0 else end
            self._out.append(text[at : end + 1])
            at = end + 1
        return "".join(self._out)

    def _begin(self, at: int) -> int:
        """Take the markup at the beginning of a line; return where its text begins."""
        fence = _FENCE.match(self._text, at)
        if fence is not None:
            return self._fence(fence)
        block = _BLOCK.match(self._text, at)
        assert block is not None
        item, at = block["item"], block.end()
        if item or self._text[at : at + 1] in ("", "\n"):
            self._forget()  # nothing before is closed behind it
        if item and item[0] != "#":
            self._out.append(f"{BULLET} " if item[0] in "-*+" else item)
        return at

    def _fence(self, fence: re.Match[str]) -> int:
        """Take a code fence as written; return where it ends."""
        mark, info = fence.group("mark", "info")
        closing = re.compile(rf"^ {{0,3}}{mark[0]}{{{len(mark)},}} *$", re.MULTILINE)
        closed = closing.search(self._text, fence.end())
        self._forget()
        self._out += [info.strip(), self._text[fence.end() : closed.start() if closed else len(self._text)]]
        return closed.end() if closed is not None else len(self._text)

    def _take(self, at: int) -> int:
        """Take the markup at an index; return the index after it."""
        match = _SIGNS.match(self._text, at)
        if match is None:
            self._out.append(self._text[at])
            return at + 1
        kind = match.lastgroup
        if kind == "run":
            self._run(match[0], at, match.end())
        elif kind == "code":
            return self._code(match[0], match.end())
        elif kind == "open":
            self._brackets.append(len(self._out))
            self._out.append(match[0])
        elif kind == "escaped" or kind == "address":
            self._out.append(match[kind])
        elif kind == "close":
            if self._brackets:
                self._brackets.pop()
            self._out.append("]")
        elif self._brackets:
            self._out[self._brackets.pop()] = ""
            title = match["title"] or match["quoted"]
            self._out.append(f" ({match['target']} {title})" if title else f" ({match['target']})")
        else:
            self._out.append("]")
            return at + 1
        return match.end()

    def _code(self, run: str, at: int) -> int:
        """Take inline code between two runs of backticks; return the index after it."""
        size = len(run)
        if size <= LONGEST_RUN and size not in self._alone:
            closed = re.compile(rf"(?<!`){run}(?!`)").search(self._text, at)
            if closed is None:
                self._alone.add(size)
            elif self._text.find("\n\n", at, closed.start()) < 0:
                self._out.append(self._text[at : closed.start()])
                return closed.end()
        self._out.append(run)
        return at

    def _run(self, run: str, at: int, end: int) -> None:
        """Take signs of emphasis: they are gone once others close them."""
        sign, left = run[0], len(run)
        before = self._text[at - 1] if at else " "
        after = self._text[end] if end < len(self._text) else " "
        word_before, word_after = before.isalnum(), after.isalnum()
        opens = word_after or not (word_before or after.isspace())
        closes = word_before or not (word_after or before.isspace())
        if sign == "_":
            opens, closes = opens and not word_before, closes and not word_after
        waiting = self._runs[sign]
        while closes and left and waiting:
            position = waiting[-1]
            taken = min(left, len(self._out[position]))
            left -= taken
            self._out[position] = self._out[position][taken:]
            if not self._out[position]:
                waiting.pop()
            for others in self._runs.values():
                while others and others[-1] > position:
                    others.pop()
        if opens and left:
            waiting.append(len(self._out))
        self._out.append(sign * left)

    def _forget(self) -> None:
        for find_matches in (*self._runs.values(), self._brackets):
            find_matches.clear()
