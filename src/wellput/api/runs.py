"""`runs`: lists (`list`), shows (`show`) and compares (`diff`) stored scores. A run is the result of
one call of `score` that was stored in a folder.

The functions have the names of the commands, so `list` in this module is not Python's `list`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from wellput.core.errors import InputError
from wellput.core.options import checks_options
from wellput.core.scores import Run, RunList
from wellput.io.files import PathLike
from wellput.io.output import check_files
from wellput.io.run_files import find_run, read_runs, run_paths

if TYPE_CHECKING:
    from wellput.engine.run_changes import RunChanges

DEFAULT_FOLDER = "runs"


@checks_options
def list(
    *,
    runs: PathLike = DEFAULT_FOLDER,
    system: str | None = None,
    metric: str | None = None,
    last: int = 20,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
) -> RunList:
    """Lists the runs of a folder, newest first.

    Parameters
    ----------
    runs
        The folder in which `score(…, runs=FOLDER)` stored the runs.
    system, metric
        Lists only the scores of this system, or of this metric.
    last
        Lists at most this many runs.
    path
        Writes the list to a file; a `.json`, `.csv`, `.tex` or `.md` file is in that format.
    seed, threads
        No effect here; every function that is also a command has them.

    Returns
    -------
    RunList
        `runs` has the runs, `total` the number of all runs that match.

    Raises
    ------
    InputError
        The folder cannot be read.

    Examples
    --------
    >>> import tempfile, wellput
    >>> evalset = wellput.EvalSet.of({"A": ["a cat sat"]}, ["a cat sat"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     stored = wellput.score(evalset, "bleu,ssa", runs=folder)
    ...     listed = wellput.runs.list(runs=folder, metric="ssa")
    >>> listed.runs[0].id == stored.run, listed.runs[0].metrics
    (True, ('ssa',))
    """
    check_files([path], run_paths(runs))
    if last < 1:
        raise InputError(f"last={last} must be 1 or more.")
    if system is None and metric is None:  # only the runs that are shown need to be read
        listed_runs, unreadable = read_runs(runs, last=last)
        total = len(run_paths(runs)) - len(unreadable)
    else:
        all_runs, unreadable = read_runs(runs)
        runs_with_matches = [_narrowed(run, system, metric) for run in all_runs]
        listed_runs = [run for run in runs_with_matches if run.scores]
        total = len(listed_runs)
    left_out = [f"{error.path.name} {error.reason}" for error in unreadable]
    run_list = RunList(tuple(listed_runs[:last]), total, tuple(left_out))
    if path is not None:
        run_list.save(path)
    return run_list


@checks_options
def show(
    run: str | Run,
    *,
    runs: PathLike = DEFAULT_FOLDER,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
) -> Run:
    """Finds a run: its scores, and the command, data and versions that they come from.

    Parameters
    ----------
    run
        The id of a run, the beginning of an id, or `"@1"` for the newest, `"@2"` for the one before.
    runs, path, seed, threads
        As for `list`.

    Returns
    -------
    Run
        `scores` has one score for each system and metric.

    Raises
    ------
    InputError
        No run matches, or several ids begin with `run`.

    Examples
    --------
    >>> import tempfile, wellput
    >>> evalset = wellput.EvalSet.of({"A": ["a cat sat"]}, ["a cat sat"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     stored = wellput.score(evalset, "ssa", runs=folder)
    ...     run = wellput.runs.show("@1", runs=folder)
    >>> run.scores[0].system, run.scores[0].score
    ('A', 1.0)
    """
    check_files([path], run_paths(runs))
    found_run = _found(run, runs)
    if path is not None:
        found_run.save(path)
    return found_run


@checks_options
def diff(
    before: str | Run,
    after: str | Run,
    *,
    runs: PathLike = DEFAULT_FOLDER,
    rename: Mapping[str, str] | Sequence[str] = (),
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
) -> RunChanges:
    """Says how scores changed from one run to another, and which scores cannot be compared.

    Parameters
    ----------
    before, after
        Two runs, as for `show`.
    rename
        Compares systems under different names: `{"v1": "v2"}`, or `["v1=v2"]`, compares v1 of the first
        run with v2 of the second.
    runs, path, seed, threads
        As for `list`.

    Returns
    -------
    RunChanges
        `changes` has the scores that both runs have, `only_before` and `only_after` the others.

    Raises
    ------
    InputError
        A run or a system does not exist.

    Examples
    --------
    >>> import tempfile, wellput
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for text in ("a cat", "a cat sat"):
    ...         evalset = wellput.EvalSet.of({"A": [text]}, ["a cat sat"])
    ...         stored = wellput.score(evalset, "ssa", runs=folder)
    ...     changes = wellput.runs.diff("@2", "@1", runs=folder).changes
    >>> round(changes[0].delta, 3), changes[0].cautions
    (0.333, ('the outputs changed',))
    """
    from wellput.engine.run_changes import run_changes

    check_files([path], run_paths(runs))
    names = _renamed(rename)
    changes = run_changes(_found(before, runs), _found(after, runs), names)
    if path is not None:
        changes.save(path)
    return changes


def _found(run: str | Run, folder: PathLike) -> Run:
    return run if isinstance(run, Run) else find_run(folder, run)


def _narrowed(run: Run, system: str | None, metric: str | None) -> Run:
    """The run with only the scores of the system and metric."""
    return replace(
        run,
        scores=tuple(
            score
            for score in run.scores
            if system in (None, score.system) and metric in (None, score.metric)
        ),
    )


def _renamed(rename: Mapping[str, str] | Sequence[str]) -> dict[str, str]:
    """The new name of each renamed system, from a mapping or from pairs OLD=NEW."""
    if isinstance(rename, Mapping):
        return dict(rename)
    names: dict[str, str] = {}
    for pair in [rename] if isinstance(rename, str) else rename:
        old, equals, new = pair.partition("=")
        if not equals or not old or not new:
            raise InputError(f"rename={pair!r}: write OLD=NEW, such as rename='v1=v2'.")
        names[old] = new
    return names
