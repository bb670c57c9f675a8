"""Wording: which of the forms that a word may take, once the order is known.

`not` or `n't`, `a` or `an`, `is` or `'s`, one lexeme of a synset or another: a lattice with one state
after every word, from which the n-gram model chooses (`realize.lp_chooser`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wellput.language.ngrams import NgramModel
from wellput.language.realize.inflecting import WordForm
from wellput.language.realize.lattice import Automaton, Lattice
from wellput.language.realize.lp_chooser import choose_paths

Alternatives = Sequence[Sequence[WordForm]]


def choose_wording(
    sentences: Sequence[Alternatives],
    ngrams: NgramModel | None,
    *,
    share_weight: float,
    threads: int = 1,
) -> list[list[str]]:
    """The forms of each sentence, given for each place what may stand there, the most frequent first;
    `share_weight` is how much a form's frequency counts beside the n-gram model, which knows it too."""
    chosen = [[forms[0].form for forms in sentence] for sentence in sentences]
    if ngrams is None:
        return chosen
    open_ = [n for n, sentence in enumerate(sentences) if any(len(forms) > 1 for forms in sentence)]
    lattices = [_lattice(sentences[n], share_weight) for n in open_]
    for n, lattice, choice in zip(
        open_, lattices, choose_paths(lattices, ngrams, threads=threads), strict=True
    ):
        chosen[n] = [lattice.words[word] for word in choice.paths[0].words]
    return chosen


def _lattice(sentence: Alternatives, share_weight: float) -> Lattice:
    words = [form for forms in sentence for form in forms]
    states = [state for state, forms in enumerate(sentence) for _ in forms]
    arcs = np.array([(state, state + 1, word) for word, state in enumerate(states)], np.int32)
    weights = share_weight * np.array([word.log_share for word in words])
    automaton = Automaton(len(sentence) + 1, arcs, weights)
    return Lattice(tuple(word.form for word in words), (automaton,))
