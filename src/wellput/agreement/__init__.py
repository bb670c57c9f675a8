"""People and metrics: panels of judges, who won, agreement, and metrics fitted to people."""
