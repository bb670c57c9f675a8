"""The nouns: EvalSet, Item, Batch, Tree, Metric, ScoreTable, Estimate; and the error tree."""
