"""`persona trust`: let approvals and unattended work in a home count."""

from __future__ import annotations

import click

from tui.cli.group import Invocation
from tui.cli.output import emit, say


@click.command()
@click.option("--revoke", is_flag=True, help="Take the trust back.")
@click.option("--json", "as_json", is_flag=True, help="Print {home, trusted}.")
@click.pass_obj
def trust(invocation: Invocation, revoke: bool, as_json: bool) -> None:
    """Trust the home that is used: what waits in it for approval counts, what it schedules may run.

    Homes this program made are trusted. Look at one that came from somebody else first. Taking the trust back also takes
    back what you answered with "always" there.

    \b
    persona --home ./their-personas trust
    persona --home ./their-personas trust --revoke
    """
    from personas.files import trust as trusted

    root = invocation.store.home.root
    if revoke:
        from agent.jobs.saved_approvals import SavedApprovals

        trusted.distrust(root)
        SavedApprovals.of_person().forget(root)
    else:
        trusted.trust(root)
    if as_json:
        emit({"home": str(root), "trusted": not revoke})
    elif revoke:
        say(f"{root} is not trusted any more; what you always allowed in it is asked for again")
    else:
        say(f"{root} is trusted")
