"""What the open persona answered to its test inputs: read, judged, run and stopped. Knows no widget and no screen."""
