"""Widgets: the parts of a screen that draw and take keys. None of them imports a screen."""
