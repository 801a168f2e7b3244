"""The settings of the program: schema, loading, live changes."""
