"""A task is only written, so there are no files to read."""

from tests.personas.formats.examples.example import Example

EXAMPLES: list[Example] = []
