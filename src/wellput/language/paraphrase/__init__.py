"""References closer in wording to an output, filtered by context (Kauchak & Barzilay 2006)."""
