"""Prose cut into sentences by rule: after . ! ? where what follows can begin one.

Paragraphs are what blank lines separate; line ends within them mean nothing. Not after an
abbreviation that stands before names (*Mr.*) or an initial, nor before a lower-case letter. Brackets
and quotation marks that close go with the sentence before them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# A period after these hardly ever ends a sentence.
BEFORE_NAMES = re.compile(
    r"(?:^|[\s(\[\"'“‘-])(?:Mr|Mrs|Ms|Dr|Drs|Prof|Rev|Fr|Hon|Messrs|Mme|Mlle|St|Ste|Gen|Col|Maj|Capt|Lt|"
    r"Sgt|Adm|Gov|Sen|Rep|Pres|Mt|Ft|vs|No|Nos|Vol|Fig|pp|cf|[A-HJ-Z])\.$"
)
END = re.compile(r"(?<![.!?])[.!?]+[\"'”’)\]]* (?=[\"'“‘(\[]*[^\W_a-z])")
LONGEST = 8  # characters of such an abbreviation and what stands before it
PARAGRAPH = re.compile(r"\n\s*\n")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, white space made single spaces.

    >>> list(sentences("Mr. Ng left. “Why?” she\\nasked. e.g. so.\\n\\nA heading\\n\\nThe end."))
    ['Mr. Ng left.', '“Why?” she asked. e.g. so.', 'A heading', 'The end.']
    """
    for paragraph in PARAGRAPH.split(text):
        line = " ".join(paragraph.split())
        start = 0
        for end in END.finditer(line):
            last = line[max(start, end.start() - LONGEST) : end.end() - 1]
            if not BEFORE_NAMES.search(last):
                yield line[start : end.end() - 1]
                start = end.end()
        if start < len(line):
            yield line[start:]
