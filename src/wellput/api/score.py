"""`score`: scores systems, with intervals of the scores and tests of their differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from wellput.api.inputs import (
    Columns,
    Items,
    Metrics,
    check_files,
    open_source,
    parsed,
    parser_named,
    paths_in,
    renamed,
)
from wellput.core.errors import InputError, OutputError, WellputError, Worse
from wellput.core.metric import Metric
from wellput.core.options import check_number, checks_options
from wellput.core.registries import Names
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.engine.blocks import OnSegments
from wellput.engine.result import ScoreResult
from wellput.engine.score import score_source
from wellput.engine.scoring_plan import (
    DEFAULT_PAIRED_TEST,
    Engine,
    Inference,
    OnError,
    PairedTest,
    Resampling,
    ScoringPlan,
)
from wellput.io.files import PathLike
from wellput.metrics.registry import create_all, expand_logged

Margin: TypeAlias = float | Mapping[str, float] | Sequence[str] | None
"""The smallest difference that matters: one number, or one for each metric, as in `["bleu=1"]`."""


@renamed(n_resamples="resamples")
@checks_options
def score(
    evalset: Items | None = None,
    metrics: Metrics = (),
    *,
    column: Columns = (),
    ref: PathLike | Sequence[PathLike] = (),
    hyp: Mapping[str, PathLike] | Sequence[str] = (),
    trees: PathLike | None = None,
    confidence: bool | float = False,
    paired: PairedTest | None = None,
    baseline: str | None = None,
    all_pairs: bool = False,
    margin: Margin = None,
    generalize: Literal["items", "systems", "both"] = "items",
    cluster: str | None = None,
    by: str | None = None,
    resamples: int = 1000,
    alpha: float = 0.05,
    segments: PathLike | None = None,
    engine: Engine = "local",
    address: str | None = None,
    resume: PathLike | None = None,
    on_error: OnError = "stop",
    explain: bool = False,
    paraphrase: Names = (),
    fail_if_worse: bool = False,
    runs: PathLike | None = None,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    keep_rows: bool = False,
    command: str = "",
    on_segments: OnSegments | None = None,
    on_phase: OnPhase = ignore_phase,
) -> ScoreResult:
    """Scores every system of an evalset with every metric.

    Parameters
    ----------
    evalset
        An `EvalSet`, or the path of a file. Without it, give text files: `ref` and `hyp`.
    metrics
        Names with options, separated by commas (`"bleu,chrf:word_order=2"`), metric objects, or a list
        of both. A path that ends in `.json` is a fitted metric.
    column
        Names the columns of a file that has other column names, each as FIELD=NAME: `["id=prompt_id",
        "source=prompt", "references=gold", "outputs=gpt", "tags=topic", "document=doc"]`.
    ref, hyp
        Text files with one line per item: one or more files of references, and one file of outputs for
        each system (`{"A": "a.txt"}`, or `["A=a.txt"]`).
    trees
        `"auto"` parses the references with wellput's parser, `"spacy:NAME"` with an installed spaCy
        pipeline. With `ref` and `hyp`, also a CoNLL-U file with the trees of the first file of
        references.
    confidence
        Intervals of scores and differences: True for 95%, or another confidence level such as 0.99.
    paired, baseline, all_pairs
        Tests every system against the baseline (default: the first system); `all_pairs` tests every
        pair. The default test is the jackknife, which computes the interval and p from the same
        standard error. `paired` names another test: `"ar"` approximate randomization, `"bs"`
        sacreBLEU's paired bootstrap. p-values are corrected by Holm's method over all systems and
        metrics.
    margin
        Tests whether differences are smaller than this, the smallest difference that matters: a number
        in the unit of the metric, or one for each metric (`{"bleu": 1, "ssa": 0.02}`, or
        `["bleu=1", "ssa=0.02"]`).
    generalize
        Must be `"items"`: intervals and p-values hold for these systems on other items.
    cluster
        What counts as one unit in intervals and tests: `"document"`, the name of a tag, or `"item"`.
        Items of one document are not independent. Default: documents, if items have them.
    by
        A tag, such as `"domain"`: also scores the items of each of its values, in `result.slices`.
        P-values are corrected over all slices.
    resamples, seed
        For the tests `"ar"` and `"bs"`. If p is small and the correction for several tests needs more
        resamples, a difference is tested again with more.
    alpha
        Differences with a corrected p below this are called real.
    segments
        Writes the score of every output: a CSV, TSV, JSONL or Parquet file, or a folder of Parquet
        files.
    engine, address, resume, on_error
        `engine="ray"` computes on the Ray cluster at `address`, or in several processes of this
        machine. `resume` is a folder that keeps finished parts of the work: a run that was stopped
        resumes from it. `on_error="skip"` leaves out partitions with rows that cannot be read or
        scored, and lists them in `result.skipped`.
    explain
        `result.explanations` shows the three worst items of each system, with what is wrong in them
        (for ssa, gsa, sta, gta, understandability, quality, fluency and gleu-fluency).
    paraphrase
        Methods (`"context"`, `"contextwn"`, `"wordnet"`, `"lsa"`, `"brown"`), as a list or separated by
        commas: also scores with references rewritten to be closer to each output. A method may have
        options: `"contextwn:model=classifiers.wpm"`, `"wordnet:words_only=true"`.
    fail_if_worse
        Raises `Worse` if a system is significantly worse than the baseline on any metric.
    runs
        Stores the scores in this folder, for `wellput runs`, together with `command`, the text of the
        command that asked for them.
    path
        Writes the table to a file; a `.json`, `.csv`, `.tex` or `.md` file is in that format.
    threads
        Default: all cores. The number of threads does not change the results.
    keep_rows
        Keeps the statistics of every output, for `result.table(metric)`.
    on_segments
        Called with (system, item ids, metric, segment scores) block by block.
    on_phase
        Called at the beginning of each phase of the work, to show progress.

    Returns
    -------
    ScoreResult
        `result["A", "bleu"]` is a `Score`.

    Raises
    ------
    InputError
        A file, a name or a value is wrong.
    Worse
        With `fail_if_worse`; its `result` has the scores.

    Examples
    --------
    >>> import wellput
    >>> evalset = wellput.EvalSet.of({"A": ["a cat sat"], "B": ["sat a cat"]}, ["a cat sat"])
    >>> wellput.score(evalset, "ssa,gsa")["B", "gsa"].score
    0.6666666666666667
    """
    if generalize != "items":
        from wellput.core.estimates import refuse_other_than_items

        refuse_other_than_items(generalize)
    named_metrics = create_all(metrics)
    needs_trees = any("tree" in metric.needs for metric in named_metrics)
    references, outputs = line_files(ref, hyp)
    segment_file, segment_folder = _segment_targets(segments, engine, resume, on_error)
    check_files(
        [path, segment_file],
        [
            *(evalset, trees, *references, *outputs.values()),
            *_stored_runs(runs),
            *paths_in(metrics),
            *paths_in(paraphrase),
        ],
        output_folders=[segment_folder],
    )
    data = open_data(evalset, references, outputs, trees, with_trees=needs_trees, column=column)
    # The metric `logged` stands for every scorer in the data's log.
    all_metrics = with_paraphrases(expand_logged(named_metrics, data), paraphrase)
    source = data
    parser = parser_named(None if trees is None else str(trees))
    if parser is not None and needs_trees:
        source = parsed(data, parser, threads=threads, on_phase=on_phase)
    cores = available_cores() if threads is None else threads
    inference = Inference(
        has_intervals=confidence is not False,
        paired=paired or (DEFAULT_PAIRED_TEST if fail_if_worse else None),
        baseline=baseline,
        all_pairs=all_pairs,
        resampling=Resampling(
            resamples, seed, cores, alpha, 0.95 if isinstance(confidence, bool) else confidence
        ),
        margin=margins(margin, [metric.name for metric in all_metrics]),
        cluster=cluster,
        by=by,
    )
    plan = ScoringPlan(
        engine=engine,
        address=address,
        threads=cores,
        keep_rows=keep_rows or explain,
        resume=resume,
        on_error=on_error,
        segments=segment_folder,
    )
    with ExitStack() as stack:
        if segment_file is not None:
            from wellput.io import writing_segments

            on_segments = stack.enter_context(writing_segments(segment_file)).write
        result = score_source(
            source,
            all_metrics,
            inference=inference,
            plan=plan,
            on_segments=on_segments,
            on_phase=on_phase,
        )
    if explain:
        from wellput.engine.explain import explain as explained

        on_phase("explaining scores")
        result = replace(result, explanations=tuple(explained(source, all_metrics, result)))
    if path is not None:
        result.save(path)
    if runs is not None:
        result = _with_run_stored(runs, result, data, all_metrics, command)
    if fail_if_worse and result.worse:
        raise Worse(_message_of_worse(result)).with_result(result)
    return result


def margins(margin_option: Margin, metrics: Sequence[str]) -> dict[str, float]:
    """The smallest difference that matters for each metric; a single number is for all metrics.

    >>> margins(["bleu=1", "ssa=0.02"], ["bleu", "ssa", "gsa"])
    {'bleu': 1.0, 'ssa': 0.02}
    """
    if margin_option is None:
        return {}
    if isinstance(margin_option, Mapping):
        margin_by_metric = {name: float(value) for name, value in margin_option.items()}
    elif isinstance(margin_option, int | float):
        margin_by_metric = dict.fromkeys(metrics, float(margin_option))
    else:
        margin_by_metric = {}
        for text in [margin_option] if isinstance(margin_option, str) else margin_option:
            name, _, value = text.rpartition("=")
            try:
                margin_by_metric |= dict.fromkeys([name] if name else metrics, float(value))
            except ValueError:
                raise InputError(
                    f"margin={text!r}: write a number, or METRIC=NUMBER such as margin='bleu=1'."
                ) from None
    unknown = [name for name in margin_by_metric if name not in metrics]
    if unknown:
        raise InputError(
            f"margin= names {', '.join(unknown)}, which is not scored; the metrics are "
            f"{', '.join(metrics)}."
        )
    for margin in margin_by_metric.values():
        if not margin > 0:
            raise InputError("margin= must be above 0: it is the smallest difference that matters.")
        check_number("margin", margin)
    return margin_by_metric


def line_files(
    ref: PathLike | Sequence[PathLike], hyp: Mapping[str, PathLike] | Sequence[str]
) -> tuple[list[PathLike], dict[str, PathLike]]:
    """The files of references, and the file of each system."""
    references = [ref] if isinstance(ref, str | Path) else list(ref)
    if isinstance(hyp, Mapping):
        return references, dict(hyp)
    outputs: dict[str, PathLike] = {}
    for text in [hyp] if isinstance(hyp, str) else hyp:
        name, equals, path = text.partition("=")
        if not equals or not name or not path:
            raise InputError(f"hyp={text!r}: write NAME=FILE, such as hyp='A={text}'.")
        if name in outputs:
            raise InputError(f"Two systems are named {name!r}: {outputs[name]} and {path}.")
        outputs[name] = path
    return references, outputs


def open_data(
    evalset: Items | None,
    references: Sequence[PathLike],
    outputs: Mapping[str, PathLike],
    trees: PathLike | None,
    *,
    with_trees: bool,
    column: Columns = (),
) -> EvalSource:
    """The items to score: an evalset, or text files with one line per item."""
    tree_file = None if trees is None or parser_named(str(trees)) else trees
    if evalset is not None:
        if references or outputs or tree_file:
            raise InputError("Give either an evalset or text files (ref=, hyp=, trees=), not both.")
        if not isinstance(evalset, EvalSource) and str(evalset).removesuffix(".gz").endswith(
            ".txt"
        ):
            raise InputError(
                f"{evalset} looks like plain text, not an evalset: give it as ref='{evalset}' or as "
                f"hyp='NAME={evalset}'."
            )
        return open_source(evalset, column, trees=with_trees)
    if not outputs:
        raise InputError(
            "Nothing to score: give an evalset, or outputs and references (hyp='A=a.txt', "
            "ref='ref.txt')."
        )
    from wellput.io import open_lines

    return open_lines(
        references=references,
        outputs=outputs,
        trees=tree_file if with_trees or not references else None,
    )


def with_paraphrases(metrics: list[Metric], methods: Names) -> list[Metric]:
    """The metrics. After each metric comes the same metric with references rewritten by each method."""
    if not methods:
        return metrics
    from wellput.language.paraphrase.methods import paraphrasers
    from wellput.metrics.paraphrased import with_paraphrased_versions

    return with_paraphrased_versions(metrics, paraphrasers(methods))


def _segment_targets(
    segments: PathLike | None, engine: Engine, resume: PathLike | None, on_error: OnError
) -> tuple[PathLike | None, PathLike | None]:
    """Where segment scores are written: (file, folder); at least one is None."""
    if segments is None:
        return None, None
    from wellput.io.segment_scores import is_segment_folder

    if is_segment_folder(str(segments)):
        return None, segments
    if engine != "local" or resume is not None or on_error != "stop":
        raise InputError(
            f"segments={str(segments)!r}: with engine='ray', resume= or on_error='skip', segment "
            "scores are written into a folder. Give a name without suffix."
        )
    return segments, None


def _stored_runs(folder: PathLike | None) -> list[Path]:
    """The runs in the folder, which no output may replace. Raises an error if the folder cannot be
    used."""
    if folder is None:
        return []
    from wellput.io.run_files import check_store, run_paths

    check_store(folder)
    return run_paths(folder) if Path(folder).is_dir() else []


def _with_run_stored(
    folder: PathLike, result: ScoreResult, data: EvalSource, metrics: list[Metric], command: str
) -> ScoreResult:
    """Stores the run, and returns the result with the id of the run. If storing fails, the error has
    the result."""
    from wellput.engine.runs import save_run

    try:
        return replace(result, run=save_run(folder, result, data, metrics, command=command).id)
    except WellputError as error:
        raise OutputError(f"The run was not stored: {error}").with_result(result) from error


def _message_of_worse(result: ScoreResult) -> str:
    """The message of `Worse`: a line for each difference that is significantly worse."""
    from wellput.reporting.table import p_with_relation

    correction_note = ", corrected" if result.n_tests > 1 else ""
    return "\n".join(
        f"{worse.system} is worse than {worse.baseline} on {worse.metric} ({worse.delta:+.4g}, "
        f"p {p_with_relation(worse.p_adjusted, is_bound=worse.p_is_bound)}{correction_note})"
        for worse in result.worse
    )
