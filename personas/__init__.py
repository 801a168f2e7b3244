"""The documents: persona files, where they lie, how they are edited, stored and undone.

Knows nothing of agents or screens.
"""
