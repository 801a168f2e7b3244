"""One persona's conversation with its agent: session, model and tools put together."""
