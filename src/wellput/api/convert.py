"""`convert`: turns constituent trees of the Penn Treebank into dependency trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from wellput.api.corpora import as_list
from wellput.core.errors import InputError
from wellput.core.options import checks_options
from wellput.core.tree import Constituent, Tree
from wellput.core.work import OnPhase, ignore_phase
from wellput.io import read_constituents
from wellput.io.files import PathLike
from wellput.io.output import check_files
from wellput.language.trees.penn_dependencies import labeled_dependencies
from wellput.reporting.language import TreeConversion

Brackets = PathLike | Sequence[PathLike | Constituent]
"""One file, or a list of files and constituent trees."""


@checks_options
def convert(
    trees: Brackets,
    *,
    lemmas: bool = False,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> TreeConversion:
    """Converts constituent trees of the Penn Treebank to dependency trees with relations.

    Parameters
    ----------
    trees
        Files with trees in Penn Treebank brackets, or `Constituent` objects.
    lemmas
        Fills in lemmas, which the Penn Treebank does not have, from tables that belong to the shipped
        parser.
    path
        Writes the trees to a CoNLL-U file (`.gz` and `.xz` are compressed).
    seed, threads
        No effect: nothing is random, and one thread is used.
    on_phase
        As for `score`.

    Returns
    -------
    TreeConversion
        `trees` are the dependency trees.

    Raises
    ------
    InputError
        A file cannot be read, or a tree has no words.

    Examples
    --------
    >>> import wellput
    >>> from wellput.io import parse_constituent
    >>> brackets = "(S (NP-SBJ (NNS dogs)) (VP (MD can) (VP (VB bark))))"
    >>> [tree] = wellput.convert([parse_constituent(brackets)]).trees
    >>> [(word.form, word.head, word.relation) for word in tree.words]
    [('dogs', 3, 'nsubj'), ('can', 3, 'aux'), ('bark', 0, 'root')]
    """
    tree_sources = [tree if isinstance(tree, Constituent) else str(tree) for tree in as_list(trees)]
    check_files([path], tree_sources)
    advance = on_phase("converting trees")
    with_lemmas_if_asked = _with_lemmas if lemmas else _unchanged

    def converted() -> Iterator[Tree]:
        for place, constituent in _constituents(tree_sources):
            try:
                yield with_lemmas_if_asked(labeled_dependencies(constituent))
            except InputError as error:
                raise InputError(f"{place}: {error}") from None
            advance(1)

    conversion = TreeConversion(tuple(converted()))
    if path is not None:
        conversion.save(path)
    return conversion


def _unchanged(tree: Tree) -> Tree:
    return tree


def _with_lemmas(tree: Tree) -> Tree:
    from wellput.language.models.parsers import english_word_analysis

    lemma = english_word_analysis().lemma
    return replace(
        tree, words=tuple(replace(word, lemma=lemma(word.form, word.xpos)) for word in tree.words)
    )


def _constituents(tree_sources: Sequence[str | Constituent]) -> Iterator[tuple[str, Constituent]]:
    """Each tree, after its place in words for error messages."""
    for number, tree_source in enumerate(tree_sources, start=1):
        if isinstance(tree_source, Constituent):
            yield f"Tree {number}", tree_source
            continue
        for number_in_file, constituent in enumerate(read_constituents(tree_source), start=1):
            yield f"{tree_source}, tree {number_in_file}", constituent
