"""Every patch and private import of Textual, each with its reason."""
