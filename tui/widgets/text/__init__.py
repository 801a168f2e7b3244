"""Text editors, one-line inputs and static text of any length."""
