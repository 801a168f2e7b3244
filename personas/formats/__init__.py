"""The formats in which personas come and go: what a file of another program says as a persona, and a persona as such a file.

Pure: bytes in, values out. Nothing that a file says is run, resolved or fetched. What reads and writes the disk is
`personas.importing` and `personas.exporting`.
"""
