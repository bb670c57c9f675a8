"""Facial displays for a talking head: corpora of them, strategies that choose them, and the head.

>>> from wellput import displays
>>> corpus = displays.example(n=20).evalset
>>> displays.select(corpus, strategy="rule", folds=2).evalset.systems
('original', 'rule')
"""

from wellput.core.lazy_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
