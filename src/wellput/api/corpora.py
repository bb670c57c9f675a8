"""Reads text and trees to train models from. Text comes as files with a sentence on each line, or as
lists of sentences. Trees come as CoNLL-U files, or as `Tree` objects.
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

LINES_PER_BLOCK = 1 << 14
INDEX_SUFFIX = ".wpm"
"""The suffix of a file with an index of text."""


def as_list(given: PathLike | Sequence[T]) -> Sequence[PathLike | T]:
    """A list of one path if a path is given, else the list as it is."""
    return [given] if isinstance(given, str | Path) else given


def text_list(corpus: Texts) -> list[str | Sequence[str]]:
    """A list of texts, with files as strings.

    >>> text_list("a.txt"), text_list([["It rains ."], Path("b.txt")])
    (['a.txt'], [['It rains .'], 'b.txt'])
    """
    return [str(text) if isinstance(text, Path) else text for text in as_list(corpus)]


def file_names(texts: Sequence[str | Sequence[str]], reader: str) -> list[str]:
    """The file names of the texts. Raises InputError if a text is not a file, because only files can be
    read more than once; `reader` says in the message what reads the texts."""
    names = [text for text in texts if isinstance(text, str)]
    if len(names) < len(texts) or STANDARD_INPUT in names:
        raise InputError(f"{reader} reads files, not standard input or sentences in memory.")
    return names


def corpus_blocks(texts: Sequence[str | Sequence[str]]) -> Iterator[Sequence[str]]:
    """All sentences, in blocks. A sentence of a CoNLL-U file is the tokens of a tree with spaces
    between them. A file that cannot be read raises an error at once, before the first block is
    used."""
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
    return source.line_blocks(LINES_PER_BLOCK)


def corpus_index(texts: Sequence[str | Sequence[str]], on_phase: OnPhase) -> CorpusIndex:
    """An index of the sentences, which finds the sentences that have a word. If the only text is a
    `.wpm` file, the index is loaded from it."""
    from wellput.language.paraphrase.corpus_index import CorpusIndex, index_corpus

    [first, *others] = texts
    if isinstance(first, str) and first.endswith(INDEX_SUFFIX) and not others:
        return CorpusIndex.load(first)
    return index_corpus(corpus_blocks(texts), on_progress=on_phase("indexing sentences"))


Treebanks: TypeAlias = PathLike | Sequence[PathLike | Tree]
"""One file, or a list of files and trees."""


def tree_list(trees: Treebanks) -> list[str | Tree]:
    """A list of files, as strings, and trees."""
    return [tree if isinstance(tree, Tree) else str(tree) for tree in as_list(trees)]


def all_trees(tree_sources: Sequence[str | Tree]) -> Iterator[Tree]:
    """All trees. A missing file raises an error at once, before the first tree is used."""
    readers = [
        [tree_source] if isinstance(tree_source, Tree) else read_trees(tree_source)
        for tree_source in tree_sources
    ]
    return (tree for reader in readers for tree in reader)
