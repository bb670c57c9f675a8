"""The forms in which public functions take their input: evalsets and judgments as files or in memory,
names and numbers in lists or separated by commas, keywords under old names."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    ParamSpec,
    TypeAlias,
    TypeVar,
)

from wellput.core.errors import InputError
from wellput.core.metric import Metric, MetricSpec
from wellput.core.options import check_number
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.io import check_files as check_files
from wellput.io.evalset_columns import Columns as Columns
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.named_files import paths_in as paths_in

if TYPE_CHECKING:
    from wellput.core.frames import Frame
    from wellput.core.judgment import Judgment, Preference

P = ParamSpec("P")
T = TypeVar("T")

Items: TypeAlias = EvalSource | PathLike
"""An evalset in memory, or the path of a file that `wellput.open_evalset` reads."""
Answers: TypeAlias = (
    "Iterable[Judgment] | Iterable[Preference] | Frame | Iterable[Mapping[str, Any]] | PathLike"
)
"""Judgments in memory; a data frame or a list of dictionaries with the columns of a file of judgments;
or the path of a file that `wellput.read_judgments` reads."""
Sentences: TypeAlias = Iterable[str] | PathLike
"""Sentences in a list, or the path of a text file with one on each line."""
Metrics: TypeAlias = MetricSpec | Iterable[MetricSpec]
"""Names with options, separated by commas (`"bleu,chrf:word_order=2"`), metric objects, fits,
functions of an output, or a list of them."""
Numbers: TypeAlias = int | str | Iterable[int | str]
"""Whole numbers in a list, or separated by commas."""


def open_items(
    evalset: Items,
    metrics: Sequence[Metric],
    trees: str | None = None,
    *,
    column: Columns = (),
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> EvalSource:
    """The items of an evalset. If a metric needs trees, items keep the trees that they have, and
    `trees` may name a parser for the others."""
    parser = parser_named(trees)
    if trees is not None and parser is None:
        raise InputError(
            f"trees={str(trees)!r}: give auto or spacy:NAME. Your own trees belong in the evalset."
        )
    needs_trees = any("tree" in metric.needs for metric in metrics)
    source = open_source(evalset, column, trees=needs_trees)
    if parser is None or not needs_trees:
        return source
    return parsed(source, parser, threads=threads, on_phase=on_phase)


def open_source(evalset: Items, column: Columns = (), *, trees: bool = True) -> EvalSource:
    """An evalset that is in memory, or is in a file; `column` may name the columns of the file.
    Without `trees`, trees in the file are not parsed."""
    if isinstance(evalset, EvalSource):
        if column:
            raise InputError(
                "column= names the columns of a file: of a data frame, give them to EvalSet.from_frame."
            )
        return evalset
    from wellput.io import open_evalset

    return open_evalset(evalset, trees=trees, column=column)


def check_column(evalset: Items | None, column: Columns) -> None:
    """Raises InputError if columns are named but there is no evalset."""
    if column and evalset is None:
        raise InputError("column= names the columns of an evalset: give evalset=, too.")


def parser_named(trees: str | None) -> str | None:
    """The parser that `trees` names; None if `trees` is a file or None."""
    if trees == "auto":
        return "english"
    return trees if trees is not None and str(trees).startswith("spacy:") else None


def parsed(
    source: EvalSource, parser: str, *, threads: int | None, on_phase: OnPhase
) -> EvalSource:
    """The items with parsed references; a reference without words gets a tree without words."""
    from wellput.engine.parsed_references import NamedParser, ParsedReferences

    parse = NamedParser(parser)
    on_phase("loading the parser")
    cores = threads or available_cores()
    return ParsedReferences(source, parse, parse.signature, threads=cores, on_phase=on_phase)


def read_answers(judgments: Answers, column: Columns = ()) -> list[Judgment] | list[Preference]:
    """The judgments, read from a file, a data frame or a list; `column` may name the columns."""
    if isinstance(judgments, str | Path):
        from wellput.io import read_judgments

        return read_judgments(judgments, column=column)
    from wellput.core.frames import is_frame
    from wellput.core.judgment import Judgment, Preference, with_question_values
    from wellput.io.judgments import judgments_of_frame, judgments_of_records

    if is_frame(judgments):
        return judgments_of_frame(judgments, column=column)
    if isinstance(judgments, EvalSource) or not isinstance(judgments, Iterable):
        raise _not_judgments(judgments)
    answers: list[Any] = list(judgments)
    if answers and all(isinstance(answer, Mapping) for answer in answers):
        return judgments_of_records(answers, column=column)
    if column:
        raise InputError("column= names columns of a table, but these judgments are objects.")
    if wrong := [
        answer for answer in answers if not isinstance(answer, Judgment | Preference | Mapping)
    ]:
        raise _not_judgments(wrong[0], "a list with ")
    if len({type(answer) for answer in answers}) > 1:
        raise InputError(
            "Ratings, pairwise choices and dictionaries cannot be mixed: give one kind of judgments."
        )
    # As in a file: numbers in texts become numbers, yes and no become 1 and 0.
    return (
        with_question_values(answers) if answers and isinstance(answers[0], Judgment) else answers
    )


def _not_judgments(value: object, where: str = "") -> InputError:
    kind = type(value).__name__
    article = "an" if kind[0].lower() in "aeiou" else "a"
    return InputError(
        "judgments: give a list of Judgment or of Preference, a data frame or a list of dictionaries "
        f"with the columns of a file of judgments, or the path of one, not {where}{article} {kind}."
    )


def sentence_blocks(sentences: Sentences, size: int) -> Iterator[list[str]]:
    """The sentences, in lists of `size`. A missing file raises an error at once, before the first list
    is used."""
    if not isinstance(sentences, str | Path):
        _check_holds_sentences(sentences)
        return _blocks(sentences, size)
    refuse_sentence(sentences)
    file = InputFile(sentences)
    check_readable(file)
    return file.line_blocks(size)


def _check_holds_sentences(given: object) -> None:
    """Raises InputError for a data frame, because a loop over it would give the names of its
    columns."""
    from wellput.core.frames import is_frame

    if is_frame(given) or not isinstance(given, Iterable):
        raise InputError(
            "sentences: give a list of texts, such as a column of a data frame, or the path of a file "
            f"with a sentence on each line, not {type(given).__name__}."
        )


def refuse_sentence(path: PathLike, *, keyword: str = "") -> None:
    """Raises InputError if a sentence was given as the file name; `keyword` is the option that allows
    sentences."""
    text = str(path).strip()
    if " " in text and text.endswith((".", "?", "!")) and not Path(path).exists():
        raise InputError(
            f"{text!r} is taken as a file name, and there is no such file. Give sentences in a list"
            f"{f', with {keyword}' if keyword else ''}: [{text!r}]."
        )


def _blocks(sentences: Iterable[str], size: int) -> Iterator[list[str]]:
    remaining = iter(sentences)
    while block := list(islice(remaining, size)):
        if wrong := [sentence for sentence in block if not isinstance(sentence, str)]:
            raise InputError(f"A sentence must be a text; {wrong[0]!r:.60} is not.")
        yield block


def numbers_if_given(keyword: str, given: Numbers, *, example: str = "50,100") -> list[int] | None:
    """Whole numbers above 0; None for an empty tuple, the default of options that were not given."""
    is_given = not isinstance(given, tuple) or len(given) > 0
    return whole_numbers(keyword, given, example=example) if is_given else None


def whole_numbers(keyword: str, given: Numbers, *, example: str = "50,100") -> list[int]:
    """Whole numbers above 0. An error names the keyword and shows `example`.

    >>> whole_numbers("items", "50,100"), whole_numbers("items", [50, "100,200"])
    ([50, 100], [50, 100, 200])
    """
    from wellput.core.registries import split_names

    entries = [given] if isinstance(given, int | str) else given
    pieces = split_names([str(entry) for entry in entries])
    wrong = [piece for piece in pieces if not piece.isdecimal() or not int(piece)]
    if wrong or not pieces:
        verb = "is" if len(wrong) == 1 else "are"
        wrong_in_words = f": {', '.join(wrong)} {verb} not" if wrong else ""
        raise InputError(
            f"{keyword}= takes whole numbers above 0, such as {example}{wrong_in_words}."
        )
    numbers = [int(piece) for piece in pieces]
    for number in numbers:
        check_number(keyword, number)
    return numbers


def fitted_to(judgments: Answers | None, metrics: Sequence[Metric]) -> list[str]:
    """The metrics that were fitted to this file of judgments or, if `judgments` is a folder, to a file
    in it. They are recognized by the hash of the judgments that a fitted metric keeps."""
    from wellput.io.files import file_fingerprint
    from wellput.metrics.fitted import FittedModel

    models = {metric.name: getattr(metric, "model", None) for metric in metrics}
    fitted = {name: model for name, model in models.items() if isinstance(model, FittedModel)}
    if not fitted or not isinstance(judgments, PathLike):
        return []
    judgments_path = Path(judgments)
    files = (
        [file for file in judgments_path.iterdir() if file.is_file()]
        if judgments_path.is_dir()
        else [judgments]
    )
    hashes = {file_fingerprint(file) for file in files} - {None}
    return [
        name
        for name, model in fitted.items()
        if model.card.get("sha256", {}).get("judgments") in hashes
    ]


def renamed(**new_names: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Also accepts old keywords, with a warning: `@renamed(n_resamples="resamples")`."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            for old in new_names.keys() & kwargs.keys():
                new = new_names[old]
                warnings.warn(f"{old}= is now {new}=.", DeprecationWarning, stacklevel=2)
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return decorate
