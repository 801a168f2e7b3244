"""The commands that talk with the agent."""
