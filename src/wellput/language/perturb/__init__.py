"""Texts with one change of known kind: harmful ones that a metric should notice, and harmless ones."""
