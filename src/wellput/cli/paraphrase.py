"""`wellput paraphrase`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wellput.cli.options import making_options, show
from wellput.core.counted import counted
from wellput.core.errors import InputError
from wellput.reporting.table import Report, Table, number

if TYPE_CHECKING:
    from wellput.core.source import EvalSource
    from wellput.language.paraphrase.methods import Choices
    from wellput.language.paraphrase.references import Substitution

F = TypeVar("F", bound=Callable[..., Any])
METHODS = ("context", "wordnet", "lsa", "brown")
FILTERS = ("none", "classifier", "context", "lm", "neural")
COLUMNS = (
    "item", "system", "reference", "word", "replacement", "source", "probability", "kept",
)  # fmt: skip


def choice_options(function: F) -> F:
    """Where replacements come from, and which pass."""
    for option in reversed(
        (
            click.option(
                "--method",
                type=click.Choice(METHODS),
                help="Short for candidates with a filter: context (the default) and wordnet are "
                "WordNet's synonyms, filtered and not; lsa and brown are not filtered.",
            ),
            click.option(
                "--candidates", metavar="SOURCE", help="wordnet, lsa, brown or table:FILE.csv."
            ),
            click.option(
                "--filter",
                type=click.Choice(FILTERS),
                help="What a replacement must pass (default: context for wordnet, else none).",
            ),
            click.option(
                "--threshold",
                type=click.FloatRange(0, 1),
                metavar="P",
                help="Refuse what is less probable (default: the filter's own).",
            ),
            click.option(
                "--relative",
                is_flag=True,
                help="Let the classifier compare the replacement with the word it replaces.",
            ),
            click.option(
                "--joint",
                is_flag=True,
                help="Make the best substitution first, and test the others in what it became.",
            ),
            click.option("--words-only", is_flag=True, help="No phrases: one word for one word."),
            click.option(
                "--model", metavar="FILE.wpm", help="A paraphrase model (default: the shipped one)."
            ),
            click.option(
                "--lm", metavar="FILE", help="An n-gram model for --filter lm (.wlm, .arpa)."
            ),
            click.option(
                "--encoder",
                metavar="NAME",
                help="The encoder of --filter neural: a name of the Hugging Face library, or a folder.",
            ),
            click.option("--wordnet", metavar="PATH", help="A WordNet (default: the first found)."),
        )
    ):
        function = option(function)
    return function


@click.command(
    epilog="""\b
Examples:
  wellput paraphrase evalset.jsonl --method context --explain -o rewritten.jsonl
  wellput paraphrase evalset.jsonl --candidates table:ours.csv --filter none -o rewritten.jsonl
  wellput paraphrase evalset.jsonl --corpus news.txt --filter classifier -o rewritten.jsonl
"""
)
@click.argument("evalset")
@choice_options
@click.option(
    "--corpus",
    multiple=True,
    metavar="FILE",
    help="Learn classifiers for the words at hand from this text (a sentence a line), or from an "
    "index of it (.wpm).",
)
@click.option(
    "--cache",
    metavar="FILE.wpm",
    help="Keep what is learned from --corpus in FILE, and take from it what is there already.",
)
@click.option("--explain", is_flag=True, help="Show every substitution, kept or refused.")
@click.option(
    "--substitutions",
    metavar="FILE",
    help="Write the substitutions as an evalset, for judges: study create --from-substitutions.",
)
@click.option("-o", "output", metavar="EVALSET", help="Write the evalset with its new references.")
@making_options
def command(
    evalset: str,
    corpus: Sequence[str],
    cache: str | None,
    explain: bool,
    substitutions: str | None,
    output: str | None,
    format: str,
    seed: int,
    threads: int | None,
    **choices: Any,
) -> None:
    """Rewrite references for each system, closer in wording to its output.

    Every output gets references of its own (`references_by_system`); all else stays as it is.
    """
    from wellput.cli.progress import progress_of
    from wellput.core.cores import available_cores
    from wellput.core.evalset import EvalSet
    from wellput.io import check_distinct, check_table, open_evalset, write_evalset
    from wellput.language.paraphrase.methods import choices_of, make_paraphraser
    from wellput.language.paraphrase.references import RewrittenSource, substitution_items

    chosen = choices_of(**choices)
    source = open_evalset(evalset)
    targets = [target for target in (output, substitutions) if target is not None]
    check_distinct(targets, [evalset, *corpus])
    for target in targets:
        check_table(target)
    if cache is not None and not corpus:
        raise InputError("--cache keeps what is learned from --corpus: give both.")
    learned = _learned(source, chosen, corpus, cache, seed) if corpus else None
    paraphraser = make_paraphraser(chosen, classifiers=learned)
    cores = threads or available_cores()
    with progress_of("rewriting items") as on_progress:
        rewritten = RewrittenSource(source, paraphraser, threads=cores, on_progress=on_progress)
        if output is not None:
            write_evalset(rewritten, output)
        else:
            for _ in rewritten.blocks():
                pass
    if not rewritten.references:
        raise InputError(f"{evalset} has no references to rewrite.")
    if substitutions is not None:
        write_evalset(EvalSet(substitution_items(rewritten.substitutions)), substitutions)
    report = substitutions_report(rewritten.substitutions, paraphraser.signature, with_each=explain)
    show(report, format, "-")


def _learned(
    source: EvalSource, chosen: Choices, corpus: Sequence[str], cache: str | None, seed: int
) -> Any:
    """Classifiers for the words that are proposed here, from the user's corpus."""
    from wellput.cli.progress import progress_of
    from wellput.cli.train_paraphrase import corpus_index
    from wellput.language.paraphrase.on_demand import learn_for

    if chosen.filter not in ("classifier", "context"):
        raise InputError("--corpus is for the filters that learn: classifier and context.")
    index = corpus_index(corpus)
    with progress_of("learning classifiers") as on_progress:
        return learn_for(source, chosen, index, seed=seed, cache=cache, on_progress=on_progress)


def substitutions_report(
    substitutions: Sequence[Substitution], signature: str, *, with_each: bool
) -> Report:
    """What was proposed and what was kept, by source; and each of them if asked for."""
    records = [substitution.to_dict() for substitution in substitutions]
    kept = sum(substitution.kept for substitution in substitutions)
    notes = [f"{kept:,} of {counted(len(records), 'proposal')} kept.", signature]
    if not with_each:
        table = Table(
            ["substitutions", ""],
            [["proposed", f"{len(records):,}"], ["kept", f"{kept:,}"]],
            notes=[signature],
            caption="Substitutions",
        )
        value: dict[str, Any] = {"proposed": len(records), "kept": kept, "signature": signature}
        return Report([table], value, list(value), [value])
    rows = [
        [
            s.item,
            s.system,
            str(s.reference),
            s.word,
            s.replacement,
            s.source,
            number(s.probability, 2) if s.probability == s.probability else "unknown",
            "kept" if s.kept else "refused",
        ]
        for s in substitutions
    ]
    table = Table(list(COLUMNS), rows, notes=notes, is_prose=True, caption="Substitutions")
    value = {"substitutions": records, "signature": signature}
    return Report([table], value, COLUMNS, records)
