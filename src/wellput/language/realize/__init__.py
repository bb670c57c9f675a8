"""From unordered dependency trees to sentences: FERGUS, its baselines, the learned realizer."""
