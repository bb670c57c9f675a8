"""Text and trees to train models from: text as files with a sentence on each line or as lists of
sentences, trees as CoNLL-U files or `Tree` objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from wellput.core.errors import InputError
from wellput.core.tree import Tree
from wellput.core.work import OnPhase
from wellput.io.files import STANDARD_INPUT, InputFile, PathLike, check_readable
from wellput.io.trees import TREES_SUFFIX, check_is_corpus, read_trees, trees_in

if TYPE_CHECKING:
    from wellput.language.paraphrase.corpus_index import CorpusIndex


T = TypeVar("T")

Text: TypeAlias = PathLike | Sequence[str]
"""A file with a sentence on each line, or a list of sentences."""
Texts: TypeAlias = PathLike | Sequence[Text]
"""One file, or a list of texts. Put a single list of sentences into a list: `[sentences]`."""

BLOCK_LINES = 1 << 14
INDEX_SUFFIX = ".wpm"


def as_list(given: PathLike | Sequence[T]) -> Sequence[PathLike | T]:
    """One path, or a list, as a list."""
    return [given] if isinstance(given, str | Path) else given


def text_list(corpus: Texts) -> list[str | Sequence[str]]:
    """A list of texts, with files as strings.

    >>> text_list("a.txt"), text_list([["It rains ."], Path("b.txt")])
    (['a.txt'], [['It rains .'], 'b.txt'])
    """
    return [str(text) if isinstance(text, Path) else text for text in as_list(corpus)]


def file_names(texts: Sequence[str | Sequence[str]], reader: str) -> list[str]:
    """The texts as file names. All must be files that can be read again. `reader` names what reads
    them, for the message."""
    names = [text for text in texts if isinstance(text, str)]
    if len(names) < len(texts) or STANDARD_INPUT in names:
        raise InputError(f"{reader} reads files, not standard input or sentences in memory.")
    return names


def corpus_blocks(texts: Sequence[str | Sequence[str]]) -> Iterator[Sequence[str]]:
    """All sentences, in blocks; of a CoNLL-U file the tokens of each tree, with spaces between them. A
    file that cannot be read is refused at once."""
    sources = [InputFile(text) if isinstance(text, str) else text for text in texts]
    files = [source for source in sources if isinstance(source, InputFile)]
    check_readable(*files)
    for file in files:
        check_is_corpus(file)
    return (block for source in sources for block in _blocks(source))


def _blocks(source: InputFile | Sequence[str]) -> Iterable[Sequence[str]]:
    if not isinstance(source, InputFile):
        return [source]
    if source.suffix == TREES_SUFFIX:
        return ([" ".join(form for form, _ in tree.surface())] for tree in trees_in(source))
    return source.line_blocks(BLOCK_LINES)


def corpus_index(texts: Sequence[str | Sequence[str]], on_phase: OnPhase) -> CorpusIndex:
    """The index of texts, or the one that a single .wpm file holds."""
    from wellput.language.paraphrase.corpus_index import CorpusIndex, index_corpus

    [first, *others] = texts
    if isinstance(first, str) and first.endswith(INDEX_SUFFIX) and not others:
        return CorpusIndex.load(first)
    return index_corpus(corpus_blocks(texts), on_progress=on_phase("indexing sentences"))


Treebanks: TypeAlias = PathLike | Sequence[PathLike | Tree]
"""One file, or a list of files and trees."""


def tree_list(trees: Treebanks) -> list[str | Tree]:
    """A list of files, as strings, and trees."""
    return [one if isinstance(one, Tree) else str(one) for one in as_list(trees)]


def all_trees(given: Sequence[str | Tree]) -> Iterator[Tree]:
    """All trees. A missing file is refused at once."""
    readers = [[one] if isinstance(one, Tree) else read_trees(one) for one in given]
    return (tree for reader in readers for tree in reader)
