"""The commands that run personas and judge what they answer."""
