"""The open persona: its texts in memory, saving, undo, conflicts."""
