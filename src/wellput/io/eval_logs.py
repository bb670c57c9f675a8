"""Logs of tools that evaluate language models, as evaluation sets: JSON of inspect_ai, promptfoo,
DeepEval and ragas, a file or a folder of them. `ragas_logs` also reads tables of ragas, `lm_eval_logs`
the samples of lm-evaluation-harness.

Each format has its module, which turns it into `LoggedAnswer`s.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet
from wellput.io.deepeval_logs import deepeval_answers, is_deepeval_log
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.inspect_logs import inspect_answers, is_inspect_log, read_archive
from wellput.io.locations import is_url
from wellput.io.logged_answers import evalset_of
from wellput.io.promptfoo_logs import is_promptfoo_log, promptfoo_answers
from wellput.io.ragas_logs import is_ragas_table, ragas_answers, ragas_rows, read_table

ARCHIVE_SUFFIX = ".eval"
LOG_SUFFIXES = (".json", ARCHIVE_SUFFIX)


def knows(path: PathLike) -> bool:
    """Whether the path has the name of a log, or is a folder of logs."""
    given = Path(path)
    if given.is_dir():
        inside = sorted(given.iterdir())
        has_log = any(InputFile(file).suffix in LOG_SUFFIXES for file in inside)
        return has_log or any(
            is_ragas_table(file) for file in inside[:1]
        )  # there may be many tables
    return not is_url(str(path)) and _is_log(given)


def _is_log(path: Path) -> bool:
    return InputFile(path).suffix in LOG_SUFFIXES or is_ragas_table(path)


def open_evalset(path: PathLike) -> EvalSet:
    """The items of one log, or of all logs of a folder, with every system's answers."""
    given = Path(path)
    inside = sorted(given.iterdir()) if given.is_dir() else [given]
    logs = {str(file): _loaded(InputFile(file)) for file in inside if _is_log(file)}
    found = list(logs.values())
    if all(is_inspect_log(log) for log in found):
        return evalset_of(inspect_answers(logs), str(path))
    if len(logs) == 1 and is_promptfoo_log(found[0]):
        return evalset_of(promptfoo_answers(found[0]), str(path))
    if all(is_deepeval_log(log) for log in found):
        return evalset_of(deepeval_answers(logs), str(path))
    rows = {name: ragas_rows(log) for name, log in logs.items()}
    if all(rows.values()):
        return evalset_of(ragas_answers(rows), str(path))
    raise InputError(
        f"{path} is no log of inspect_ai (an object with eval and samples), promptfoo (an object with "
        "results), DeepEval (an object with testCases) or ragas (rows with user_input and response). "
        "An evaluation set has one item a line and ends in .jsonl."
    )


def _loaded(file: InputFile) -> Any:
    check_readable(file)
    if file.suffix == ARCHIVE_SUFFIX:
        return read_archive(file)
    if file.suffix != ".json":
        return read_table(file)
    try:
        return json.loads(file.whole())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file.name} is not JSON: {error}") from None
