"""How many examples a property is held against: few in the run of every day, many when asked for."""

from __future__ import annotations

import os

THOROUGH = max(1, int(os.environ.get("PERSONA_EXAMPLES") or 1))
"""How many times the examples of every day: `PERSONA_EXAMPLES=20 python -m pytest tests/personas`."""


def examples(daily: int) -> int:
    """Return the examples to try of a property, of which every run tries `daily`."""
    return daily * THOROUGH
