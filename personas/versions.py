"""Stored versions of a persona, its units of undo and the cursor over them."""

from __future__ import annotations

from personas.authorship import USER, Author, AuthorKind, Diff, Undone, Version

__all__ = ["USER", "Author", "AuthorKind", "Diff", "Undone", "Version"]
