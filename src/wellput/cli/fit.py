"""`wellput fit`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import click

from wellput.cli.options import making_options, refuse_stdin_twice, show
from wellput.cli.tree_options import open_items, trees_option

if TYPE_CHECKING:
    from wellput.agree.fit import Criterion, Method
    from wellput.agree.panel import Normalization
    from wellput.core.judgment import Judgment
    from wellput.core.metric import Metric


@click.command(
    epilog="""\b
Examples:
  wellput fit evalset.jsonl judgments.csv --question quality \\
      --predictors sta,ssa.substitutions,length --stepwise aic -o quality.json
  wellput score new.jsonl -m ./quality.json,sta
"""
)
@click.argument("evalset")
@click.argument("judgments")
@click.option("--question", required=True, metavar="Q", help="The question whose answers to fit.")
@click.option(
    "--predictors",
    multiple=True,
    required=True,
    metavar="NAMES",
    help="Metrics and their components, separated by commas: sta,ssa.substitutions,length.",
)
@trees_option
@click.option(
    "--method",
    type=click.Choice(["ols", "ridge"]),
    default="ols",
    show_default=True,
    help="Least squares, or ridge regression with the penalty chosen by leave-one-out.",
)
@click.option(
    "--stepwise",
    type=click.Choice(["aic", "p"]),
    help="Choose among the predictors, by AIC or by p-values.",
)
@click.option(
    "--normalize",
    type=click.Choice(["none", "z", "unit", "rank"]),
    help="Common scale of the judges' ratings (default: z for several judges, else none).",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="RULE",
    help='Leave judgments out, with the reason: "judge=J3: pressed one button", "item=7: a typo".',
)
@click.option(
    "--exclude-judges-below",
    type=click.FloatRange(-1, 1),
    metavar="R",
    help="Leave out judges who correlate less than R with the rest.",
)
@click.option(
    "--no-rescale",
    is_flag=True,
    help="Keep the raw regression: all predictors, on the scale of the judgments.",
)
@click.option("-o", "output", metavar="FILE.json", help="Write the metric to FILE.json.")
@making_options
def command(
    evalset: str,
    judgments: str,
    question: str,
    predictors: Sequence[str],
    trees: str | None,
    method: str,
    stepwise: str | None,
    normalize: str | None,
    exclude: Sequence[str],
    exclude_judges_below: float | None,
    no_rescale: bool,
    output: str | None,
    format: str,
    seed: int,
    threads: int | None,
) -> None:
    """Fit a metric to people's judgments.

    EVALSET is a file with items, references and outputs, JUDGMENTS one with ratings (judge, item,
    system, question, value) or pairwise choices. The metric is written to the file of -o, with its
    card; `wellput score -m ./FILE.json` uses it. A summary goes to standard output.
    """
    from wellput.agree.card import panel_provenance
    from wellput.agree.exclusions import known_answers, of_others, parse_exclusion
    from wellput.agree.fit import fit
    from wellput.agree.judges import outlying_judges
    from wellput.agree.known_names import names_of
    from wellput.agree.panel import default_normalization, normalized, panels
    from wellput.cli.progress import progress
    from wellput.engine.parsed_references import without_parser
    from wellput.engine.score import score
    from wellput.io.fingerprint import fingerprint
    from wellput.metrics.fitted import check_savable, save
    from wellput.report.fit import fit_report

    refuse_stdin_twice(evalset, judgments)
    metrics, names = metrics_of(predictors)
    exclusions = [parse_exclusion(rule, question) for rule in exclude]
    if output is not None:
        check_savable(output)
    with progress() as on_phase:
        on_phase("reading judgments")
        answers, is_choice = answers_to(question, judgments)
        source = open_items(evalset, metrics, trees, threads=threads, on_phase=on_phase)
        on_items = on_phase("reading items")
        known = names_of(without_parser(source), on_progress=on_items)
        answers, left_out = known_answers(answers, exclusions, known)
        scores = score(
            source, metrics, seed=seed, threads=threads, keep_rows=True, on_phase=on_phase
        )
    first = scores.table(metrics[0].name)
    panel = panels(answers, first.systems, first.items)[question]
    panel = replace(panel, excluded=tuple(left_out))
    others = of_others(exclusions, known)
    for exclusion in exclusions:
        if exclusion not in others:
            panel = panel.without(exclusion)
    if exclude_judges_below is not None and len(panel.judges) > 2:
        for exclusion in outlying_judges(panel, below=exclude_judges_below):
            panel = panel.without(exclusion)
    default: Normalization = "none" if is_choice else default_normalization(panel)
    panel = normalized(panel, cast("Normalization | None", normalize) or default)
    panel.refuse_empty()
    hashes = {"evalset": fingerprint(evalset), "judgments": fingerprint(judgments)}
    with progress() as on_phase:
        result = fit(
            scores.tables,
            panel.table(),
            names,
            method=cast("Method", method),
            stepwise=cast("Criterion | None", stepwise),
            rescale=not no_rescale,
            seed=seed,
            provenance={**panel_provenance(panel), "sha256": hashes},
            on_phase=on_phase,
        )
    if output is not None:
        save(result.model, output)
    if output != "-":
        show(fit_report(result), format, "-")


def metrics_of(predictors: Sequence[str]) -> tuple[list[Metric], list[str]]:
    """The metrics to score, and the predictors by the metrics' own names."""
    from wellput.core.errors import InputError
    from wellput.core.fitted_model import predictor_name, split_predictor
    from wellput.metrics import registry

    metrics: dict[str, Metric] = {}
    names: list[str] = []
    for text in predictors:
        for name in registry.split_specs(text):
            if name.lower().endswith(".json"):
                raise InputError(f"{name} is a fitted metric; it cannot be a predictor itself.")
            spec, component = split_predictor(name)
            metric = registry.create(spec)
            metrics[metric.name] = metric
            names.append(predictor_name(metric.name, component))
    if not names:
        raise InputError("No predictor was given, such as sta, ssa.substitutions or length.")
    return list(metrics.values()), names


def answers_to(question: str, path: str) -> tuple[list[Judgment], bool]:
    """The ratings that answer the question, and whether they are pairwise choices."""
    from wellput.agree.choices import selection_ratings
    from wellput.core.errors import InputError, did_you_mean
    from wellput.core.judgment import Judgment, Preference
    from wellput.io import read_judgments

    found = read_judgments(path)
    questions = list(dict.fromkeys(answer.question for answer in found))
    if question not in questions:
        raise InputError(
            f"{path} has no answers to {question!r}.{did_you_mean(question, questions)} "
            f"The questions are {', '.join(questions)}."
        )
    chosen = [answer for answer in found if answer.question == question]
    choices = [answer for answer in chosen if isinstance(answer, Preference)]
    ratings = [answer for answer in chosen if isinstance(answer, Judgment)]
    return (selection_ratings(choices), True) if choices else (ratings, False)
