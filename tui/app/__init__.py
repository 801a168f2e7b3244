"""The program: start, wiring, signals, exit."""
