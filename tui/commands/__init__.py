"""The registry of commands, with key bindings, footer and slash commands made from it."""
