"""The types that all other packages use (EvalSet, Item, Batch, Tree, Metric, ScoreTable, Estimate), and
the error classes."""
