"""Reads logs of inspect_ai. There is a log for each task and model; its key `eval` describes the run,
and `samples` has the answers.

The system is the model; if two logs have the same model, task and questions, the file's name is added.
The item is the sample's id, after the task's name if there are several tasks. If logs of one task give
the same ids to other questions, because an argument of the task chooses the data (`-T
subject=anatomy`), this argument comes before the id (`log_parts`). Letter grades count as in
inspect_ai: C (correct) = 1, P (partial) = ½, I (incorrect) and N (no answer) = 0. Samples that ended
with an error and have no completion are left out. A log of an evaluation that did not end is refused.

inspect_ai can shuffle the choices of a question anew in each evaluation, and then the target's letter
changes too. So questions are compared without the order of their choices, and targets by the text of
the choice (`_asked`).

A binary log (`.eval`) is a zip archive with `header.json` and a JSON file for each sample, compressed
by Zstandard or, in older logs, by deflate. Python reads Zstandard from version 3.14 on; earlier
versions need the package `zstandard`, which inspect_ai installs. If a sample is stored in several
files, `sample.json` is read: it has everything except the messages.
"""

from __future__ import annotations

import io
import json
import lzma
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import IO, Any

from wellput.core.errors import InputError, MissingExtra
from wellput.io.compression import max_unpacked_bytes, too_much_unpacked
from wellput.io.files import InputFile
from wellput.io.logged_answers import LoggedAnswer, as_number, text_of

HEADER_ENTRY, SAMPLES_FOLDER, SAMPLE_ENDING = "header.json", "samples/", "/sample.json"
ZIP_METHOD_ZSTANDARD = 93
# The header before an entry's data; it ends with the lengths of the name and of the extra field. The
# bytes of a Zstandard entry are read here, because `zipfile` does not know this method before Python
# 3.14.
ZIP_ENTRY_HEADER = struct.Struct("<26xHH")

UNFINISHED = {
    "started": "has not ended",
    "cancelled": "was cancelled",
    "error": "ended with an error",
}
"""inspect_ai's words for an evaluation that has not answered all samples, each with ours."""
MAX_DISTINGUISHING_SETTINGS = 3
"""At most this many settings of a task together tell its logs apart."""
MAX_SHARED_QUESTIONS = 0.25
"""The largest share of questions that the parts of a task's data (`log_parts`) have in common. If it is
larger, the logs have the same data in another order."""
DATASET_KEY = "name of the data set"

# Errors of zipfile and the modules it uses for damaged data, an unknown compression or a password.
ARCHIVE_ERRORS = (
    zipfile.BadZipFile, ValueError, LookupError, EOFError, OSError, OverflowError, RuntimeError,
    struct.error, zlib.error, lzma.LZMAError,
)  # fmt: skip


def read_archive(file: InputFile) -> dict[str, Any]:
    """The log in the form of inspect_ai's JSON: the header's keys, and `samples`."""
    try:
        with file.seekable() as stream, zipfile.ZipFile(stream) as archive:
            names = archive.namelist()
            check_unpacked_size(archive, file.name)
            if HEADER_ENTRY not in names:
                raise InputError(f"{file.name} has no {HEADER_ENTRY}: the evaluation did not end.")
            wanted = [HEADER_ENTRY, *filter(_is_sample, names)]
            log, *samples = map(json.loads, _entry_contents(archive, stream, wanted, file.name))
    except InputError:
        raise
    except ARCHIVE_ERRORS as error:
        raise InputError(f"{file.name} is damaged, or not a log of inspect_ai: {error}") from None
    return {**log, "samples": samples} if isinstance(log, dict) else {}


def check_unpacked_size(archive: zipfile.ZipFile, name: str) -> None:
    """Raises InputError if the archive's directory says that its entries are too large when
    unpacked."""
    maximum = max_unpacked_bytes()
    size = sum(info.file_size for info in archive.infolist())
    if size > maximum:
        raise too_much_unpacked(name, size, maximum)


def _is_sample(name: str) -> bool:
    """Whether an entry is a sample: `samples/NAME.json`, or `samples/NAME/sample.json`."""
    inside = name.removeprefix(SAMPLES_FOLDER)
    return inside != name and (inside.endswith(SAMPLE_ENDING) or "/" not in inside)


def _entry_contents(
    archive: zipfile.ZipFile, stream: IO[bytes], names: Iterable[str], archive_name: str
) -> Iterator[bytes]:
    """The contents of these entries; raises InputError if they really have more bytes than allowed,
    even if the archive's directory says otherwise."""
    maximum = max_unpacked_bytes()
    total = 0
    for name in names:
        content = _entry_content(archive, stream, name, maximum - total)
        total += len(content)
        if total > maximum:
            raise too_much_unpacked(archive_name, total, maximum)
        yield content


def _entry_content(archive: zipfile.ZipFile, stream: IO[bytes], name: str, max_bytes: int) -> bytes:
    """The content of an entry, unpacked. `stream` is the file of the archive, from which the bytes of
    Zstandard entries are read (see `ZIP_ENTRY_HEADER`)."""
    info = archive.getinfo(name)
    if info.compress_type != ZIP_METHOD_ZSTANDARD:
        return archive.read(info)
    stream.seek(info.header_offset)
    lengths = ZIP_ENTRY_HEADER.unpack(stream.read(ZIP_ENTRY_HEADER.size))
    stream.seek(sum(lengths), io.SEEK_CUR)  # past the name and the extra field
    return _unpacked(stream.read(info.compress_size), max_bytes)


def _unpacked(packed: bytes, max_bytes: int) -> bytes:
    """Decompresses Zstandard data, but at most `max_bytes` + 1 bytes: the additional byte shows that
    there are too many."""
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return _unpacked_by_package(packed, max_bytes)
    try:
        with zstd.open(io.BytesIO(packed)) as reader:
            unpacked: bytes = reader.read(max_bytes + 1)
    except zstd.ZstdError as error:
        raise ValueError(error) from None
    return unpacked


def _unpacked_by_package(packed: bytes, max_bytes: int) -> bytes:
    """Data unpacked by the package zstandard; a little more than `max_bytes` at most."""
    try:
        import zstandard
    except ImportError:
        raise MissingExtra("A log that ends in .eval", "logs") from None
    reader = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
    try:
        unpacked = b""
        # Data may consist of several frames; each call of `read` stops at the end of a frame.
        while len(unpacked) <= max_bytes and (more := reader.read(max_bytes + 1 - len(unpacked))):
            unpacked += more
        return unpacked
    except zstandard.ZstdError as error:
        raise ValueError(error) from None


def is_inspect_log(log: Any) -> bool:
    if not isinstance(log, dict) or not isinstance(log.get("eval"), dict):
        return False
    if "samples" not in log and str(log.get("status")) not in UNFINISHED:
        return False
    samples = log.get("samples") or []
    return isinstance(samples, list) and all(isinstance(sample, dict) for sample in samples)


def inspect_answers(logs: Mapping[str, Any]) -> Iterator[LoggedAnswer]:
    """The answers in these logs; `logs` has the JSON of each file by the file's name."""
    _refuse_unfinished(logs)
    tasks = {name: str(log["eval"].get("task", "")) for name, log in logs.items()}
    models = {
        name: str(log["eval"].get("model", "")) or Path(name).stem for name, log in logs.items()
    }
    parts = {
        name: part
        for task in dict.fromkeys(tasks.values())
        for name, part in log_parts({n: logs[n] for n in logs if tasks[n] == task}).items()
    }
    runs = {name: (tasks[name], parts[name], models[name]) for name in logs}
    n_logs = Counter(runs.values())
    for name, log in logs.items():
        is_alone = n_logs[runs[name]] == 1
        system = models[name] if is_alone else f"{models[name]} ({Path(name).stem})"
        task = tasks[name] if len(set(tasks.values())) > 1 else ""
        prefix = "".join(f"{part}/" for part in (task, parts[name]) if part)
        for sample in log["samples"] or ():
            question, targets = _asked(sample)
            output = _completion(sample.get("output"))
            # An empty completion is an answer, unless the sample ended with an error.
            if output or (output is not None and not sample.get("error")):
                yield LoggedAnswer(
                    item=f"{prefix}{sample.get('id')}",
                    system=system,
                    output=output,
                    source=_input(sample.get("input")),
                    references=_targets(sample.get("target")),
                    scores=dict(_inspect_scores(sample.get("scores"))),
                    question=question,
                    log=name,
                    choices=_choices(sample),
                    targets=targets,
                )


def _refuse_unfinished(logs: Mapping[str, Any]) -> None:
    """Raises InputError that names the logs whose evaluation did not end."""
    unfinished = {n: log for n, log in logs.items() if str(log.get("status")) in UNFINISHED}
    if unfinished:
        raise InputError.collect(
            "No score is made of incomplete logs:",
            [f"{name}: {_state_in_words(log)}" for name, log in unfinished.items()],
            "Complete them (inspect eval-retry LOG), or put them into another folder.",
        )


def _state_in_words(log: Mapping[str, Any]) -> str:
    """What became of an evaluation that did not end, and how many of its samples were answered."""
    data, options = log["eval"].get("dataset"), log["eval"].get("config")
    ids = data.get("sample_ids") if isinstance(data, dict) else None
    epochs = options.get("epochs") if isinstance(options, dict) else None
    n_ids = len(ids) if isinstance(ids, list) else 0
    n_planned = n_ids * epochs if isinstance(epochs, int) else n_ids
    n_answered = sum(not sample.get("error") for sample in log.get("samples") or ())
    of_planned = f" of {n_planned:,}" if n_planned >= n_answered else ""
    return f"the evaluation {UNFINISHED[log['status']]}: {n_answered:,}{of_planned} samples"


def log_parts(logs: Mapping[str, Any]) -> dict[str, str]:
    """The name of the part of a task's data that each log of the task has, by the log's name. It is
    empty if all logs have the same question under the same id; otherwise it consists of the arguments
    of the task that choose the data, or of the data set's name. It is also empty if neither tells the
    data apart."""
    questions = {
        name: {str(sample.get("id")): text_of(_asked(sample)) for sample in log["samples"] or ()}
        for name, log in logs.items()
    }
    settings = {name: _settings(log) for name, log in logs.items()}
    keys = list(dict.fromkeys(key for values in settings.values() for key in values))
    varying = [key for key in keys if len({values.get(key) for values in settings.values()}) > 1]
    for n_keys in range(min(len(varying), MAX_DISTINGUISHING_SETTINGS) + 1):
        for chosen in combinations(varying, n_keys):
            parts = {
                name: ",".join(values[key] for key in chosen if key in values)
                for name, values in settings.items()
            }
            if _are_apart(questions, parts):
                return parts
    return dict.fromkeys(logs, "")


def _settings(log: Mapping[str, Any]) -> dict[str, str]:
    """The arguments of a log's task as `NAME=VALUE`, then the name of its data set, each by its
    key."""
    arguments, data = log["eval"].get("task_args"), log["eval"].get("dataset")
    settings = {
        str(key): f"{key}={text_of(value)}"
        for key, value in (arguments.items() if isinstance(arguments, dict) else ())
    }
    name = data.get("name") if isinstance(data, dict) else None
    return {**settings, **({DATASET_KEY: str(name)} if name else {})}


def _are_apart(questions: Mapping[str, Mapping[str, str]], parts: Mapping[str, str]) -> bool:
    """Whether all logs of a part have the same question under the same id, and the parts have
    different questions. `questions` are those of each log by id, with their targets; `parts` has each
    log's part."""
    by_part: dict[str, dict[str, str]] = {}
    for name, part in parts.items():
        known = by_part.setdefault(part, {})
        for identifier, question in questions[name].items():
            if known.setdefault(identifier, question) != question:
                return False
    n_in_parts = sum(len(set(known.values())) for known in by_part.values())
    n_questions = len({question for known in by_part.values() for question in known.values()})
    return n_in_parts - n_questions <= MAX_SHARED_QUESTIONS * n_in_parts


def _asked(sample: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """What a sample asks (its input and its choices), and the targets; equal for equal questions.

    The choices are sorted, and the targets are the texts of the right choices. If a target is not one
    of the choices, the order is kept, because the target may speak of it ("the first").
    """
    text = _input(sample.get("input")) or ""
    choices, targets = _choices(sample), _targets(sample.get("target"))
    if not choices:
        return text, tuple(sorted(targets))
    right_choices = [_named_choice(target, choices) for target in targets]
    right_texts = tuple(sorted(choice for choice in right_choices if choice is not None))
    if len(right_texts) < len(targets):
        return f"{text} {text_of(choices)}", tuple(sorted(targets))
    return f"{text} {text_of(sorted(choices))}", right_texts


def _choices(sample: Mapping[str, Any]) -> tuple[str, ...]:
    """The choices of a multiple-choice question in the order of the log; empty for other questions."""
    choices = sample.get("choices") or []
    return tuple(map(text_of, choices if isinstance(choices, list) else [choices]))


def _named_choice(target: str, choices: Sequence[str]) -> str | None:
    """The text of the choice that a target names by its letter, or by its text; None if it names none.

    >>> _named_choice("B", ["Rome", "Paris"]), _named_choice("Rome", ["Rome", "Paris"])
    ('Paris', 'Rome')
    """
    letters = [chr(ord("A") + place) for place in range(len(choices))]
    if target.upper() in letters:
        return choices[letters.index(target.upper())]
    return target if target in choices else None


def _completion(output: Any) -> str | None:
    """The text of an output: its `completion`, or the message of its first choice; None if it has
    neither."""
    if not isinstance(output, dict):
        return None
    if isinstance(output.get("completion"), str):
        return str(output["completion"])
    choices = output.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    message = choices[0].get("message")
    return _content(message.get("content")) if isinstance(message, dict) else None


def _content(content: Any) -> str:
    """The text of a message, whose content is a text or a list of parts."""
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict))
        return "\n".join(str(text) for text in texts if text is not None)
    return "" if content is None else str(content)


def _input(given: Any) -> str | None:
    """A sample's input as text: the text itself, or the messages of a chat, one a line."""
    if isinstance(given, list):
        return "\n".join(_content(m.get("content")) for m in given if isinstance(m, dict))
    return None if given is None else text_of(given)


def _targets(target: Any) -> tuple[str, ...]:
    if isinstance(target, list):
        return tuple(text_of(text) for text in target if text != "")
    return () if target in (None, "") else (text_of(target),)


def _inspect_scores(scores: Any) -> Iterator[tuple[str, float]]:
    """Every score that is a number or a grade; the scores in a dictionary are named SCORER.KEY."""
    for name, score in scores.items() if isinstance(scores, dict) else ():
        value = score.get("value") if isinstance(score, dict) else score
        parts = value.items() if isinstance(value, dict) else [("", value)]
        for key, part in parts:
            number = as_number(part)
            if number is not None:
                yield (f"{name}.{key}" if key else name), number
