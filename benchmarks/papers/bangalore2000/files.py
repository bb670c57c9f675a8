"""Writes the files that the commands on the page of Bangalore et al. (2000) read.

    python -m benchmarks.papers.bangalore2000.files FOLDER

`train/`, `dev/` and `test/` have the Penn sample's files, `XTAG/` the grammar, `figure2.json` is the paper's
input, `bare.conllu` has test trees without function words and punctuation, `variants.jsonl` the variants
of the study and `judgments.csv` the answers of its SIMULATED judges.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from benchmarks.data import data_path, unpack_xtag
from benchmarks.papers.bangalore2000 import wsj
from benchmarks.papers.bangalore2000.simulated_study import simulated
from benchmarks.papers.penn_sample import TREEBANK, file_number
from wellput.io import write_trees
from wellput.io.output import write_text
from wellput.language.realize.inserter import pruned_tree


def write_files(folder: Path) -> None:
    for name in ("train", "dev", "test", "XTAG"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(data_path(TREEBANK)) as archive:
        for name in archive.namelist():
            path = PurePosixPath(name)
            if path.suffix == ".mrg":
                part = wsj.PARTS.get(file_number(name) % 10, "train")
                (folder / part / path.name).write_bytes(archive.read(name))
    unpack_xtag(str(folder / "XTAG"))
    write_text(json.dumps(wsj.FIGURE_2, indent=1) + "\n", folder / "figure2.json")
    trees = wsj.treebank()
    bare = [pruned_tree(tree, ("punctuation", "function")).tree for tree in trees.short("test")]
    write_trees(bare, folder / "bare.conllu")
    with tempfile.TemporaryDirectory() as name:
        simulated(trees.files["test"], seed=wsj.SEED, folder=Path(name))
        for file in ("variants.jsonl", "judgments.csv"):
            write_text(Path(name, file).read_text(encoding="utf-8"), folder / file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    write_files(parser.parse_args().folder)


if __name__ == "__main__":
    main()
