"""Models of language, trained once and shared by metrics and systems."""
