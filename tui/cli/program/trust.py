"""`persona trust`: trusting a home, or no longer."""

from __future__ import annotations

import click

from tui.cli.group import Invocation
from tui.cli.options import json_option
from tui.cli.printing import print_json, print_text


@click.command()
@click.option("--revoke", is_flag=True, help="Trust it no longer.")
@json_option("Print {home, trusted}.")
@click.pass_obj
def trust(invocation: Invocation, revoke: bool, as_json: bool) -> None:
    """Trust this home.

    In a trusted home your approvals count, and actions may run by themselves. Homes this program made are trusted. Look
    at one that came from somebody else first. --revoke also forgets what you answered with "always" there, and which
    actions you approved.

    \b
    persona --home ./their-personas trust
    persona --home ./their-personas trust --revoke
    """
    from personas.files import trust as trusted

    root = invocation.store.home.root
    if revoke:
        from agent.actions import consent
        from agent.jobs.saved_approvals import SavedApprovals

        trusted.distrust(root)
        SavedApprovals.of_person().forget(root)
        consent.forget(invocation.store.home)
    else:
        trusted.trust(root)
    if as_json:
        print_json({"home": str(root), "trusted": not revoke})
    elif revoke:
        print_text(f"{root} is no longer trusted; what you always allowed in it will be asked again")
    else:
        print_text(f"{root} is trusted")
