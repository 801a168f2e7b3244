"""`persona find`: text in all personas, in what they answered, and in the library."""

from __future__ import annotations

import click

from tui.cli.group import Invocation
from tui.cli.options import json_option
from tui.cli.printing import columns, print_json, print_text
from tui.cli.stderr import print_error, print_note

AMONG = ("prompts", "inputs", "outputs", "library")

regex_option = click.option(
    "--regex", "is_regex", is_flag=True, help="It is a regular expression, as of Python."
)


@click.command()
@click.argument("text")
@regex_option
@click.option("--in", "among", type=click.Choice(AMONG), multiple=True, help="Look only in these.")
@json_option("Print [{id, where, line, text}].")
@click.pass_obj
def find(invocation: Invocation, text: str, is_regex: bool, among: tuple[str, ...], as_json: bool) -> None:
    """Find TEXT in prompts, test inputs, outputs and the library.

    Each line that contains it is printed once, with its place. Letter case counts only in a regular expression.

    \b
    persona find "refund"
    persona find "calm|kind" --regex --in prompts --in library
    """
    from agent.search.find import Search
    from agent.search.pattern import Pattern

    pattern = Pattern(text, is_regex=is_regex, any_case=True)
    search = Search(invocation.store, pattern, among or AMONG)  # type: ignore[arg-type]
    hits = list(search.hits())
    for key, why in search.unread:
        print_error(f"{key} was not searched: {why}")
    if as_json:
        print_json([hit.to_record() for hit in hits], indent=2)
        return
    if hits:
        print_text("\n".join(columns([(hit.id, f"{hit.where}:{hit.line}", hit.shown) for hit in hits])))
    else:
        print_note("Nothing was found.")
