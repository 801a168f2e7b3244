"""The agent loop: turns, events, one run, its tool calls. Knows no persona, no file format and no screen."""
