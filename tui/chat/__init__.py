"""Conversations on the screen: controllers, questions, the state of the panel."""
