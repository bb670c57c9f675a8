"""Writes sets of judged outputs as files that wellput's commands read.

    python -m benchmarks.agreement.human_files FOLDER [NAME ...]

For each NAME (default: all) NAME.jsonl has the outputs with their references, and NAME.csv the judgments.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from benchmarks.agreement import human_data
from benchmarks.agreement.human_data import HumanData
from benchmarks.catalog import WMT21
from wellput.io import write_evalset
from wellput.io.judgments import write_judgments

SETS: dict[str, Callable[[], HumanData]] = {
    "bagel": human_data.bagel,
    "sfres": human_data.sfres,
    "webnlg": lambda: human_data.webnlg(with_nothing_said=False),
    "summeval": human_data.summeval,
    "simplicity": human_data.simplicity_da,
    "asset": human_data.asset,
    "da2016": human_data.da2016,
    "mqm": human_data.mqm,
    **{pair: (lambda pair=pair: human_data.wmt21(pair)) for pair in WMT21},  # type: ignore[misc]
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SETS)}")
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in SETS]:
        parser.error(f"there is no set {', '.join(unknown)}; the sets are {', '.join(SETS)}")
    given.folder.mkdir(parents=True, exist_ok=True)
    for name in given.names or SETS:
        data = SETS[name]()
        write_evalset(data.evalset, given.folder / f"{name}.jsonl")
        write_judgments(data.judgments, given.folder / f"{name}.csv")


if __name__ == "__main__":
    main()
