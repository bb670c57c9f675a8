"""Segment scores in files: the header `system,item,metric,score`, in CSV, TSV, JSONL or Parquet.

An undefined score (NaN) is an empty cell, or null where the format has it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.problems import Problems
from wellput.io.tables import RowSink, read_records, writing_table

HEADER = ("system", "item", "metric", "score")


class SegmentScore(NamedTuple):
    """One metric's score of one system's output for one item; NaN is undefined."""

    system: str
    item: str
    metric: str
    score: float


class SegmentWriter:
    """Takes scores block by block, as they are computed."""

    def __init__(self, sink: RowSink) -> None:
        self._sink = sink

    def write(
        self, system: str, items: Sequence[str], metric: str, scores: Iterable[float]
    ) -> None:
        """The scores of one system and metric for some items, in the same order."""
        self._sink.write(
            (system, item, metric, None if math.isnan(score) else float(score))
            for item, score in zip(items, scores, strict=True)
        )


@contextmanager
def writing_segments(path: PathLike) -> Iterator[SegmentWriter]:
    """A writer whose file replaces `path` when the block ends well; `-` is CSV on stdout."""
    with writing_table(path, HEADER, numbers=["score"]) as sink:
        yield SegmentWriter(sink)


def read_segments(path: PathLike) -> Iterator[SegmentScore]:
    """The scores of a file in order. Raises InputError in the end for all bad rows."""
    file = InputFile(path)
    check_readable(file)
    problems = Problems(file.name)
    unit = "row" if file.suffix == ".parquet" else "line"
    for number, record in read_records(file, problems, HEADER):
        score = record["score"]
        try:
            value = math.nan if score in ("", None) else float(score)
        except (TypeError, ValueError):
            problems.add(f"{unit} {number}", f"the score {score!r} is not a number")
            continue
        names = [str(record[name]) for name in HEADER[:3]]
        if not all(names):
            problems.add(f"{unit} {number}", "system, item and metric must not be empty")
        elif not problems:
            yield SegmentScore(names[0], names[1], names[2], value)
    problems.raise_if_any()
