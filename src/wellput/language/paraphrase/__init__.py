"""Paraphrases references so that their words are closer to those of an output (Kauchak & Barzilay
2006)."""
