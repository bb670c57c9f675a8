"""`train`: models from text and trees, a function for each kind.

Each returns a `Result` that says what it has learned from. What they train with is imported when they
are called; `lm` and `paraphrase` have modules of their own.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING

from wellput.api.corpora import Treebanks, tree_list, trees_in
from wellput.api.train_lm import lm as lm
from wellput.api.train_paraphrase import paraphrase as paraphrase
from wellput.core.errors import InputError, did_you_mean
from wellput.core.registries import Names, split_names
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.io.files import PathLike
from wellput.io.output import check_files
from wellput.reporting.training import (
    EnglishTraining,
    FluencyTraining,
    ParserTraining,
    TreeTraining,
)

if TYPE_CHECKING:
    from wellput.language.models.english_training import SourceRole, TrainingSource, TrainingStep


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
    on_phase: OnPhase = ignore_phase,
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
    from wellput.language.models.english_training import (
        TrainingInputs,
        TrainingSource,
        check_sources,
        make_all,
    )

    given: dict[SourceRole, Paths] = {
        "treebank": treebank,
        "dev": dev,
        "text": text,
        "ngrams": () if ngrams is None else ngrams,
        "real": real,
        "source": source,
    }
    sources = [
        TrainingSource(Path(one), role)
        for role, paths in given.items()
        for one in _path_list(paths)
    ]
    check_sources(sources)
    steps = _steps_to_make(split_names(only), {one.role for one in sources})
    new: set[str] = set()

    def begin(step: TrainingStep, is_needed: bool) -> None:
        if is_needed:
            new.add(step.file)
            on_step(step.file, step.about)

    folder = Path(path)
    inputs = TrainingInputs(
        sources, folder, threads or available_cores(), seed, on_phase("reading sentences")
    )
    cards = make_all(
        steps, inputs, command=_shown_command(sources), is_restarted=restart, on_step=begin
    )
    return EnglishTraining(folder, tuple(cards), frozenset(new))


def _path_list(paths: Paths) -> Sequence[PathLike]:
    return [paths] if isinstance(paths, str | Path) else paths


def _steps_to_make(only: Sequence[str], roles: Set[SourceRole]) -> list[TrainingStep]:
    """The steps of these files and of all that they need; if none is named, every step but those
    for fluency where nothing is given to make them from."""
    from wellput.language.models.english_training import STEPS

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


def _shown_command(sources: Sequence[TrainingSource]) -> str:
    """The command as it can be shown to others, without where files lie."""
    options = [f"--{source.role} {shlex.quote(source.path.name)}" for source in sources]
    return f"wellput train english {' '.join(options)} -o FOLDER"


def fluency(
    *,
    text: PathLike | Sequence[PathLike],
    path: PathLike,
    gleu: bool | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> FluencyTraining:
    """Fits `fluency` and `gleu-fluency` to text. Half of it stays as it is; from the other half worse
    sentences are made whose quality is known by construction. No judgments are needed. The models of
    English stay the shipped ones.

    Parameters
    ----------
    text
        Real text: a file, a folder or a tar archive of `.txt`, or several.
    path
        A folder for the models, which is made unless it is there; `fluency:model=FOLDER` uses them.
    gleu
        Whether to train `gleu-fluency`, too; unless said, if the link grammar library is there.
    seed, threads, on_phase
        As for `score`; the seed is that of the sentences that are made.

    Returns
    -------
    FluencyTraining
        `weights` of the features, by file.

    Raises
    ------
    InputError
        There is too little text.

    Examples
    --------
    >>> import wellput
    >>> wellput.train.fluency(text="nowhere.txt", path="my-fluency")
    Traceback (most recent call last):
      ...
    wellput.core.errors.InputError: No such file or folder: nowhere.txt.
    """
    from wellput.language.models.link_grammar import is_installed
    from wellput.metrics import fluency as fluency_metric
    from wellput.metrics.fluency_training import make_fluency, make_gleu, split_text

    texts = [Path(one) for one in ([text] if isinstance(text, str | Path) else text)]
    if missing := [str(one) for one in texts if not one.exists()]:
        raise InputError(f"No such file or folder: {', '.join(missing)}.")
    pools = split_text(texts, on_progress=on_phase("reading sentences"))
    folder = Path(path)
    folder.mkdir(exist_ok=True)
    makers = {fluency_metric.FLUENCY_FILE: make_fluency}
    if is_installed() if gleu is None else gleu:
        makers[fluency_metric.GLEU_FILE] = make_gleu
    weights = {
        file: make(
            pools,
            folder / file,
            seed=seed,
            threads=threads or available_cores(),
            on_progress=on_phase("weighing sentences"),
        )
        for file, make in makers.items()
    }
    return FluencyTraining(folder, weights, len(pools.real), len(pools.source))


def parser(
    trees: Treebanks,
    *,
    dev: Treebanks | None = None,
    epochs: int = 10,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> ParserTraining:
    """Trains a tagger and a dependency parser. The same trees and the same seed give the same models.

    Parameters
    ----------
    trees
        Files of treebanks in CoNLL-U, or `Tree`s; words need a tag (XPOS), a head and a relation.
    dev
        Trees to measure on; probabilities are fitted to them.
    epochs
        Rounds over the trees.
    path
        An existing folder: `tagger.wpm` and `parser.wpm` are written there.
    seed, threads, on_phase
        As for `score`; the seed is that of the order of the trees.

    Returns
    -------
    ParserTraining
        `parser` is the parser with its tagger, `save("my-parser")` writes both into a folder.

    Raises
    ------
    InputError
        A file cannot be read, a word has no tag, or the folder is not there.

    Examples
    --------
    >>> import wellput
    >>> dog = wellput.Word("dogs", 2, relation="nsubj", upos="NOUN", xpos="NNS", lemma="dog")
    >>> bark = wellput.Word("bark", 0, relation="root", upos="VERB", xpos="VBP", lemma="bark")
    >>> trees = [wellput.Tree((dog, bark))] * 5
    >>> made = wellput.train.parser(trees, dev=trees, epochs=3)
    >>> made.scores["uas"], made.scores["words"]
    (1.0, 10)
    """
    from wellput.language.models.parser_training import attachment_scores, train_parser

    given, measured = tree_list(trees), [] if dev is None else tree_list(dev)
    check_files([], [*given, *measured])
    if epochs < 1:
        raise InputError(f"epochs={epochs} must be 1 or more.")
    if path is not None and not Path(path).is_dir():
        raise InputError(f"{path} is no folder: make it first (mkdir {path}).")
    treebank, held_out = list(trees_in(given)), list(trees_in(measured))
    on_epoch = on_phase("learning, rounds over the trees")
    trained = train_parser(treebank, dev=held_out, epochs=epochs, seed=seed, on_epoch=on_epoch)
    scores: dict[str, float] = {}
    if held_out:
        words = [[word.form for word in tree.words] for tree in held_out]
        parsed = trained.parse(words, threads=threads or available_cores())
        scores = attachment_scores(held_out, parsed)
    card = {
        "data": [Path(one).name for one in given if isinstance(one, str)],
        "trees": len(treebank),
        "epochs": epochs,
        "seed": seed,
        "dev": scores,
    }
    made = ParserTraining(trained, len(treebank), scores, card)
    if path is not None:
        made.save(path)
    return made


def tree(
    trees: Treebanks,
    *,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> TreeTraining:
    """Trains a tree model: supertags for the words of unordered trees. The same trees give the same
    model.

    Parameters
    ----------
    trees
        Files of dependency trees in CoNLL-U with relations and parts of speech, or `Tree`s.
    path
        Writes the model, `.wpm`.
    seed, threads
        As for every verb; without effect here.
    on_phase
        As for `score`.

    Returns
    -------
    TreeTraining
        `model` is the model, `save("tree.wpm")` writes it.

    Raises
    ------
    InputError
        A file cannot be read, or there is nothing to learn from.

    Examples
    --------
    >>> import wellput
    >>> dog = wellput.Word("dogs", 2, relation="nsubj", xpos="NNS")
    >>> tree = wellput.Tree((dog, wellput.Word("bark", 0, relation="root", xpos="VBP")))
    >>> wellput.train.tree([tree, tree]).to_dict()["supertags"]
    2
    """
    from wellput.io.model_files import SUFFIX
    from wellput.language.models.tree_training import train_tree_model

    given = tree_list(trees)
    if path is not None and not str(path).endswith(SUFFIX):
        raise InputError(f"A tree model is a file with the suffix {SUFFIX}, not {path}.")
    check_files([path], given)
    found = trees_in(given)
    made = TreeTraining(train_tree_model(found, on_progress=on_phase("counting trees")))
    if path is not None:
        made.save(path)
    return made
