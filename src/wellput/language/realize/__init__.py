"""Turns unordered dependency trees into sentences: FERGUS, its baselines, and the learned realizer."""
