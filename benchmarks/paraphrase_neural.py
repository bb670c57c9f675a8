"""The neural filter on SWORDS dev: `python -m benchmarks.paraphrase_neural INDEX JUDGED ENCODER`.

JUDGED is what `benchmarks.lexical_substitution` writes; the weights are learned from 7,000 of its
substitutions, drawn at random. Writes docs/results/paraphrase_neural.md. Needs `wellput[neural]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.paraphrase_filters import ranking, swords_queries
from wellput.core.metric import Floats
from wellput.language.shipped import shipped
from wellput.language.wordnet import open_wordnet
from wellput.paraphrase.candidates import WordNetCandidates
from wellput.paraphrase.combination import FEATURES, fit_combination
from wellput.paraphrase.corpus_index import CorpusIndex
from wellput.paraphrase.embeddings import TransformerEncoder, neural_features
from wellput.paraphrase.judged import judged_queries, read_judged
from wellput.paraphrase.methods import SHIPPED
from wellput.paraphrase.model import ParaphraseModel

PAGE = Path(__file__).parents[1] / "docs" / "results" / "paraphrase_neural.md"
SAMPLE = 7000
Verdicts = NDArray[np.bool_]


def write_page(
    swords: Floats, is_right: Verdicts, learned: Floats, verdicts: Verdicts, encoder: str
) -> None:
    """From the features of SWORDS dev and of CoInCo, the encoder's three in the last columns."""
    n = len(FEATURES)
    rows = {
        "token similarity alone": swords[:, n],
        "context features alone": fit_combination(learned[:, :n], verdicts).probabilities(
            swords[:, :n]
        ),
        "the encoder's features alone": fit_combination(learned[:, n:], verdicts).probabilities(
            swords[:, n:]
        ),
        "`neural`: both": fit_combination(learned, verdicts).probabilities(swords),
    }
    lines = [
        "# The neural filter",
        "",
        f"Written by `python -m benchmarks.paraphrase_neural` with {encoder}: {len(is_right):,} substitutions "
        f"of SWORDS dev, the same as [for the other filters](paraphrase.md), {is_right.mean():.1%} right; weights "
        f"learned from {len(verdicts):,} substitutions of CoInCo, without the sentences of SWORDS.",
        "",
        "| filter | AUC | precision at recall .8 | at recall .5 |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name, scores in rows.items():
        found = ranking(is_right, scores)
        lines.append(f"| {name} | " + " | ".join(f"{value:.3f}" for value in found) + " |")
    text = "\n".join(lines) + "\n"
    print(text)
    PAGE.write_text(text, encoding="utf-8")


def main(index: str, judged: str, encoder_name: str) -> None:
    wordnet = open_wordnet()
    encoder = TransformerEncoder(encoder_name)
    knowledge = ParaphraseModel.load(shipped(SHIPPED)).knowledge
    swords, is_right = swords_queries(wordnet, CorpusIndex.load(index))
    queries, verdicts = judged_queries(read_judged(judged), WordNetCandidates(wordnet))
    chosen = np.random.default_rng(1).choice(len(queries), SAMPLE, replace=False)
    write_page(
        neural_features(knowledge, encoder, swords),
        is_right,
        neural_features(knowledge, encoder, [queries[i] for i in np.sort(chosen)]),
        verdicts[np.sort(chosen)],
        Path(encoder_name).name,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
