"""Run one benchmark: `python -m benchmarks NAME [OPTIONS]`, or `make bench-NAME`."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from benchmarks.catalog import BENCHMARKS, command
from benchmarks.data import FOLDER_VARIABLE, missing_data


def listing() -> str:
    """Every benchmark with its command, its page, and what it needs."""
    return "\n".join(map(described, BENCHMARKS))


def described(name: str) -> str:
    benchmark = BENCHMARKS[name]
    lines = [f"{name}: {benchmark.about}", f"    command: {command(name)}"]
    if benchmark.page:
        lines.append(f"    page: {benchmark.page}")
    lines.append(f"    data: {', '.join(benchmark.data) or 'none'}")
    if benchmark.needs:
        lines.append(f"    needs: {'; '.join(benchmark.needs)}")
    return "\n".join(lines)


def main() -> None:
    # A benchmark has options of its own; --help after its name shows them.
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", add_help=False, allow_abbrev=False
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="a name of --list")
    parser.add_argument("--list", action="store_true", help="list all benchmarks")
    parser.add_argument(
        "--data", metavar="FOLDER", help=f"the folder with the data; without it, {FOLDER_VARIABLE}"
    )
    given, options = parser.parse_known_args()
    if given.list:
        print(listing())
    elif given.name in BENCHMARKS:
        if given.data:
            os.environ[FOLDER_VARIABLE] = given.data
        asks_for_help = bool({"-h", "--help"} & set(options))
        if not asks_for_help and (problems := missing_data(BENCHMARKS[given.name].data)):
            sys.exit("\n".join(problems))  # here, not after an hour
        sys.argv = [f"python -m benchmarks {given.name}", *options]
        module = importlib.import_module(f"benchmarks.{BENCHMARKS[given.name].module}")
        if asks_for_help and not hasattr(module, "argparse"):
            print(f"{module.__doc__}\n{described(given.name)}")  # it would run otherwise
            return
        module.main()
    elif given.name:
        sys.exit(f"There is no benchmark {given.name!r}. `python -m benchmarks --list` names all.")
    else:
        parser.print_help()
        sys.exit(0 if "--help" in options else 2)


if __name__ == "__main__":
    main()
