"""Reads samples (answers) of lm-evaluation-harness as evaluation sets. The harness writes them with
the options `--log_samples --output_path OUT`: a file `OUT/MODEL/samples_TASK_DATE.jsonl` for each
model, task and run. A path may be such a file, a model's folder, or the folder of all models.

The system is the model's folder, with the run's date if there are several runs of a task. The item is
the number of the document (the harness's word for an entry of its data set), after the task's name if
there are several tasks. A row is the result of one filter (a rule that extracts the answer from the
model's text); if a task has several filters, a score is named METRIC.FILTER.

The output is the generated text. For a task with choices, the output is the likeliest choice, and the
reference is the choice with the number in `target`. Some tasks only measure how likely given texts
are: one continuation (LAMBADA), the same continuation after several contexts (WinoGrande), or a whole
text (perplexity). There the output is empty and there are no references: only the logged scores count.

Scores that are not single numbers are left out, such as the pairs from which perplexity and corpus
BLEU are computed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wellput.core.errors import InputError, Problems, WellputError
from wellput.core.evalset import EvalSet
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.jsonl import read_json_lines
from wellput.io.logged_answers import (
    LoggedAnswer,
    evalset_of_answers,
    has_same_question,
    text_of,
)

SAMPLES_NAME = re.compile(
    r"samples_(?P<task>.+?)(?:_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+))?\.jsonl(?:\.gz)?"
)
PEEKED_BYTES = 1 << 16
"""The number of bytes that are looked at to recognize a file."""
SAMPLES_GLOB = "samples_*.jsonl*"
SAMPLE_KEYS = frozenset(
    {
        "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
        "doc_hash", "prompt_hash", "target_hash",
    }
)  # fmt: skip
"""The keys of a row that describe the sample; other keys with numbers are scores."""
OBJECT_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
"""Part of what the harness writes for an image of a document; it differs from run to run."""


@dataclass(frozen=True)
class SamplesFile:
    """A file with one model's samples of one task; `date` is empty if the file's name has none."""

    path: Path
    model: str
    task: str
    date: str

    @classmethod
    def of(cls, path: Path) -> SamplesFile | None:
        match = SAMPLES_NAME.fullmatch(path.name)
        if match is None:
            return None
        # If OUT is a file (`results.json`), samples are beside it, and its folder stands for the model.
        return cls(path, path.resolve().parent.name, match["task"], match["date"] or "")


def knows(path: PathLike) -> bool:
    """Whether the path is a file of samples, or a folder that has such files or folders of them."""
    files = _files(Path(path))
    return bool(files) and _is_of_samples(files[0].path)


def _is_of_samples(path: Path) -> bool:
    try:
        line = next(iter(InputFile(path).chunks()), b"")[:PEEKED_BYTES].partition(b"\n")[0]
    except (WellputError, OSError):
        return False
    return b'"doc_id"' in line


def _files(path: Path) -> list[SamplesFile]:
    if not path.is_dir():
        paths = [path] if path.exists() else []
    else:
        # A model's folder may begin with `_`: the harness writes `__data__m` for the model `/data/m`.
        models = [folder for folder in path.glob("*/") if not folder.name.startswith(".")]
        paths = sorted(file for folder in (path, *models) for file in folder.glob(SAMPLES_GLOB))
    return [file for path in paths if (file := SamplesFile.of(path)) is not None]


def open_evalset(path: PathLike) -> EvalSet:
    """The items of all samples, with every model's answers."""
    return evalset_of_answers(_answers(_files(Path(path))), str(path), is_same=_has_same_document)


def _has_same_document(answer: LoggedAnswer, other: LoggedAnswer) -> bool:
    """Whether two answers are to the same document. The keys of a document may differ between versions
    of the harness, and prompts differ by the number of examples and by the model's chat template. So
    it is enough that the documents or the prompts are equal."""
    has_same_prompt = bool(answer.source) and answer.source == other.source
    return has_same_prompt or has_same_question(answer, other)


def _answers(files: Sequence[SamplesFile]) -> Iterator[LoggedAnswer]:
    """The answers in all files, under the names of systems that the module's docstring
    describes."""
    runs = Counter((file.model, file.task) for file in files)
    has_tasks = len({file.task for file in files}) > 1
    for file in files:
        is_alone = runs[file.model, file.task] == 1
        system = file.model if is_alone else f"{file.model} ({file.date})"
        yield from _of_file(file, system, f"{file.task}/" if has_tasks else "")


def _of_file(file: SamplesFile, system: str, prefix: str) -> Iterator[LoggedAnswer]:
    """The answers in a file; rows of one item (one for each filter) become one answer. `prefix` comes
    before the items' numbers."""
    rows = _rows(file.path)
    has_filters = len({str(row.get("filter")) for row in rows}) > 1
    merged: dict[str, LoggedAnswer] = {}
    for row in rows:
        item = f"{prefix}{row['doc_id']}"
        suffix = f".{row.get('filter')}" if has_filters else ""
        scores = {f"{name}{suffix}": value for name, value in _scores(row)}
        if item in merged:
            scores = {**merged[item].scores, **scores}
        output, references = _answered(row)
        merged[item] = LoggedAnswer(
            item,
            system,
            output,
            _prompt(row),
            references,
            scores,
            question=_document(row),
            log=str(file.path),
        )
    yield from merged.values()


def _rows(path: Path) -> list[dict[str, Any]]:
    """The samples of a file; raises InputError for all bad lines."""
    file = InputFile(path)
    check_readable(file)
    problems = Problems(file.name)
    rows: list[dict[str, Any]] = []
    for number, row in read_json_lines(file, problems):
        if isinstance(row, dict) and "doc_id" in row and isinstance(row.get("resps"), list):
            rows.append(row)
        else:
            problems.add(f"line {number}", "not a sample with doc_id and resps")
    problems.raise_if_any()
    if not rows:
        raise InputError(f"{file.name} has no samples.")
    return rows


def _scores(row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The name and the value of each score in a row."""
    for name, value in row.items():
        if name not in SAMPLE_KEYS and isinstance(value, bool | int | float):
            yield name, float(value)


def _answered(row: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """The output and the references of a row."""
    target = row.get("target")
    references = () if target in (None, "") else (text_of(target),)
    requests = [request for request in _requests(row) if len(request) > 1]
    # A request has a continuation (a choice) or options of generation after its prompt; for perplexity
    # it is one text.
    if requests and not all(isinstance(request[1], str) for request in requests):
        return _first_text(row["resps"]), references
    # For mutual information, the choices come again at the end, after an empty prompt.
    choices = [request[1] for request in requests if request[0] != ""]
    choices = choices or [request[1] for request in requests]
    if len(set(choices)) < 2:
        return "", ()
    likelihoods = [_log_likelihood(response) for response in row["resps"]]
    best = choices[int(np.argmax(likelihoods[: len(choices)]))] if likelihoods else ""
    if str(target).isdecimal() and int(str(target)) < len(choices):
        references = (choices[int(str(target))].strip(),)
    return best.strip(), references


def _requests(row: Mapping[str, Any]) -> list[list[Any]]:
    """The arguments of each request to the model: a context and a continuation, a prompt and options,
    or a text."""
    arguments = row.get("arguments")
    requests = list(arguments.values()) if isinstance(arguments, dict) else arguments
    if not isinstance(requests, list):
        return []
    return [
        list(request.values()) if isinstance(request, dict) else list(request)
        for request in requests
        if isinstance(request, dict | list)
    ]


def _first_text(responses: Sequence[Any]) -> str:
    """The first text in the (nested) list of responses."""
    first: Any = responses
    while isinstance(first, list):
        if not first:
            return ""
        first = first[0]
    return text_of(first)


def _log_likelihood(response: Any) -> float:
    try:
        return float(_first_text([response]))
    except ValueError:
        return float("-inf")


def _prompt(row: Mapping[str, Any]) -> str | None:
    requests = _requests(row)
    return text_of(requests[0][0]) if requests and requests[0] else None


def _document(row: Mapping[str, Any]) -> str | None:
    """The document of the data set as text."""
    document = row.get("doc") or row.get("doc_hash")
    return OBJECT_ADDRESS.sub("", json.dumps(document, sort_keys=True)) if document else None
