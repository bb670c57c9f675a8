"""Files <-> nouns. Reading streams and raises one `InputError` for all that is wrong with a file;
writing replaces files whole or not at all."""

from wellput.core.lazy_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
