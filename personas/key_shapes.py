"""The shapes of keys of services, so that they are found in a text."""

from __future__ import annotations

import re

KEY_SHAPES = re.compile(
    r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,})|"
    r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_\-]{8,}|(?i:bearer)\s+[^\s'\"]+|(?i:(?:x-api-key|authorization)['\"]?\s*[:=]\s*)['\"]?[^\s'\",}]+"
)
