"""Paraphrases of references, closer in wording to an output (Kauchak & Barzilay 2006)."""
