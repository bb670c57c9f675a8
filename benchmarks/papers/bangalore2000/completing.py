"""Section 5: function words, punctuation and morphology, which the paper names and does not measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.pages import table
from benchmarks.papers.bangalore2000 import wsj
from wellput.core.tree import Tree
from wellput.language.realize.inputs import InputKind
from wellput.language.realize.inserter import Insertion, pruned_tree
from wellput.reporting.training import FergusTraining
from wellput.stats.proportions import wilson

TAKEN_OUT: tuple[tuple[Insertion, ...], ...] = (
    ("function",),
    ("punctuation",),
    ("punctuation", "function"),
)
NAMES = {"function": "function words", "punctuation": "punctuation"}
INPUTS: dict[InputKind, str] = {"words": "words alone", "labels": "words with relations and tags"}


@dataclass(frozen=True)
class Added:
    """Words added and words taken out, and how many are in both, sentence by sentence."""

    kinds: tuple[Insertion, ...]
    kind: InputKind
    right: int
    added: int
    missing: int


def insertions(made: FergusTraining, trees: Sequence[Tree]) -> list[Added]:
    """FERGUS on trees from which words were taken out."""
    found = []
    for kinds in TAKEN_OUT:
        pruned = [pruned_tree(tree, kinds).tree for tree in trees]
        realizer = made.realizer("fergus", insert=kinds)
        for kind in INPUTS:
            right = added = missing = 0
            realized = realizer.realize_all(pruned, kind=kind)
            for whole, part, one in zip(trees, pruned, realized, strict=True):
                given = _forms(word.form for word in part.words)
                own = _forms(one.best[0].words) - given
                lost = _forms(word.form for word in whole.words) - given
                right, added = right + (own & lost).total(), added + own.total()
                missing += lost.total()
            found.append(Added(kinds, kind, right, added, missing))
    return found


def _forms(words: Iterable[str]) -> Counter[str]:
    return Counter(word.lower() for word in words)


@dataclass(frozen=True)
class Inflected:
    """Words whose form is not their lemma, how many of them FERGUS inflects as in the sentence, and the
    same of all words."""

    right: int
    inflected: int
    all_right: int
    words: int


def inflections(made: FergusTraining, trees: Sequence[Tree]) -> Inflected:
    """FERGUS on lemmas with relations and tags."""
    realizer = made.realizer("fergus", inflects=True)
    right = inflected = all_right = words = 0
    for tree, one in zip(trees, realizer.realize_all(trees, kind="lemmas"), strict=True):
        forms, own = _forms(word.form for word in tree.words), _forms(one.best[0].words)
        changed = _forms(w.form for w in tree.words if w.form.lower() != w.lemma.lower())
        right, inflected = right + (changed & own).total(), inflected + changed.total()
        all_right, words = all_right + (forms & own).total(), words + forms.total()
    return Inflected(right, inflected, all_right, words)


def section(measured: wsj.Measured, part: wsj.Part) -> str:
    trees = measured.treebank.short(part)
    rows = [
        [
            " and ".join(NAMES[name] for name in one.kinds),
            INPUTS[one.kind],
            f"{one.missing:,}",
            f"{one.added:,}",
            _share(one.right, one.added),
            _share(one.right, one.missing),
        ]
        for one in insertions(measured.made, trees)
    ]
    heads = ["taken out", "input", "words taken out", "words added", "precision", "recall"]
    forms = inflections(measured.made, trees)
    return f"""## Section 5: function words, punctuation and morphology

The paper says that FERGUS "currently can perform punctuation and function word insertion", and that morphology and lexical choice are under
development. It gives no numbers. We do not measure lexical choice. We measure insertion on the same {len(trees)} sentences: all punctuation, all function words, or both are taken out of the tree, except words that have daughters (in these trees a preposition has a daughter, so it stays), and `--insert` adds words. Precision and recall count words of the same form, in any position, with 95% intervals
(Wilson):

{table(heads, rows)}

Given lemmas with tags (`--input lemmas`) instead of inflected words, {_share(forms.right, forms.inflected)} of {forms.inflected:,} inflected words get the form that they have in the sentence, and {_share(forms.all_right, forms.words)} of all {forms.words:,} words. The lemmas are wellput's own (`convert --lemmas`), so a part of the errors may come from the lemmas.

```text
$ wellput convert test/wsj_*.mrg --lemmas -o test.conllu
$ wellput realize bare.conllu --models wsj-fergus/ --model fergus --insert punctuation,function
$ wellput realize test.conllu --models wsj-fergus/ --model fergus --input lemmas
```

`bare.conllu` has the trees without these words. The words are inserted by a part of the learned realizer ([how it works](../realize_learned.md)), trained on the same trees as
`fergus`. Precision and recall ignore the order of words; the order of sentences with missing words was not scored."""


def _share(part: int, whole: int) -> str:
    found = wilson(part, whole)
    return f"{found.value:.1%} ({found.low:.1%} to {found.high:.1%})"
