"""The learned realizer on UD English EWT: trained on train, tuned on dev, measured on test.

`python -m benchmarks realize-learned` writes docs/results/realize_learned.md. The n-gram model,
the realizer (`wellput train english`) and the order network (`python -m benchmarks
order-network-model`) are those that come with wellput.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import sacrebleu
from nltk.metrics.distance import edit_distance
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu
from nltk.translate.nist_score import corpus_nist

from benchmarks.data import ewt
from benchmarks.language.order_network_data import rehung
from benchmarks.language.realize_insertion import insertion_table
from benchmarks.pages import write_page
from wellput.core.tree import Tree
from wellput.engine.realization import ORDER_METRICS, evaluate_order
from wellput.language.models.ngram_files import load_model
from wellput.language.realize.completer import forest_of
from wellput.language.realize.inputs import InputKind, InputTree, Node, input_tree, unordered
from wellput.language.realize.label_chooser import Forest, Label, LabelChooser
from wellput.language.realize.learned_realizer import LearnedRealizer
from wellput.language.realize.order_network import OrderNetwork
from wellput.language.realize.parameters import learn_capitals
from wellput.language.realize.training import with_ngram_weight
from wellput.language.shipped import shipped
from wellput.language.trees.supertags import category_of

KINDS: tuple[InputKind, ...] = ("words", "labels", "lemmas")
RESAMPLES = 1000
TREELET_SIZES = ((1, 1), (2, 2), (3, 3), (4, 5), (6, 8), (9, 99))
"""The least and the greatest number of daughters in each row of the table of treelets."""


def texts(realizer: LearnedRealizer, inputs: Sequence[InputTree]) -> list[str]:
    return [one.best[0].text for one in realizer.realize(inputs)]


def shared_task_scores(outputs: Sequence[str], trees: Sequence[Tree]) -> tuple[float, float, float]:
    """BLEU, NIST and DIST as in `eval.py` of the surface realization shared tasks, by Bohnet and Mille:
    in lower case, BLEU smoothed by NLTK's method 2, NIST up to 4-grams, DIST 1 − the sum of character edit
    distances over the sum of the lengths of the longer strings."""
    found = [output.lower().split() for output in outputs]
    wanted = [[word.form.lower() for word in tree.words] for tree in trees]
    references = [[words] for words in wanted]
    smoothed = SmoothingFunction().method2
    bleu = corpus_bleu(references, found, smoothing_function=smoothed)
    nist = corpus_nist(references, found, n=4)
    pairs = [(" ".join(x), " ".join(y)) for x, y in zip(found, wanted, strict=True)]
    edits = sum(edit_distance(a, b) for a, b in pairs)
    return 100 * bleu, nist, 100 * (1 - edits / sum(max(len(a), len(b)) for a, b in pairs))


@dataclass(frozen=True, eq=False)
class UsualOnly(LabelChooser):
    """Gives every word the label that it has most often in the training trees, whatever the tree."""

    by_form: Mapping[str, Label] = field(default_factory=dict)

    def choose(
        self, forest: Forest, *, given: Sequence[Label] = (), threads: int = 1
    ) -> list[Sequence[Label]]:
        other = Label("NN", "obl")  # for words that the training trees do not have
        return [[self.by_form.get(form, other) for form in forms] for forms in forest.forms]


def usual_labels(trees: Sequence[Tree]) -> dict[str, Label]:
    counts: dict[str, Counter[Label]] = {}
    for tree in trees:
        for word in tree.words:
            label = Label(category_of(word), word.relation)
            counts.setdefault(word.form, Counter())[label] += 1
    return {form: own.most_common(1)[0][0] for form, own in counts.items()}


def without_parts(realizer: LearnedRealizer, train: Sequence[Tree]) -> dict[str, LearnedRealizer]:
    """The realizer, and versions that lack one part."""
    chooser = realizer.chooser
    usual = UsualOnly(
        chooser.labels, b"", b"", chooser.usual_words, chooser.usual, usual_labels(train)
    )
    return {
        "all parts": realizer,
        "without the order network": LearnedRealizer.load(
            shipped("learned.wpm"), realizer.orderers["words"].ngrams
        ),
        "without the log-linear model of orders": replace(
            realizer,
            orderers={
                **realizer.orderers,
                "words": replace(realizer.orderers["words"], weights=b""),
            },
        ),
        "without the n-gram model": with_ngram_weight(realizer, "words", 0.0),
        "without choosing labels: each word has its most frequent label": replace(
            realizer, chooser=usual
        ),
    }


def order_table(outputs: Mapping[str, Sequence[str]], trees: Sequence[Tree]) -> str:
    """A row per system, a column per metric."""
    result = evaluate_order(outputs, trees)
    by_name = {(one.system, one.metric): one.score for one in result.scores}
    lines = ["| | " + " | ".join(ORDER_METRICS) + " |", "| --- |" + " ---: |" * len(ORDER_METRICS)]
    for name in outputs:
        cells = [
            f"{100 * value:.1f}"
            if metric == "exact" and value <= 1
            else f"{value:.1f}"
            if metric in ("bleu", "exact")
            else f"{value:.3f}"
            for metric in ORDER_METRICS
            for value in [by_name[name, metric]]
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def with_intervals(outputs: Sequence[str], trees: Sequence[Tree]) -> tuple[str, str]:
    """BLEU and the percentage of exact sentences, each with a 95% interval by resampling sentences."""
    found = [output.lower() for output in outputs]
    wanted = [" ".join(word.form for word in tree.words).lower() for tree in trees]
    metric = sacrebleu.BLEU(tokenize="none", force=True)
    statistics = np.array(metric._extract_corpus_statistics(found, [wanted]))
    exact = np.array([a == b for a, b in zip(found, wanted, strict=True)])
    rng = np.random.default_rng(1)
    drawn = [rng.integers(len(found), size=len(found)) for _ in range(RESAMPLES)]
    bleus = [
        metric._compute_score_from_stats(statistics[rows].sum(0).tolist()).score for rows in drawn
    ]
    shares = [100 * exact[rows].mean() for rows in drawn]
    low, high = np.percentile(bleus, [2.5, 97.5])
    least, most = np.percentile(shares, [2.5, 97.5])
    whole = metric._compute_score_from_stats(statistics.sum(0).tolist()).score
    return (
        f"{whole:.1f} [{low:.1f}, {high:.1f}]",
        f"{100 * exact.mean():.1f} [{least:.1f}, {most:.1f}]",
    )


def other_habits(trees: Sequence[Tree]) -> dict[str, list[InputTree]]:
    """By row of the table, inputs with labels as other treebanks might give them."""
    rng = np.random.default_rng(1)
    hung = [rehung(tree, rng) for tree in trees]

    def labeled(which: Sequence[Tree]) -> list[InputTree]:
        return [unordered(tree, kind="labels") for tree in which]

    def universal(which: Sequence[Tree]) -> list[Tree]:
        return [
            replace(tree, words=tuple(replace(word, xpos="_") for word in tree.words))
            for tree in which
        ]

    plain = [
        replace(
            tree,
            words=tuple(
                replace(word, relation=word.relation.partition(":")[0]) for word in tree.words
            ),
        )
        for tree in trees
    ]
    return {
        "labels as in EWT": labeled(trees),
        "without XPOS (universal parts of speech only)": labeled(universal(trees)),
        "without subtypes of relations": labeled(plain),
        "without XPOS and subtypes": labeled(universal(plain)),
        "punctuation attached to other words": labeled(hung),
    }


def habits_table(realizer: LearnedRealizer, trees: Sequence[Tree], gold: Sequence[Tree]) -> str:
    lines = [
        "| input | BLEU | exact | BLEU without the order network |",
        "| --- | ---: | ---: | ---: |",
    ]
    plain = LearnedRealizer.load(shipped("learned.wpm"), realizer.orderers["labels"].ngrams)
    for name, inputs in other_habits(trees).items():
        bleu, exact = with_intervals(texts(realizer, inputs), gold)
        without = with_intervals(texts(plain, inputs), gold)[0]
        lines.append(f"| {name} | {bleu} | {exact} | {without} |")
    return "\n".join(lines)


def treelet_table(realizer: LearnedRealizer, trees: Sequence[Tree]) -> str:
    """The share of treelets in the right order, by how many daughters the head has."""
    lines = [
        "| daughters | treelets | right from `words` | right from `labels` |",
        "| --- | ---: | ---: | ---: |",
    ]
    right: dict[tuple[str, int], int] = Counter()
    total: dict[int, int] = Counter()
    for kind in ("words", "labels"):
        for tree, places in zip(trees, ordered_places(realizer, trees, kind), strict=True):
            for head in range(1, len(tree.words) + 1):
                members = [n for n, word in enumerate(tree.words, 1) if word.head == head]
                if not members:
                    continue
                row = next(
                    r for r, (low, high) in enumerate(TREELET_SIZES) if low <= len(members) <= high
                )
                total[row] += kind == "words"
                line = sorted([head, *members], key=lambda n: places[n - 1])
                forms = [tree.words[n - 1].form for n in line]
                right[kind, row] += forms == [
                    tree.words[n - 1].form for n in sorted([head, *members])
                ]
    for row, (low, high) in enumerate(TREELET_SIZES):
        name = str(low) if low == high else f"{low} to {high}" if high < 99 else f"{low} and more"
        shares = " | ".join(
            f"{100 * right[kind, row] / max(total[row], 1):.1f}%" for kind in ("words", "labels")
        )
        lines.append(f"| {name} | {total[row]:,} | {shares} |")
    return "\n".join(lines)


def ordered_places(realizer: LearnedRealizer, trees: Sequence[Tree], kind: str) -> list[list[int]]:
    """Where each word of each tree is put."""
    forest = Forest.of_trees(trees)
    labels: list[Sequence[Label]] = (
        realizer.chooser.choose(forest)
        if kind == "words"
        else [[Label(category_of(w), w.relation) for w in tree.words] for tree in trees]
    )
    orders = realizer.orderers["words" if kind == "words" else "labels"].order(forest, labels)
    return [np.argsort(np.array(ranked.places)).tolist() for ranked in orders]


def label_accuracy(realizer: LearnedRealizer, trees: Sequence[Tree]) -> tuple[float, float, float]:
    """The accuracy of part of speech and relation together, and of each."""
    chosen = realizer.chooser.choose(Forest.of_trees(trees))
    pairs = [
        (label, Label(category_of(word), word.relation))
        for labels, tree in zip(chosen, trees, strict=True)
        for label, word in zip(labels, tree.words, strict=True)
    ]
    return (
        100 * float(np.mean([a == b for a, b in pairs])),
        100 * float(np.mean([a.category == b.category for a, b in pairs])),
        100 * float(np.mean([a.relation == b.relation for a, b in pairs])),
    )


def timed(realizer: LearnedRealizer, inputs: Sequence[InputTree]) -> float:
    """Processor seconds, best of three."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        realizer.realize(inputs)
        best = min(best, time.process_time() - start)
    return best


def wide_tree(daughters: int) -> InputTree:
    nodes = [Node(("said",)), *(Node((f"w{n % 50}",)) for n in range(daughters))]
    return input_tree(nodes, [-1] + [0] * daughters)


def main() -> None:
    train, dev, test = ewt("train"), ewt("dev"), ewt("test")
    ngrams = load_model(shipped("ngrams.wlm"))
    network = OrderNetwork.load(shipped("order.wpm"))
    realizer = LearnedRealizer.load(shipped("learned.wpm"), ngrams, network)
    capitals = learn_capitals(train)
    lowered = [capitals.lowered_tree(tree) for tree in test]
    inputs = {kind: [unordered(tree, kind=kind) for tree in lowered] for kind in KINDS}
    outputs = {kind: texts(realizer, inputs[kind]) for kind in KINDS}
    bleu, nist, dist = shared_task_scores(outputs["lemmas"], test)
    intervals = {kind: with_intervals(lines, test) for kind, lines in outputs.items()}
    parts = {
        name: texts(one, inputs["words"])
        for name, one in without_parts(
            realizer, [capitals.lowered_tree(tree) for tree in train]
        ).items()
    }
    both, category, relation = label_accuracy(realizer, lowered)
    words_s = timed(realizer, inputs["words"])
    longest = max(inputs["words"], key=len)
    wide = {n: timed(realizer, [wide_tree(n)]) for n in (30, 200)}
    sizes = {name: array.nbytes for name, array in realizer.arrays().items()}
    per_kind = {kind: timed(realizer, inputs[kind]) for kind in KINDS[1:]}
    forest_words = len(forest_of(inputs["words"], "words").heads)
    shown = {kind: [cell.partition(" ")[0] for cell in own] for kind, own in intervals.items()}
    page = f"""# The learned realizer

How well does the learned realizer put the words of dependency trees in order? On the test part of EWT (English Web Treebank) it reaches {shown["words"][0]} BLEU from words alone, with {shown["words"][1]}% of the sentences in their original order, and {shown["labels"][0]} BLEU with {shown["labels"][1]}% if relations and parts of speech are given. ([FERGUS](realize.md), on the same sentences, reaches lower scores.)

It was trained on EWT train ({len(train):,} sentences), tuned on dev ({len(dev):,}), and measured on test ({len(test):,} sentences, {forest_words:,} words). Nothing was chosen on test, which was used ten times, with ten versions of the realizer. The inputs are trees without order of words: inflected words alone (`words`), with relations and parts of speech (`labels`), or with lemmas and features
in place of inflected words (`lemmas`).

## By input

The metrics compare the words with the original order, in lower case. `ssa` to `quality` are those of [Bangalore, Rambow & Whittaker (2000)](../metrics/index.md): accuracies over the whole corpus, understandability and quality as means over sentences; BLEU is sacreBLEU's over tokens; *exact* is the percentage of sentences with all words in the original order.

{order_table({str(kind): lines for kind, lines in outputs.items()}, test)}

With 95% intervals (bootstrap over sentences, {RESAMPLES:,} resamples):

| | BLEU | exact |
| --- | ---: | ---: |
{chr(10).join(f"| {kind} | {own[0]} | {own[1]} |" for kind, own in intervals.items())}

With `lemmas` as input, the scores by `eval.py`, the program of the shared tasks on surface realization, are BLEU {bleu:.1f}, NIST {nist:.2f} and DIST {dist:.1f} (DIST: similarity by edits of characters, at most 100).

If the input is `words`, the realizer first chooses a part of speech and a relation for each word ([how](../realize_learned.md#how-it-works)): {both:.1f}% of the words of test get both right, {category:.1f}% the part of speech, {relation:.1f}% the relation.

## `words`, with one part left out

{order_table(parts, test)}

## `labels` of other treebanks

The trees of test, changed to look as in other treebanks: without XPOS or subtypes of relations, or with punctuation attached to other words (for each sentence, all of it to the word before, to the word after, as high as possible, or at random).

{habits_table(realizer, lowered, test)}

## Treelets in the right order

The percentage of treelets (a head with its daughters, the words that depend on it) whose order is right, by the number of daughters:

{treelet_table(realizer, lowered)}

## Insertion

Punctuation and function words without daughters were removed from the trees and inserted again (`--insert`). Precision, recall and F1 compare the inserted words with the removed ones; BLEU compares the sentences. For comparison: nothing inserted, the most frequent word in every sentence, and words inserted by the trigram model into the realized sentences.

{insertion_table(realizer, ngrams, lowered, [capitals.lowered_tree(tree) for tree in dev])}

## Speed and size

One core realizes {len(test) / words_s:,.0f} sentences a second from `words`, {len(test) / per_kind["labels"]:,.0f} from `labels`, {len(test) / per_kind["lemmas"]:,.0f} from `lemmas`; other machines have other times. The longest sentence of test ({len(longest)} words) takes {1000 * timed(realizer, [longest]):.0f} ms, a head with 30 daughters {1000 * wide[30]:.0f} ms, with 200 daughters {1000 * wide[200]:.0f} ms. The model needs {sum(sizes.values()) / 1e6:.2f} MB of memory, and {shipped("learned.wpm").stat().st_size / 1e6:.2f} MB as a file; the file of the order network has {shipped("order.wpm").stat().st_size / 1e6:.2f} MB.
"""
    write_page("realize-learned", page)
