"""Stored conversations: a session's log and its records, its index by run, its jobs, and what the person edited by hand."""
