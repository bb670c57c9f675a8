"""`wellput score`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, cast

import click
from click.shell_completion import CompletionItem

from wellput.cli.engine_options import engine_options, segment_targets
from wellput.cli.options import common_options, show, terminal_width
from wellput.core.errors import InputError
from wellput.core.progress import OnPhase, unheard_phase
from wellput.core.source import EvalSource
from wellput.metrics import registry

if TYPE_CHECKING:
    from wellput.engine.plan import Engine, OnError
    from wellput.engine.significance import Test


def complete_metric(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completes the last of the metrics typed so far."""
    done, comma, last = incomplete.rpartition(",")
    return [CompletionItem(done + comma + n) for n in registry.names() if n.startswith(last)]


@click.command(
    epilog="""\b
Examples:
  wellput score --ref ref.txt --hyp A=a.txt --hyp B=b.txt -m bleu,chrf,ssa,gsa --paired ar
  wellput score evalset.jsonl -m sta,gta,understandability,quality --segments seg.csv --format json
  wellput score evalset.jsonl -m chrf:word_order=2 --confidence
  wellput score 'shards/*.jsonl' -m bleu --engine ray --segments scores --resume finished
"""
)
@click.argument("evalset", required=False)
@click.option("--ref", "references", multiple=True, metavar="FILE", help="References, a line each.")
@click.option(
    "--hyp",
    "hypotheses",
    multiple=True,
    metavar="NAME=FILE",
    help="A system's outputs, a line each.",
)
@click.option(
    "--trees",
    metavar="FILE",
    help="Dependency trees (CoNLL-U) of the first references, in order; auto: parse the references, "
    "with wellput's own parser; spacy:NAME: with a spaCy pipeline you have.",
)
@click.option(
    "-m",
    "--metrics",
    "metrics",
    multiple=True,
    required=True,
    metavar="METRICS",
    shell_complete=complete_metric,
    help="Metrics, separated by commas, with options: bleu,chrf:word_order=2.",
)
@click.option("--confidence", is_flag=True, help="Bootstrap intervals.")
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=None,
    help="Level of the intervals (default: 0.95); asks for them, too.",
)
@click.option(
    "--paired",
    type=click.Choice(["ar", "bs"]),
    help="Test each system against the baseline: approximate randomization or paired bootstrap.",
)
@click.option("--baseline", metavar="NAME", help="The system to compare with (default: the first).")
@click.option(
    "--all-pairs", is_flag=True, help="Test every pair of systems, with Holm's correction."
)
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Resamples of intervals and tests.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Differences with a smaller p are called real.",
)
@click.option(
    "--segments",
    metavar="FILE|FOLDER",
    help="Write segment scores: CSV, TSV, JSONL, Parquet, or a folder of Parquet files.",
)
@engine_options
@click.option("--explain", is_flag=True, help="Show what is wrong in each system's worst items.")
@click.option(
    "--paraphrase",
    type=click.Choice(["context", "wordnet", "lsa", "brown"]),
    help="Score also on references rewritten to be closer to each output.",
)
@click.option(
    "--fail-if-worse",
    is_flag=True,
    help="Exit with 1 if a system is significantly worse than the baseline on any metric.",
)
@click.option(
    "--runs",
    metavar="FOLDER",
    envvar="WELLPUT_RUNS",
    help="Store the scores there too, for wellput runs (or set WELLPUT_RUNS).",
)
@common_options
def command(
    evalset: str | None,
    references: Sequence[str],
    hypotheses: Sequence[str],
    trees: str | None,
    metrics: Sequence[str],
    confidence: bool,
    level: float | None,
    paired: str | None,
    baseline: str | None,
    all_pairs: bool,
    resamples: int,
    alpha: float,
    segments: str | None,
    explain: bool,
    paraphrase: str | None,
    fail_if_worse: bool,
    engine: str,
    address: str | None,
    resume: str | None,
    on_error: str,
    runs: str | None,
    format: str,
    output: str,
    seed: int,
    threads: int | None,
) -> None:
    """Score systems under one or more metrics, with intervals and significance.

    EVALSET is a file with items, references and outputs (JSONL, CSV, TSV, Parquet; - for standard
    input), a folder or a quoted pattern of such files, or their URL. Or give line-aligned text: --ref
    for each set of references, --hyp for each system.
    """
    from wellput.cli.progress import progress
    from wellput.cli.runs import storing
    from wellput.engine.score import score
    from wellput.io import check_distinct, check_writable
    from wellput.reporting.score import score_report

    if explain and format != "table":
        raise InputError("--explain is for reading: it goes with --format table.")
    chosen = registry.create_all(metrics)
    if paraphrase is not None:
        from wellput.cli.paraphrase import choices_of
        from wellput.language.paraphrase.methods import make_paraphraser
        from wellput.metrics.paraphrased import beside_paraphrased

        chosen = beside_paraphrased(chosen, make_paraphraser(choices_of(paraphrase)))
    needs_trees = any("tree" in metric.needs for metric in chosen)
    parser = parser_named(trees)
    tree_file = None if parser else trees
    if runs is not None:
        from wellput.io.run_files import check_store

        check_store(runs)
    file, folder = segment_targets(segments, engine=engine, resume=resume, on_error=on_error)
    targets = [target for target in (output, file) if target is not None]
    for target in targets:
        check_writable(target)
    files = (evalset, *references, *(h.partition("=")[2] for h in hypotheses), tree_file)
    check_distinct(targets, [file for file in files if file is not None])
    with progress() as on_phase, ExitStack() as stack:
        data = open_source(evalset, references, hypotheses, tree_file, with_trees=needs_trees)
        source = data
        if parser and needs_trees:
            source = parsed_references(data, parser, threads=threads, on_phase=on_phase)
        writer = None
        if file:
            from wellput.io import writing_segments

            writer = stack.enter_context(writing_segments(file))
        result = score(
            source,
            chosen,
            confidence=level or confidence,
            paired=cast("Test | None", paired or ("ar" if fail_if_worse else None)),
            baseline=baseline,
            all_pairs=all_pairs,
            alpha=alpha,
            n_resamples=resamples,
            seed=seed,
            threads=threads,
            keep_rows=explain,
            engine=cast("Engine", engine),
            address=address,
            resume=resume,
            on_error=cast("OnError", on_error),
            segments=folder,
            on_segments=writer.write if writer else None,
            on_phase=on_phase,
        )
        drawings: list[str] = []
        width = terminal_width(output)
        if explain:
            from wellput.engine.explain import explain as explained
            from wellput.reporting.drawings import fold_drawing

            on_phase("explaining scores")
            drawings = [
                fold_drawing(drawing, width) for drawing in explained(source, chosen, result)
            ]
    with storing(runs, result, data, chosen):
        show(
            score_report(result, width=width),
            format,
            output,
            after="".join(f"\n{drawing}" for drawing in drawings),
        )
    if fail_if_worse and result.worse:
        for worse in result.worse:
            click.echo(
                f"wellput: {worse.system} is worse than {worse.baseline} on {worse.metric} "
                f"({worse.delta:+.4g}, p = {worse.p_value:.4g})",
                err=True,
            )
        raise SystemExit(1)


def parser_named(trees: str | None) -> str | None:
    """The parser that --trees asks for; None where it names a file, or nothing."""
    if trees == "auto":
        return "english"
    return trees if trees is not None and trees.startswith("spacy:") else None


def parsed_references(
    source: EvalSource, parser: str, *, threads: int | None, on_phase: OnPhase = unheard_phase
) -> EvalSource:
    """The items with their references parsed, a tree without words for one without words."""
    from wellput.engine.parsed_references import NamedParser, ParsedReferences
    from wellput.engine.score import available_cores

    on_phase("loading the parser")
    parse = NamedParser(parser)
    return ParsedReferences(
        source,
        parse,
        parse.signature,
        threads=threads or available_cores(),
        on_phase=on_phase,
    )


def open_source(
    evalset: str | None,
    references: Sequence[str],
    hypotheses: Sequence[str],
    trees: str | None,
    *,
    with_trees: bool,
) -> EvalSource:
    """The items to score: an evalset, or line-aligned files."""
    if evalset is not None:
        from wellput.io import open_evalset

        if references or hypotheses or trees:
            raise InputError(
                "Give either an evalset or line-aligned files (--ref, --hyp, --trees), not both."
            )
        if evalset.removesuffix(".gz").endswith(".txt"):
            raise InputError(
                f"{evalset} looks like plain text, not an evalset: give it as --ref {evalset} or as "
                f"--hyp NAME={evalset}."
            )
        return open_evalset(evalset, trees=with_trees)
    if not hypotheses:
        raise InputError(
            "Nothing to score: give an evalset (wellput score items.jsonl -m bleu), or outputs and "
            "references (--hyp A=a.txt --ref ref.txt)."
        )
    outputs: dict[str, str] = {}
    for hypothesis in hypotheses:
        name, equals, path = hypothesis.partition("=")
        if not equals or not name or not path:
            raise InputError(f"--hyp {hypothesis}: write NAME=FILE, such as --hyp A={hypothesis}.")
        if name in outputs:
            raise InputError(f"Two systems are named {name!r}: {outputs[name]} and {path}.")
        outputs[name] = path
    from wellput.io import open_lines

    return open_lines(
        references=references,
        outputs=outputs,
        trees=trees if with_trees or not references else None,
    )
