"""Trying a persona: its outputs for the test inputs are run, stored, judged and compared. Knows no screen."""
