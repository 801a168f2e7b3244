"""Everything a person sees: the commands and the full-screen program."""
