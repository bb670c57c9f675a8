"""Reads logs of OpenAI evals as evaluation sets. `oaieval MODEL EVAL --record_path LOG.jsonl` writes
JSONL with a line for the run (`spec`), a line for each event, and a line for the report. A path may
be such a file or a folder of them.

The system is the run's completion function (a model, or a function that calls one), with the file's
name if two logs have the same function.
An item is a sample of the log. Its output is the first sampled text; later texts are those of a
grader model. Its references are the expected texts of `match` events. The scores are `match` (1 or 0)
and the numbers in events of the type `metrics`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from wellput.core.errors import Problems, WellputError
from wellput.core.evalset import EvalSet
from wellput.io.files import InputFile, PathLike
from wellput.io.jsonl import read_json_lines
from wellput.io.locations import visible_entries
from wellput.io.logged_answers import LoggedAnswer, as_number, evalset_of_answers, text_of

LOG_SUFFIX = ".jsonl"


def knows(path: PathLike) -> bool:
    """Whether the path is such a log, or a folder whose first file is one."""
    files = _files(Path(path))
    return bool(files) and _spec(files[0]) is not None


def open_evalset(path: PathLike) -> EvalSet:
    """The items of all logs, with every model's answers."""
    files = [file for file in _files(Path(path)) if _spec(file) is not None]
    return evalset_of_answers(_answers(files), str(path), is_same=_has_same_prompt)


def _has_same_prompt(answer: LoggedAnswer, other: LoggedAnswer) -> bool:
    """Whether two prompts have the same question: a completion function may put more text around
    it."""
    first, second = answer.source or "", other.source or ""
    return first in second or second in first


def _files(path: Path) -> list[Path]:
    entries = visible_entries(path) if path.is_dir() else [path]
    return [file for file in entries if InputFile(file).suffix == LOG_SUFFIX and file.is_file()]


def _spec(path: Path) -> Mapping[str, Any] | None:
    """The object `spec` of the first line, which describes the run; None if the file is not such a
    log."""
    try:
        line = next(iter(InputFile(path).lines()), "")
        spec = json.loads(line).get("spec") if '"spec"' in line else None
    except (WellputError, OSError, ValueError, AttributeError):
        return None
    is_run = isinstance(spec, dict) and ("completion_fns" in spec or "eval_name" in spec)
    return spec if is_run else None


def _answers(files: Sequence[Path]) -> Iterator[LoggedAnswer]:
    """The answers in all files. The system is the model or, if several files have the same model, the
    model and the name of the file."""
    models = {file: _model(_spec(file) or {}) for file in files}
    runs = Counter(models.values())
    for file, model in models.items():
        system = (
            model if model and runs[model] == 1 else ", ".join(filter(None, (model, file.stem)))
        )
        problems = Problems(str(file))
        samples: dict[str, list[Mapping[str, Any]]] = {}
        for _, event in read_json_lines(InputFile(file), problems):
            if event.get("sample_id") is not None and isinstance(event.get("data"), dict):
                samples.setdefault(text_of(event["sample_id"]), []).append(event)
        problems.raise_if_any()
        for sample, events in samples.items():
            if (answer := _answer(sample, system, events)) is not None:
                yield replace(answer, log=str(file))


def _model(spec: Mapping[str, Any]) -> str:
    names = spec.get("completion_fns") or spec.get("model_name") or ""
    return ", ".join(map(str, names)) if isinstance(names, list) else str(names)


def _answer(item: str, system: str, events: Sequence[Mapping[str, Any]]) -> LoggedAnswer | None:
    """The answer that an item's events describe; None if nothing was sampled."""
    source: str | None = None
    outputs: list[str] = []
    references: list[str] = []
    scores: dict[str, float] = {}
    for event in events:
        data = event["data"]
        if (sampled := _first(data.get("sampled"))) is not None:
            outputs.append(sampled)
        if event.get("type") == "sampling" and source is None:
            source = _last_message(data.get("prompt"))
        elif event.get("type") == "match":
            if isinstance(data.get("correct"), bool):
                scores["match"] = float(data["correct"])
            expected = data.get("expected")
            values = expected if isinstance(expected, list) else [expected]
            references += [text_of(value) for value in values if value is not None]
        elif event.get("type") == "metrics":
            numbers = {n: as_number(v) for n, v in data.items() if not isinstance(v, str)}
            scores |= {n: number for n, number in numbers.items() if number is not None}
    if not outputs:
        return None
    return LoggedAnswer(item, system, outputs[0], source, tuple(references), scores)


def _first(sampled: Any) -> str | None:
    """The sampled text, or the first of several sampled texts; None if there is no text."""
    first = sampled[0] if isinstance(sampled, list) and sampled else sampled
    return first if isinstance(first, str) else None


def _last_message(prompt: Any) -> str | None:
    """The prompt if it is a text, or the last message if it is a conversation."""
    if isinstance(prompt, list) and prompt and isinstance(prompt[-1], dict):
        prompt = prompt[-1].get("content")
    return prompt if isinstance(prompt, str) else None
