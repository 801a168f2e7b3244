"""The stored texts of a document: versions, diffs, merges, undo."""
