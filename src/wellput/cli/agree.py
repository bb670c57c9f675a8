"""`wellput agree`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import click
from click.core import ParameterSource

from wellput.cli.options import common_options, refuse_stdin_twice, show
from wellput.cli.panel_options import panel_options
from wellput.cli.score import complete_metric
from wellput.cli.tree_options import open_items, trees_option
from wellput.core.errors import InputError
from wellput.core.judgment import Judgment, Preference

COEFFICIENTS = ("pearson", "spearman", "kendall", "kendall-c", "acc-t", "spa")
TESTS = (
    "auto", "perm-both", "perm-systems", "perm-inputs", "perm-cells", "boot-both", "boot-systems",
    "boot-inputs", "williams",
)  # fmt: skip


@click.command(
    epilog="""\b
Examples:
  wellput agree evalset.jsonl judgments.csv -m bleu,chrf,ssa,sta,random
  wellput agree evalset.jsonl judgments.csv -m bleu,chrf --level system --coefficient pearson,kendall
  wellput agree evalset.jsonl choices.csv -m bleu,chrf        # pairwise choices
"""
)
@click.argument("evalset")
@click.argument("judgments")
@click.option(
    "-m",
    "--metrics",
    "metrics",
    multiple=True,
    required=True,
    metavar="METRICS",
    shell_complete=complete_metric,
    help="Metrics, separated by commas; add random and length-only to see the floor.",
)
@trees_option
@click.option(
    "--level",
    type=click.Choice(["system", "segment", "document"]),
    default="segment",
    show_default=True,
    help="What is correlated: systems, segments, or documents of segments drawn at random.",
)
@click.option(
    "--average",
    type=click.Choice(["none", "item", "system"]),
    default="none",
    show_default=True,
    help="Segments pooled, or correlated within each item or system and averaged.",
)
@click.option(
    "--coefficient",
    "coefficients",
    multiple=True,
    metavar="NAMES",
    help=f"One or more of {', '.join(COEFFICIENTS)} (default: pearson).",
)
@panel_options
@click.option(
    "--document-size", type=click.IntRange(min=1), default=300, show_default=True, help="Segments."
)
@click.option(
    "--documents",
    type=click.IntRange(min=2),
    default=10,
    show_default=True,
    help="Documents drawn.",
)
@click.option(
    "--models",
    is_flag=True,
    help="Also regress the ratings on the metrics, singly and together: R² and p of each.",
)
@click.option(
    "--test",
    type=click.Choice(TESTS),
    default="auto",
    show_default=True,
    help="Differences between metrics; auto: perm-both for segments, williams or perm-systems for "
    "systems.",
)
@click.option(
    "--correction",
    type=click.Choice(["holm", "bonferroni", "bh", "none"]),
    default="holm",
    show_default=True,
    help="For there being many pairs of metrics.",
)
@click.option(
    "--resample",
    type=click.Choice(["auto", "both", "systems", "items"]),
    default="auto",
    show_default=True,
    help="What the intervals' bootstrap draws; auto: both from five systems on, else items.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Resamples of intervals and tests; pairs of metrics that look different are tested again "
    "with as many as the correction needs.",
)
@common_options
def command(
    evalset: str,
    judgments: str,
    metrics: Sequence[str],
    trees: str | None,
    coefficients: Sequence[str],
    questions: Sequence[str],
    exclusions: Sequence[str],
    format: str,
    output: str,
    seed: int,
    threads: int | None,
    **choices: Any,
) -> None:
    """Say how far metrics agree with people, which of them really differ, and how far the people
    agree among themselves.

    JUDGMENTS has the columns judge, item, system, question, value; or judge, item, system_a,
    system_b, question, choice for pairwise choices.
    """
    from wellput.agree.analysis import AgreementOptions, agree
    from wellput.agree.correlate import Uncertainty
    from wellput.agree.exclusions import known_answers, parse_exclusion
    from wellput.agree.known_names import names_of
    from wellput.agree.preferences import agree_on_preferences
    from wellput.cli.progress import progress
    from wellput.engine.parsed_references import without_parser
    from wellput.engine.score import available_cores, score
    from wellput.io import check_distinct, check_writable, read_judgments
    from wellput.metrics import registry
    from wellput.report.agree import agreement_report

    refuse_stdin_twice(evalset, judgments)
    check_writable(output)
    check_distinct([output], [evalset, judgments])
    chosen = registry.create_all(metrics)
    rules = [parse_exclusion(text, "") for text in exclusions]
    with progress() as on_phase:
        on_phase("reading judgments")
        answers = read_judgments(judgments)
        source = open_items(evalset, chosen, trees, threads=threads, on_phase=on_phase)
        on_items = on_phase("reading items")
        known = names_of(without_parser(source), on_progress=on_items)
        known_answers(answers, rules, known)  # before anything is scored
        scored = score(source, chosen, keep_rows=True, threads=threads, on_phase=on_phase)
    if answers and isinstance(answers[0], Preference):
        refuse_options_of_ratings()
        result = agree_on_preferences(scored.tables, answers, questions=questions, exclusions=rules)
    else:
        options = AgreementOptions(
            level=choices["level"],
            average=choices["average"],
            coefficients=coefficient_names(coefficients),
            normalization=choices["normalize"],
            questions=questions,
            exclusions=rules,
            judges_below=choices["exclude_judges_below"],
            test=choices["test"],
            correction=choices["correction"],
            document_size=choices["document_size"],
            documents=choices["documents"],
            with_models=choices["models"],
            uncertainty=Uncertainty(
                resample=choices["resample"],
                n_resamples=choices["resamples"],
                seed=seed,
                threads=threads or available_cores(),
            ),
        )
        with progress() as on_phase:
            result = agree(
                scored.tables, cast("list[Judgment]", answers), options, on_phase=on_phase
            )
    show(agreement_report(result), format, output)


RATINGS_ONLY = (
    "level", "average", "coefficients", "normalize", "exclude_judges_below",
    "document_size", "documents", "test", "correction", "resample", "resamples",
)  # fmt: skip


def refuse_options_of_ratings() -> None:
    """Pairwise choices have an analysis of their own: an option that it passes over is an error."""
    context = click.get_current_context()
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name in RATINGS_ONLY
        and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise InputError(
            f"{', '.join(given)} {'is' if len(given) == 1 else 'are'} for ratings; these judgments are "
            "pairwise choices."
        )


def coefficient_names(given: Sequence[str]) -> tuple[Any, ...]:
    """The coefficients of a repeated, comma-separated option."""
    names = [name.strip() for text in given for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in COEFFICIENTS]
    if unknown:
        raise InputError(f"No coefficient {unknown[0]!r}; there are {', '.join(COEFFICIENTS)}.")
    return tuple(dict.fromkeys(names)) or ("pearson",)
