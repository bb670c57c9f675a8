"""Does the metric agree with people: judgments as scores, correlations, differences, fitted metrics."""
