"""Sentences of known quality: systems that build text from pieces of a corpus."""
