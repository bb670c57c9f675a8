"""The page of Kauchak & Barzilay (2006): every table of the paper beside what wellput gives.

    python -m benchmarks kauchak2006 [--index FILE] [--kept FOLDER]

ContextWN learns from the text of `python -m benchmarks english-text`, as a corpus index. FILE keeps this
index; if it is there, it is read. FOLDER keeps the results of each set, so that an interrupted run can be
resumed.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from benchmarks.agreement import human_data
from benchmarks.catalog import WMT21
from benchmarks.language.english_text import all_sentences
from benchmarks.pages import table, write_page
from benchmarks.papers.kauchak_experiment import METHODS, MethodRow, experiment, method_paraphrasers
from benchmarks.papers.kauchak_simulation import SIMULATED_DRAWS, simulated_judges
from benchmarks.papers.paraphrase.substitutions import in_form, swords_dev
from benchmarks.papers.wording import p_text
from wellput.core.evalset import EvalSet
from wellput.language.models.tagger import Tagger
from wellput.language.models.wordnet import open_wordnet
from wellput.language.paraphrase.candidates import WordNetCandidates
from wellput.language.paraphrase.classifiers import kauchak_training
from wellput.language.paraphrase.corpus_index import CorpusIndex, index_corpus
from wellput.language.paraphrase.filters import ContextwnFilter
from wellput.language.paraphrase.methods import make_paraphraser, paraphrase_options
from wellput.language.paraphrase.training import judged_queries, learn_classifiers
from wellput.language.shipped import shipped
from wellput.stats.judges.kappa import confusion

SETS: dict[str, tuple[Callable[[], human_data.HumanData], str, tuple[int, ...]]] = {
    "da2016": (human_data.da2016, "adequacy", (1,)),
    **{
        pair: ((lambda pair=pair: human_data.wmt21(pair)), "DA", (1, 2))  # type: ignore[misc]
        for pair in WMT21
    },
    "mqm": (human_data.mqm, "MQM", (1,)),
}
PAPER_4 = {
    "none": (".9657", ".9743"),
    "wordnet": (".9674", ".9763"),
    "contextwn": (".9677", ".9764"),
    "lsa": (".9652", ".9736"),
    "brown": (".9662", ".9744"),
}
PAPER_6 = {
    "none": (".0913", ""),
    "wordnet": (".0969", "994"),
    "contextwn": (".0962", "742"),
    "lsa": (".992 (must be .0992)", "2,080"),
    "brown": (".921 (must be .0921)", "117"),
}
PAPER_7 = {
    "wordnet": ("63.5% and 62.5%", ".74"),
    "contextwn": ("75% and 76%", ".69"),
    "lsa": ("30% and 31.5%", ".73"),
    "brown": ("56% and 56%", ".72"),
    "context": ("", ""),
}
SAMPLES = {
    "Table 1": (
        "However, Israel's reply failed to completely clear the U.S. suspicions.",
        "However, Israeli answer unable to fully remove the doubts.",
    ),
    "Table 2": (
        "It is hard to believe that such tremendous changes have taken place for those people and lands "
        "that I have never stopped missing while living abroad.",
        "For someone born here but has been sentimentally attached to a foreign country far from home, it "
        "is difficult to believe this kind of changes.",
    ),
    "Table 3": (
        'The monthly magazine "Choices" has won the deep trust of the residents. The current Internet '
        'edition of "Choices" will give full play to its functions and will help consumers get quick '
        "access to market information.",
        'The public has a lot of faith in the "Choice" monthly magazine and the Council is now working on a '
        "web version. This will enhance the magazine's function and help consumer to acquire more "
        "up-to-date market information.",
    ),
}
PRINTED_SAMPLES = {
    "Table 1": "reply → answer, clear → remove",
    "Table 2": "on the output: difficult → hard (home → place is refused)",
    "Table 3": "wordnet: trust → faith, edition → version, get → acquire; contextwn: without faith; lsa: Choices → "
    "Choice, Internet → web, consumers → consumer; brown: edition → version",
}


def english_index(path: Path | None) -> CorpusIndex:
    if path is not None and path.exists():
        return CorpusIndex.load(path)
    index = index_corpus([list(all_sentences())])
    if path is not None:
        index.save(path)
    return index


def samples(index: CorpusIndex) -> str:
    outputs: dict[str, list[str | None]] = {"A": [output for _, output in SAMPLES.values()]}
    evalset = EvalSet.of(outputs, [reference for reference, _ in SAMPLES.values()])
    data = human_data.HumanData("samples", "", evalset, ())
    made: dict[str, dict[str, str]] = {}
    for method, paraphraser in method_paraphrasers(data, index).items():
        _, found = paraphraser.rewrite_items(evalset.items)
        for number, name in enumerate(SAMPLES, start=1):
            own = [one for one in found if one.item == str(number)]
            kept = [f"{one.word} → {one.replacement}" for one in own if one.kept]
            refused = [f"{one.word} → {one.replacement}" for one in own if not one.kept]
            text = ", ".join(kept) or "nothing"
            made.setdefault(name, {})[method] = text + (
                f" (refused: {', '.join(refused)})" if refused else ""
            )
    rows = [[name, PRINTED_SAMPLES[name], *own.values()] for name, own in made.items()]
    return table(["sample", "the paper", *METHODS], rows)


def reference_pairs() -> str:
    """How different two references of WMT21 are, as the paper counts on NIST 2004."""
    rows = []
    for pair in WMT21:
        pairs = [
            item.references[:2]
            for item in human_data.wmt21(pair).evalset
            if len(item.references) > 1
        ]
        apart = [words_apart(*both) for both in pairs]
        rows.append(
            [
                f"WMT21 {pair}",
                f"{len(pairs):,}",
                f"{np.mean([a == b for a, b in pairs]):.1%}",
                f"{np.mean(np.array(apart) >= 11):.0%}",
            ]
        )
    rows.append(["the paper, NIST 2004", "10,728", "less than 0.2%", "60%"])
    return table(["set", "pairs of references", "identical", "differ in 11 words or more"], rows)


def words_apart(first: str, second: str) -> int:
    a, b = Counter(first.split()), Counter(second.split())
    return max((a - b).total(), (b - a).total())


def set_rows(
    name: str, index: CorpusIndex, kept: Path | None
) -> tuple[human_data.HumanData, dict[int, list[MethodRow]]]:
    read, question, numbers = SETS[name]
    data = read()
    found: dict[int, list[MethodRow]] = {}
    paraphrasers = None
    for n in numbers:
        file = None if kept is None else kept / f"{name}_{n}.json"
        if file is not None and file.exists():
            records = json.loads(file.read_text(encoding="utf-8"))
            found[n] = [
                MethodRow(**{**row, **{k: tuple(row[k]) for k in ("system", "segment")}})
                for row in records
            ]
            continue
        paraphrasers = paraphrasers or method_paraphrasers(data, index)
        found[n] = experiment(data, question, paraphrasers, n)
        if file is not None:
            file.write_text(json.dumps([asdict(row) for row in found[n]]), encoding="utf-8")
    return data, found


def outputs_of(data: human_data.HumanData) -> int:
    return sum(text is not None for item in data.evalset for text in item.outputs.values())


def set_table(rows: Sequence[MethodRow]) -> str:
    plain = next(row.made for row in rows if row.method == "wordnet")
    lines = []
    for row in rows:
        is_plain = row.method == "none"
        share = "" if is_plain or row.method in ("lsa", "brown") else f" ({row.made / plain:.0%})"
        lines.append(
            [
                "original" if is_plain else f"`{row.method}`",
                f"{row.bleu:.2f}",
                "" if is_plain else f"{row.made:,}{share}",
                f"{row.r:.4f}",
                "" if is_plain else f"{row.delta:+.4f}",
                "" if is_plain else str(row.wins),
                p_text(row.p_t),
                p_text(row.p_t_contextwn),
                "" if is_plain else f"{row.system[0]:+.4f} ({p_text(row.system[1])})",
                "" if is_plain else f"{row.segment[0]:+.4f} ({p_text(row.segment[1])})",
            ]
        )
    heads = [
        "references", "BLEU", "substitutions", "r", "Δr", "runs won", "p, original", "p, `contextwn`",
        "Δr, systems", "Δr, segments",
    ]  # fmt: skip
    return table(heads, lines)


def summary(found: Mapping[str, Mapping[int, Sequence[MethodRow]]]) -> tuple[str, str]:
    """Over all sets with one reference: which method has the higher Δr."""
    rows = []
    for name, by_number in found.items():
        own = {row.method: row for row in by_number[1]}
        plain, filtered = own["wordnet"], own["contextwn"]
        rows.append(
            [
                name,
                *(f"{own[method].delta:+.4f}" for method in METHODS),
                f"{filtered.delta - plain.delta:+.4f} ({p_text(plain.p_t_contextwn)})",
                f"{filtered.system[0] - plain.system[0]:+.4f}",
                f"{filtered.segment[0] - plain.segment[0]:+.4f}",
                f"{filtered.made / plain.made:.0%}",
            ]
        )
    heads = [
        "set", *(f"`{method}`" for method in METHODS),
        "`contextwn` − `wordnet`, documents (p of the t-test)", "the same, systems",
        "the same, segments", "WordNet's substitutions kept",
    ]  # fmt: skip
    better = [
        sum(_gain(by_number[1], level) > 0 for by_number in found.values())
        for level in ("document", "system", "segment")
    ]
    n = len(found)
    words = (
        f"`contextwn` has a higher Δr than `wordnet` on {better[0]} of {n} sets over documents, on {better[1]} over "
        f"systems, on {better[2]} over segments."
    )
    return table(heads, rows), words


def _gain(rows: Sequence[MethodRow], level: str) -> float:
    own = {row.method: row for row in rows}
    a, b = own["contextwn"], own["wordnet"]
    if level == "document":
        return a.delta - b.delta
    return (a.system[0] - b.system[0]) if level == "system" else (a.segment[0] - b.segment[0])


def swords(index: CorpusIndex) -> tuple[str, str, str]:
    """Tables 7 and 8 by the people of SWORDS: how many are right, the confusion of the filter, and what it
    refuses in words."""
    wordnet = open_wordnet()
    judged = in_form([one for one, _ in swords_dev()], wordnet, Tagger.load(shipped("tagger.wpm")))
    queries, is_right = judged_queries(judged, WordNetCandidates(wordnet))
    words = {query.replacement.text for query in queries}
    learned = learn_classifiers(index, words, kauchak_training(len(index)), seed=12345)
    chosen = ContextwnFilter(learned, 1.0)
    scores = chosen.probabilities(queries)
    rows = [["`wordnet`", *PAPER_7["wordnet"], f"{is_right.mean():.1%} of {len(is_right):,}"]]
    matrix, refused = [], []
    for threshold in (chosen.threshold, 0.5):
        counts = confusion((scores >= threshold).astype(float), is_right.astype(float))
        made = counts.true_positives + counts.false_positives
        name = f"`contextwn`, threshold {threshold:g}"
        wrong, right = int((~is_right).sum()), int(is_right.sum())
        refused.append(
            f"{counts.true_negatives / wrong:.0%} of the wrong and "
            f"{counts.false_negatives / right:.0%} of the right substitutions with threshold {threshold:g}"
        )
        printed = PAPER_7["contextwn"] if threshold == 0.5 else ("", "")
        rows.append([name, *printed, f"{counts.precision:.1%} of {made:,}"])
        matrix.append(
            [f"filtered, {name}", str(counts.true_negatives), str(counts.false_negatives)]
        )
        matrix.append([f"kept, {name}", str(counts.false_positives), str(counts.true_positives)])
    as_listed = [replace(one, tag=None) for one, _ in swords_dev()]
    for method in ("lsa", "brown", "context"):
        rewriter = make_paraphraser(paraphrase_options(method, words_only=True)).rewriter
        queries, is_right = judged_queries(
            judged if method == "context" else as_listed, rewriter.source
        )
        would = rewriter.filter.probabilities(queries) >= rewriter.min_probability
        rows.append(
            [f"`{method}`", *PAPER_7[method], f"{is_right[would].mean():.1%} of {would.sum():,}"]
        )
    matrix += [["filtered, the paper", "40", "27"], ["kept, the paper", "33", "100"]]
    return (
        table(
            ["method", "right, the paper's two judges", "their κ", "right, people of SWORDS"], rows
        ),
        table(["", "wrong", "right"], matrix),
        f"The filter refuses {', '.join(refused)}; the paper's filter refuses 55% and 21%.",
    )


PAGE = (Path(__file__).parent / "kauchak2006.template.md").read_text(encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--index", type=Path, help="keep the index of the text in this file")
    parser.add_argument("--kept", type=Path, help="keep the results of each set in this folder")
    given = parser.parse_args()
    index = english_index(given.index)
    found, sections = {}, []
    for name in SETS:
        data, by_number = set_rows(name, index, given.kept)
        found[data.name] = by_number
        for n, rows in by_number.items():
            title = (
                f"**{data.name}**, {n} reference{'s' * (n > 1)}, {len(data.evalset.systems)} systems, "
                f"{outputs_of(data):,} outputs"
            )
            sections.append(f"{title}\n\n{set_table(rows)}")
    overview, words = summary(found)
    right, matrix, refused = swords(index)
    simulated, over_draws = simulated_judges(index)
    paper = [[f"`{name}`", *PAPER_4[name], *PAPER_6[name]] for name in PAPER_4]
    text = PAGE
    for key, value in {
        "SAMPLES": samples(index),
        "PAIRS": reference_pairs(),
        "PAPER": table(
            ["references", "r, 1 reference", "r, 2 references", "BLEU", "substitutions"], paper
        ),
        "OVERVIEW": overview,
        "WORDS": words,
        "SETS": "\n\n".join(sections),
        "SWORDS": right,
        "MATRIX": matrix,
        "REFUSED": refused,
        "SIMULATED": simulated,
        "OVER_DRAWS": over_draws,
        "DRAWS": str(SIMULATED_DRAWS),
        "TOKENS": f"{len(index):,}",
        "LEAST": str(kauchak_training(len(index)).min_occurrences),
    }.items():
        text = text.replace(f"@{key}@", value)
    write_page("kauchak2006", text)


if __name__ == "__main__":
    main()
