"""A stored conversation: its log, its repair, and its conversion to a request."""
