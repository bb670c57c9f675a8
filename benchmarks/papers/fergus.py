"""FERGUS on UD English EWT: accuracy against the baseline LR and the floors, what each part adds, where the
errors are, and how fast it is. Writes docs/results/realize.md.

    python -m benchmarks realize [SPLIT]

The models are those in src/wellput/language/english (trained on train, tuned on dev). SPLIT is `test`
or `dev`; only `test` writes the page. The XTAG grammar is unpacked from the data folder.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.data import ewt, unpack_xtag
from benchmarks.pages import write_page
from benchmarks.papers.fergus_errors import TreeletErrors, treelet_errors
from wellput.core.tree import Tree
from wellput.engine.realization import ORDER_METRICS, evaluate_order
from wellput.engine.result import ScoreResult
from wellput.language.models.ngram_files import load_model
from wellput.language.models.ngrams import NgramModel
from wellput.language.models.tree_model import TreeModel
from wellput.language.realize.baselines import (
    RandomTrees,
    random_order,
    random_permutation,
    train_left_right,
)
from wellput.language.realize.fergus import Fergus, LeftRightModel, grammar_named, induced_grammar
from wellput.language.realize.inputs import InputKind, Node, input_tree, parse_input, unordered
from wellput.language.realize.parameters import Capitals, RealizerParameters
from wellput.language.realize.realizer import Realizer
from wellput.language.shipped import shipped

SEED = 12345
PAPER = ORDER_METRICS[:6]
READINGS = ("LR, uniform trees, trigram", "LR, projective trees, trigram")
DRAWS, DRAWN, SHORTEST, LONGEST = 20, 100, 10, 24
MARGINS = {
    "ssa": 0.17,
    "gsa": 0.16,
    "sta": 0.24,
    "gta": 0.13,
    "understandability": 0.52,
    "quality": 0.54,
}
FIGURE_2 = {
    "word": "estimate", "xpos": "NN", "children": [
        {"word": "There", "xpos": "EX"}, {"word": "was", "xpos": "VBD"},
        {"word": "no", "xpos": "DT"}, {"word": "cost", "xpos": "NN"},
        {"word": "for", "xpos": "IN", "children": [
            {"word": "phase", "xpos": "NN", "children": [
                {"word": "the", "xpos": "DT"}, {"word": "second", "xpos": "JJ"}]}]}]}  # fmt: skip
TARGET = "There was no cost estimate for the second phase"
# A benchmark cannot know how often its test set was looked at: whoever runs it again says so here.
LOOKS = """The test set was used three times. The first run had a search width of 50 (now 200, chosen on
dev) and earlier n-gram and tree models. The second had today's code with a larger n-gram model. This run has the models that
are shipped. From run to run no accuracy of fergus differed by more than .005 and no BLEU by more than 0.3; the accuracies of LR, whose
order comes mainly from the n-gram model, differed by up to .010. One choice was made on the test set: the first run compared only with LR over projective trees. In it,
the lead of fergus was smaller than in the paper under two
metrics, so the comparison with LR over uniform trees was added. The paper says only "a random tree structure for each sentence"; taken literally, this is
the uniform version. The rows with
XTAG were measured before its mapping covered inverted subjects and clauses before their verb; on dev, this later change of the mapping raised `ssa` from .695 to .697
(words) and from .771 to .774 (labels)."""


def main() -> None:
    split = sys.argv[1] if len(sys.argv) > 1 else "test"
    train, trees = ewt("train"), ewt(split)
    parameters = RealizerParameters.load(shipped("realizer.wpm"))
    ngrams, tree_model = load_model(shipped("ngrams.wlm")), TreeModel.load(shipped("tree.wpm"))
    with tempfile.TemporaryDirectory() as folder:
        unpack_xtag(folder)
        xtag = grammar_named(f"xtag:{folder}")
        fergus = Fergus("fergus", tree_model, ngrams, induced_grammar())
        plus = replace(
            fergus, name="fergus+", precedence=parameters.precedence, lm_weight=parameters.lm_weight
        )
        models = {
            "fergus": fergus,
            "fergus, supertags top-down": replace(fergus, method="top-down"),
            "fergus, XTAG": replace(fergus, grammar=xtag),
            "fergus+": plus,
            "fergus+, tree model alone": replace(plus, lm_weight=0.0),
            "fergus+, supertags top-down": replace(plus, method="top-down"),
            "fergus+, XTAG": replace(plus, grammar=xtag),
        }
        outputs = _floors(train, trees, parameters.capitals, ngrams)
        inexact: dict[str, int] = {}
        for name, model in models.items():
            outputs[name], inexact[name] = _realized(
                Realizer(model, parameters.capitals), trees, "words"
            )
        result = evaluate_order(outputs, trees, baseline=READINGS[0], seed=SEED)
        compared = {
            READINGS[0]: result,
            READINGS[1]: evaluate_order(
                outputs, trees, baseline=READINGS[1], metrics=PAPER, seed=SEED
            ),
        }
        labeled = {
            f"{name}, labels": _realized(
                Realizer(models[name], parameters.capitals), trees, "labels"
            )[0]
            for name in ("fergus", "fergus+", "fergus, XTAG", "fergus+, XTAG")
        }
        parts = [
            _head(trees, split, parameters, ngrams),
            _table("Words", result),
            _beside_lr(compared),
            _table(
                "Labels: relations and parts of speech known",
                evaluate_order(labeled, trees, seed=SEED),
            ),
            _drawn(result, trees),
            *_errors(
                {
                    n: treelet_errors(models[n], trees, parameters.capitals)
                    for n in ("fergus", "fergus+")
                }
            ),
            _limits(models, inexact, trees, parameters.capitals),
            _figure_2(Realizer(models["fergus, XTAG"], parameters.capitals)),
        ]
    page = "\n\n".join(parts) + "\n"
    if split == "test":
        write_page("realize", page)
    else:
        print(page)


def _floors(
    train: Sequence[Tree], trees: Sequence[Tree], capitals: Capitals, ngrams: NgramModel
) -> dict[str, list[str]]:
    """LR in its four readings, and random orders."""
    lowered = [capitals.lowered_tree(tree) for tree in train]
    inputs = [unordered(capitals.lowered_tree(tree)) for tree in trees]
    rng = np.random.default_rng(SEED)

    def texts(order: Callable[..., list[int]], **options: object) -> list[str]:
        return [" ".join(t.nodes[n].form for n in order(t, rng, **options)) for t in inputs]

    kinds: tuple[RandomTrees, ...] = ("uniform", "projective")
    found = {
        "random permutation": texts(random_permutation),
        "random projective order": texts(random_order, model=None),
    }
    for kind in kinds:
        lr = train_left_right(lowered, rng=np.random.default_rng(SEED), random_trees=kind)
        found[f"LR, {kind} trees"] = texts(random_order, model=lr)
        realizer = LeftRightModel(lr, ngrams)
        found[f"LR, {kind} trees, trigram"] = [one.best[0].text for one in realizer.realize(inputs)]
    return found


def _realized(realizer: Realizer, trees: Sequence[Tree], kind: InputKind) -> tuple[list[str], int]:
    realized = realizer.realize_all(trees, kind=kind)
    return [one.best[0].text for one in realized], sum(not one.is_exact for one in realized)


def _head(trees: Sequence[Tree], split: str, model: RealizerParameters, ngrams: NgramModel) -> str:
    words = sum(len(tree.words) for tree in trees)
    return f"""# Accuracy and speed of FERGUS

How well and how fast the realizer FERGUS puts the words of dependency trees in order, on UD English EWT
{split}: {len(trees):,} trees, {words:,} words. The models were trained on EWT train and tuned on EWT dev. The input is a tree of inflected words without order. It has no labels (relations and parts of speech) either, unless the row says *labels*. Words are compared
in lower case; accuracies and BLEU are over the whole corpus, understandability and quality are means over
sentences. LR is the [baseline](../realize.md) of Bangalore, Rambow & Whittaker (2000), which knows only whether one word stood left or right of another in training. The paper does not say how its random trees are drawn, or whether
the trigram model orders what LR leaves open, so the table has all four combinations: *uniform trees* are drawn from all trees, *projective trees* only from the projective ones, and *trigram* means that the trigram model orders what LR leaves open. The texts of EWT differ from the Wall Street Journal of the paper, so these results neither confirm nor contradict the paper's. `fergus` follows the paper; `fergus+` also has [weights for word orders](../realize.md#how-it-works). Rows with *XTAG* take the places of words from the [XTAG grammar](../language/xtag.md); *supertags top-down* chooses supertags from the root of the tree down; *tree model alone* leaves out the trigram model. The trigram model has {ngrams.sizes[2]:,} trigrams; its weight in
`fergus+` is {model.lm_weight:g}.

{LOOKS}"""


def _table(title: str, result: ScoreResult) -> str:
    rows = [
        "| "
        + " | ".join([system, *(_number(result[system, m].score, m) for m in ORDER_METRICS)])
        + " |"
        for system in result.systems
    ]
    header = f"| | {' | '.join(ORDER_METRICS)} |\n|---|{'---:|' * len(ORDER_METRICS)}"
    return f"## {title}\n\n{header}\n" + "\n".join(rows)


def _number(value: float, metric: str) -> str:
    return f"{value:.1f}" if metric == "bleu" else f"{value:.3f}".replace("-", "−")


def _beside_lr(compared: dict[str, ScoreResult]) -> str:
    """Differences from LR with the trigram model, beside those of the paper's Tables 2 and 4."""
    rows, short = [], []
    for baseline, result in compared.items():
        for system in ("fergus", "fergus, XTAG", "fergus+"):
            cells = []
            for metric in PAPER:
                score = result[system, metric]
                assert score.p_value is not None
                p = "p < .001" if score.p_value < 0.001 else f"p = {score.p_value:.3f}"
                cells.append(f"{score.delta:+.3f} ({p})".replace("-", "−"))
            rows.append("| " + " | ".join([f"{system} − {baseline}", *cells]) + " |")
            short += [
                f"{system} − {baseline}: {metric}"
                for metric in PAPER
                if (result[system, metric].delta or 0.0) < MARGINS[metric]
            ]
    rows.append("| the paper's margins | " + " | ".join(f"+{MARGINS[m]:.2f}" for m in PAPER) + " |")
    header = f"| | {' | '.join(PAPER)} |\n|---|{'---:|' * len(PAPER)}"
    return (
        "Differences from LR, by approximate randomization with 1,000 resamples:\n\n"
        f"{header}\n"
        + "\n".join(rows)
        + f"\n\nSmaller than the paper's margins: {'; '.join(short) or 'none'}."
    )


def _drawn(result: ScoreResult, trees: Sequence[Tree]) -> str:
    """Means and standard deviations over draws like the paper's: 100 sentences of moderate length."""
    fitting = [i for i, tree in enumerate(trees) if SHORTEST <= len(tree.words) <= LONGEST]
    rng = np.random.default_rng(SEED)
    draws = [rng.choice(fitting, DRAWN, replace=False) for _ in range(DRAWS)]
    rows = []
    means: dict[tuple[str, str], float] = {}
    systems = ("fergus", "fergus, XTAG", "fergus+")
    for system in (*READINGS, *systems):
        cells = []
        for metric in PAPER:
            table = result.tables[metric]
            statistics = table.statistics[table.row(system)]
            values = [float(table.aggregate(statistics[draw].sum(axis=0))) for draw in draws]
            means[system, metric] = float(np.mean(values))
            cells.append(f"{np.mean(values):.3f} ± {np.std(values, ddof=1):.3f}".replace("-", "−"))
        rows.append("| " + " | ".join([system, *cells]) + " |")
    short = [
        f"{system} − {baseline}: {metric}"
        for baseline in READINGS
        for system in systems
        for metric in PAPER
        if means[system, metric] - means[baseline, metric] < MARGINS[metric]
    ]
    header = f"| | {' | '.join(PAPER)} |\n|---|{'---:|' * len(PAPER)}"
    return (
        f"## Draws of {DRAWN} sentences\n\nSentences of {SHORTEST} to {LONGEST} words are drawn (the "
        "paper's sentences had at most 24 words, and 16.7 on average). The table has the mean and "
        f"standard deviation over {DRAWS} draws, with seed {SEED}.\n\n{header}\n"
        + "\n".join(rows)
        + "\n\nThe paper's margins are for such sentences. EWT has many shorter ones, and LR orders most of those correctly. Smaller than "
        f"the paper's margins: {'; '.join(short) or 'none'}."
    )


def _errors(found: dict[str, TreeletErrors]) -> list[str]:
    """Shares of treelets put right, and the pairs most often put wrong."""
    names = list(found)
    lines = [f"| | treelets | {' | '.join(names)} |\n|---|---:|{'---:|' * len(names)}"]
    groups: list[tuple[str, str, list[object]]] = [
        ("of {} words", "by_size", [2, 3, 4, 5, 6]),
        ("headed by {}", "by_kind", ["V", "N", "J", "R", "M", "P", "D", "X"]),
    ]
    for label, attribute, keys in groups:
        for key in keys:
            counts = [getattr(found[name], attribute) for name in names]
            total = counts[0][key, True] + counts[0][key, False]
            if total:
                shares = [f"{count[key, True] / total:.3f}" for count in counts]
                name = label.format(f"{key} or more" if key == 6 else key)
                lines.append(f"| {name} | {total:,} | {' | '.join(shares)} |")
    worst = found["fergus+"].wrong_pairs.most_common(10)
    pairs = "\n".join(
        f"| {a} before {b} | {found['fergus+'].pairs[a, b]:,} | "
        + " | ".join(f"{found[name].wrong_pairs[a, b]:,}" for name in names)
        + " |"
        for (a, b), _ in worst
    )
    return [
        "## Where the errors are\n\nShare of treelets (a head and its daughters) whose words are in the right order, by size "
        "and by the head's part of speech (V verbs, N nouns and pronouns, J adjectives, R adverbs, M numbers, "
        "P prepositions and particles, D determiners, X others):\n\n" + "\n".join(lines),
        f"The pairs that fergus+ most often puts the wrong way round, by relation to the head (HEAD "
        f"is the head itself):\n\n| | pairs | wrong in {' | wrong in '.join(names)} |\n"
        f"|---|---:|{'---:|' * len(names)}\n{pairs}",
    ]


def _limits(
    models: dict[str, Fergus], inexact: dict[str, int], trees: Sequence[Tree], capitals: Capitals
) -> str:
    """Speed on one core, the longest sentence, a head with 30 daughters."""
    longest = max(trees, key=lambda tree: len(tree.words))
    wide = input_tree([Node((f"word{i}",)) for i in range(31)], [-1, *[0] * 30])
    rows = []
    for name in ("fergus", "fergus+", "fergus, XTAG"):
        realizer = Realizer(models[name], capitals)
        # Processor time of one thread: other work on the machine does not count.
        speed = len(trees) / _seconds(lambda realizer=realizer: realizer.realize_all(trees))  # type: ignore[misc]
        slow = _seconds(lambda realizer=realizer: realizer.realize(longest))  # type: ignore[misc]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        wide_time = _seconds(lambda realizer=realizer: realizer.realize(wide))  # type: ignore[misc]
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        rows.append(
            f"| {name} | {speed:,.0f} | {inexact[name]} | {slow:.2f} s | {wide_time:.2f} s, {grown:.0f} MB |"
        )
    return (
        "## Speed and bounds\n\nTimes are processor time on one core. *Searches not exact* is the number "
        "of trees for which the realizer did not search all orders. The longest sentence has "
        f"{len(longest.words)} words.\n\n"
        "| | sentences/s | searches not exact | longest sentence | a head with 30 daughters, and the memory that it adds |\n"
        "|---|---:|---:|---:|---:|\n" + "\n".join(rows)
    )


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _figure_2(realizer: Realizer) -> str:
    (realized,) = realizer.realize_all([parse_input(FIGURE_2, kind="labels")], n_best=5)
    lattice = realized.lattice
    assert lattice is not None
    accepted = {" ".join(lattice.words[word] for word in path) for path, _ in lattice.paths()}
    is_accepted = TARGET.lower() in {text.lower() for text in accepted}
    trees = ", ".join(
        f"{node.form} {tag}"
        for node, tag in zip(realized.tree.nodes, realized.supertags, strict=True)
    )
    return (
        "## Figure 2 of the paper\n\nWith the XTAG grammar, from parts of speech: "
        f"{trees}. The lattice (the orders that the grammar allows) has {lattice.n_paths} orders and {'accepts' if is_accepted else 'does not accept'} "
        f"*{TARGET}*; realized as *{realized.best[0].text}*."
    )
