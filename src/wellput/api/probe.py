"""`probe`: which errors a metric notices, and which changes mislead it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

import numpy as np

from wellput.agreement.machines.judged_trials import OutputValues
from wellput.agreement.probe_results import BlindSpots, ProbeResult, summary_of
from wellput.agreement.probing import (
    UNCHANGED,
    ProbedMetric,
    degree_orders,
    direction_sign,
    examples_of,
    probe_metric,
)
from wellput.api.corpora import as_list
from wellput.api.inputs import (
    Columns,
    Metrics,
    check_files,
    open_items,
    paths_in,
)
from wellput.api.output_values import metric_values
from wellput.api.probe_texts import (
    ProbeCorpus,
    ProbeTexts,
    corpus_items,
    dataset_texts,
    perturbed_texts,
)
from wellput.core.clusters import clusters_among
from wellput.core.errors import InputError, Problems
from wellput.core.judgment import Judgment
from wellput.core.metric import Floats, Metric
from wellput.core.options import checks_options
from wellput.core.registries import Names, split_names
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.io import check_table, read_judgments, write_evalset
from wellput.io.files import InputFile, PathLike
from wellput.io.minimal_pairs import has_minimal_pairs
from wellput.io.tables import read_records
from wellput.language.perturb.catalog import chosen_perturbations
from wellput.metrics.registry import create_all

DEFAULT_METRICS = "bleu,chrf,ter,rouge-l,fluency"


@checks_options
def probe(
    metrics: Metrics = (),
    corpus: ProbeCorpus | None = None,
    *,
    perturbations: Names = (),
    dataset: PathLike | Sequence[PathLike] = (),
    column: Columns = (),
    system: str | None = None,
    n: int = 100,
    trees: str | None = None,
    write: PathLike | None = None,
    scores: PathLike | Sequence[PathLike] = (),
    explain: bool = False,
    confidence: float = 0.95,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> ProbeResult:
    """Says which errors a metric notices and which changes mislead it. Texts are changed in one place
    each, harmfully or harmlessly, and the metric scores both versions.

    Parameters
    ----------
    metrics
        Metrics, fitted metrics and files of scores, as for `score`. Default: bleu, chrf, ter, rouge-l
        and fluency; with `scores` or `write` there is no default.
    corpus
        Good English texts: an evalset or its path, sentences in a list, or a text file with one on each
        line. Texts that are not English prose are left out. Default: the example of `wellput demo`.
    perturbations
        Only these kinds of change; `"harmful"` and `"harmless"` mean all kinds of this group. Default:
        all.
    dataset
        Minimal pairs (a text and a worse version of it) made elsewhere, in place of `corpus`: files or
        a folder of the data set DEMETR (JSON), tables with the columns reference, better, worse,
        perturbation, severity and perhaps source; or an evalset that `write` made.
    column
        Names the columns of the evalset's file, as for `score`.
    system
        Changes the outputs of this system. Default: changes the second reference, if items have two;
        else the outputs of the first system.
    n
        Uses at most this many texts of the corpus, drawn at random.
    trees
        As for `score`: parses references for metrics that need trees.
    write
        Writes the texts as an evalset, to be scored by other programs or by a machine judge.
    scores
        Files with scores of these texts (columns system, item, metric, score), or judgments of them
        (judge, item, system, question, value).
    explain
        Shows for each metric and kind of harm the pair that it gets most wrong.
    confidence
        The confidence of intervals.
    path
        Writes the tables to a file; a `.json`, `.csv`, `.tex` or `.md` file is in that format.
    seed
        Seed of the changes, and of the choice of texts.
    threads, on_phase
        As for `score`.

    Returns
    -------
    ProbeResult
        `probes`, one for each metric and kind; `summaries` in words; `texts`, the evalset.

    Raises
    ------
    InputError
        No change can be made in the texts, a metric cannot score them, or files do not fit together.

    Examples
    --------
    >>> import wellput
    >>> corpus = ["The ferry has left the harbor.", "We can see the island from here."]
    >>> result = wellput.probe("ssa", corpus, perturbations="negation")
    >>> result.texts.items[0].outputs["negation/critical"]
    'The ferry has not left the harbor.'
    >>> result.probes[0].accuracy
    1.0
    """
    if n < 1:
        raise InputError(f"n={n} must be 1 or more.")
    files, score_files = list(as_list(dataset)), list(as_list(scores))
    check_files([path, write], [corpus, *files, *score_files, *paths_in(metrics)])
    if write is not None:
        check_table(write)
    texts = _texts(
        corpus, files, split_names(perturbations), column, system, n, seed, threads, on_phase
    )
    if write is not None:
        write_evalset(texts.evalset, write)
    metrics_to_score: Metrics = metrics or (
        () if score_files or write is not None else DEFAULT_METRICS
    )
    scored = _scored(texts, metrics_to_score, trees, threads, on_phase)
    for file in score_files:
        used_names = {metric.name for metric in scored}
        scored += [
            replace(metric, name=f"{file}: {metric.name}") if metric.name in used_names else metric
            for metric in _of_file(texts, file, trees, threads, on_phase)
        ]
    # Texts of one document are one unit; the tags are not needed for that.
    clusters = clusters_among([item.document for item in texts.evalset], tags=[], cluster=None)
    result = ProbeResult(
        probes=tuple(
            row
            for metric in scored
            for row in probe_metric(metric, clusters, confidence=confidence)
        ),
        degrees=tuple(
            order for metric in scored for order in degree_orders(metric, confidence=confidence)
        ),
        texts=texts.evalset,
        confidence=confidence,
        notes=texts.notes,
        examples=tuple(
            example
            for metric in scored
            for example in examples_of(metric, texts.evalset, variants=texts.variants)
        )
        if explain
        else (),
        written=write,
    )
    if path is not None:
        result.save(path)
    return result


def blind_spots(metric: Metric, threads: int | None = None) -> BlindSpots | None:
    """What a metric misses in the changed texts of the example of `wellput demo`; None if it cannot
    score them, for example because its scores come from a file."""
    from wellput.example.harbor import probe_example

    texts = ProbeTexts(probe_example())
    try:
        (scored,) = _scored(texts, [metric], None, threads, ignore_phase)
    except InputError:
        return None
    probes = probe_metric(scored)
    if all(probe.n == 0 for probe in probes):
        return None
    return BlindSpots(len(texts.evalset), tuple(probes), summary_of(probes, is_brief=True))


def _texts(
    corpus: ProbeCorpus | None,
    files: Sequence[PathLike],
    names: Sequence[str],
    column: Columns,
    system: str | None,
    n: int,
    seed: int,
    threads: int | None,
    on_phase: OnPhase,
) -> ProbeTexts:
    """The unchanged and changed texts: from files of pairs, or made from the corpus."""
    if files:
        if corpus is not None or column or system is not None:
            raise InputError("dataset= has its own texts: leave out corpus, column= and system=.")
        on_phase("reading pairs")
        return dataset_texts(files, names)
    perturbations = chosen_perturbations(names)
    try:
        items, note = corpus_items(corpus, column, system)
    except InputError:
        if isinstance(corpus, str | Path) and has_minimal_pairs(corpus):
            raise InputError(f"{corpus} has minimal pairs: give it as dataset=.") from None
        raise
    evalset, left_out = perturbed_texts(
        items,
        perturbations,
        n=n,
        seed=seed,
        threads=threads or available_cores(),
        on_phase=on_phase,
    )
    kinds_without_texts = [
        perturbation.name
        for perturbation in perturbations
        if not set(map(str, perturbation.variants)) & set(evalset.systems)
    ]
    note_on_kinds = (
        f"No text can be changed in this way: {', '.join(kinds_without_texts)}."
        if names and kinds_without_texts
        else ""
    )
    return ProbeTexts(evalset, tuple(text for text in (note, left_out, note_on_kinds) if text))


def _scored(
    texts: ProbeTexts, metrics: Metrics, trees: str | None, threads: int | None, on_phase: OnPhase
) -> list[ProbedMetric]:
    """The scores of all texts by each metric."""
    metric_objects: list[Metric] = create_all(metrics) if metrics else []
    if not metric_objects:
        return []
    signs = [direction_sign(metric.name, metric.higher_is_better) for metric in metric_objects]
    source = open_items(texts.evalset, metric_objects, trees, threads=threads, on_phase=on_phase)
    values, _ = metric_values(source, metric_objects, threads or available_cores(), on_phase)
    return [
        _probed(texts, metric.name, scores, sign)
        for metric, scores, sign in zip(metric_objects, values, signs, strict=True)
    ]


def _of_file(
    texts: ProbeTexts, path: PathLike, trees: str | None, threads: int | None, on_phase: OnPhase
) -> list[ProbedMetric]:
    """The scores in a file, by metric. If the file has judgments, each judge and question is one
    metric."""
    if not _has_judgments(path):
        return _scored(texts, str(path), trees, threads, on_phase)
    answers = read_judgments(path)
    grades: dict[tuple[str, str], dict[tuple[str, str], list[float]]] = {}
    for answer in answers:
        own_grades = grades.setdefault((answer.judge, answer.question), {})
        if isinstance(answer, Judgment):
            if not isinstance(answer.value, int | float):
                raise InputError(f"{path}: the answers to {answer.question} are not numbers.")
            own_grades.setdefault((answer.system, answer.item), []).append(float(answer.value))
        else:
            raise InputError(
                f"{path} has choices between two texts. A probe needs a grade or a score of each text."
            )
    systems = {system for own_grades in grades.values() for system, _ in own_grades}
    if UNCHANGED not in systems:
        raise InputError(
            f"{path} has no judgments of the system {UNCHANGED}: judge the evalset that write= makes."
        )
    has_several_questions = len({question for _, question in grades}) > 1
    return [
        _probed(
            texts,
            f"{judge}: {question}" if has_several_questions else judge,
            {cell: mean(values) for cell, values in own_grades.items()},
            1.0,
        )
        for (judge, question), own_grades in grades.items()
    ]


def _has_judgments(path: PathLike) -> bool:
    rows = read_records(InputFile(path), Problems(str(path)), ())
    first = next(rows, None)
    return first is not None and "judge" in first[1]


def _probed(texts: ProbeTexts, name: str, values: OutputValues, sign: float) -> ProbedMetric:
    """The scores of one metric as arrays over the texts. In `values`, higher is better already; `sign`
    is −1 if they were negated for that."""

    def scores_of(system: str) -> Floats:
        return np.array([values.get((system, item.id), np.nan) for item in texts.evalset])

    variants = texts.variants
    return ProbedMetric(
        name,
        unchanged=scores_of(UNCHANGED),
        changed={variant: scores_of(str(variant)) for variant in variants},
        made={
            variant: sum(str(variant) in item.outputs for item in texts.evalset)
            for variant in variants
        },
        sign=sign,
    )
