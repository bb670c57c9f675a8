"""`train.english`: all models of English that wellput comes with."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING

from wellput.core.cores import available_cores
from wellput.core.errors import InputError, did_you_mean
from wellput.core.names import Names, listed
from wellput.core.progress import OnPhase, unheard_phase
from wellput.io.files import PathLike
from wellput.reporting.training import EnglishTraining

if TYPE_CHECKING:
    from wellput.language.english_training import Role, Source, Step

Paths = PathLike | Sequence[PathLike]


def english(
    *,
    treebank: Paths,
    dev: PathLike,
    path: PathLike,
    text: Paths = (),
    ngrams: PathLike | None = None,
    real: Paths = (),
    source: Paths = (),
    only: Names = (),
    restart: bool = False,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = unheard_phase,
    on_step: Callable[[str, str], None] = lambda file, about: None,
) -> EnglishTraining:
    """Makes all models of English that wellput comes with. Files come one after the other, each with a
    card that says what it was made from. One that was made from the same things is not made again, so
    what was stopped goes on. The same input gives the same files.

    Parameters
    ----------
    treebank, dev
        Trees to learn from, and trees to tune and measure on, CoNLL-U.
    path
        The folder to write into, which is made unless it is there.
    text
        More text for the n-gram model: files, folders or tar archives of `.txt`.
    ngrams
        A model of general English for fluency, ARPA or `.wlm`, in small letters without punctuation.
    real, source
        Text that no other model sees, to train fluency on: what stays as it is, and what worse
        sentences are made from.
    only
        Names of the files to make, with those that they need; all unless said.
    restart
        Makes files again that are there already.
    seed, threads, on_phase
        As for `score`.
    on_step
        Called with the name of each file that has to be made and what it is, before it is made.

    Returns
    -------
    EnglishTraining
        `cards` of the files, `new` the names of those that were made this time.

    Raises
    ------
    InputError
        Something is missing, or there is no such file.

    Examples
    --------
    >>> import wellput
    >>> wellput.train.english(treebank="t.conllu", dev="d.conllu", text="more.txt", path="english")
    Traceback (most recent call last):
      ...
    wellput.core.errors.InputError: No such file or folder: t.conllu, d.conllu, more.txt.
    """
    from wellput.language.english_training import Inputs, Source, check_sources, make_all

    given: dict[Role, Paths] = {
        "treebank": treebank,
        "dev": dev,
        "text": text,
        "ngrams": () if ngrams is None else ngrams,
        "real": real,
        "source": source,
    }
    sources = [Source(Path(one), role) for role, paths in given.items() for one in _each(paths)]
    check_sources(sources)
    steps = _steps(listed(only), {one.role for one in sources})
    new: set[str] = set()

    def begin(step: Step, is_needed: bool) -> None:
        if is_needed:
            new.add(step.file)
            on_step(step.file, step.about)

    folder = Path(path)
    inputs = Inputs(
        sources, folder, threads or available_cores(), seed, on_phase("reading sentences")
    )
    cards = make_all(steps, inputs, command=_shown(sources), is_restarted=restart, on_step=begin)
    return EnglishTraining(folder, tuple(cards), frozenset(new))


def _each(paths: Paths) -> Sequence[PathLike]:
    return [paths] if isinstance(paths, str | Path) else paths


def _steps(only: Sequence[str], roles: Set[Role]) -> list[Step]:
    """The steps of these files and of all that they need; if none is named, every step but those
    for fluency where nothing is given to make them from."""
    from wellput.language.english_steps import STEPS

    by_file = {step.file: step for step in STEPS}
    for name in only:
        if name not in by_file:
            hint = did_you_mean(name, list(by_file))
            raise InputError(f"There is no file {name!r}.{hint} There are {', '.join(by_file)}.")
    wanted = set(only) or {
        step.file for step in STEPS if {"real", "ngrams"} & {*step.roles} <= roles
    }
    for step in reversed(STEPS):
        if step.file in wanted:
            wanted |= set(step.needs)
    return [step for step in STEPS if step.file in wanted]


def _shown(sources: Sequence[Source]) -> str:
    """The command as it can be shown to others, without where files lie."""
    options = [f"--{source.role} {shlex.quote(source.path.name)}" for source in sources]
    return f"wellput train english {' '.join(options)} -o FOLDER"
