"""Actions as a full-screen dialog: their list, one of them open in an editor with its runs, what is asked there, and runs."""
