"""`train.parser`: a tagger and a dependency parser from treebanks."""

from __future__ import annotations

from pathlib import Path

from wellput.api.treebanks import Treebanks, tree_list, trees_in
from wellput.core.cores import available_cores
from wellput.core.errors import InputError
from wellput.core.progress import OnPhase, unheard_phase
from wellput.io.files import PathLike
from wellput.io.output import check_files
from wellput.reporting.training import ParserTraining


def parser(
    trees: Treebanks,
    *,
    dev: Treebanks | None = None,
    epochs: int = 10,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = unheard_phase,
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
    from wellput.language.parser_training import attachment_scores, train_parser

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
