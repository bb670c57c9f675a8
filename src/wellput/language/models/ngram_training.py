"""Trains n-gram models with interpolated modified Kneser-Ney smoothing.

The method is that of Chen & Goodman (1998), with the choices of KenLM's lmplz (Heafield et al. 2013).
An n-gram's *adjusted count* is the number of different words that it follows; for an n-gram of full
length or at the beginning of a sentence, it is the number of its occurrences. There are three
discounts for each n-gram length, for adjusted counts of 1, 2, and 3 or more. They are computed from
how many n-grams have each adjusted count; they are 0.5, 1 and 1.5 where a corpus is too small to
compute them. Unigrams are interpolated with a uniform distribution, so `<unk>` always has a
probability. Pruning is separate (see `ngram_trie.py`).

A `WorkFolder` is where a training keeps its counts, so that it can be resumed. The files `tokens` (the
text as word numbers) and `words` grow. Further files are *sorted runs*: each has the n-grams of as much
text as is sorted in memory at once. They are made again if text was added.
`progress.json` says how much of `tokens` and `words` is valid and what they were made from.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wellput import _native
from wellput.core.errors import InputError, OutputError
from wellput.core.metric import Floats
from wellput.io import replacing
from wellput.io.folder_locks import locked_folder
from wellput.io.opened_files import note_own_folder
from wellput.language.models.ngrams import NgramModel
from wellput.text.tokenizers import NativeName

BYTES_PER_NUMBER = 4


@dataclass(frozen=True)
class CountingProgress:
    """How much has been counted so far."""

    sentences: int = 0
    tokens: int = 0  # the tokens of these sentences, without <s> and </s>
    numbers: int = 0  # the word numbers in the file `tokens`, which also has <s> and </s>
    words: int = 0  # the words in the file `words`, the special ones included


class WorkFolder:
    """The folder of a training. `made_from` has everything on which the counts depend (texts,
    options), as JSON."""

    def __init__(self, folder: Path, made_from: Mapping[str, Any]) -> None:
        self.folder = folder
        self._made_from = dict(made_from)
        self._progress = CountingProgress()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Makes the folder if there is none. Until the block ends, no other training can use it: two at
        a time would write into the same files."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        refusal = f"Another training uses {self.folder}: wait for its end, or give another folder."
        with locked_folder(self.folder, str(self.folder), refusal):
            # The command may replace files here that it has read.
            note_own_folder(self.folder)
            yield

    def resume(self, trainer: _native.NgramTrainer) -> CountingProgress:
        """Gives the trainer the counts in the folder. Raises InputError if the folder belongs to
        another training."""
        state = self.folder / "progress.json"
        if not state.exists():
            if any(self.folder.iterdir()):
                raise InputError(
                    f"{self.folder} is not empty, and does not hold a training. Pass another folder."
                )
            self.save(trainer, 0, 0)
            return self._progress
        stored = json.loads(state.read_text(encoding="utf-8"))
        if stored["made_from"] != self._made_from:
            other = json.dumps(stored["made_from"], ensure_ascii=False)
            raise InputError(
                f"{self.folder} holds a training from other texts or with other options: {other}. "
                "Use the same ones, name another folder or delete this one."
            )
        self._progress = CountingProgress(**stored["progress"])
        damage = f"{self.folder} is damaged: delete it and start again."
        words = (self.folder / "words").read_bytes().split(b"\n")[: self._progress.words]
        n_stored_numbers = (self.folder / "tokens").stat().st_size // BYTES_PER_NUMBER
        if n_stored_numbers < self._progress.numbers or len(words) < self._progress.words:
            raise InputError(damage)
        with (self.folder / "words").open("r+b") as file:
            file.truncate(sum(len(word) + 1 for word in words))
        decoded = [word.decode(errors="surrogatepass") for word in words]
        try:
            trainer.resume(self._progress.numbers, decoded)
        except IndexError:  # a number in the file `tokens` that no word has
            raise InputError(damage) from None
        return self._progress

    def save(self, trainer: _native.NgramTrainer, sentences: int, tokens: int) -> None:
        """Writes all counts so far into the folder."""
        numbers = trainer.checkpoint()
        new_words = trainer.words_from(self._progress.words)
        with (self.folder / "words").open("ab") as file:
            file.write(new_words)
        words = self._progress.words + new_words.count(b"\n")
        self._progress = CountingProgress(sentences, tokens, numbers, words)
        state = {"made_from": self._made_from, "progress": asdict(self._progress)}
        with replacing(self.folder / "progress.json") as out:
            out.write(json.dumps(state, ensure_ascii=False).encode())


# Sorting keeps a number of 4 bytes and two keys of 8 bytes in memory for every token of a sorted run,
# with some reserve.
BYTES_PER_TOKEN = 24
MAX_NGRAM_ORDER = 20


@dataclass(frozen=True)
class TrainedNgrams:
    """A model, with figures of its training text; `discounts` and `frequencies` are by n-gram
    length."""

    model: NgramModel
    sentences: int
    tokens: int
    discounts: list[tuple[float, float, float]]  # for counts of 1, 2, and 3 or more
    frequencies: list[Floats]  # relative frequencies of n-grams in the text, without the longest


def train(
    blocks: Iterable[Sequence[str]],
    *,
    order: int = 3,
    min_count: int = 1,
    known: Sequence[str] | None = None,
    memory_mb: int = 1024,
    tokenize: NativeName = "none",
    lowercase: bool = False,
    work: WorkFolder | None = None,
    threads: int = 1,
    on_progress: Callable[[int], None] = lambda _: None,
) -> TrainedNgrams:
    """A model trained on sentences. A block is a list of sentences of any length; blank sentences are
    left out.

    Words that occur fewer than `min_count` times become `<unk>`. With `known` (the words of another
    model), the words that are not in `known` become `<unk>` instead. Counting takes at most about
    `memory_mb` MB of memory. Further counts go to sorted temporary files, or to the folder `work`, from
    which a stopped training can be resumed. The model itself must fit into memory. `on_progress` counts
    sentences. The same sentences give the same model, however they are divided into blocks and whatever
    the memory and threads.
    """
    if not 1 <= order <= MAX_NGRAM_ORDER:
        raise InputError(
            f"The order of an n-gram model is from 1 to {MAX_NGRAM_ORDER}, not {order}."
        )
    if min_count < 1 or memory_mb < 1:
        raise InputError("min_count and memory_mb must be at least 1.")
    sorted_run_tokens = memory_mb * 1_000_000 // BYTES_PER_TOKEN
    with _folder_of(work) as folder:
        try:
            trainer = _native.NgramTrainer(order, sorted_run_tokens, str(folder), threads)
            if known is not None:
                trainer.know_only(known)
            done = work.resume(trainer) if work else CountingProgress()
            sentences, tokens, saved = done.sentences, done.tokens, done.tokens
            on_progress(sentences)
            for block in _after(blocks, sentences):
                texts = [text.lower() for text in block] if lowercase else block
                tokens += trainer.add(texts, tokenize)
                sentences += len(texts)
                on_progress(len(texts))
                if work and tokens - saved >= sorted_run_tokens:
                    work.save(trainer, sentences, tokens)
                    saved = tokens
            if work and tokens > saved:
                work.save(trainer, sentences, tokens)
            if tokens == 0:
                raise InputError("There are no words to train an n-gram model on.")
            vocabulary, levels, discounts, counts = trainer.finish(min_count)
        except RuntimeError as error:
            raise OutputError(
                f"Counting n-grams failed in {folder}: {error}. Make room there, set TMPDIR to "
                "another folder, or allow more memory."
            ) from None
    model = NgramModel(vocabulary, tuple(levels))
    return TrainedNgrams(model, sentences, tokens, discounts, [level / tokens for level in counts])


@contextmanager
def _folder_of(work: WorkFolder | None) -> Iterator[Path]:
    """The folder for sorted files: that of `work`, or a temporary one."""
    if work:
        with work.locked():
            yield work.folder
        return
    with tempfile.TemporaryDirectory(prefix="wellput-") as folder:
        yield Path(folder)


def _after(blocks: Iterable[Sequence[str]], n: int) -> Iterator[Sequence[str]]:
    """The sentences after the first `n`."""
    for block in blocks:
        if n < len(block):
            yield block[n:]
        n = max(0, n - len(block))
