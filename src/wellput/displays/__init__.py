"""Facial displays for a talking head: corpora of them, strategies that choose them, and the head."""
