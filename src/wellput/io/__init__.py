"""Reads and writes files: evaluation sets, judgments, scores, trees, runs and models. A reader
streams and raises one `InputError` with everything that is wrong with a file; a writer replaces a
file completely or not at all."""

from wellput.core.lazy_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
