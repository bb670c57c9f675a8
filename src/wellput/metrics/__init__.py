"""Metrics, one file per family; `registry` finds them by name."""
