"""Ranks systems by people's judgments."""
