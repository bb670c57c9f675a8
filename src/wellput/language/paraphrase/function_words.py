"""Words that carry grammar rather than meaning: never replaced, never a replacement, no LSA feature.

WordNet has entries for many of them that no reader thinks of: *a* is an angstrom, *in* an inch, *it*
information technology.
"""

from __future__ import annotations

from pathlib import Path

FUNCTION_WORDS = frozenset(
    Path(__file__).with_name("function_words.txt").read_text(encoding="utf-8").split()
)
