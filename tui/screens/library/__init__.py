"""The library as a full-screen dialog: its documents in lists, and one of them open."""
