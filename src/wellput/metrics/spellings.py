"""Other spellings of metrics: `BLEU`, `chrF++`, `rougeL` mean what they mean elsewhere.

Case, hyphens, underscores and spaces make no difference. What is found is the metric's own name, with
options where the spelling means some: tables and signatures show that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

SPELLINGS: dict[str, str] = {
    "sacrebleu": "bleu",
    "bleu1": "bleu:max_ngram_order=1",
    "bleu2": "bleu:max_ngram_order=2",
    "bleu3": "bleu:max_ngram_order=3",
    "bleu4": "bleu",
    # sacreBLEU writes beta into the name (chrF2) and "++" for words of order 2 (chrF2++).
    "chrf2": "chrf",
    "chrf+": "chrf:word_order=1",
    "chrf++": "chrf:word_order=2",
    "chrf2++": "chrf:word_order=2",
    "chrfpp": "chrf:word_order=2",
    "translationeditrate": "ter",
    "worderrorrate": "wer",
    "exactmatch": "exact",
    "em": "exact",
    "ppl": "perplexity",
    "typetokenratio": "ttr",
    "distinct1": "distinct:n=1",
    "distinct2": "distinct:n=2",
    "dist1": "distinct:n=1",
    "dist2": "distinct:n=2",
    "simplestringaccuracy": "ssa",
    "generationstringaccuracy": "gsa",
    "simpletreeaccuracy": "sta",
    "generationtreeaccuracy": "gta",
}
"""Without hyphens, underscores and spaces, in lower case."""


def usual_name(name: str, known: Iterable[str]) -> str | None:
    """The metric that a spelling means, with its options; None where it means none.

    >>> usual_name("ROUGE_L", ["bleu", "rouge-l"]), usual_name("chrF++", [])
    ('rouge-l', 'chrf:word_order=2')
    """
    spelled = _plain(name)
    return {_plain(one): one for one in known}.get(spelled) or SPELLINGS.get(spelled)


def _plain(name: str) -> str:
    return re.sub(r"[-_ ]", "", name).lower()
