"""What the terminal can do, and what may be sent to it."""
