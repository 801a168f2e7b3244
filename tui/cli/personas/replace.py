"""`persona replace`: text in many personas and documents of the library, as one unit of undo."""

from __future__ import annotations

import click

from personas.errors import PersonaError
from tui.cli.group import Invocation
from tui.cli.personas.find import regex_option
from tui.cli.printing import print_diff, print_text
from tui.cli.stderr import print_note


@click.command()
@click.argument("old")
@click.argument("new")
@click.argument("keys", metavar="[ID]...", nargs=-1)
@regex_option
@click.option("--word", "is_word", is_flag=True, help="Not within a longer word.")
@click.option("--all", "in_all", is_flag=True, help="In all personas and the whole library.")
@click.option("--dry-run", is_flag=True, help="Print the diffs; write nothing.")
@click.pass_obj
def replace(
    invocation: Invocation,
    old: str,
    new: str,
    keys: tuple[str, ...],
    is_regex: bool,
    is_word: bool,
    in_all: bool,
    dry_run: bool,
) -> None:
    """Replace OLD by NEW in prompts, test inputs and the library.

    ID is a persona's, or KIND/NAME. Letter case counts. With --regex NEW may have the groups of OLD, as in `\\1`. The diffs
    are printed and written; one undo, of any of the documents, undoes all of it.

    \b
    persona replace refund reimbursement billing part/warm
    persona replace Acme Initech --word --all --dry-run
    """
    from agent.search.pattern import Pattern
    from agent.search.replace import all_keys, preview, reason, write

    if bool(keys) == in_all:
        raise click.UsageError("name the personas, or say --all")
    store = invocation.store
    for key in keys:
        store.text(key)  # an unknown one is told before anything is done
    pattern = Pattern(old, is_regex=is_regex, is_word=is_word)
    found, left = preview(store, pattern, new, all_keys(store) if in_all else dict.fromkeys(keys))
    for one in found:
        print_diff(one.diff)
    if not found:
        print_note("Nothing was found.")
    elif not dry_run:
        done, more = write(store, found, reason(old, new))
        left += more
        if done:
            documents = f"{len(done)} document{'s' * (len(done) > 1)}"
            print_text(f"Replaced in {documents}; persona undo {done[0]} undoes it.")
    if left:
        raise PersonaError("Skipped: " + " ".join(f"{key}: {why}" for key, why in left))
