"""`train`: trains models from text and trees, with a function for each kind of model.

Each returns a `Result` that describes the model. The code that trains is imported when a function is
called. `lm`, `paraphrase` and `realizer` are defined in `train_lm`, `train_paraphrase` and
`train_language`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence, Set
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from wellput.api.corpora import Treebanks, all_trees, as_list, tree_list
from wellput.api.train_language import realizer as realizer
from wellput.api.train_language import treebank_fluency, treebank_parser
from wellput.api.train_lm import lm as lm
from wellput.api.train_paraphrase import paraphrase as paraphrase
from wellput.core.errors import InputError, did_you_mean
from wellput.core.options import checks_options
from wellput.core.registries import Names, split_names
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.io.files import PathLike
from wellput.io.output import check_files, made_folder
from wellput.metrics.gleu_fluency import GleuFeatures
from wellput.reporting.training import (
    EnglishTraining,
    FergusTraining,
    FluencyTraining,
    ParserTraining,
)

if TYPE_CHECKING:
    from wellput.language.models.english_training import SourceRole, TrainingSource, TrainingStep


Paths = PathLike | Sequence[PathLike]


@checks_options
def english(
    *,
    treebank: Paths,
    dev: PathLike,
    path: PathLike,
    text: Paths = (),
    real: Paths = (),
    source: Paths = (),
    only: Names = (),
    restart: bool = False,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
    on_step: Callable[[str, str], None] = lambda file, about: None,
) -> EnglishTraining:
    """Makes all models of English that wellput comes with. Each file gets a card that says what it was
    made from. A file that was made from the same input is not made again, so a stopped training can be
    resumed. The same input gives the same files.

    Parameters
    ----------
    treebank, dev
        CoNLL-U files: trees to learn from, and trees to tune and measure on.
    path
        The folder to write into; it is made if missing.
    text
        More text for the n-gram model: files, folders or tar archives of `.txt`.
    real, source
        Text to train fluency on, which must differ from all other text: `real` as good sentences,
        `source` to make worse sentences from.
    only
        Makes only these files and the files that they need. Default: all.
    restart
        Makes all files again, even those that are up to date.
    seed, threads, on_phase
        As for `score`.
    on_step
        Called before a file is made, with its name and a description.

    Returns
    -------
    EnglishTraining
        `cards` has the card of each file, `new` the names of the files made this time.

    Raises
    ------
    InputError
        A file is missing, or a name in `only` is unknown.

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

    paths_by_role: dict[SourceRole, Paths] = {
        "treebank": treebank,
        "dev": dev,
        "text": text,
        "real": real,
        "source": source,
    }
    sources = [
        TrainingSource(Path(file), role)
        for role, paths in paths_by_role.items()
        for file in as_list(paths)
    ]
    check_sources(sources)
    steps = _steps_to_make(split_names(only), {source.role for source in sources})
    new: set[str] = set()

    def begin(step: TrainingStep, is_needed: bool) -> None:
        if is_needed:
            new.add(step.file)
            on_step(step.file, step.about)

    folder = Path(path)
    on_progress = on_phase("reading sentences")
    inputs = TrainingInputs(sources, folder, threads or available_cores(), seed, on_progress)
    with made_folder(path):
        cards = make_all(
            steps, inputs, command=_shown_command(sources), is_restarted=restart, on_step=begin
        )
    return EnglishTraining(folder, tuple(cards), frozenset(new))


def _steps_to_make(only: Sequence[str], roles: Set[SourceRole]) -> list[TrainingStep]:
    """The steps that make the files named in `only` and all files that they need. If no file is named:
    all steps, without the steps of `fluency` if no text was given for them."""
    from wellput.language.models.english_training import TRAINING_STEPS

    by_file = {step.file: step for step in TRAINING_STEPS}
    for name in only:
        if name not in by_file:
            hint = did_you_mean(name, list(by_file))
            raise InputError(
                f"There is no file {name!r}.{hint} The files are {', '.join(by_file)}."
            )
    files_to_make = set(only) or {
        step.file for step in TRAINING_STEPS if "real" not in step.roles or "real" in roles
    }
    for step in reversed(TRAINING_STEPS):
        if step.file in files_to_make:
            files_to_make |= set(step.needs)
    return [step for step in TRAINING_STEPS if step.file in files_to_make]


def _shown_command(sources: Sequence[TrainingSource]) -> str:
    """The command to record in the cards, without the folders of the files."""
    options = [f"--{source.role} {shlex.quote(source.path.name)}" for source in sources]
    return f"wellput train english {' '.join(options)} -o FOLDER"


@checks_options
def fluency(
    *,
    text: Paths = (),
    path: PathLike,
    gleu: bool | None = None,
    features: GleuFeatures = "own",
    treebank: Treebanks = (),
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> FluencyTraining:
    """Fits the metrics `fluency` and `gleu-fluency` to English text. Half of the text serves as good
    sentences. From the other half, worse sentences of known quality are made. No judgments are needed.
    The parser and the n-gram models stay the shipped ones.

    With `treebank`, `fluency` is trained for the language of that treebank: `gleu-fluency` is for
    English only.

    Parameters
    ----------
    text
        Text by people: a file, a folder or a tar archive of `.txt`, or a list of them. With `treebank`:
        more text of that language, files with a sentence on each line; not needed.
    path
        A folder for the models; it is made if missing. `fluency:model=FOLDER` uses them.
    gleu
        Also trains `gleu-fluency`. Default: only if the link grammar library is installed.
    features
        `"own"`: wellput's features. `"paper"`: makes only `gleu-paper.wpm`, the metric GLEU with the
        features of Mutton et al. (2007), for `gleu-fluency:features=paper`. It needs link grammar.
    treebank
        The folder of a Universal Dependencies repository, or CoNLL-U files, of any language: trains
        `fluency` for that language, with the parser in `path`, which is trained if it is missing. With
        `features="paper"`: CoNLL-U files or `Tree` objects on which to train its parsers; default: the
        shipped parsers.
    seed, threads, on_phase
        As for `score`; the seed is used to make the worse sentences.

    Returns
    -------
    FluencyTraining
        `weights` has the weights of the features of each file. `tested` is the number of new sentences
        that gleu-fluency was tested on, `right` how many of them it classifies correctly.

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
    from wellput.metrics import gleu_fluency
    from wellput.metrics.fluency_training import (
        TrainingResult,
        make_fluency,
        make_gleu,
        make_paper_gleu,
        split_text,
    )

    treebank_list = tree_list(treebank)
    if treebank_list and features != "paper":
        if gleu:
            raise InputError("gleu-fluency is for English only: leave out gleu= with treebank=.")
        files = [entry for entry in treebank_list if isinstance(entry, str)]
        if len(files) < len(treebank_list):
            raise InputError(
                "With treebank=, give the folder of a treebank or its files, not trees."
            )
        return treebank_fluency(
            files,
            text,
            path=path,
            seed=seed,
            threads=threads or available_cores(),
            on_phase=on_phase,
        )
    check_files([], treebank_list)  # refuses standard input if it is given twice
    if not as_list(text):
        raise InputError(
            "Give text= to fit fluency to English text, or treebank= to train it for the language of a "
            "treebank."
        )
    if gleu is False and features == "paper":
        raise InputError("features='paper' makes only gleu-fluency, which gleu=False forbids.")
    texts = [Path(entry) for entry in as_list(text)]
    if missing := [str(entry) for entry in texts if not entry.exists()]:
        raise InputError(f"No such file or folder: {', '.join(missing)}.")
    pools = split_text(texts, on_progress=on_phase("reading sentences"))
    makers: dict[str, Callable[..., TrainingResult]] = {fluency_metric.FLUENCY_FILE: make_fluency}
    if features == "paper":
        trees = list(all_trees(treebank_list))
        makers = {gleu_fluency.GLEU_PAPER_FILE: partial(make_paper_gleu, treebank=trees)}
    elif is_installed() if gleu is None else gleu:
        makers[gleu_fluency.GLEU_FILE] = make_gleu
    with made_folder(path) as folder:
        learned = {
            file: make(
                pools,
                folder / file,
                seed=seed,
                threads=threads or available_cores(),
                on_progress=on_phase("fitting fluency"),
            )
            for file, make in makers.items()
        }
    return FluencyTraining(
        folder,
        {file: entry.weights for file, entry in learned.items()},
        len(pools.real),
        len(pools.source),
        {file: (entry.right, entry.tested) for file, entry in learned.items() if entry.tested},
    )


@checks_options
def parser(
    trees: Treebanks = (),
    *,
    treebank: Paths = (),
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
        CoNLL-U files, or `Tree` objects; words need a tag (XPOS), a head and a relation.
    treebank
        Instead of `trees`: the folder of a Universal Dependencies repository of any language, whose
        files are found by their names, or CoNLL-U files. XPOS may be missing. How to split text into
        words is learned, too (`tokenizer.wpm`).
    dev
        Trees to measure accuracy on, and to calibrate probabilities with. With `treebank`: files;
        default: the development files of the folder, or one tree in ten.
    epochs
        How often training goes through all trees.
    path
        Writes `tagger.wpm` and `parser.wpm` into this folder, which is made if missing.
    seed, threads, on_phase
        As for `score`; the seed sets the order of the trees.

    Returns
    -------
    ParserTraining
        `parser` is the parser with its tagger, `save("my-parser")` writes both into a folder.

    Raises
    ------
    InputError
        A file or the treebank's folder does not exist or cannot be read, or a word has no tag.

    Examples
    --------
    >>> import wellput
    >>> dog = wellput.Word("dogs", 2, relation="nsubj", upos="NOUN", xpos="NNS", lemma="dog")
    >>> bark = wellput.Word("bark", 0, relation="root", upos="VERB", xpos="VBP", lemma="bark")
    >>> trees = [wellput.Tree((dog, bark))] * 5
    >>> training = wellput.train.parser(trees, dev=trees, epochs=3)
    >>> training.scores["uas"], training.scores["words"]
    (1.0, 10)
    """
    from wellput.language.models.parser_training import attachment_scores, train_parser

    training_list, dev_list = tree_list(trees), [] if dev is None else tree_list(dev)
    check_files([], [*training_list, *dev_list])
    if epochs < 1:
        raise InputError(f"epochs={epochs} must be 1 or more.")
    if bool(training_list) == bool(as_list(treebank)):
        raise InputError("Give trees= or treebank=, and not both.")
    if not training_list:
        return treebank_parser(
            treebank,
            dev_list,
            epochs=epochs,
            path=path,
            seed=seed,
            threads=threads or available_cores(),
            on_phase=on_phase,
        )
    with nullcontext() if path is None else made_folder(path):
        training_trees, held_out = list(all_trees(training_list)), list(all_trees(dev_list))
        on_epoch = on_phase("learning, rounds over the trees")
        trained = train_parser(
            training_trees, dev=held_out, epochs=epochs, seed=seed, on_epoch=on_epoch
        )
        scores: dict[str, float] = {}
        if held_out:
            words = [[word.form for word in tree.words] for tree in held_out]
            parsed = trained.parse(words, threads=threads or available_cores())
            scores = attachment_scores(held_out, parsed)
        card = {
            "data": [Path(one).name for one in training_list if isinstance(one, str)],
            "trees": len(training_trees),
            "epochs": epochs,
            "seed": seed,
            "dev": scores,
        }
        training = ParserTraining(trained, len(training_trees), scores, card)
        if path is not None:
            training.save(path)
    return training


@checks_options
def fergus(
    trees: Treebanks,
    *,
    dev: Treebanks | None = None,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> FergusTraining:
    """Trains the realizers FERGUS and FERGUS+ (with weights of word orders) and their baseline LR
    (left-right): a tree model, an n-gram model, the weights, and a model that says which function words
    and punctuation to add. The same trees and the same seed give the same models.

    Parameters
    ----------
    trees
        CoNLL-U files of dependency trees with relations and parts of speech (XPOS), or `Tree` objects.
        Any convention for heads may be used, but the trees to realize later must use the same. If words
        have lemmas, irregular forms are learned too.
    dev
        Trees on which to tune the weight of the n-gram model in FERGUS+. Default: no tuning, weight 1.
    path
        Writes `tree.wpm`, `ngrams.wlm`, `realizer.wpm` and `completer.wpm` into this folder, which is
        made if missing.
    seed
        Seed of the random trees of LR.
    threads, on_phase
        As for `score`.

    Returns
    -------
    FergusTraining
        `realizer("fergus")` is the realizer, `save("my-fergus")` writes the models into a folder.

    Raises
    ------
    InputError
        A file cannot be read, or has no trees.

    Examples
    --------
    >>> import wellput
    >>> dog = wellput.Word("dogs", 2, relation="nsubj", xpos="NNS")
    >>> tree = wellput.Tree((dog, wellput.Word("bark", 0, relation="root", xpos="VBP")))
    >>> training = wellput.train.fergus([tree, tree])
    >>> training.to_dict()["supertags"], training.realizer("fergus").realize(tree).text
    (2, 'dogs bark')
    """
    from wellput.language.realize.training import train_fergus

    training_list, dev_list = tree_list(trees), [] if dev is None else tree_list(dev)
    check_files([], [*training_list, *dev_list])
    with nullcontext() if path is None else made_folder(path):
        training = FergusTraining(
            train_fergus(
                list(all_trees(training_list)),
                sample=list(all_trees(dev_list)),  # the trees to tune on
                seed=seed,
                threads=threads or available_cores(),
                on_progress=on_phase("counting trees"),
            )
        )
        if path is not None:
            training.save(path)
    return training
