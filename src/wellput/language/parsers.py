"""Parsers by name, all with the same two members: `Parser` is what they have in common.

`english` is the one that comes with wellput, a folder is one trained by `wellput train parser`, and
`spacy:NAME` a spaCy pipeline that the user has installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from wellput.core.errors import InputError
from wellput.core.tree import Tree, Word
from wellput.language.shipped import shipped
from wellput.language.tagger import Tagger
from wellput.language.transition_parser import TransitionParser

TAGGER_FILE = "tagger.wpm"
PARSER_FILE = "parser.wpm"
ENGLISH = "english"
SPACY_PREFIX = "spacy:"


class Parser(Protocol):
    """From words to trees over just these words."""

    @property
    def signature(self) -> str:
        """What names the parser in a metric's signature; another model has another one."""
        ...

    def parse(self, sentences: Sequence[Sequence[str]], *, threads: int = 1) -> list[Tree]:
        """The trees; every sentence must have a word."""
        ...


class TaggingParser:
    """Tagger and transition parser, one after the other."""

    def __init__(self, tagger: Tagger, transitions: TransitionParser) -> None:
        self.tagger = tagger
        self.transitions = transitions

    @cached_property
    def signature(self) -> str:
        both = self.tagger.fingerprint + self.transitions.fingerprint
        return sha256(both.encode()).hexdigest()[:12]

    def parse(self, sentences: Sequence[Sequence[str]], *, threads: int = 1) -> list[Tree]:
        tags = self.tagger.tag(sentences, threads=threads)
        arcs = self.transitions.arcs(sentences, tags, threads=threads)
        analysis = self.transitions.words
        return [
            Tree(
                tuple(
                    Word(
                        form,
                        arc.head,
                        lemma=analysis.lemma(form, tag),
                        upos=analysis.category(form, tag, arc.relation),
                        xpos=tag,
                        relation=arc.relation,
                    )
                    for form, tag, arc in zip(*sentence, strict=True)
                )
            )
            for sentence in zip(sentences, tags, arcs, strict=True)
        ]


def load_parser(name: str) -> Parser:
    """The parser called `english`, `spacy:NAME`, or the one in a folder."""
    if name == ENGLISH:
        tagger, transitions = shipped(TAGGER_FILE), shipped(PARSER_FILE)
    elif name.startswith(SPACY_PREFIX):
        from wellput.language.spacy_parser import load_pipeline

        return load_pipeline(name.removeprefix(SPACY_PREFIX))
    else:
        folder = Path(name)
        if not folder.is_dir():
            raise InputError(
                f"No parser {name!r}: give {ENGLISH}, spacy:NAME for a spaCy pipeline, or the folder "
                "that wellput train parser wrote."
            )
        tagger, transitions = folder / TAGGER_FILE, folder / PARSER_FILE
        if missing := [path.name for path in (tagger, transitions) if not path.is_file()]:
            raise InputError(
                f"{name} holds no parser: {' and '.join(missing)} missing. Make one with wellput train "
                f"parser TREES.conllu -o {name}."
            )
    return TaggingParser(Tagger.load(tagger), TransitionParser.load(transitions))
