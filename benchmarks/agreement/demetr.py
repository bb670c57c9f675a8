"""What metrics notice of DEMETR's minimal pairs: accuracies by kind of change, beside sacreBLEU's.

python -m benchmarks demetr
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import sacrebleu
from nltk.translate.ribes_score import sentence_ribes
from rapidfuzz import fuzz

import wellput
from benchmarks.catalog import DEMETR
from benchmarks.data import data_path
from benchmarks.pages import write_page
from wellput.agreement.probe_results import Probe, ProbeResult
from wellput.agreement.probing import UNCHANGED

OURS = (
    "bleu", "chrf", "chrf:word_order=2", "ter", "wer", "cer", "nist", "rouge-1", "rouge-2", "rouge-l",
    "rouge-lsum", "meteor", "exact", "ssa", "gsa", "sta", "gta", "understandability", "quality",
)  # fmt: skip
WITHOUT_REFERENCES = ("fluency", "random")
PEERS: dict[str, Callable[[str, str], float]] = {
    "bleu": lambda text, reference: sacrebleu.sentence_bleu(text, [reference]).score,
    "chrf": lambda text, reference: sacrebleu.sentence_chrf(text, [reference]).score,
    "ter": lambda text, reference: -sacrebleu.sentence_ter(text, [reference]).score,
}
EXTERNAL: dict[str, Callable[[str, str], float]] = {
    "ribes": lambda text, reference: float(sentence_ribes([reference.split()], text.split())),
    "token-sort": lambda text, reference: float(fuzz.token_sort_ratio(text, reference)),
}
MAX_COLUMNS = 8


INTRODUCTION = """\
# What metrics notice of DEMETR

Which errors of translation do metrics notice? DEMETR (Karpinska et al. 2022, *DEMETR: Diagnosing Evaluation Metrics for Translation*) has translations into English and the same translations with one error. Metrics with references notice most errors that add words, and fewer of those that take words away, because a shorter text has fewer words that do not match: BLEU prefers the unchanged translation to {addition}% of the texts with an addition, and to {removal}% of the texts without an adjective or adverb.

This page uses {pairs} pairs (a translation and its changed text) from {kinds} of DEMETR's kinds of error, with DEMETR's references. [`wellput probe`](../commands/probe.md) scored all texts with {names} [metrics](../metrics/index.md) in {seconds} s of processor time.

A cell is the percentage of pairs in which the unchanged translation scores strictly better; in parentheses is the percentage of ties, if it is at least 10. *nan*: the metric gives no score to these texts, so it has no mean, either. Changes and severities have DEMETR's names: *ne* is a named entity, *pp* a prepositional phrase, *adj_adv* an adjective or adverb, *pos* a part of speech. Two changes are no errors of translation and have the severity *base*: `id33_empty` is a full stop in place of the text; `id35_reference` is the reference itself, which a good metric prefers to the translation. The row *mean* is over all kinds but `id35_reference`.
"""
NOTES = """\
- For each kind of error, the numbers of pairs in which the unchanged translation scores better, and of ties, were also counted with BLEU, chrF and TER of sacreBLEU {version}: they are {same} as with wellput's metrics.
- `ribes` (of NLTK) and `token-sort` (of rapidfuzz) were computed by another program from the texts that `wellput probe --write` wrote; its scores were read with `--scores`.
- DEMETR's files also have sentences to which a change does not apply. Such pairs of equal texts are left out here; the authors' results may count them. The authors' table was not at hand, so nothing here is compared with it.
"""


def scored_elsewhere(texts: wellput.EvalSet, path: Path) -> None:
    """Writes the scores of two metrics of other packages, as any program would."""
    with path.open("w", encoding="utf-8") as file:
        file.write("system,item,metric,score\n")
        for item in texts:
            for system, text in item.outputs.items():
                for name, score in EXTERNAL.items():
                    file.write(
                        f"{system},{item.id},{name},{score(str(text), item.references[0])}\n"
                    )


def peer_counts(texts: wellput.EvalSet, name: str) -> dict[str, tuple[int, int, int]]:
    """For each kind of error, by sacreBLEU's scores: the number of pairs, of those in which the unchanged
    text scores better, and of ties."""
    score = PEERS[name]
    counts = {system: [0, 0, 0] for system in texts.systems if system != UNCHANGED}
    for item in texts:
        own = {
            system: score(str(text), item.references[0]) for system, text in item.outputs.items()
        }
        for system, value in own.items():
            if system != UNCHANGED:
                difference = own[UNCHANGED] - value
                is_tie = abs(difference) <= 1e-9 * max(1.0, abs(value))
                counts[system][0] += 1
                counts[system][1] += difference > 0 and not is_tie
                counts[system][2] += is_tie
    return {system: (n, wins, ties) for system, (n, wins, ties) in counts.items()}


def different(result: ProbeResult) -> int:
    """In how many cases (a metric and a kind of error) sacreBLEU's scores give other counts."""
    wrong = 0
    for name in PEERS:
        theirs = peer_counts(result.texts, name)
        for row in result.of(name):
            own = (row.n, round(row.accuracy * row.n), round(row.ties * row.n))
            wrong += own != theirs[str(row.variant)]
    return wrong


def cell(row: Probe) -> str:
    """The percentage of pairs in which the unchanged text scores better, and that of ties."""
    text = f"{100 * row.accuracy:.0f}"
    return f"{text} ({100 * row.ties:.0f})" if row.ties >= 0.1 else text


def table(result: ProbeResult, names: Sequence[str]) -> list[str]:
    by_place = {(row.metric, row.variant): row for row in result.probes}
    variants = list(dict.fromkeys(row.variant for row in result.probes))
    lines = [
        f"| change | severity | pairs | {' | '.join(names)} |",
        "|---" * (3 + len(names)) + "|",
    ]
    for one in variants:
        rows = [by_place[name, one] for name in names]
        cells = " | ".join(map(cell, rows))
        lines.append(f"| {one.kind} | {one.severity} | {rows[0].n} | {cells} |")
    means = [
        sum(row.accuracy for row in harmful) / len(harmful)
        for name in names
        for harmful in [[row for row in result.of(name) if row.perturbation != "id35_reference"]]
    ]
    lines.append(f"| *mean* | | | {' | '.join(f'{100 * mean:.0f}' for mean in means)} |")
    return lines


def page() -> tuple[str, int]:
    files = [data_path(name) for name in DEMETR]
    with tempfile.TemporaryDirectory() as folder:
        written, scores = Path(folder, "texts.jsonl"), Path(folder, "scores.csv")
        texts = wellput.probe(dataset=files, write=written).texts
        scored_elsewhere(texts, scores)
        start = time.process_time()
        result = wellput.probe(
            [*OURS, *WITHOUT_REFERENCES], dataset=written, scores=scores, trees="auto"
        )
        seconds = time.process_time() - start
    wrong = different(result)
    names = [*OURS, *EXTERNAL, *WITHOUT_REFERENCES]
    pairs = sum(row.n for row in result.of("bleu"))
    of_bleu = {row.perturbation: f"{100 * row.accuracy:.0f}" for row in result.of("bleu")}
    lines = [
        INTRODUCTION.format(
            pairs=f"{pairs:,}",
            kinds=len(result.probes) // len(names),
            names=len(names),
            seconds=f"{seconds:.0f}",
            addition=of_bleu["id6_addition"],
            removal=of_bleu["id21_adj_adv_removed"],
        )
    ]
    for begin in range(0, len(names), MAX_COLUMNS):
        lines += [*table(result, names[begin : begin + MAX_COLUMNS]), ""]
    same = f"in all but {wrong} cases the same" if wrong else "the same"
    lines.append(NOTES.format(version=sacrebleu.__version__, same=same))
    return "\n".join(lines), wrong


def main() -> None:
    text, wrong = page()
    write_page("demetr", text)
    if wrong:
        sys.exit(f"{wrong} counts differ from those by sacreBLEU.")


if __name__ == "__main__":
    main()
