"""The ESA campaign on WMT23 English–German (Kocmi et al. 2024), read from Appraise's files: agreement, time
and attention checks beside the campaign's own scripts, γ beside pygamma-agreement.

    python -m benchmarks span-agreement
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import kendalltau, pearsonr, spearmanr

from benchmarks.catalog import CAMPAIGNS, PREFILLED_CAMPAIGN
from benchmarks.data import data_path
from benchmarks.pages import table, write_page
from wellput.agreement.marked_outputs import MarkedQuestion, marked_questions
from wellput.agreement.span_summary import SpanSummary, panels_of, summarize_spans
from wellput.core.clusters import ITEM
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import SPANS_COLUMN, Judgment
from wellput.io.appraise import AppraiseRow, mqm_score, own_spans, read_rows, with_items
from wellput.stats.clusters import ClusteredItems
from wellput.stats.spans.gamma import MarkedPanel
from wellput.stats.spans.span_alignment import aligned_disorders

CHECKOUT = "ERROR_SPAN_ANNOTATION"
SCRIPTS_PYTHON, GAMMA_PYTHON = "ESA_PYTHON", "GAMMA_PYTHON"
"""Programs that have the packages of the scripts, and pygamma-agreement."""
CAMPAIGN_FOLDER = "data/campaign-ruction-rc5"
LATER_ROUNDS = {
    ("ESA", "another judge"): f"{CAMPAIGN_FOLDER}/240520rc6ESA.scores.csv",
    ("ESA-AI", "another judge"): f"{CAMPAIGN_FOLDER}/240520rc6GEMBA.scores.csv",
    ("ESA", "the same judge"): f"{CAMPAIGN_FOLDER}/240521rc6ESA.scores.csv",
    ("ESA-AI", "the same judge"): f"{CAMPAIGN_FOLDER}/240521rc6GEMBA.scores.csv",
}
"""By campaign, and by who judged again. In ESA-AI, judges begin with the spans of a language model."""
BATCHES = f"{CAMPAIGN_FOLDER}/data/batches_wmt23_en-de_esa.json"
GAMMA_OUTPUTS = (50, 200, 800)
SHUFFLES = 10
SLOW_QUANTILE = 0.95

SCRIPTS = r"""
import contextlib, io, json, runpy, sys, warnings
warnings.filterwarnings("ignore")
import matplotlib
matplotlib.use("Agg")
sys.path.insert(0, "scripts")
import ESA.utils
import pathlib
ESA.utils.PROTOCOL_DEFINITIONS.pop("ESAAI", None)  # the same as ESAAI-1
prefilled, plain = "batches_wmt23_en-de_gemba.json", "batches_wmt23_en-de_esa.json"
stands_in = not pathlib.Path("data/campaign-ruction-rc5/data", prefilled).exists()
for definition in ESA.utils.PROTOCOL_DEFINITIONS.values():
    if stands_in and definition.get("appraise_batchefile") == prefilled:
        definition["appraise_batchefile"] = plain
from ESA.annotation_loader import AnnotationLoader
from ESA.experiments import avg_time_per_word as times
from ESA.experiments.inter_annotator_agreement import get_df_scores, get_iaa
loader = AnnotationLoader(refresh_cache=False)
overlap = loader.get_view(only_overlap=True)
complete = overlap.dropna()
found = {"ids": list(complete.index), "overlap": list(overlap.index), "stands_in": stands_in}
names = ("kendall", "pearson", "errors", "minor", "major")
found["agreement"] = dict(zip(names, map(float, get_iaa(get_df_scores(complete, "ESA")))))
times.plot_average_minutes_per_HIT = lambda *given: None
found["times"] = {p: list(map(float, times.get_average_minutes_per_HIT(overlap, p))) for p in ("ESA-1", "MQM-1")}
for script in ("annotator_agreement", "attention_checks"):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(f"scripts/ESA/experiments/{script}.py")
    found[script] = printed.getvalue()
print(json.dumps(found))
"""

PYGAMMA = r"""
import json, logging, sys, time
logging.disable(logging.CRITICAL)
import numpy as np
from pyannote.core import Segment
from pygamma_agreement import CombinedCategoricalDissimilarity, Continuum, ShuffleContinuumSampler
given = json.load(sys.stdin)
difference = CombinedCategoricalDissimilarity()
def made(spans):
    continuum = Continuum()
    for judge in (0, 1):
        continuum.add_annotator(str(judge))
    for judge, start, end, kind in spans:
        continuum.add(str(judge), Segment(start, end), str(kind))
    return continuum
made(given["parts"][0]).get_best_alignment(difference)  # compiles
found = []
for spans in given["parts"]:
    continuum = made(spans)
    began = time.perf_counter()
    observed = float(continuum.get_best_alignment(difference).disorder)
    seconds = time.perf_counter() - began
    np.random.seed(1)
    sampler = ShuffleContinuumSampler()
    sampler.init_sampling(continuum)
    drawn = []
    for _ in range(given["shuffles"]):
        sample = sampler.sample_from_continuum
        names = list(sample.annotators)
        units = [(names.index(j), u.segment.start, u.segment.end, int(u.annotation)) for j, u in sample]
        drawn.append({"spans": units, "disorder": float(sample.get_best_alignment(difference).disorder)})
    found.append({"observed": observed, "seconds": seconds, "drawn": drawn})
print(json.dumps(found))
"""


SPLIT_DOCUMENT, SPLIT_LINES, SPLIT_LOGIN = "elitr_minuting-19#GPT4-5shot", ("398", "399"), "07"
SECOND_PART = "elitr_minuting-19-2#GPT4-5shot"
"""Two batches have segments of this document with the same numbers, 90 and 91. The scripts tell them apart by
the login; so does this page."""


def repaired(rows: Sequence[AppraiseRow]) -> list[AppraiseRow]:
    """The rows, with the second part of the split document as a document of its own."""
    return [
        replace(row, document=SECOND_PART)
        if row.document == SPLIT_DOCUMENT
        and row.login.endswith(SPLIT_LOGIN)
        and row.number in (90, 91)
        else row
        for row in rows
    ]


@dataclass(frozen=True)
class Segment:
    """An output of the campaign: its text, and its name in the campaign's own scripts."""

    text: str
    name: str


def segments(path: Path) -> dict[tuple[int, str], Segment]:
    """By the number in the batch and the document; `_item` has the line of the test set."""
    found: dict[tuple[int, str], Segment] = {}
    for batch in json.loads(path.read_text(encoding="utf-8")):
        for item in batch["items"]:
            if "_item" in item:
                line, document = item["_item"].split(" | ")[1], str(item["documentID"])
                is_split = document == SPLIT_DOCUMENT and line in SPLIT_LINES
                key = int(item["itemID"]), SECOND_PART if is_split else document
                found.setdefault(key, Segment(item["targetText"], f"{line}#{document}"))
    return found


def answers(
    rows: Sequence[AppraiseRow], names: Mapping[tuple[int, str], Segment]
) -> dict[str, AppraiseRow]:
    """The last answer to each output, by its name in the scripts. A place in a document, which is the item's
    name in `wellput.io.read_judgments`, would not do: some rounds showed only a part of a document."""
    judged = [row for row in rows if row.is_judged]
    return {names[row.number, row.document].name: row for _, row in with_items(judged)}


def agreement_rows(
    first: Mapping[str, AppraiseRow], second: Mapping[str, AppraiseRow], theirs: Mapping[str, Any]
) -> list[list[str]]:
    ids = set(theirs["ids"])
    chosen = [key for key in first if key in second and key in ids]
    one, other = ([rows[key] for key in chosen] for rows in (first, second))
    x, y = ([row.score for row in rows] for rows in (one, other))
    ours = {
        "kendall": float(kendalltau(x, y, variant="c").statistic),
        "pearson": float(pearsonr(x, y).statistic),
        "errors": same_share(one, other, ("minor", "major", "critical", "undecided")),
        "minor": same_share(one, other, ("minor",)),
        "major": same_share(one, other, ("major",)),
    }
    titles = {
        "kendall": "Kendall's τ-c of scores",
        "pearson": "Pearson's r of scores",
        "errors": "both judges mark an error, or neither does (%)",
        "minor": "both judges mark a minor error, or neither does (%)",
        "major": "both judges mark a major error, or neither does (%)",
    }
    return [
        [f"{title}, {len(chosen):,} outputs", f"{ours[key]:.3f}", f"{theirs['agreement'][key]:.3f}"]
        for key, title in titles.items()
    ]


def repeated_rows(
    campaigns: Mapping[tuple[str, str], Mapping[str, AppraiseRow]], theirs: Mapping[str, Any]
) -> list[list[str]]:
    """Spearman's ρ of two rounds, over the outputs that all campaigns of a comparison have; for the same
    judges, only those outputs that the repository lists as judged everywhere."""
    printed = [line.split(" & ") for line in theirs["annotator_agreement"].splitlines()]
    values = iter(float(cells[1].split()[0]) for cells in printed if len(cells) == 2)
    overlap = set(theirs["overlap"])
    found = []
    for who in ("another judge", "the same judge"):
        rounds = [campaigns[kind, which] for kind in ("ESA", "ESA-AI") for which in ("first", who)]
        keys = [key for key in rounds[0] if all(key in rows for rows in rounds)]
        if who == "the same judge":
            keys = [key for key in keys if key in overlap]
        for kind in ("ESA", "ESA-AI"):
            pair = [[campaigns[kind, which][key] for key in keys] for which in ("first", who)]
            for what, value_of in (("scores", _score), ("weighted errors", _weighted)):
                rho = spearmanr(*([value_of(row) for row in rows] for rows in pair)).statistic
                title = f"{kind}, {who}: Spearman's ρ of {what}, {len(keys):,} outputs"
                found.append([title, f"{float(rho):.3f}", f"{next(values):.3f}"])
    return found


def _score(row: AppraiseRow) -> float:
    return row.score


def _weighted(row: AppraiseRow) -> float:
    return mqm_score(row.spans or [])


def same_share(
    first: Sequence[AppraiseRow], second: Sequence[AppraiseRow], severities: Sequence[str]
) -> float:
    """The percentage of outputs of which both say that there is such an error, or both that there is
    none."""
    alike = [
        _has(one, severities) == _has(other, severities)
        for one, other in zip(first, second, strict=True)
    ]
    return 100.0 * float(np.mean(alike))


def _has(row: AppraiseRow, severities: Sequence[str]) -> bool:
    return any(span["severity"] in severities for span in row.spans or [])


def minutes_of_task(rows: Sequence[AppraiseRow]) -> tuple[float, float]:
    """The mean minutes of a login's task and the median seconds of a segment, by the time from one start to
    the next. A segment slower than 95% counts with the median."""
    starts: dict[str, list[float]] = {}
    for row in rows:
        starts.setdefault(row.login, []).append(row.start)
    steps = {login: np.diff(np.sort(own)) for login, own in starts.items()}
    every = np.concatenate(list(steps.values()))
    slow, median = float(np.quantile(every, SLOW_QUANTILE)), float(np.median(every))
    tasks = [float(np.where(own > slow, median, own).sum()) / 60 for own in steps.values()]
    return float(np.mean(tasks)), median


def checks_passed(
    rows: Sequence[AppraiseRow], names: Mapping[tuple[int, str], Segment], counted: set[str]
) -> dict[str, float]:
    """The number `n` of attention checks in `counted`, and the shares that pass: by a lower `score` than the unchanged
    output, by more `spans`, and by a span at the change, either by the script's rule, which also counts spans that
    begin right after the change (`mark`), or only if a changed character is marked (`inside`)."""
    last = last_answers(rows, names)
    outcomes: dict[str, list[bool]] = {"score": [], "spans": [], "mark": [], "inside": []}
    for name, bad in last.items():
        unharmed = last.get(name.partition("#bad")[0])
        if name not in counted or bad.type != "BAD" or unharmed is None:
            continue
        text, before = (names[row.number, row.document].text for row in (bad, unharmed))
        start = shared_start(text, before)
        end = len(text) - shared_start(text[::-1], before[::-1])
        placed = [span for span in bad.spans or [] if span["start_i"] != "missing"]
        outcomes["score"].append(_value(bad) < _value(unharmed))
        outcomes["spans"].append(len(bad.spans or []) > len(unharmed.spans or []))
        outcomes["mark"].append(any(start <= s["end_i"] and end >= s["start_i"] for s in placed))
        outcomes["inside"].append(any(start <= s["end_i"] and end > s["start_i"] for s in placed))
    return {
        "n": len(outcomes["score"]),
        **{name: float(np.mean(own)) for name, own in outcomes.items()},
    }


def _value(row: AppraiseRow) -> float:
    """The score; in MQM, where errors have types and no score is asked for, the weighted errors."""
    is_mqm = any(span.get("error_type") for span in row.spans or []) or not row.score
    return mqm_score(row.spans or []) if is_mqm else row.score


def last_answers(
    rows: Sequence[AppraiseRow], names: Mapping[tuple[int, str], Segment]
) -> dict[str, AppraiseRow]:
    """The last answer about each output and each check, by its name in the scripts."""
    found: dict[str, AppraiseRow] = {}
    for row in sorted(rows, key=lambda one: one.end):
        segment = names.get((row.number, row.document))
        if segment is not None and "#duplicate" not in row.document:
            found[segment.name] = row
    return found


def checks_of_script(
    prefilled: Sequence[AppraiseRow], names: Mapping[tuple[int, str], Segment]
) -> tuple[set[str], set[str]]:
    """All attention checks; and those that the script counts. It leaves out a check if the answer before
    or after it, in the prefilled campaign, is about a check, too."""
    last = last_answers(prefilled, names)
    by_login: dict[str, list[tuple[float, str]]] = {}
    for name, row in last.items():
        by_login.setdefault(row.login, []).append((row.start, name))
    every = {name for name, row in last.items() if row.type == "BAD"}
    counted: set[str] = set()
    for own in by_login.values():
        ordered = [name for _, name in sorted(own)]
        for place, name in enumerate(ordered):
            beside = (
                [ordered[place - 1], ordered[place + 1]] if 0 < place < len(ordered) - 1 else []
            )
            if name in every and not every & set(beside):
                counted.add(name)
    return every, counted


def shared_start(text: str, other: str) -> int:
    """How many characters two texts share before they differ."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(text), len(other)))


def printed_checks(text: str) -> dict[str, float]:
    """What attention_checks.py prints: `OK-esa_score: 0.850`."""
    pairs = (line.split(": ") for line in text.splitlines() if ": " in line)
    return {name.strip(): float(value) for name, value in pairs}


def marked_by_rounds(
    first: Mapping[str, AppraiseRow],
    second: Mapping[str, AppraiseRow],
    names: Mapping[tuple[int, str], Segment],
) -> MarkedQuestion:
    """The two rounds as two judges. An item is a line of the test set."""
    outputs: dict[str, dict[str, str]] = {}
    judgments = []
    for round_name, rows in (("round 1", first), ("round 2", second)):
        for name, row in rows.items():
            item, _, system = name.rpartition("#")
            outputs.setdefault(item, {})[system] = names[row.number, row.document].text
            cell = json.dumps(own_spans(row.spans or []))
            judgments.append(
                Judgment(round_name, item, system, "esa", row.score, {SPANS_COLUMN: cell})
            )
    evalset = EvalSet(
        [Item(item, texts, document=item.partition("#")[2]) for item, texts in outputs.items()]
    )
    [found] = marked_questions(evalset, judgments)
    return found


def part_of(marked: MarkedQuestion, n_outputs: int) -> MarkedPanel:
    shared = [one for one in marked.outputs if len(one.spans) == 2]
    [panel] = panels_of(shared[:n_outputs])
    return panel


def units_of(panel: MarkedPanel) -> list[tuple[int, float, float, int]]:
    spans = panel.spans
    return list(
        zip(
            spans.judges.tolist(), spans.starts.tolist(), spans.ends.tolist(),
            spans.categories.tolist(), strict=True,
        )
    )  # fmt: skip


def gamma_rows(marked: MarkedQuestion) -> list[list[str]]:
    parts = [part_of(marked, n) for n in GAMMA_OUTPUTS]
    given = {"parts": [units_of(panel) for panel in parts], "shuffles": SHUFFLES}
    theirs = json.loads(ran(GAMMA_PYTHON, PYGAMMA, given=json.dumps(given)))
    rows = []
    for n, panel, found in zip(GAMMA_OUTPUTS, parts, theirs, strict=True):
        began = time.perf_counter()
        observed = _disorder(panel)
        seconds = time.perf_counter() - began
        ours = [_disorder_of(panel, one["spans"]) for one in found["drawn"]]
        disorders = [one["disorder"] for one in found["drawn"]]
        rows.append(
            [
                f"{n} outputs, {len(panel.spans)} spans",
                f"{observed:.6f}",
                f"{found['observed']:.6f}",
                f"{1 - observed / np.mean(ours):.6f}",
                f"{1 - found['observed'] / np.mean(disorders):.6f}",
                f"{max(abs(a - b) for a, b in zip(ours, disorders, strict=True)):.0e}",
                f"{1000 * seconds:.0f} ms",
                f"{1000 * found['seconds']:.0f} ms",
            ]
        )
    return rows


def _disorder(panel: MarkedPanel) -> float:
    return float(aligned_disorders(panel.spans).mean()) * panel.spans.n_judges


def _disorder_of(panel: MarkedPanel, units: Sequence[Sequence[float]]) -> float:
    values = np.array(units, float)
    spans = type(panel.spans)(
        values[:, 0].astype(np.intp), values[:, 1], values[:, 2], values[:, 3].astype(np.intp), 2
    )
    return float(aligned_disorders(spans).mean()) * 2


def ran(variable: str, program: str, *, given: str = "", folder: Path | None = None) -> str:
    python = os.environ.get(variable, sys.executable)
    ran = subprocess.run(
        [python, "-c", program],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    if ran.returncode:
        raise SystemExit(f"{variable}: {ran.stderr[-2000:]}")
    return ran.stdout.splitlines()[-1]


def figure(value: Mapping[str, Any] | None) -> str:
    if value is None or value["value"] is None:
        return "–"
    return f"{value['value']:.3f} [{value['low']:.3f}, {value['high']:.3f}]"


HEAD = """\
Does wellput find the same figures as a campaign's own scripts, and as pygamma-agreement? Yes: agreement of judges, times, attention checks by the script's rules, and γ are the same, to the digits that the scripts print.

The campaigns judged outputs of WMT23 English–German with error span annotation (*ESA*: errors are marked with a severity, then the output gets a score from 0 to 100), with *ESA-AI* (the same, but a language model has marked errors before) and with *MQM* (errors are marked with a category and a severity). wellput reads the files of Appraise, the annotation tool of WMT: its export of the
judgments, and its batches, which have the texts that were shown. The columns *ours* are computed by wellput, the columns *theirs* by the scripts in the repository wmt-conference/ErrorSpanAnnotation.

## Agreement of two rounds

The outputs of the first round were judged again. In the rows *another judge* other people did this. In the rows *the same judge* the same people did, and only the outputs count that the repository lists as judged in all campaigns. So these two kinds of rows are about different outputs: do not compare them with each other. The first five rows compare the first round of ESA and its repetition by other judges, on the outputs of that list. *Weighted errors*: the sum of an output's
marked errors, weighted by severity.
"""

STAND_IN_NOTE = """\
Our copy of the repository had no `batches_wmt23_en-de_gemba.json`, the batches of ESA-AI. The batches of ESA are used in their place, because they have the same documents with the same numbers of segments.
"""

MATCHING_NOTE = """\
The outputs of the two rounds are matched by their line in the test set, which the batches contain.
"""

TIME_NOTE = """\
The time of a segment runs from its start to the start of the next segment by the same judge; a time above the 95% quantile is replaced by the median. *Minutes of a task*: the mean over tasks; a task is what a judge does under one login.
"""

CHECKS_NOTE = """\
A check is an output of the same task with some words replaced. Three rules say in which case it is passed: it gets a lower score than the unchanged output (in MQM the score is the sum of the weighted errors), more marked errors, or a mark where the words were replaced. The table has, for each rule, the share of checks passed and, in parentheses, the number of checks.
"""

CHECKS_DIFFERENCE = """\
For all campaigns the script leaves out the same checks: those that were answered just before or after another check in the campaign ESA-AI. It counts a mark that begins right after the replaced words. In the last column all checks count, and a mark must contain a replaced character.
"""

SPANS_NOTE = """\
Do the two judges of an output mark the same errors? The columns are explained [with `wellput agree`](../commands/agree.md#error-spans): F1 compares the marked characters (*chance* is the F1 of marks at random places), γ the places and severities of marks, *severity α* and *same severity* the severities of marks that share characters. The 95% intervals come from leaving out one document, or one item, at a time
(first column). All this took {seconds:.1f} s, with {draws} random shifts for γ.
"""

GAMMA_NOTE = """\
γ (Mathet et al. 2015) says how far two annotators mark the same places with the same categories: 1 is perfect, 0 is chance. The annotators are the two rounds, the categories are severities, and the text is made of the first 50, 200 or 800 outputs of the campaign. In this table, *theirs* means the figures of pygamma-agreement. Both programs weight places and categories alike, and a mark without a partner costs 1 (α = β = Δ = 1 in pygamma-agreement).

*Observed* is the disagreement of the marks under their best alignment, and *time* that of finding this alignment. γ compares it with the disagreement of random marks, {draws} draws of pygamma-agreement's `ShuffleContinuumSampler`; *largest difference* is that between the two programs for the same random marks. (pygamma-agreement computes with numbers of 32 bits.)
"""


def page(checkout: Path) -> str:
    names = segments(checkout / BATCHES)
    theirs = json.loads(ran(SCRIPTS_PYTHON, SCRIPTS, folder=checkout))
    esa, mqm = (repaired(read_rows(data_path(CAMPAIGNS[kind]))) for kind in ("ESA", "MQM"))
    prefilled = repaired(read_rows(data_path(PREFILLED_CAMPAIGN)))
    given = {("ESA", "first"): esa, ("ESA-AI", "first"): prefilled} | {
        key: repaired(read_rows(checkout / file)) for key, file in LATER_ROUNDS.items()
    }
    campaigns = {key: answers(rows, names) for key, rows in given.items()}
    first, second = campaigns["ESA", "first"], campaigns["ESA", "another judge"]
    marked = marked_by_rounds(first, second, names)
    overlap = set(theirs["overlap"])
    time_rows = []
    for title, rows, protocol in (("ESA", esa, "ESA-1"), ("MQM", mqm, "MQM-1")):
        shown = [row for name, row in answers(rows, names).items() if name in overlap]
        minutes, median = minutes_of_task(shown)
        other = theirs["times"][protocol]
        time_rows += [
            [f"{title}: minutes of a task", f"{minutes:.2f}", f"{other[0]:.2f}"],
            [f"{title}: median seconds of a segment", f"{median:.2f}", f"{other[1]:.2f}"],
        ]
    printed = printed_checks(theirs["attention_checks"])
    every, counted = checks_of_script(prefilled, names)
    check_rows = []
    for title, rows, name in (("ESA", esa, "esa"), ("MQM", mqm, "mqm")):
        passed, of_all = (checks_passed(rows, names, chosen) for chosen in (counted, every))
        for what, key in (
            ("lower score", "score"),
            ("more spans", "spans"),
            ("change marked", "mark"),
        ):
            check_rows.append(
                [
                    f"{title}: {what}",
                    f"{passed[key]:.3f} ({passed['n']:.0f})",
                    f"{printed[f'OK-{name}_{key}']:.3f}",
                    f"{of_all['inside' if key == 'mark' else key]:.3f} ({of_all['n']:.0f})",
                ]
            )
    began = time.perf_counter()
    summary = summarize_spans(marked)
    seconds = time.perf_counter() - began
    alone = summarize_spans(marked_items(marked))
    return "\n".join(
        [
            "# Error spans of a campaign, compared with its own scripts and pygamma-agreement",
            "",
            HEAD,
            table(
                ["figure", "ours", "theirs"],
                agreement_rows(first, second, theirs) + repeated_rows(campaigns, theirs),
            ),
            "",
            *stand_in_note(theirs),
            MATCHING_NOTE,
            "## Time",
            "",
            TIME_NOTE,
            table(["figure", "ours", "theirs"], time_rows),
            "",
            "## Attention checks",
            "",
            CHECKS_NOTE,
            table(
                [
                    "figure",
                    "ours, by the script's rules",
                    "theirs",
                    "ours, all checks",
                ],
                check_rows,
            ),
            "",
            CHECKS_DIFFERENCE,
            "## How far the two rounds of ESA mark the same errors",
            "",
            SPANS_NOTE.format(
                seconds=seconds, draws=summary.gamma["draws"] if summary.gamma else 0
            ),
            table(
                [
                    "unit left out",
                    "outputs",
                    "spans",
                    "F1",
                    "chance",
                    "γ",
                    "severity α",
                    "same severity",
                ],
                [summary_row(summary), summary_row(alone)],
            ),
            "",
            "## γ compared with pygamma-agreement 0.5.9",
            "",
            GAMMA_NOTE.format(draws=SHUFFLES),
            table(
                [
                    "part",
                    "observed, ours",
                    "observed, theirs",
                    "γ, ours",
                    "γ, theirs",
                    "largest difference for random marks",
                    "time, ours",
                    "time, theirs",
                ],
                gamma_rows(marked),
            ),
            "",
        ]
    )


def stand_in_note(theirs: Mapping[str, Any]) -> list[str]:
    """What was done where the checkout lacks a large file."""
    if not theirs["stands_in"]:
        return []
    return [STAND_IN_NOTE]


def marked_items(marked: MarkedQuestion) -> MarkedQuestion:
    """With items in place of documents."""
    return replace(marked, clusters=ClusteredItems.of(np.arange(len(marked.items))), unit=ITEM)


def summary_row(summary: SpanSummary) -> list[str]:
    same = "–" if summary.severity is None else f"{summary.severity['same']:.1%}"
    return [
        summary.unit,
        f"{summary.n_shared:,}",
        f"{summary.n_spans:,}",
        figure(summary.f1),
        f"{summary.chance:.3f}",
        figure(summary.gamma),
        figure(summary.severity),
        same,
    ]


def main() -> None:
    if CHECKOUT not in os.environ:
        raise SystemExit(f"Set {CHECKOUT} to a checkout of wmt-conference/ErrorSpanAnnotation.")
    write_page("span-agreement", page(Path(os.environ[CHECKOUT])))


if __name__ == "__main__":
    main()
