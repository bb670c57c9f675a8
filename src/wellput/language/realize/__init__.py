"""From unordered dependency trees to sentences: FERGUS, its baselines and what was made of it."""
