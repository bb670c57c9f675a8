"""NLTK's sample of the Penn Treebank: a tenth of the Wall Street Journal sections."""

from __future__ import annotations

import re
import zipfile
from pathlib import PurePosixPath

from benchmarks.data import data_path
from wellput.core.tree import Constituent
from wellput.io.trees import parse_constituent

TREEBANK = "corpora/treebank.zip"


def constituents() -> dict[int, list[Constituent]]:
    """The sentences of each file, by the file's number: 1 for `wsj_0001.mrg`."""
    found = {}
    with zipfile.ZipFile(data_path(TREEBANK)) as archive:
        for name in sorted(name for name in archive.namelist() if name.endswith(".mrg")):
            text = archive.read(name).decode("ascii")
            brackets = [one for one in re.split(r"^(?=\()", text, flags=re.M) if one.strip()]
            found[file_number(name)] = list(map(parse_constituent, brackets))
    return found


def file_number(name: str) -> int:
    """1 for `wsj_0001.mrg`."""
    return int(re.sub(r"\D", "", PurePosixPath(name).stem))
