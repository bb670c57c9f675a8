"""A user's own spaCy pipeline as a parser. spaCy is imported when one is asked for, and never needed
otherwise.

The pipeline gets our words, not its own; where it finds several sentences in one, the roots after
the first hang on the first as `parataxis`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wellput.core.errors import InputError
from wellput.core.tree import Tree, Word

FURTHER_ROOT = "parataxis"


class SpacyParser:
    """`pipeline` is a spaCy `Language`, `new_doc` spaCy's `Doc`."""

    def __init__(self, pipeline: Any, new_doc: Any) -> None:
        self._pipeline = pipeline
        self._new_doc = new_doc

    @property
    def signature(self) -> str:
        meta = self._pipeline.meta
        return f"spacy-{meta['lang']}_{meta['name']}-{meta['version']}"

    def parse(self, sentences: Sequence[Sequence[str]], *, threads: int = 1) -> list[Tree]:
        del threads  # spaCy has its own ideas
        docs = [self._new_doc(self._pipeline.vocab, words=list(words)) for words in sentences]
        return [_tree(doc) for doc in self._pipeline.pipe(docs)]


def load_pipeline(name: str) -> SpacyParser:
    """The installed pipeline, if it can parse."""
    try:
        import spacy
    except ImportError:
        raise InputError(f"spacy:{name} needs spaCy: pip install spacy") from None
    try:
        pipeline = spacy.load(name)
    except OSError:
        raise InputError(
            f"spaCy has no pipeline {name!r}: python -m spacy download {name}"
        ) from None
    if "parser" not in pipeline.pipe_names:
        raise InputError(
            f"The spaCy pipeline {name!r} has no parser; it has "
            f"{', '.join(pipeline.pipe_names) or 'no components'}."
        )
    return SpacyParser(pipeline, spacy.tokens.Doc)


def _tree(doc: Any) -> Tree:
    """spaCy's tokens are numbered from 0, and a root is its own head."""
    roots = [token.i for token in doc if token.head.i == token.i]
    words = []
    for token in doc:
        if token.head.i != token.i:
            head, relation = token.head.i + 1, token.dep_
        elif token.i == roots[0]:
            head, relation = 0, "root"
        else:
            head, relation = roots[0] + 1, FURTHER_ROOT
        words.append(
            Word(
                token.text,
                head,
                lemma=token.lemma_ or "_",
                upos=token.pos_ or "_",
                xpos=token.tag_ or "_",
                relation=relation or "_",
            )
        )
    return Tree(tuple(words))
