"""Writes the files that the commands on the page of Foster (2008) read.

    python -m benchmarks.papers.foster_files FOLDER

`sample.jsonl` is the sample sentence, `comic/` COMIC's grammar and testbed, `spoken.jsonl` the testbed with
the displays of the invented speaker; `choices.csv` and `other.csv` are the simulated choices of the two studies, `both.csv` has all.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.papers.foster2008 import FIRST_SEED, comic_sentences, unpack_comic
from benchmarks.papers.foster_sample import sample
from benchmarks.papers.foster_simulation import simulated_studies, spoken
from wellput.core.evalset import EvalSet
from wellput.io import write_evalset
from wellput.io.output import write_text


def write_files(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_evalset(sample(), folder / "sample.jsonl")
    unpack_comic(folder)
    evalset = EvalSet(spoken(comic_sentences(), FIRST_SEED))
    write_evalset(evalset, folder / "spoken.jsonl")
    with tempfile.TemporaryDirectory() as name:
        simulated_studies(evalset, Path(name))
        first, second = (
            Path(name, f"choices-{number}.csv").read_text(encoding="utf-8") for number in (1, 2)
        )
    write_text(first, folder / "choices.csv")
    write_text(second, folder / "other.csv")
    write_text(first + second.partition("\n")[2], folder / "both.csv")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    write_files(parser.parse_args().folder)


if __name__ == "__main__":
    main()
