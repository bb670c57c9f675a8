"""Sentences of known quality: systems that put text together from pieces of a corpus."""
