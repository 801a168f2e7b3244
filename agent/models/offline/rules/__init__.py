"""The rules, one subject a module, and the order in which they are tried."""

from __future__ import annotations

from agent.models.offline.rules import (
    adding,
    asking,
    describing,
    inputs,
    naming,
    removing,
    replacing,
    talking,
    writing,
)

READING = (*talking.TALK.rules, *asking.RULES.rules, *talking.BEYOND.rules)
"""What changes nothing; tried first, also on what is no request."""
CHANGING = (
    *naming.RULES.rules,
    *adding.RULES.rules,
    *inputs.RULES.rules,
    *writing.RULES.rules,
    *removing.RULES.rules,
    *replacing.RULES.rules,
)
"""What changes the persona; tried on requests only."""
VAGUE = tuple(describing.RULES.rules)
"""What describes a change without giving the words; tried last."""
