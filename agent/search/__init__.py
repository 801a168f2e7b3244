"""Finding and replacing text in all personas, their outputs and the library. Knows no screen."""
