"""Recorded runs: reading, locating and replaying them."""
