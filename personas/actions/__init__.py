"""Actions: documents that say what is to be done while nobody watches, and when. Nothing here runs one."""
