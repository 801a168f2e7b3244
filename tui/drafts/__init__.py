"""Text that was typed and not delivered yet, kept on disk until it is."""
