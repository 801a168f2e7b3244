"""Actions at work: what the person approved, one run from its beginning to its end, and what became of all runs."""
