"""Editing in $EDITOR while the program waits."""
