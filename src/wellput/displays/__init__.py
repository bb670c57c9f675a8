"""Facial displays (nods, raised brows, …) of a talking head while it speaks: corpora of sentences with
displays, strategies that choose displays, and the head that performs them.

>>> from wellput import displays
>>> corpus = displays.example(n=20).evalset
>>> displays.select(corpus, strategy="rule", folds=2).evalset.systems
('original', 'rule')
"""

from wellput.core.lazy_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
