"""Screens: the main screen and the dialogs over it."""
