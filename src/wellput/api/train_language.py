"""`train.realizer`, and the parts of `train.parser` and `train.fluency` that train for any language
with a treebank.

The models of a language are in one folder. If training a model needs another model (`fluency` needs the
parser), that model is read from the folder, or is made there first.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wellput.api.corpora import as_list
from wellput.core.errors import InputError
from wellput.core.options import checks_options
from wellput.core.tree import Tree
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.io.files import InputFile, PathLike
from wellput.io.output import made_folder
from wellput.reporting.training import FluencyTraining, ParserTraining, RealizerTraining

if TYPE_CHECKING:
    from wellput.language.models.learned_tokenizer import LearnedTokenizer
    from wellput.language.models.treebanks import Treebank

Paths = PathLike | Sequence[PathLike]


@checks_options
def realizer(
    *,
    treebank: Paths,
    path: PathLike,
    dev: Paths = (),
    text: Paths = (),
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> RealizerTraining:
    """Trains the realizers of any language from a treebank: `learned`, `fergus`, `fergus+` and `lr`,
    for `realize(models=…)`. The same trees and the same seed give the same models.

    Parameters
    ----------
    treebank
        The folder of a Universal Dependencies repository, whose files for training and development are
        found by their names, or CoNLL-U files. Files for testing are not read.
    path
        The folder to write into; it is made if missing.
    dev
        CoNLL-U files to tune on. Default: the development files of the folder; if it has none, one tree
        in ten is kept for tuning.
    text
        More text of the language for the n-gram model: files with a sentence on each line.
    seed, threads, on_phase
        As for `score`.

    Returns
    -------
    RealizerTraining
        `kept` has, for each kind of input (words, or words with labels), the share of pairs of
        neighboring words of the tuning trees that stay neighbors in the output of `learned`.

    Raises
    ------
    InputError
        A file is missing, or has no trees.

    Examples
    --------
    >>> import wellput
    >>> wellput.train.realizer(treebank="UD_Welsh-CCG", path="welsh")
    Traceback (most recent call last):
      ...
    wellput.core.errors.InputError: No such file or folder: UD_Welsh-CCG.
    """
    from wellput.language.realize.training import train_treebank_realizer

    trees = _read(treebank, dev)
    # Words are separated by spaces; a space inside a word becomes `_`.
    lines = [
        " ".join(form.replace(" ", "_") for form in words)
        for words in _words_of(text, _tokenizer(trees))
    ]
    with made_folder(path) as folder:
        advance = on_phase("training the realizer, steps")
        trained = train_treebank_realizer(
            trees.train,
            trees.dev,
            text=lines,
            seed=seed,
            threads=threads or available_cores(),
            on_step=lambda _: advance(1),
        )
        trained.save(folder)
    return RealizerTraining(folder, len(trees.train), trees.words, trained.kept, trees.names)


def treebank_parser(
    treebank: Paths,
    dev: Sequence[str | Tree],
    *,
    epochs: int,
    path: PathLike | None,
    seed: int,
    threads: int,
    on_phase: OnPhase,
) -> ParserTraining:
    """Trains tokenizer, tagger and parser; see `train.parser`."""
    from wellput.language.models.parser_training import attachment_scores, train_parser
    from wellput.language.models.treebanks import has_own_tags, with_tags

    if any(isinstance(dev_file, Tree) for dev_file in dev):
        raise InputError("With treebank=, dev= takes files, not trees.")
    trees = _read(treebank, [str(dev_file) for dev_file in dev])
    has_xpos = has_own_tags(trees.train)  # without XPOS, the tagger learns UPOS
    trained = train_parser(
        with_tags(trees.train, has_xpos=has_xpos),
        dev=with_tags(trees.dev, has_xpos=has_xpos),
        epochs=epochs,
        seed=seed,
        on_epoch=on_phase("learning, rounds over the trees"),
    )
    scores: dict[str, float] = {}
    if trees.dev:
        words = [[word.form for word in tree.words] for tree in trees.dev]
        scores = attachment_scores(trees.dev, trained.parse(words, threads=threads))
        if not has_xpos:
            del scores["xpos"]
    card = {
        "data": list(trees.names),
        "trees": len(trees.train),
        "epochs": epochs,
        "seed": seed,
        "dev": scores,
    }
    training = ParserTraining(trained, len(trees.train), scores, card, _tokenizer(trees))
    if path is not None:
        with made_folder(path) as folder:
            training.save(folder)
    return training


def treebank_fluency(
    treebank: Paths,
    text: Paths,
    *,
    path: PathLike,
    seed: int,
    threads: int,
    on_phase: OnPhase,
) -> FluencyTraining:
    """Trains the fluency metric of a language; see `train.fluency`."""
    import numpy as np

    from wellput.language.models.parsers import TaggingParser
    from wellput.language.models.treebank_fluency import TREEBANK_FEATURES, TreebankFluencyModels
    from wellput.language.models.treebanks import has_own_tags, with_tags
    from wellput.language.shipped import PARSER_FILE, TAGGER_FILE, TOKENIZER_FILE
    from wellput.metrics.fluency import FLUENCY_FILE
    from wellput.metrics.treebank_fluency_training import train_treebank_fluency, usable_sentences

    trees = _read(treebank, ())
    with made_folder(path) as folder:
        if not all(
            (folder / file).is_file() for file in (TAGGER_FILE, PARSER_FILE, TOKENIZER_FILE)
        ):
            treebank_parser(
                treebank, (), epochs=10, path=folder, seed=seed, threads=threads, on_phase=on_phase
            )
        on_phase("training the models of fluency")
        tokenizer = _tokenizer(trees)
        models = TreebankFluencyModels.train(
            with_tags(trees.train, has_xpos=has_own_tags(trees.train)),
            tokenizer,
            TaggingParser.load(folder),
            text=_words_of(text, tokenizer),
            threads=threads,
        )
        rng = np.random.default_rng(seed)
        model = train_treebank_fluency(trees.train, trees.dev, models, rng, threads=threads)
        weights = dict(
            zip(TREEBANK_FEATURES, model.linear_model.weights.round(4).tolist(), strict=True)
        )
        models.save(folder)
        model.save(folder / FLUENCY_FILE, {"data": list(trees.names), "weights": weights})
    n_sentences = len(usable_sentences(trees.dev))  # each is used as it is, and made worse
    return FluencyTraining(folder, {FLUENCY_FILE: weights}, real=n_sentences, source=n_sentences)


def _read(treebank: Paths, dev: Paths) -> Treebank:
    """The trees to learn from and to tune on. Raises InputError if there are none to learn from."""
    from wellput.language.models.treebanks import read_treebank

    trees = read_treebank(
        [Path(file) for file in as_list(treebank)], [Path(file) for file in as_list(dev)]
    )
    if not trees.train:
        raise InputError("There are no trees to learn from.")
    return trees


def _tokenizer(trees: Treebank) -> LearnedTokenizer:
    """A tokenizer that splits text as the treebank does."""
    from wellput.language.models.learned_tokenizer import LearnedTokenizer

    return LearnedTokenizer.learn(trees.train)


def _words_of(text: Paths, tokenizer: LearnedTokenizer) -> list[list[str]]:
    """The words of each sentence of text files."""
    return [
        list(words)
        for file in as_list(text)
        for line in InputFile(file).lines()
        for sentence in tokenizer.sentences(line)
        if (words := tokenizer.words(sentence).forms)
    ]
