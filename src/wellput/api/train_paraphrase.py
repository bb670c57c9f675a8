"""`train.paraphrase`: trains a paraphrase model on text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from wellput.api.corpora import Texts, corpus_index, text_list
from wellput.core.errors import InputError
from wellput.core.options import checks_options
from wellput.core.work import OnPhase, ignore_phase
from wellput.io.files import PathLike
from wellput.io.output import check_files
from wellput.reporting.training import ParaphraseTraining

if TYPE_CHECKING:
    from wellput.language.paraphrase.corpus_index import CorpusIndex
    from wellput.language.paraphrase.model import ParaphraseModel
    from wellput.language.paraphrase.training import ParaphraseModelTraining


@checks_options
def paraphrase(
    corpus: Texts = (),
    *,
    index: PathLike | None = None,
    judged: PathLike | None = None,
    encoder: str | None = None,
    wordnet: PathLike | None = None,
    learner: Literal["boosting", "logistic"] = "boosting",
    rounds: int = 100,
    smoothing: float = 5.0,
    penalty: float = 1.0,
    min_occurrences: int = 20,
    max_occurrences: int = 20_000,
    negatives: float = 5.0,
    ngrams: int = 0,
    vocabulary: int = 20_000,
    features: int = 1000,
    window: int = 15,
    dimensions: int = 100,
    classes: int = 1000,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> ParaphraseTraining:
    """Trains a paraphrase model: classifiers that say which word fits a context, vectors of latent
    semantic analysis (LSA), and Brown classes (clusters of words). It also has the weights of the
    filters `context` and `neural`, which say whether a replacement is right in its sentence. The same
    text and seed give the same model.

    Parameters
    ----------
    corpus
        Files with a sentence on each line, or lists of sentences: `[sentences]`. Without it, `index`
        names an existing index.
    index
        The file of the corpus index (`.wpm`): written if a corpus is given, else read.
    judged
        A file of judged substitutions from which the filter `context` is learned. Default: the weights
        of the shipped filter are used.
    encoder
        Also learns the filter `neural`, with this encoder: a model name of Hugging Face, or a folder.
    wordnet
        The path of a WordNet. Default: the first one found where WordNets are usually installed.
    learner, rounds, smoothing, penalty
        How a classifier is learned: `"boosting"` with `rounds` decision stumps, or `"logistic"`
        regression with this `penalty` on squared weights. `smoothing` is the number of examples that
        are added to each count from which the vote of a stump is computed.
    min_occurrences, max_occurrences, negatives, ngrams
        What a classifier is learned from. Words with fewer than `min_occurrences` get no classifier. At
        most `max_occurrences` of a word are used, each with `negatives` negative examples. N-grams up
        to length `ngrams` anywhere in the sentence are also used as features.
    vocabulary, features, window, dimensions
        For LSA. `vocabulary`: the number of words that get a vector (and a class). `features`: the
        number of words that are counted as their neighbors. `window`: how many words on each side are
        neighbors. `dimensions`: the size of vectors.
    classes
        Number of Brown classes; 0 for none.
    path
        Writes the model to a `.wpm` file.
    seed, on_phase
        As for `score`.
    threads
        No effect here.

    Returns
    -------
    ParaphraseTraining
        `model` is the model, `save("news.wpm")` writes it.

    Raises
    ------
    InputError
        There is no text to learn from, or too little.

    Examples
    --------
    >>> import wellput
    >>> wellput.train.paraphrase()
    Traceback (most recent call last):
      ...
    wellput.core.errors.InputError: Nothing to learn from: give text files, or index=FILE.
    """
    from wellput.language.models.wordnet import open_wordnet
    from wellput.language.paraphrase.context_filter import TransformerEncoder
    from wellput.language.paraphrase.training import read_judged, train_model

    texts = text_list(corpus)
    reads_index = index is not None and not texts
    check_files(
        [path, None if reads_index else index],
        [*texts, judged, encoder, wordnet, *([index] if reads_index else [])],
    )
    if encoder is not None and judged is None:
        raise InputError("encoder= learns from judged= substitutions: give both.")
    if not texts and index is None:
        raise InputError("Nothing to learn from: give text files, or index=FILE.")
    opened_wordnet = open_wordnet(wordnet)
    judged_substitutions = read_judged(judged) if judged else []
    settings = {
        "learner": learner,
        "rounds": rounds,
        "smoothing": smoothing,
        "penalty": penalty,
        "min_occurrences": min_occurrences,
        "max_occurrences": max_occurrences,
        "negatives": negatives,
        "ngrams": ngrams,
        "vocabulary": vocabulary,
        "features": features,
        "window": window,
        "dimensions": dimensions,
        "classes": classes,
    }
    opened_index = _opened_index(texts, index, on_phase)
    model = train_model(
        opened_index,
        _training(settings),
        wordnet=opened_wordnet,
        seed=seed,
        judged=judged_substitutions,
        shipped=None if judged_substitutions else _shipped_model(),
        encoder=TransformerEncoder(encoder) if encoder else None,
        card={
            "words": len(opened_index),
            "judged": len(judged_substitutions),
            "seed": seed,
            **settings,
        },
        on_progress=on_phase("learning words"),
    )
    n_sentences = len(opened_index.starts) - 1
    result = ParaphraseTraining(model, n_sentences, len(opened_index))
    if path is not None:
        result.save(path)
    return result


def _opened_index(
    texts: Sequence[str | Sequence[str]],
    path: PathLike | None,
    on_phase: OnPhase,
) -> CorpusIndex:
    """The index of the texts, saved to `path`; without texts, the index that is read from `path`."""
    from wellput.language.paraphrase.corpus_index import CorpusIndex

    if not texts:
        return corpus_index([str(path)], on_phase)
    new_index = corpus_index(texts, on_phase)
    if path is None:
        return new_index
    new_index.save(path)
    return CorpusIndex.load(path)  # the file is memory-mapped, not read into memory


def _training(settings: dict[str, Any]) -> ParaphraseModelTraining:
    """The options of `paraphrase`, by name, as the settings of the training."""
    from wellput.language.paraphrase.classifiers import ContextTraining
    from wellput.language.paraphrase.similar_words import LsaTraining
    from wellput.language.paraphrase.training import ParaphraseModelTraining

    # Options of the word classifiers, which judge by its context whether a word fits into a gap.
    context_settings = (
        "learner", "rounds", "smoothing", "penalty", "min_occurrences", "max_occurrences", "negatives",
    )  # fmt: skip
    return ParaphraseModelTraining(
        contexts=ContextTraining(
            bag_order=settings["ngrams"], **{name: settings[name] for name in context_settings}
        ),
        lsa=LsaTraining(
            **{name: settings[name] for name in ("vocabulary", "features", "window", "dimensions")}
        ),
        classes=settings["classes"],
    )


def _shipped_model() -> ParaphraseModel | None:
    """The shipped model, whose filter weights are used; None if it is not installed."""
    from wellput.language.paraphrase.model import ParaphraseModel
    from wellput.language.shipped import ENGLISH_FOLDER, PARAPHRASE_FILE

    path = ENGLISH_FOLDER / PARAPHRASE_FILE
    return ParaphraseModel.load(path) if path.is_file() else None
