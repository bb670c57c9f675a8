"""Reads files into nouns and writes them back. A reader streams and raises one `InputError` for
everything that is wrong with a file; a writer replaces a file whole or not at all."""

from wellput.core.lazy_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
