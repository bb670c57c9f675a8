"""Turns results into tables for terminals, JSON, CSV, LaTeX, Markdown and HTML pages."""
