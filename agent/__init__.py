"""The agent core and everything a model may do. Never imports Textual."""
