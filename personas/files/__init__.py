"""Files and folders of a home: reading, atomic replacing, journals, locks, trust."""
