"""The commands on personas and their files."""
