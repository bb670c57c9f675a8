"""The neural filter on SWORDS dev: `python -m benchmarks paraphrase-neural INDEX JUDGED --encoder NAME`.

JUDGED is what `python -m benchmarks substitutions` writes; the weights are learned from all of it. Writes
docs/results/paraphrase_neural.md. Needs `wellput[neural]`, and hours of one core; with a GPU elsewhere,
write the sentences with --pairs, encode them there with `benchmarks/papers/paraphrase/similarities.py`, and give
what comes back as --similarities.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.pages import write_page
from benchmarks.papers.paraphrase.filters import ranking, swords_queries
from wellput.core.metric import Floats
from wellput.language.models.wordnet import open_wordnet
from wellput.language.paraphrase.candidates import WordNetCandidates
from wellput.language.paraphrase.context_filter import (
    CONTEXT_FEATURES,
    TransformerEncoder,
    fit_combination,
    sentence_pairs,
    similarities,
)
from wellput.language.paraphrase.corpus_index import CorpusIndex
from wellput.language.paraphrase.model import ParaphraseModel
from wellput.language.paraphrase.training import judged_queries, read_judged
from wellput.language.shipped import PARAPHRASE_FILE, shipped

Verdicts = NDArray[np.bool_]


def write_figures(
    swords: Floats, is_right: Verdicts, learned: Floats, verdicts: Verdicts, encoder: str
) -> None:
    """From the features of SWORDS dev and of CoInCo, the encoder's three in the last columns."""
    n = len(CONTEXT_FEATURES)
    rows = {
        "token similarity alone": swords[:, n],
        "the features of `context` alone": fit_combination(learned[:, :n], verdicts).probabilities(
            swords[:, :n]
        ),
        "the encoder's features alone": fit_combination(learned[:, n:], verdicts).probabilities(
            swords[:, n:]
        ),
        "`neural`: the encoder's features and those of `context`": fit_combination(
            learned, verdicts
        ).probabilities(swords),
    }
    lines = [
        "# The neural filter",
        "",
        "How well does the filter `neural` of [`wellput paraphrase`](../commands/paraphrase.md), with the encoder "
        f"{encoder}, tell right replacements from wrong ones? Better than the default filter `context`, to whose "
        "features it adds the similarities that the encoder finds.",
        "",
        "The data are those of [the page of the other filters](paraphrase.md), which also explains the columns: "
        f"{len(is_right):,} synonyms for the words that SWORDS dev asks about, of which "
        f"{is_right.mean():.1%} are right (half the people or more accepted them). The weights of the features were "
        f"learned from {len(verdicts):,} replacements in CoInCo, without the sentences that are also in SWORDS dev.",
        "",
        "*Token similarity* is the cosine between the encoder's vectors of the word and of its replacement, each in "
        "its sentence. *The encoder's features* are token similarity, the cosine between the mean vectors of the two "
        "sentences, and the mean, over the other words, of the cosine between a word's vectors in the two sentences.",
        "",
        "| filter | AUC | precision at recall .8 | precision at recall .5 |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name, scores in rows.items():
        found = ranking(is_right, scores)
        lines.append(f"| {name} | " + " | ".join(f"{value:.3f}" for value in found) + " |")
    write_page("paraphrase-neural", "\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("index")
    parser.add_argument("judged")
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--pairs", help="write the sentences to encode, and stop")
    parser.add_argument("--similarities", help="the encoder's features, computed before")
    asked = parser.parse_args()
    wordnet = open_wordnet()
    swords, is_right = swords_queries(wordnet, CorpusIndex.load(asked.index))
    queries, verdicts = judged_queries(read_judged(asked.judged), WordNetCandidates(wordnet))
    if asked.pairs:
        sentences, pairs = sentence_pairs([*swords, *queries])
        Path(asked.pairs).write_text(json.dumps({"sentences": sentences, "pairs": pairs}))
        return
    if asked.similarities:
        found = np.load(asked.similarities)
    else:
        found = similarities(TransformerEncoder(asked.encoder), [*swords, *queries])
    knowledge = ParaphraseModel.load(shipped(PARAPHRASE_FILE)).knowledge
    n = len(swords)
    write_figures(
        np.concatenate([knowledge.features(swords), found[:n]], axis=1),
        is_right,
        np.concatenate([knowledge.features(queries), found[n:]], axis=1),
        verdicts,
        Path(asked.encoder).name,
    )
