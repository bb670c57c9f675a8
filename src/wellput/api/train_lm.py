"""`train.lm`: trains an n-gram model on text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wellput.api.corpora import Texts, corpus_blocks, file_names, text_list
from wellput.core.errors import InputError
from wellput.core.options import checks_options
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.io.files import PathLike
from wellput.io.output import check_files
from wellput.reporting.training import NgramTraining
from wellput.text.tokenizers import NativeName

if TYPE_CHECKING:
    from wellput.language.models.ngram_training import WorkFolder


@checks_options
def lm(
    corpus: Texts,
    *,
    order: int = 3,
    min_count: int = 1,
    memory_mb: int = 1024,
    tokenize: NativeName = "none",
    lowercase: bool = False,
    prune: float | None = None,
    compact: bool = False,
    work: PathLike | None = None,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> NgramTraining:
    """Trains an n-gram model with interpolated modified Kneser-Ney smoothing. The same text gives the
    same model.

    Parameters
    ----------
    corpus
        Files with a sentence on each line or in CoNLL-U (`.conllu`), or lists of sentences:
        `[sentences]`.
    order
        The number of words in the longest n-grams.
    min_count
        Words seen less often are treated as unknown.
    memory_mb
        Memory for counting, in megabytes. Counts that need more go to temporary files.
    tokenize, lowercase
        Tokenizer of the text, and whether to lower-case it first.
    prune
        Leaves out n-grams whose removal raises the perplexity by less than this share of it, such as
        1e-7.
    compact
        Rounds numbers to 8 bits, to make a small `.wlm` file.
    work
        A folder that keeps counts, so that a training that was stopped can be resumed.
    path
        Writes the model: `.arpa` (`.gz`, `.xz`) or `.wlm`.
    seed
        No effect: training is not random.
    threads, on_phase
        As for `score`.

    Returns
    -------
    NgramTraining
        `model` is the model, `save("english.wlm")` writes it.

    Raises
    ------
    InputError
        A file cannot be read, or there are no words in it.

    Examples
    --------
    >>> import wellput
    >>> training = wellput.train.lm([["the cat sat", "the dog sat"]], order=2)
    >>> training.words, training.model.sizes
    (6, [7, 6])
    """
    from wellput.language.models.ngram_files import check_suffix, quantized
    from wellput.language.models.ngram_training import train
    from wellput.language.models.ngram_trie import pruned_model as pruned

    texts = text_list(corpus)
    if path is not None and check_suffix(path) != ".wlm" and compact:
        raise InputError(f"compact=True needs a path that ends in .wlm, not {path}.")
    if prune is not None and not 0 <= prune <= 1:
        raise InputError(f"prune={prune:g} must be between 0 and 1.")
    blocks = corpus_blocks(texts)
    check_files([path], texts)
    options: dict[str, Any] = {
        "order": order,
        "min_count": min_count,
        "memory_mb": memory_mb,
        "tokenize": tokenize,
        "lowercase": lowercase,
    }
    training = train(
        blocks,
        **options,
        work=None if work is None else _work_folder(work, texts, options),
        threads=threads or available_cores(),
        on_progress=on_phase("counting sentences"),
    )
    model = training.model
    if prune is not None:
        model = pruned(model, training.frequencies, prune)
    if compact:
        model = quantized(model)
    result = NgramTraining(
        model, training.sentences, training.tokens, tuple(training.discounts), compact
    )
    if path is not None:
        result.save(path)
    return result


def _work_folder(
    folder: PathLike, texts: Sequence[str | Sequence[str]], options: Mapping[str, Any]
) -> WorkFolder:
    """The folder of counts, which are used again only if the files and the options are the same."""
    from wellput.language.models.ngram_training import WorkFolder

    stats = [(path, Path(path).stat()) for path in file_names(texts, "work=")]
    files = [[path, stat.st_size, stat.st_mtime_ns] for path, stat in stats]
    return WorkFolder(Path(folder), {"corpus": files, **options})
