"""The commands on actions, and what they leave behind."""
