"""TOML as text: where its values lie, and how one value changes while every other byte stays."""
