"""Compares people with metrics: ratings by several judges, rankings of systems by people, agreement of
metrics and of judges with each other, and metrics fitted to people's judgments."""
