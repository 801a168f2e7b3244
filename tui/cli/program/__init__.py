"""The commands on the program itself."""
