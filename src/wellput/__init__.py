"""wellput scores generated text and tests whether differences between systems are real. It also
collects people's judgments, and measures how far metrics agree with people.

>>> import wellput
>>> evalset = wellput.EvalSet.of({"A": ["the cat sat"]}, [["a cat sat", "the cat sat"]])
>>> wellput.score(evalset, "bleu,ssa")["A", "ssa"].score
1.0
"""

from wellput.core.lazy_names import lazy_names

__version__ = "0.1.0"

# The table of public names is `__init__.pyi`. Each name is imported when it is first used.
__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
