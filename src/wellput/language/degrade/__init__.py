"""Builds sentences from pieces of a corpus, so that it is known which are better than others."""
