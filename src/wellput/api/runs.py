"""`runs`: stored scores found again (`list`, `show`) and compared (`diff`).

The verbs are called as their commands are, so `list` is not Python's in this module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from wellput.core.errors import InputError
from wellput.core.scores import Run, RunList
from wellput.engine.run_changes import RunChanges, run_changes
from wellput.io.files import PathLike
from wellput.io.output import check_files
from wellput.io.run_files import find_run, read_runs, run_paths

FOLDER = "runs"


def list(
    *,
    runs: PathLike = FOLDER,
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
        The folder in which `score(…, runs=FOLDER)` stored them.
    system, metric
        Only scores of this system, only those under this metric.
    last
        At most so many runs.
    path
        Writes the list to a file; `.json`, `.csv`, `.tex` and `.md` in that format.
    seed, threads
        As for every verb; without effect here.

    Returns
    -------
    RunList
        `runs` has a `Run` for each, `total` is how many there are.

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
    ...     found = wellput.runs.list(runs=folder, metric="ssa")
    >>> found.runs[0].id == stored.run, found.runs[0].metrics
    (True, ('ssa',))
    """
    check_files([path], [])
    if last < 1:
        raise InputError(f"last={last} must be 1 or more.")
    if system is None and metric is None:  # no more need be read than is shown
        chosen, unreadable = read_runs(runs, last=last)
        total = len(run_paths(runs)) - len(unreadable)
    else:
        everything, unreadable = read_runs(runs)
        narrowed = [_narrowed(run, system, metric) for run in everything]
        chosen = [run for run in narrowed if run.scores]
        total = len(chosen)
    left_out = [f"{error.path.name} {error.reason}" for error in unreadable]
    listed = RunList(tuple(chosen[:last]), total, tuple(left_out))
    if path is not None:
        listed.save(path)
    return listed


def show(
    run: str | Run,
    *,
    runs: PathLike = FOLDER,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
) -> Run:
    """Finds a run: its scores, and how they came about.

    Parameters
    ----------
    run
        An id, its beginning, or `"@1"` for the newest, `"@2"` for the one before.
    runs, path, seed, threads
        As for `list`.

    Returns
    -------
    Run
        `scores` has one for each system and metric.

    Raises
    ------
    InputError
        There is no such run, or several begin so.

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
    check_files([path], [])
    found = _found(run, runs)
    if path is not None:
        found.save(path)
    return found


def diff(
    before: str | Run,
    after: str | Run,
    *,
    runs: PathLike = FOLDER,
    rename: Mapping[str, str] | Sequence[str] = (),
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
) -> RunChanges:
    """Says how scores changed from one run to another, where they may be compared.

    Parameters
    ----------
    before, after
        Two runs, as for `show`.
    rename
        Systems of the first run to compare with others of the second: `{"v1": "v2"}`, or `["v1=v2"]`.
    runs, path, seed, threads
        As for `list`.

    Returns
    -------
    RunChanges
        `changes` has what is in both, `only_before` and `only_after` what only one of them has.

    Raises
    ------
    InputError
        There is no such run, or it has no such system.

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
    check_files([path], [])
    names = _renamed(rename)
    found = run_changes(_found(before, runs), _found(after, runs), names)
    if path is not None:
        found.save(path)
    return found


def _found(run: str | Run, folder: PathLike) -> Run:
    return run if isinstance(run, Run) else find_run(folder, run)


def _narrowed(run: Run, system: str | None, metric: str | None) -> Run:
    """The run with only the scores that were asked for."""
    return replace(
        run,
        scores=tuple(
            score
            for score in run.scores
            if system in (None, score.system) and metric in (None, score.metric)
        ),
    )


def _renamed(rename: Mapping[str, str] | Sequence[str]) -> dict[str, str]:
    if isinstance(rename, Mapping):
        return dict(rename)
    names: dict[str, str] = {}
    for pair in [rename] if isinstance(rename, str) else rename:
        old, equals, new = pair.partition("=")
        if not equals or not old or not new:
            raise InputError(f"rename={pair!r}: write OLD=NEW, such as rename='v1=v2'.")
        names[old] = new
    return names
