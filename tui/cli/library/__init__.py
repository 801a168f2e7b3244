"""The commands on the library."""
