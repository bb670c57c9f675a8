"""Reads logs of inspect_ai. There is a log for each task and model; its key `eval` describes the run,
and `samples` has the answers.

The system is the model; if two logs have the same model and task, the file's name is added. The item is
the sample's id, after the task's name if there are several tasks. Letter grades count as in
inspect_ai: C (correct) = 1, P (partial) = ½, I (incorrect) and N (no answer) = 0. Samples that ended
with an error and have no completion are left out.

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
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from wellput.core.errors import InputError, MissingExtra
from wellput.io.compression import max_unpacked_bytes, too_much_unpacked
from wellput.io.files import InputFile
from wellput.io.logged_answers import LoggedAnswer, as_number, text_of

HEADER_MEMBER, SAMPLES_FOLDER, SAMPLE_MEMBER = "header.json", "samples/", "/sample.json"
ZIP_METHOD_ZSTANDARD = 93
# The header before an entry's data; it ends with the lengths of the name and of the extra field. The
# bytes of a Zstandard entry are read here, because `zipfile` does not know this method before Python
# 3.14.
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
            check_unpacked_size(archive, file.name)
            if HEADER_MEMBER not in names:
                raise InputError(f"{file.name} has no {HEADER_MEMBER}: the evaluation did not end.")
            wanted = [HEADER_MEMBER, *filter(_is_sample, names)]
            log, *samples = map(json.loads, _members(archive, stream, wanted, file.name))
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
    return inside != name and (inside.endswith(SAMPLE_MEMBER) or "/" not in inside)


def _members(
    archive: zipfile.ZipFile, stream: IO[bytes], names: Iterable[str], archive_name: str
) -> Iterator[bytes]:
    """The contents of these entries; raises InputError if they really have more bytes than allowed,
    even if the archive's directory says otherwise."""
    maximum = max_unpacked_bytes()
    total = 0
    for name in names:
        content = _member(archive, stream, name, maximum - total)
        total += len(content)
        if total > maximum:
            raise too_much_unpacked(archive_name, total, maximum)
        yield content


def _member(archive: zipfile.ZipFile, stream: IO[bytes], name: str, max_bytes: int) -> bytes:
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
    if not isinstance(log, dict) or not isinstance(log.get("eval"), dict) or "samples" not in log:
        return False
    return all(isinstance(sample, dict) for sample in log["samples"] or ())


def inspect_answers(logs: Mapping[str, Any]) -> Iterator[LoggedAnswer]:
    """The answers in these logs; `logs` has the JSON of each file by the file's name."""
    tasks = {name: str(log["eval"].get("task", "")) for name, log in logs.items()}
    models = {
        name: str(log["eval"].get("model", "")) or Path(name).stem for name, log in logs.items()
    }
    n_logs = Counter((tasks[name], models[name]) for name in logs)
    for name, log in logs.items():
        is_alone = n_logs[tasks[name], models[name]] == 1
        system = models[name] if is_alone else f"{models[name]} ({Path(name).stem})"
        prefix = f"{tasks[name]}/" if len(set(tasks.values())) > 1 else ""
        for sample in log["samples"] or ():
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
                )


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
