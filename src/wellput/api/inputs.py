"""What verbs are given: an evalset as a file or in memory, judgments likewise, names in a list or
separated by commas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias, TypeVar

from wellput.core.cores import available_cores
from wellput.core.errors import InputError
from wellput.core.judgment import Judgment, Preference
from wellput.core.metric import Metric
from wellput.core.names import Names as Names
from wellput.core.names import listed as listed
from wellput.core.progress import OnPhase, unheard_phase
from wellput.core.source import EvalSource
from wellput.io import check_files as check_files
from wellput.io import open_evalset
from wellput.io.files import PathLike

T = TypeVar("T")

Items: TypeAlias = EvalSource | PathLike
"""An evalset in memory, or the path of a file that `wellput.open_evalset` reads."""
Answers: TypeAlias = Sequence[Judgment] | Sequence[Preference] | PathLike
"""Judgments in memory, or the path of a file that `wellput.read_judgments` reads."""
Metrics: TypeAlias = str | Metric | Iterable[str | Metric]
"""Names with options, separated by commas (`"bleu,chrf:word_order=2"`), metric objects, or both."""


def open_items(
    evalset: Items,
    metrics: Sequence[Metric],
    trees: str | None = None,
    *,
    threads: int | None = None,
    on_phase: OnPhase = unheard_phase,
) -> EvalSource:
    """The items of an evalset, with trees where a metric needs them: its own, or a parser's."""
    parser = parser_named(trees)
    if trees is not None and parser is None:
        raise InputError(
            f"trees={str(trees)!r}: give auto or spacy:NAME. Trees of your own belong in the evalset."
        )
    needs_trees = any("tree" in metric.needs for metric in metrics)
    source = evalset
    if not isinstance(source, EvalSource):
        source = open_evalset(source, trees=needs_trees)
    if parser is None or not needs_trees:
        return source
    return parsed(source, parser, threads=threads, on_phase=on_phase)


def parser_named(trees: str | None) -> str | None:
    """The parser that `trees` asks for; None where it names a file, or nothing."""
    if trees == "auto":
        return "english"
    return trees if trees is not None and str(trees).startswith("spacy:") else None


def parsed(
    source: EvalSource, parser: str, *, threads: int | None, on_phase: OnPhase
) -> EvalSource:
    """The items with their references parsed, a tree without words for one without words."""
    from wellput.engine.parsed_references import NamedParser, ParsedReferences

    parse = NamedParser(parser)
    on_phase("loading the parser")
    cores = threads or available_cores()
    return ParsedReferences(source, parse, parse.signature, threads=cores, on_phase=on_phase)


def read_answers(judgments: Answers) -> list[Judgment] | list[Preference]:
    """The judgments, from wherever they are."""
    if isinstance(judgments, str | Path):
        from wellput.io import read_judgments

        return read_judgments(judgments)
    answers = list(judgments)
    kinds = {type(answer) for answer in answers}
    if len(kinds) > 1:
        raise InputError(
            "Ratings and pairwise choices cannot be mixed: give one kind of judgments."
        )
    return answers  # type: ignore[return-value]
