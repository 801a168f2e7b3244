"""The main screen: layout, panes and their handlers."""
