"""Metrics, one module for each family (such as BLEU, or error rates); `registry` finds them by name."""
