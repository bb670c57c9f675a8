"""Stores runs (calls of `score` with their scores) in a folder: each run is a Parquet file, named by
time and id, with a row for each score.

Every row repeats the data of the whole run, so that the folder can be queried as one table. A file
appears only when it is complete, and each program writes files of its own, so any number of programs
may store runs at once. Other files in the folder are ignored.
"""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wellput.core.errors import InputError, OutputError, counted
from wellput.core.scores import Run, RunScore
from wellput.io.files import PathLike
from wellput.io.output import check_writable, refuse_url, replacing
from wellput.io.parquet import import_pyarrow

RUN_FORMAT_VERSION = 1
"""Increased when an older wellput would misread new files. It is not increased for a new
column, because unknown columns are ignored."""

FORMAT_KEY = b"wellput.run"
VERSION_KEY = b"wellput.version"
"""The keys in a file's metadata of `RUN_FORMAT_VERSION` and of wellput's version."""
RUN_FILE_NAME = re.compile(r"(\d{8})-(\d{6})-(\d{6})-([0-9a-f]{8})\.parquet")


class UnreadableRun(InputError):
    """A file that cannot be read as a run; `reason` completes a sentence that begins with the file's
    name, such as "is damaged"."""

    def __init__(self, path: Path, reason: str, advice: str = "") -> None:
        super().__init__(f"{path} {reason}.{advice and ' '}{advice}")
        self.path = path
        self.reason = reason


def check_store(folder: PathLike) -> None:
    """Raises an error if runs cannot be stored in the folder; called before scoring begins."""
    import_pyarrow("Storing and reading runs")
    refuse_url(folder)
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise OutputError(f"Cannot store runs in {folder}: it is not a folder.")
    if not target.exists():
        try:
            check_writable(target)
        except OutputError:
            if not target.is_dir():  # another process may have made it meanwhile
                raise
    if target.is_dir():
        check_writable(target / "run.parquet")


def write_run(folder: PathLike, run: Run) -> Run:
    """Stores the run in the folder, which is made if needed; returns the run with its id."""
    check_store(folder)
    target = Path(folder)
    try:
        target.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"Cannot make the folder {folder}: {error.strerror}.") from None
    used_ids = {_id_in(path) for path in run_paths(target)}
    while (run_id := secrets.token_hex(4)) in used_ids:
        pass
    stored = replace(run, id=run_id)
    time = run.time.astimezone(UTC).strftime("%Y%m%d-%H%M%S-%f")
    with replacing(target / f"{time}-{run_id}.parquet") as file:
        _write(file, stored)
    return stored


def run_paths(folder: PathLike) -> list[Path]:
    """The files in the folder that have the names of runs, newest first."""
    try:
        paths = [path for path in Path(folder).iterdir() if RUN_FILE_NAME.fullmatch(path.name)]
    except OSError as error:
        raise InputError(
            f"No runs can be read from {folder}: {error.strerror}. Runs are stored by "
            "`wellput score … --runs FOLDER`, in Python by `wellput.score(…, runs=FOLDER)`."
        ) from None
    return sorted(paths, reverse=True)


def find_run(folder: PathLike, name: str) -> Run:
    """The only run whose id begins with `name`; `@1` is the newest run, `@2` the second newest. Raises
    InputError if no run or several runs match."""
    ids = {path: _id_in(path) for path in run_paths(folder)}
    matching = [
        path
        for place, (path, run_id) in enumerate(ids.items(), 1)
        if name == f"@{place}" or run_id.startswith(name.lower())
    ]
    if not name or not matching:
        raise InputError(
            f"No run {name!r} in {folder}, which holds {counted(len(ids), 'run')}. "
            "See: wellput runs list"
        )
    if len(matching) > 1:
        raise InputError.collect(
            f"{len(matching)} runs begin with {name}:",
            [f"{ids[path]} of {_time_in(path)}" for path in matching],
            "Give more of the id.",
        )
    return read_run(matching[0])


def read_runs(
    folder: PathLike, *, last: int | None = None
) -> tuple[list[Run], list[UnreadableRun]]:
    """The `last` newest readable runs of the folder (all if `last` is None), newest first; and an error
    for each file that could not be read and is newer than the last of these runs."""
    runs: list[Run] = []
    unreadable: list[UnreadableRun] = []
    for path in run_paths(folder):
        if len(runs) == last:
            break
        try:
            runs.append(read_run(path))
        except UnreadableRun as error:
            unreadable.append(error)
    return runs, unreadable


def read_run(path: Path) -> Run:
    """The run in a file; raises UnreadableRun if the file is damaged, was not written by wellput, or
    was written by a later version of wellput."""
    pyarrow, parquet = import_pyarrow("Storing and reading runs")
    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            _check_format(path, file.schema_arrow.metadata or {})
            rows = file.read().to_pylist()
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise UnreadableRun(path, f"is damaged ({_first_line(error)})") from None
    try:
        return _run(rows)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise UnreadableRun(path, f"is damaged (it lacks {error})") from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")


def _id_in(path: Path) -> str:
    """The id in the name of a run's file."""
    return path.stem.rpartition("-")[2]


def _time_in(path: Path) -> str:
    """The time in the name of a run's file, without the microseconds."""
    time = datetime.strptime(path.stem[: len("YYYYmmdd-HHMMSS")], "%Y%m%d-%H%M%S")
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"


def _check_format(path: Path, metadata: Mapping[bytes, bytes]) -> None:
    """Raises UnreadableRun unless the file's metadata say that this wellput can read it."""
    if FORMAT_KEY not in metadata:
        raise UnreadableRun(path, "was not stored by wellput")
    written = metadata[FORMAT_KEY].decode(errors="replace")
    if written != str(RUN_FORMAT_VERSION):
        writer = metadata.get(VERSION_KEY, b"?").decode(errors="replace")
        raise UnreadableRun(
            path, f"was stored by a later wellput ({writer})", "Update wellput to read it."
        )


RUN_COLUMNS = tuple(field.name for field in fields(Run) if field.name not in ("id", "scores"))
SCORE_COLUMNS = tuple(field.name for field in fields(RunScore))


def _write(file: Any, run: Run) -> None:
    """Writes the rows of a run, one for each score, as Parquet."""
    pyarrow, parquet = import_pyarrow("Storing and reading runs")
    schema = _schema(pyarrow, run.wellput)
    run_values = {
        "run": run.id,
        **{name: getattr(run, name) for name in RUN_COLUMNS},
        "seed": str(run.seed),
    }
    rows = [_storable({**run_values, **asdict(score)}) for score in run.scores]
    table = pyarrow.Table.from_pylist(rows, schema=schema)
    parquet.write_table(table, file, write_page_checksum=True)


def _storable(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with values that Parquet can store: NaN becomes null, and a single surrogate becomes its
    escape."""
    return {name: _value(value) for name, value in row.items()}


def _value(value: Any) -> Any:
    """A value that Parquet can store (see `_storable`)."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, Mapping):
        return [(_value(key), _value(entry)) for key, entry in value.items()]
    return value


def _run(rows: Sequence[Mapping[str, Any]]) -> Run:
    """The run in the rows of a file."""
    first = rows[0]
    run_values = _values({**first, "id": first["run"], "scores": ()}, Run)
    return Run(
        **{**run_values, "seed": int(first["seed"]), "scores": tuple(_score(row) for row in rows)}
    )


def _values(row: Mapping[str, Any], kind: type[Run] | type[RunScore]) -> dict[str, Any]:
    """The values of the class's fields. A field with a default may be missing from the row, because an
    earlier version of wellput wrote the file; any other missing field raises KeyError."""
    return {
        field.name: row[field.name]
        for field in fields(kind)
        if field.name in row or (field.default is MISSING and field.default_factory is MISSING)
    }


def _score(row: Mapping[str, Any]) -> RunScore:
    """The score in a row."""
    values = _values(row, RunScore)
    for name in ("components", "p_against"):
        values[name] = {key: _nan_if_null(value) for key, value in values.get(name, ())}
    values["undefined_reasons"] = dict(values.get("undefined_reasons", ()))
    return RunScore(**{**values, "score": _nan_if_null(row["score"])})


def _nan_if_null(value: float | None) -> float:
    return math.nan if value is None else value


def _schema(pyarrow: Any, version: str) -> Any:
    """The names and types of the columns; `version` is that of wellput."""
    text, number, integer = pyarrow.string(), pyarrow.float64(), pyarrow.int64()
    numbers = pyarrow.map_(text, number)
    types = {
        "time": pyarrow.timestamp("us", tz="UTC"),
        **dict.fromkeys(["higher_is_better", "is_worse", "p_is_bound"], pyarrow.bool_()),
        "p_against": numbers,
        "components": numbers,
        "undefined_reasons": pyarrow.map_(text, integer),
        **dict.fromkeys(["items", "resamples", "skipped", "n", "n_common"], integer),
        **dict.fromkeys(["undefined", "left_out"], integer),
        **dict.fromkeys(["confidence", "alpha", "score", "low", "high"], number),
        **dict.fromkeys(["delta", "delta_low", "delta_high", "p_value", "p_adjusted"], number),
        **dict.fromkeys(["effect_size", "equivalence_p", "equivalence_p_adjusted"], number),
    }
    # The seed is text because it may be larger than Parquet's integers.
    columns = [(name, types.get(name, text)) for name in ("run", *RUN_COLUMNS, *SCORE_COLUMNS)]
    metadata = {FORMAT_KEY: str(RUN_FORMAT_VERSION).encode(), VERSION_KEY: version.encode()}
    return pyarrow.schema(columns, metadata=metadata)
