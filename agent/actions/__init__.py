"""Actions at work: whether one may run unattended, and what became of its runs."""
