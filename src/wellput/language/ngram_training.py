"""Training an n-gram model: interpolated modified Kneser-Ney.

Chen & Goodman 1998, with the choices of KenLM's lmplz (Heafield et al. 2013): three discounts per
length, from how many n-grams have each adjusted count; where those are undefined, which small
corpora bring about, 0.5, 1 and 1.5; unigrams interpolated with all words alike, so that `<unk>` has
a probability even if nothing unknown was seen. Nothing is pruned.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from wellput import _native
from wellput.core.errors import InputError, OutputError
from wellput.language.ngrams import NgramModel
from wellput.text.tokenizers import NativeName

# Sorting holds a number of 4 bytes and two keys of 8 for every token of a run.
BYTES_PER_TOKEN = 24
MAX_ORDER = 20


@dataclass(frozen=True)
class Training:
    """A model with what it came from."""

    model: NgramModel
    sentences: int
    tokens: int
    discounts: list[tuple[float, float, float]]  # by length: for counts of 1, 2, 3 and more


def train(
    blocks: Iterable[Sequence[str]],
    *,
    order: int = 3,
    min_count: int = 1,
    memory_mb: int = 1024,
    tokenize: NativeName = "none",
    lowercase: bool = False,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Training:
    """A model from sentences, given in lists as large as is convenient; blank ones are left out.

    Words seen less than `min_count` times become `<unk>`. Counting takes at most about `memory_mb`;
    what is more goes to temporary files, sorted, and is merged. The model itself has to fit into
    memory. `on_progress` is called with numbers of sentences. The same sentences give the same
    model, whatever the lists and the memory.
    """
    if not 1 <= order <= MAX_ORDER:
        raise InputError(f"The order of an n-gram model is from 1 to {MAX_ORDER}, not {order}.")
    if min_count < 1 or memory_mb < 1:
        raise InputError("min_count and memory_mb must be at least 1.")
    sentences = tokens = 0
    with tempfile.TemporaryDirectory(prefix="wellput-") as folder:
        trainer = _native.NgramTrainer(order, memory_mb * 1_000_000 // BYTES_PER_TOKEN, folder)
        try:
            for block in blocks:
                texts = [text.lower() for text in block] if lowercase else block
                tokens += trainer.add(texts, tokenize)
                sentences += len(texts)
                on_progress(len(texts))
            if tokens == 0:
                raise InputError("There are no words to train an n-gram model on.")
            vocabulary, levels, discounts = trainer.finish(min_count)
        except RuntimeError as error:
            raise OutputError(
                f"Counting n-grams failed in {folder}: {error}. Make room there, set TMPDIR to "
                "another folder, or allow more memory."
            ) from None
    return Training(NgramModel(vocabulary, tuple(levels)), sentences, tokens, discounts)
