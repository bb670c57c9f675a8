"""Writes the tables of this folder: what other tools find in texts and scores that are made here.

    python tests/conformance/make_tables.py PEER...

in an environment that has the peer; README.md names the versions. The tables have the inputs too, so
that the tests need neither the peers nor this script.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent
PAIRS = [
    ("The ferry leaves at noon.", "The ferry leaves at noon."),
    ("At noon the ferry leaves .", "The ferry leaves at noon."),
    ("the ferry, it leaves at 12:30 p.m.", "The ferry leaves at 12.30 p.m., from pier 2."),
    ("no word in common here", "quite another sentence altogether"),
    ("short", "a much longer reference than the output is"),
    ("a much longer output than the reference is, and then some more of it", "short one"),
    ("the the the the the the the", "the cat is on the mat"),
    (
        "It costs $1,234.50 (or 50%) -- isn't that \u201cfine\u201d?",
        "It costs $1,234.5, or 50 %; isn't it fine?",
    ),
    ("&quot;Tom &amp; Jerry&quot; &lt;b&gt;", '"Tom & Jerry" <b>'),
    (
        "Der Zug f\u00e4hrt um 8 Uhr in M\u00fcnchen ab.",
        "Um 8 Uhr f\u00e4hrt der Zug in M\u00fcnchen ab.",
    ),
    (
        "\u4eca\u5929\u5929\u6c14\u5f88\u597d\u3002",
        "\u4eca\u5929\u7684\u5929\u6c14\u975e\u5e38\u597d\u3002",
    ),
    ("x y z x y z x y z", "x y z"),
    ("one two three four", "four three two one"),
    ("  spaces   in  odd\tplaces ", "spaces in odd places"),
    ("state-of-the-art well-known e-mail", "state of the art, well known: email"),
    ("UPPER case Matters", "upper CASE matters"),
]
SECOND = [reference.replace("the", "that").replace("noon", "midday") for _, reference in PAIRS]
TOKENIZERS = ("none", "13a", "intl", "char", "zh")
SACREBLEU: list[tuple[str, str, dict[str, Any]]] = [
    ("bleu", "BLEU", {}),
    ("bleu:lowercase=true", "BLEU", {"lowercase": True}),
    *((f"bleu:tokenize={name}", "BLEU", {"tokenize": name}) for name in TOKENIZERS),
    ("bleu:smooth_method=floor", "BLEU", {"smooth_method": "floor"}),
    (
        "bleu:smooth_method=floor,smooth_value=0.5",
        "BLEU",
        {"smooth_method": "floor", "smooth_value": 0.5},
    ),
    ("bleu:smooth_method=add-k", "BLEU", {"smooth_method": "add-k"}),
    ("bleu:smooth_method=none", "BLEU", {"smooth_method": "none"}),
    ("bleu:max_ngram_order=2", "BLEU", {"max_ngram_order": 2}),
    ("bleu:effective_order=true", "BLEU", {"effective_order": True}),
    ("chrf", "CHRF", {}),
    ("chrf:word_order=1", "CHRF", {"word_order": 1}),
    ("chrf:word_order=2", "CHRF", {"word_order": 2}),
    ("chrf:beta=1", "CHRF", {"beta": 1}),
    ("chrf:char_order=4", "CHRF", {"char_order": 4}),
    ("chrf:lowercase=true", "CHRF", {"lowercase": True}),
    ("chrf:whitespace=true", "CHRF", {"whitespace": True}),
    ("chrf:eps_smoothing=true", "CHRF", {"eps_smoothing": True}),
    ("ter", "TER", {}),
    ("ter:normalized=true", "TER", {"normalized": True}),
    ("ter:no_punct=true", "TER", {"no_punct": True}),
    ("ter:case_sensitive=true", "TER", {"case_sensitive": True}),
    ("ter:normalized=true,asian_support=true", "TER", {"normalized": True, "asian_support": True}),
]


def sacrebleu() -> list[dict[str, Any]]:
    metrics = import_module("sacrebleu.metrics")
    cases = []
    outputs = [output for output, _ in PAIRS]
    for references in ([[r for _, r in PAIRS]], [[r for _, r in PAIRS], SECOND]):
        for name, kind, options in SACREBLEU:
            metric = getattr(metrics, kind)(**options)
            # sacreBLEU wants effective order for single sentences; so does wellput for a segment.
            single = metric
            if kind == "BLEU":
                single = metrics.BLEU(**{**options, "effective_order": True})
            cases.append(
                {
                    "metric": name,
                    "outputs": outputs,
                    "references": [list(row) for row in zip(*references, strict=True)],
                    "corpus": metric.corpus_score(outputs, references).score,
                    "segments": [
                        single.sentence_score(output, list(row)).score
                        for output, *row in zip(outputs, *references, strict=True)
                    ],
                }
            )
    return cases


def jiwer() -> list[dict[str, Any]]:
    peer = import_module("jiwer")
    rng = random.Random(1)
    drawn = [
        tuple(" ".join(rng.choices("abcdefg", k=rng.randrange(1, 12))) for _ in range(2))
        for _ in range(24)
    ]
    cases = []
    for pairs in (PAIRS, drawn):
        outputs, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        for name in ("wer", "mer", "wil", "wip", "cer"):
            rate = getattr(peer, name)
            cases.append(
                {
                    "metric": name,
                    "outputs": outputs,
                    "references": [[text] for text in references],
                    "corpus": float(rate(references, outputs)),
                    "segments": [
                        float(rate(r, o)) for o, r in zip(outputs, references, strict=True)
                    ],
                }
            )
    return cases


def rouge_score() -> list[dict[str, Any]]:
    scorer = import_module("rouge_score.rouge_scorer")
    texts = [
        *PAIRS,
        (
            "The ferries are leaving.\nPassengers board quickly.",
            "A ferry leaves.\nThe passenger boards quickly.",
        ),
        ("one\ntwo three\nfour", "two three\none four"),
        ("", "something"),
        ("something", ""),
    ]
    names = {
        "rouge1": "rouge-1",
        "rouge2": "rouge-2",
        "rougeL": "rouge-l",
        "rougeLsum": "rouge-lsum",
    }
    cases = []
    for stem in (False, True):
        peer = scorer.RougeScorer(list(names), use_stemmer=stem)
        found = [peer.score(reference, output) for output, reference in texts]
        for theirs, ours in names.items():
            cases.append(
                {
                    "metric": f"{ours}:stem=true" if stem else ours,
                    "outputs": [output for output, _ in texts],
                    "references": [[reference] for _, reference in texts],
                    "corpus": float(np.mean([one[theirs].fmeasure for one in found])),
                    "segments": [one[theirs].fmeasure for one in found],
                    "precision": [one[theirs].precision for one in found],
                    "recall": [one[theirs].recall for one in found],
                }
            )
    return cases


def _tables(seed: int, n_systems: int, n_items: int, *, ties: bool, gaps: bool) -> list[Any]:
    """People's and a metric's scores, systems × items; None where people judged nothing."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(size=(n_systems, 1)) + rng.normal(size=(1, n_items))
    human = np.round(2 * (worth + rng.normal(size=worth.shape))) / 2
    metric = human + 1.5 * rng.normal(size=worth.shape)
    if ties:
        metric = np.round(metric)
    judged = human.tolist()
    if gaps:
        judged = [
            [None if value < 0.2 else own for own, value in zip(row, drawn, strict=True)]
            for row, drawn in zip(judged, rng.random(worth.shape).tolist(), strict=True)
        ]
    return [judged, metric.tolist()]


SHAPES: list[dict[str, Any]] = [
    {"seed": 1, "n_systems": 5, "n_items": 12, "ties": False, "gaps": False},
    {"seed": 2, "n_systems": 7, "n_items": 10, "ties": True, "gaps": False},
    {"seed": 3, "n_systems": 6, "n_items": 15, "ties": False, "gaps": True},
    {"seed": 4, "n_systems": 8, "n_items": 9, "ties": True, "gaps": True},
]


def mt_metrics_eval() -> list[dict[str, Any]]:
    stats = import_module("mt_metrics_eval.stats")
    cases = []
    for shape in SHAPES:
        human, metric = _tables(**shape)
        of = stats.Correlation(
            len(human), [v for row in human for v in row], [v for row in metric for v in row]
        )
        found: dict[str, float] = {}
        for theirs, ours in (("none", "none"), ("item", "item"), ("sys", "system")):
            found[f"pearson/{ours}"] = of.Pearson(theirs)[0]
            found[f"spearman/{ours}"] = of.Spearman(theirs)[0]
            found[f"kendall/{ours}"] = of.Kendall(theirs)[0]
            found[f"kendall-c/{ours}"] = of.KendallVariants(theirs, variant="c")[0]
            found[f"acc-t/{ours}"] = of.KendallWithTiesOpt(theirs, sample_rate=1.0)[0]
        for variant in ("23", "acc23"):
            for epsilon in (0.0, 0.5):
                value = of.KendallVariants("none", variant=variant, epsilon=epsilon)[0]
                found[f"variant {variant}, epsilon {epsilon:g}"] = value
        found["kendall-like"] = of.KendallLike(thresh=0)[0]
        cases.append(
            {"human": human, "metric": metric, "found": {k: float(v) for k, v in found.items()}}
        )
    return cases


def nlpstats() -> list[dict[str, Any]]:
    peer = import_module("nlpstats.correlations.correlations")
    fisher = import_module("nlpstats.correlations.fisher").fisher
    williams = import_module("nlpstats.correlations.williams").williams_test
    cases = []
    for shape in SHAPES:
        human, metric = _tables(**shape)
        z = np.array(human, dtype=float)
        x = np.where(np.isnan(z), np.nan, np.array(metric))  # a cell counts when both have it
        y = (x + z) / 2
        found: dict[str, Any] = {}
        for coefficient in ("pearson", "spearman", "kendall"):
            for level in ("system", "input", "global"):
                value = getattr(peer, f"{level}_level")(x, z, coefficient)
                found[f"{coefficient}/{level}"] = float(value)
            if not shape["gaps"]:
                bounds = fisher(x, z, "global", coefficient)
                found[f"fisher/{coefficient}"] = [float(bounds.lower), float(bounds.upper)]
        if not shape["gaps"]:
            for alternative in ("two-sided", "greater", "less"):
                p_value = williams(x, y, z, "global", "pearson", alternative=alternative).pvalue
                found[f"williams/{alternative}"] = float(p_value)
        cases.append({"human": human, "metric": metric, "found": found})
    return cases


ROWS = [
    "1\tThe\tthe\tDET\t_\t_\t2\tdet\t_\t_",
    "2\tdog\tdog\tNOUN\t_\t_\t3\tnsubj\t_\t_",
    "3\tsleeps\tsleep\tVERB\t_\t_\t0\troot\t_\t_",
]
HEAD = ["# sent_id = 1", "# text = The dog sleeps"]
RANGE = "2-3\tdogsleeps\t_\t_\t_\t_\t_\t_\t_\t_"
EMPTY = "3.1\tsoundly\tsoundly\tADV\t_\t_\t_\t_\t3:advmod\t_"
TREES: dict[str, str] = {
    "good": "\n".join([*HEAD, *ROWS, "", ""]),
    "good, a range of words": "\n".join([*HEAD, ROWS[0], RANGE, *ROWS[1:], "", ""]),
    "good, an empty node": "\n".join([*HEAD, *ROWS, EMPTY, "", ""]),
    "no empty line at the end": "\n".join([*HEAD, *ROWS, ""]),
    "an empty line too many": "\n".join([*HEAD, *ROWS, "", "", ""]),
    "a line of a space": "\n".join([*HEAD, *ROWS, " ", ""]),
    "nine columns": "\n".join([*HEAD, ROWS[0][:-2], *ROWS[1:], "", ""]),
    "eleven columns": "\n".join([*HEAD, ROWS[0] + "\t_", *ROWS[1:], "", ""]),
    "an empty column": "\n".join([*HEAD, ROWS[0].replace("\tDET", "\t"), *ROWS[1:], "", ""]),
    "no columns": "\n".join([*HEAD, "The dog sleeps", "", ""]),
    "a comment only": "\n".join([*HEAD, "", ""]),
    "a comment among the words": "\n".join([HEAD[0], ROWS[0], HEAD[1], *ROWS[1:], "", ""]),
    "a comment behind the words": "\n".join([*ROWS, *HEAD, "", ""]),
    "ids from 2": "\n".join([*HEAD, *ROWS[1:], "", ""]),
    "ids out of order": "\n".join([*HEAD, ROWS[1], ROWS[0], ROWS[2], "", ""]),
    "an id twice": "\n".join([*HEAD, ROWS[0], ROWS[1], ROWS[1], "", ""]),
    "an id left out": "\n".join([*HEAD, ROWS[0], ROWS[2], "", ""]),
    "an id with a leading 0": "\n".join([*HEAD, "0" + ROWS[0], *ROWS[1:], "", ""]),
    "an id that is no number": "\n".join([*HEAD, "x" + ROWS[0][1:], *ROWS[1:], "", ""]),
    "a range that is reversed": "\n".join(
        [*HEAD, ROWS[0], RANGE.replace("2-3", "3-2"), *ROWS[1:], "", ""]
    ),
    "a range behind its words": "\n".join([*HEAD, *ROWS, RANGE, "", ""]),
    "a range beyond the words": "\n".join(
        [*HEAD, ROWS[0], RANGE.replace("2-3", "2-4"), *ROWS[1:], "", ""]
    ),
    "two ranges that overlap": "\n".join(
        [*HEAD, RANGE.replace("2-3", "1-2"), ROWS[0], RANGE, *ROWS[1:], "", ""]
    ),
    "a range that is no range": "\n".join(
        [*HEAD, ROWS[0], RANGE.replace("2-3", "2-x"), *ROWS[1:], "", ""]
    ),
    "a range of words with a tag": "\n".join(
        [*HEAD, ROWS[0], RANGE.replace("_\t_\t_\t_", "_\t_\t3\tdep", 1), *ROWS[1:], "", ""]
    ),
    "an empty node too early": "\n".join([*HEAD, EMPTY, *ROWS, "", ""]),
    "empty nodes not from 1": "\n".join([*HEAD, *ROWS, EMPTY.replace("3.1", "3.2"), "", ""]),
    "a line that ends as on Windows": "\r\n".join([*HEAD, *ROWS, "", ""]),
    "a form with a space at its end": "\n".join(
        [*HEAD, ROWS[0].replace("The", "The "), *ROWS[1:], "", ""]
    ),
    "a decomposed letter": "\n".join(
        [*HEAD, ROWS[0].replace("The", "The\u0301"), *ROWS[1:], "", ""]
    ),
}


def ud_level_1() -> list[dict[str, Any]]:
    """The current folder is a checkout of the validator."""
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trees.conllu")
        for name, text in TREES.items():
            path.write_bytes(text.encode())
            command = [sys.executable, "validate.py", "--level", "1", "--lang", "en", str(path)]
            ended = subprocess.run(command, capture_output=True, check=False)
            cases.append({"case": name, "text": text, "is_refused": ended.returncode != 0})
    return cases


PEERS = {
    "sacrebleu": sacrebleu,
    "jiwer": jiwer,
    "rouge_score": rouge_score,
    "mt_metrics_eval": mt_metrics_eval,
    "nlpstats": nlpstats,
    "ud_level_1": ud_level_1,
}


def texts_once(cases: list[dict[str, Any]]) -> dict[str, Any]:
    """Outputs and references that several cases share are written once; a case has their number."""
    sets: list[dict[str, Any]] = []
    for case in cases:
        own: dict[str, Any] = {
            key: case.pop(key) for key in ("outputs", "references") if key in case
        }
        if own:
            if own not in sets:
                sets.append(own)
            case["texts"] = sets.index(own)
    return {"texts": sets, "cases": cases}


if __name__ == "__main__":
    for name in sys.argv[1:]:
        text = json.dumps(texts_once(PEERS[name]()), ensure_ascii=False, indent=1)
        (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")
