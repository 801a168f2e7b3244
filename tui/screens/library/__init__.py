"""The library as a place of the program: its documents in lists, and one of them open."""
