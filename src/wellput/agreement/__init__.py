"""People and metrics: panels of judges, rankings of systems, agreement, and metrics fitted to
people."""
