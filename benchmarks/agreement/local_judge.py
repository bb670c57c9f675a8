"""A small language model on this machine as a judge, beside people: `python -m benchmarks judge-local --model
FILE.gguf --kept FOLDER`.

GUG (learners' sentences: how grammatical, 1 to 4, an expert and five others) and SFRES (restaurant systems:
quality, 1 to 6, the median of three). The model's scores are expected values from the probabilities of
tokens, and its answers as written; both are compared with people's. Answers are kept in FOLDER, so that a
stopped run can be resumed.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import kendalltau, pearsonr, spearmanr

import wellput
from benchmarks.catalog import GUG, SFRES
from benchmarks.data import data_path, read_jsonl
from benchmarks.pages import table, write_page
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment
from wellput.core.work import OnProgress
from wellput.studies.machines.judge_results import JudgeResult

SEED = 12345
TEACHER = "You are a teacher of English. You correct sentences that others wrote."


@dataclass(frozen=True)
class RatedTexts:
    """Texts with people's ratings: `people` has by (item, system) the rating that the model is compared with,
    `ratings` each person's; `rubric` is what the model is asked."""

    name: str
    evalset: EvalSet
    people: dict[tuple[str, str], float]
    ratings: list[Judgment]
    rubric: dict[str, Any]


def gug(n: int) -> RatedTexts:
    """Sentences of learners, with the mean of five people's ratings."""
    with data_path(GUG).open(encoding="utf-8", newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            if row["Dataset"] == "dev" and row["Average"] != "none"
        ]
    drawn = _drawn(rows, n)
    question = {
        "name": "grammaticality",
        "text": "Does this sentence contain an error in grammar, spelling or word choice?",
        "points": 2,
        "labels": {"1": "Yes, it contains an error", "2": "No, it is correct"},
    }
    return RatedTexts(
        "GUG",
        EvalSet([Item(row["Id"], outputs={"learners": row["Sentence"]}) for row in drawn]),
        {(row["Id"], "learners"): float(row["Average"]) for row in drawn},
        [rating for row in drawn for rating in _gug_ratings(row)],
        {"instructions": TEACHER, "questions": [question]},
    )  # fmt: skip


def _gug_ratings(row: dict[str, str]) -> list[Judgment]:
    """The expert's, and those of five others. The file does not say who they are: they count as five
    people in the order of the file."""
    given = {"expert": row["Expert Judgement"]}
    others = json.loads(row["Crowd Flower Judgements"])
    given |= {f"other {place}": str(value) for place, value in enumerate(others, start=1)}
    return [
        Judgment(judge, row["Id"], "learners", "grammaticality", float(value))
        for judge, value in given.items()
        if value not in ("none", "None", "")
    ]


def sfres(n: int) -> RatedTexts:
    """Outputs of restaurant systems, with the median of three people's ratings."""
    rows = [row for row in read_jsonl(SFRES) if row["quality"] is not None and row["output"]]
    drawn = _drawn(rows, n)
    question = {
        "name": "quality",
        "text": "Is this sentence correct, fluent and complete?",
        "points": 2,
        "labels": {"1": "No, something is wrong with it", "2": "Yes, it is good English"},
    }
    return RatedTexts(
        "SFRES",
        EvalSet([Item(row["id"], outputs={row["system"]: row["output"]}) for row in drawn]),
        {(row["id"], row["system"]): float(row["quality"]) for row in drawn},
        [
            Judgment("median of three", row["id"], row["system"], "quality", float(row["quality"]))
            for row in drawn
        ],
        {"instructions": TEACHER, "questions": [question]},
    )


def _drawn(rows: Sequence[Any], n: int) -> list[Any]:
    """The first `n` rows of a random order that does not depend on `n`, so that a longer run can use the answers of a
    shorter one."""
    order = np.random.default_rng(SEED).permutation(len(rows))
    return [rows[place] for place in order[:n]]


def judged(
    data: RatedTexts, model: str, folder: Path, *, injection: int, threads: int | None
) -> JudgeResult:
    result = wellput.judge(
        data.evalset,
        model=model,
        question=data.rubric,
        injection=injection,
        path=folder / f"{data.name.lower()}.csv",
        cache=folder / f"{data.name.lower()}.answers.jsonl",
        seed=SEED,
        threads=threads,
        on_phase=_printed,
    )
    assert isinstance(result, JudgeResult)
    return result


def _printed(what: str, total: int | None = None) -> OnProgress:
    """Prints the phases, and every 50 answers that the model has given."""
    print(what, flush=True)
    done = 0

    def on_step(n: int) -> None:
        nonlocal done
        done += n
        if done % 50 == 0:
            print(f"  {done} of {total}", flush=True)

    return on_step


def coefficients(data: RatedTexts, result: JudgeResult) -> list[list[str]]:
    """The correlation with people of each kind of score."""
    answers = [one for one in result.judgments if isinstance(one, Judgment)]
    people = np.array([data.people[one.item, one.system] for one in answers])
    kinds = {
        "expected value": np.array([one.number for one in answers]),
        "as written": np.array([float(one.extra["answer"]) for one in answers]),
    }
    return [
        [data.name, kind, str(len(people)), *_row(people, values)] for kind, values in kinds.items()
    ]


def _row(people: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> list[str]:
    if len(set(values.tolist())) < 2:
        return ["undefined: all scores are equal", "", "", ""]
    r = float(pearsonr(people, values).statistic)
    reach = 1.96 / math.sqrt(len(people) - 3)
    low, high = math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach)
    rho, tau = (
        float(spearmanr(people, values).statistic),
        float(kendalltau(people, values).statistic),
    )
    figures = [f"{r:.3f} [{low:.2f}, {high:.2f}]", f"{rho:.3f}", f"{tau:.3f}"]
    return [*(one.replace("-", "−") for one in figures), f"{len(set(values.tolist()))}"]


def score_file(folder: Path, data: RatedTexts, result: JudgeResult) -> str:
    """The path of a new file with the model's scores as a metric, which `vet` and `estimate` put on people's scale."""
    path = folder / f"{data.name.lower()}.scores.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["system", "item", "metric", "score"])
        for one in result.judgments:
            assert isinstance(one, Judgment)
            writer.writerow([one.system, one.item, "model", one.number])
    return str(path)


def vetted(folder: Path, data: RatedTexts, result: JudgeResult) -> str:
    """What `wellput vet` says of the machine."""
    try:
        found = wellput.vet(data.ratings, score_file(folder, data, result), evalset=data.evalset)
    except wellput.InputError as error:
        return f"{data.name}: {error}"
    test = found.alt_test
    verdict = found.verdict.replace(score_file(folder, data, result), "The model")
    return (
        f"{' '.join(verdict.splitlines())} Winning rate {test.winning_rate:.2f}, advantage probability "
        f"{test.advantage_probability:.2f}."
    )


def estimated(folder: Path, data: RatedTexts, result: JudgeResult) -> list[list[str]]:
    """`wellput estimate` with people's ratings of every other text, beside the ratings of all."""
    items = [item.id for item in data.evalset]
    labeled = set(items[::2])
    kept = [rating for rating in data.ratings if rating.item in labeled]
    found = wellput.estimate(data.evalset, kept, score_file(folder, data, result)).to_dict()
    rows = []
    for one in found["systems"]:
        own = [rating.number for rating in data.ratings if rating.system == one["system"]]
        n_texts = len({rating.item for rating in data.ratings if rating.system == one["system"]})
        people = one["people_only"]
        rows.append(
            [data.name, one["system"], f"{one['n_labeled']} of {n_texts}", _interval(people), _interval(one), f"{statistics.mean(own):.2f}"]
        )  # fmt: skip
    return rows


def _interval(one: dict[str, Any]) -> str:
    if one["low"] is None:
        return f"{one['estimate']:.2f}"
    return f"{one['estimate']:.2f} [{one['low']:.2f}, {one['high']:.2f}]"


def speed(folder: Path, data: RatedTexts) -> str:
    """Answers a second, from the log: by the median time of an answer, and by the quickest tenth."""
    file = folder / f"{data.name.lower()}.answers.jsonl"
    records = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    ms = [max(1, record["reply"].get("ms", 0)) for record in records if "answer" in record]
    quick = statistics.quantiles(ms, n=10)[0] / 1000
    return f"{1000 / statistics.median(ms):.2f} ({1 / quick:.2f} in the quickest tenth)"


def page(
    runs: Sequence[tuple[RatedTexts, JudgeResult]],
    folder: Path,
    model: Path,
    *,
    injection: int,
    threads: int | None,
) -> str:
    correlations = [row for data, result in runs for row in coefficients(data, result)]
    header = ["data", "answered", "without an answer", "answers a second, median"]
    rest = [
        [data.name, f"{result.answered} of {result.trials}", str(sum(result.unanswered.values())), speed(folder, data)]
        for data, result in runs
    ]  # fmt: skip
    effects = [result.injection for _, result in runs]
    if all(effects):
        header.append("gain by an order")
        for row, effect in zip(rest, effects, strict=True):
            assert effect is not None
            row.append(f"{effect.value:+.2f} [{effect.low or 0:+.2f}, {effect.high or 0:+.2f}]")
    vetting = vetted(folder, *runs[0])
    estimates = [row for data, result in runs for row in estimated(folder, data, result)]
    return f"""# A small local model as a judge

Can a small language model, run by `wellput judge` on a machine without a GPU, judge texts as people do? {_in_words(correlations)}

The model is `{model.name}` ({model.stat().st_size / 1e6:,.0f} MB). It answers a question about each text with yes or no (two points). The question was chosen from three wordings on 11 sentences of GUG. The texts:

- **GUG**: sentences of learners of English. An expert and five other people judged how grammatical they are (1 to 4); the first table compares the model with the mean of the five.
- **SFRES**: outputs of systems that talk about restaurants. Three people judged their quality (1 to 6); the table compares the model with the median of the three.

{table(["data", "score", "texts", "Pearson's r with people", "Spearman's ρ", "Kendall's τ", "different scores"], correlations)}

*Expected value*: the mean over the points of the scale, weighted by the probabilities that the model gives to them. *As written*: the answer that the model wrote. Both scores come from the same replies of the model. [low, high]: 95% intervals (Fisher's z) that hold for other texts.

{table(header, rest)}

*Answers a second*: {"one thread" if threads == 1 else "all cores"} of a machine with {os.cpu_count()} cores. Other programs ran at the same time and make the median lower; in the quickest tenth of the answers the speed is nearer to that of an idle machine. *Gain by an order*: the mean rise of the score, in points, if a text ends with an order to the judge to favor it; [95% interval], measured on {injection} texts.

## May it stand in for people?

[`wellput vet`](../commands/vet.md) compared the model with the people on GUG. The model's scores were first put on people's scale by a straight line, which for each text was fitted to other texts. {vetting}

*Winning rate*: the share of the people whom the model beats; the *allowance* says how much less often than a person the model may be nearer to the other people's answers. *Advantage probability*: how often the model's answer is at least as near to the other people's as the answer of the person who is left out. *r*: the correlation with the mean of the people who are not left out, so it differs from that of the first table.
The data of SFRES have only the median of the three people, so no person can be left out, and the model cannot be compared in this way.

## Fewer labels from people

Do the model's scores make people's labels go further? [`wellput estimate`](../commands/estimate.md) got people's ratings of every other text, and the model's scores of all texts. *Labels* are the texts with people's ratings; the next two columns estimate the system's mean rating, with 95% intervals, and the last column is the mean of people's ratings of all texts. The model makes the intervals hardly shorter.

{table(["data", "system", "labels", "people alone", "people and model", "people on all texts"], estimates)}
"""  # fmt: skip


TEXTS_OF = {"GUG": "learners' sentences (GUG)", "SFRES": "outputs about restaurants (SFRES)"}


def _in_words(rows: Sequence[Sequence[str]]) -> str:
    sentences = []
    for expected, written in zip(rows[::2], rows[1::2], strict=True):
        as_written = (
            f"the answers as written {written[3].split()[0]}"
            if written[6]
            else "and the answer as written is the same for all texts"
        )
        sentences.append(
            f"On {TEXTS_OF[expected[0]]} the model's scores (expected values) correlate {expected[3].split()[0]} with people, {as_written}."
        )
    return " ".join(sentences)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks judge-local", description=__doc__)
    parser.add_argument("--model", required=True, metavar="FILE.gguf")
    parser.add_argument("--kept", required=True, metavar="FOLDER", help="keeps the answers")
    parser.add_argument("--items", type=int, default=300, help="texts of each of the two")
    parser.add_argument("--injection", type=int, default=30, help="texts with an order in them")
    parser.add_argument("--threads", type=int, help="of the model")
    given = parser.parse_args()
    folder = Path(given.kept)
    folder.mkdir(parents=True, exist_ok=True)
    runs = []
    for data in (gug(given.items), sfres(given.items)):
        result = judged(data, given.model, folder, injection=given.injection, threads=given.threads)
        print(result, flush=True)
        runs.append((data, result))
    write_page(
        "judge-local",
        page(runs, folder, Path(given.model), injection=given.injection, threads=given.threads),
    )


if __name__ == "__main__":
    main()
