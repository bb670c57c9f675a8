"""English: trees, models, and the generators built on them. `english/` holds the shipped models."""
