"""Runs with a status that outlive a program: state, budget, questions, approvals, recovery."""
