"""Logs of inspect_ai and promptfoo, which evaluate language models, as evaluation sets.

Both formats are read as `LoggedAnswer`s. Several answers to one item (epochs, repeats) become one: the
first text, the mean of each score.

inspect_ai writes one log for each task and model, with `eval` about the run and its `samples`. The
system is the model; if two logs have the same model and task, the file's name is added. The item is
the sample's id, after the task's name if there are several tasks. Letter grades count as in
inspect_ai: C (correct) = 1, P (partial) = ½, I (incorrect) and N (no answer) = 0. Samples that ended
with an error and have no completion are left out.
A binary log (`.eval`) is a zip archive with `header.json` and a JSON file for each sample, compressed
by Zstandard or, in older logs, by deflate. Python reads Zstandard from 3.14 on; before, the package
`zstandard` does, which inspect_ai installs. If a sample is stored in several files, `sample.json` is
read: it has everything except the messages.

promptfoo writes its results as JSON (`promptfoo eval --output results.json`). The system is the
provider, with the prompt's label if there are several prompts; the item is the test. References are
the values of the assertions that compare with a text. The scores are `score`, `pass` (1 or 0), and
the named scores.
"""

from __future__ import annotations

import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from wellput.core.errors import InputError, MissingExtra
from wellput.core.evalset import EvalSet, Item
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.locations import is_url


@dataclass(frozen=True)
class LoggedAnswer:
    """One answer of a system to an item, with its references and scores from the log."""

    item: str
    system: str
    output: str
    source: str | None = None
    references: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)


def text_of(value: object) -> str:
    """A text unchanged; any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


HEADER_MEMBER, SAMPLES_FOLDER, SAMPLE_MEMBER = "header.json", "samples/", "/sample.json"
ZIP_METHOD_ZSTANDARD = 93
# The header before an entry's data; it ends with the lengths of the name and of the extra field. The
# bytes of a Zstandard entry are read by hand: zipfile before Python 3.14 does not know this method.
ZIP_ENTRY_HEADER = struct.Struct("<26xHH")

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
            if HEADER_MEMBER not in names:
                raise InputError(f"{file.name} has no {HEADER_MEMBER}: the evaluation did not end.")
            log = json.loads(_member(archive, stream, HEADER_MEMBER))
            samples = [
                json.loads(_member(archive, stream, name)) for name in names if _is_sample(name)
            ]
    except InputError:
        raise
    except ARCHIVE_ERRORS as error:
        raise InputError(f"{file.name} is damaged, or not a log of inspect_ai: {error}") from None
    return {**log, "samples": samples} if isinstance(log, dict) else {}


def _is_sample(name: str) -> bool:
    inside = name.removeprefix(SAMPLES_FOLDER)
    return inside != name and (inside.endswith(SAMPLE_MEMBER) or "/" not in inside)


def _member(archive: zipfile.ZipFile, stream: IO[bytes], name: str) -> bytes:
    info = archive.getinfo(name)
    if info.compress_type != ZIP_METHOD_ZSTANDARD:
        return archive.read(info)
    stream.seek(info.header_offset)
    lengths = ZIP_ENTRY_HEADER.unpack(stream.read(ZIP_ENTRY_HEADER.size))
    stream.seek(sum(lengths), 1)
    return _unpacked(stream.read(info.compress_size))


def _unpacked(packed: bytes) -> bytes:
    """Decompresses Zstandard data of one frame or several."""
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return _unpacked_by_package(packed)
    try:
        unpacked: bytes = zstd.decompress(packed)
    except zstd.ZstdError as error:
        raise ValueError(error) from None
    return unpacked


def _unpacked_by_package(packed: bytes) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise MissingExtra("A log that ends in .eval", "logs") from None
    reader = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
    try:
        return bytes(reader.read())
    except zstandard.ZstdError as error:
        raise ValueError(error) from None


GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
WORD_GRADES = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def is_inspect_log(log: Any) -> bool:
    if not isinstance(log, dict) or not isinstance(log.get("eval"), dict) or "samples" not in log:
        return False
    return all(isinstance(sample, dict) for sample in log["samples"] or ())


def inspect_answers(logs: Mapping[str, Any]) -> Iterator[LoggedAnswer]:
    """The answers in these logs; `logs` has them by file name."""
    tasks = {name: str(log["eval"].get("task", "")) for name, log in logs.items()}
    models = {
        name: str(log["eval"].get("model", "")) or Path(name).stem for name, log in logs.items()
    }
    pairs = [(tasks[name], models[name]) for name in logs]
    for name, log in logs.items():
        is_alone = pairs.count((tasks[name], models[name])) == 1
        system = models[name] if is_alone else f"{models[name]} ({Path(name).stem})"
        prefix = f"{tasks[name]}/" if len(set(tasks.values())) > 1 else ""
        for sample in log["samples"] or ():
            output = _completion(sample.get("output"))
            if output or (output is not None and not sample.get("error")):
                yield LoggedAnswer(
                    item=f"{prefix}{sample.get('id')}",
                    system=system,
                    output=output,
                    source=_input(sample.get("input")),
                    references=_targets(sample.get("target")),
                    scores=dict(_inspect_scores(sample.get("scores"))),
                )


def _completion(output: Any) -> str | None:
    """The answer: `completion`, or the message of the first choice."""
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
    """A sample's input: a text, or the messages of a chat."""
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


def as_number(value: Any) -> float | None:
    """The number of a score or a grade; None for other values.

    >>> as_number("C"), as_number(True), as_number("No"), as_number("0.25"), as_number("hm")
    (1.0, 1.0, 0.0, 0.25, None)
    """
    if isinstance(value, bool | int | float):
        return float(value)
    if not isinstance(value, str):
        return None
    known = GRADES.get(value, WORD_GRADES.get(value.lower()))
    if known is not None:
        return known
    try:
        return float(value)
    except ValueError:
        return None


COMPARING_ASSERTIONS = ("equals", "similar", "rouge-n", "bleu", "gleu", "meteor", "levenshtein")


def is_promptfoo_log(log: Any) -> bool:
    return isinstance(log, dict) and _promptfoo_rows(log) is not None


def promptfoo_answers(log: Any) -> Iterator[LoggedAnswer]:
    """The answers in a file of results; rows of failed calls, which have no output, are left out."""
    rows = _promptfoo_rows(log) or []
    prompts = {_prompt_label(row) for row in rows}
    for row in rows:
        response, case = row.get("response"), row.get("testCase") or {}
        if not isinstance(response, dict) or response.get("output") is None:
            continue
        variables = row.get("vars") or case.get("vars") or {}
        provider = row.get("provider")
        name = (
            provider.get("label") or provider.get("id") if isinstance(provider, dict) else provider
        )
        yield LoggedAnswer(
            item=_test_name(row, variables),
            system=f"{name} / {_prompt_label(row)}" if len(prompts) > 1 else str(name),
            output=text_of(response["output"]),
            source=json.dumps(variables, ensure_ascii=False) if variables else None,
            references=tuple(_promptfoo_references(case.get("assert"))),
            scores=_promptfoo_scores(row),
        )


def _promptfoo_rows(log: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    results = log.get("results")
    rows = results.get("results") if isinstance(results, dict) else results
    is_list = isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
    return rows if is_list else None


def _test_name(row: Mapping[str, Any], variables: Mapping[str, Any]) -> str:
    """The number of the test from 1; its variables in older files, which have no numbers."""
    if isinstance(row.get("testIdx"), int):
        return str(row["testIdx"] + 1)
    return json.dumps(variables, ensure_ascii=False, sort_keys=True)


def _prompt_label(row: Mapping[str, Any]) -> str:
    prompt = row.get("prompt")
    label = prompt.get("label") if isinstance(prompt, dict) else None
    return str(label or row.get("promptIdx", ""))


def _promptfoo_references(assertions: Any) -> Iterator[str]:
    for assertion in assertions or ():
        if isinstance(assertion, dict) and assertion.get("type") in COMPARING_ASSERTIONS:
            value = assertion.get("value")
            for text in value if isinstance(value, list) else [value]:
                if text is not None:
                    yield text_of(text)


def _promptfoo_scores(row: Mapping[str, Any]) -> dict[str, float]:
    named = row.get("namedScores") or {}
    given = {"score": row.get("score"), "pass": row.get("success"), **named}
    numbers = (bool, int, float)
    return {name: float(value) for name, value in given.items() if isinstance(value, numbers)}


ARCHIVE_SUFFIX = ".eval"
LOG_SUFFIXES = (".json", ARCHIVE_SUFFIX)


def knows(path: PathLike) -> bool:
    """Whether the path has the name of a log, or is a folder of inspect_ai's logs."""
    given = Path(path)
    if given.is_dir():
        return any(InputFile(file).suffix in LOG_SUFFIXES for file in given.iterdir())
    return InputFile(path).suffix in LOG_SUFFIXES and not is_url(str(path))


def open_evalset(path: PathLike) -> EvalSet:
    """The items of one log, or of all logs of a folder, with every system's answers."""
    given = Path(path)
    inside = sorted(given.iterdir()) if given.is_dir() else [given]
    files = [file for file in inside if InputFile(file).suffix in LOG_SUFFIXES]
    logs = {str(file): _loaded(InputFile(file)) for file in files}
    if all(is_inspect_log(log) for log in logs.values()):
        return evalset_of(inspect_answers(logs), str(path))
    if len(logs) == 1 and is_promptfoo_log(next(iter(logs.values()))):
        return evalset_of(promptfoo_answers(*logs.values()), str(path))
    raise InputError(
        f"{path} is neither a log of inspect_ai (an object with eval and samples) nor one of promptfoo "
        "(an object with results). An evaluation set has one item a line and ends in .jsonl."
    )


def evalset_of(answers: Iterable[LoggedAnswer], name: str) -> EvalSet:
    """The items in the order of their first answers."""
    found: dict[str, dict[str, list[LoggedAnswer]]] = {}
    for answer in answers:
        found.setdefault(answer.item, {}).setdefault(answer.system, []).append(answer)
    if not found:
        raise InputError(f"{name} holds no samples with an output.")
    return EvalSet(_item(identifier, systems) for identifier, systems in found.items())


def _item(identifier: str, systems: Mapping[str, Sequence[LoggedAnswer]]) -> Item:
    every = [answer for answers in systems.values() for answer in answers]
    references = dict.fromkeys(text for answer in every for text in answer.references)
    return Item(
        identifier,
        {system: answers[0].output for system, answers in systems.items()},
        tuple(references),
        source=next((answer.source for answer in every if answer.source), None),
        logged={system: dict(_means(answers)) for system, answers in systems.items()},
    )


def _means(answers: Sequence[LoggedAnswer]) -> Iterator[tuple[str, float]]:
    for name in dict.fromkeys(name for answer in answers for name in answer.scores):
        values = [answer.scores[name] for answer in answers if name in answer.scores]
        yield name, sum(values) / len(values)


def _loaded(file: InputFile) -> Any:
    check_readable(file)
    if file.suffix == ARCHIVE_SUFFIX:
        return read_archive(file)
    try:
        with file.seekable() as stream:
            return json.load(stream)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file.name} is not JSON: {error}") from None
