"""The Messages API: requests, the stream, errors, and what each server supports."""
