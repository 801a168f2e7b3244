"""Signals: tool calls that a model writes as text. Found while the text streams, and turned into real calls."""
