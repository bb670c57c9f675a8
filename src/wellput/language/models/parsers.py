"""The protocol `Parser`, and the parsers that users can name.

`english` is the parser that comes with wellput, a `NetworkParser`. A folder holds a `NetworkParser`,
or a `TaggingParser` that `wellput train parser` wrote; the parser's file says which. `spacy:NAME` is a
spaCy pipeline that the user has installed; spaCy is imported only for such a name. The pipeline gets
words and does not tokenize. Where it finds several sentences in one, the roots after the first depend
on the first as `parataxis`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from wellput.core.errors import InputError
from wellput.core.tree import Tree, Word
from wellput.io.model_files import has_kind
from wellput.language.models.biaffine_parser import FURTHER_ROOT_RELATION, BiaffineParser
from wellput.language.models.tagger import Tagger
from wellput.language.models.transition_parser import TransitionParser
from wellput.language.models.treebanks import tag_columns
from wellput.language.models.word_analysis import WordAnalysis
from wellput.language.models.word_network import WordNetwork
from wellput.language.shipped import NETWORK_FILE, PARSER_FILE, TAGGER_FILE, shipped

ENGLISH_PARSER = "english"
SPACY_PREFIX = "spacy:"


class Parser(Protocol):
    """A parser that makes trees over the words it gets, without splitting or joining them."""

    @property
    def signature(self) -> str:
        """The parser's name in a metric's signature; it differs from model to model."""
        ...

    def parse(self, sentences: Sequence[Sequence[str]], *, threads: int = 1) -> list[Tree]:
        """The tree of each sentence, which is a list of at least one word."""
        ...


class TaggingParser:
    """A parser that runs a tagger and then a transition parser."""

    def __init__(self, tagger: Tagger, transitions: TransitionParser) -> None:
        self.tagger = tagger
        self.transitions = transitions

    @property
    def word_analysis(self) -> WordAnalysis:
        return self.transitions.word_analysis

    @classmethod
    def load(cls, folder: Path) -> TaggingParser:
        """The parser in a folder that `wellput train parser` wrote."""
        tagger, transitions = _files_in(folder)
        return cls(Tagger.load(tagger), TransitionParser.load(transitions))

    @cached_property
    def signature(self) -> str:
        fingerprints = self.tagger.fingerprint + self.transitions.fingerprint
        return sha256(fingerprints.encode()).hexdigest()[:12]

    def parse(self, sentences: Sequence[Sequence[str]], *, threads: int = 1) -> list[Tree]:
        tags = self.tagger.tag(sentences, threads=threads)
        arcs = self.transitions.arcs(sentences, tags, threads=threads)
        analysis = self.word_analysis
        return [
            Tree(
                tuple(
                    Word(
                        form,
                        arc.head,
                        lemma=analysis.lemma(form, tag),
                        upos=analysis.category(form, tag, arc.relation),
                        xpos=tag_columns(tag)[0],
                        feats=tag_columns(tag)[1],
                        relation=arc.relation,
                    )
                    for form, tag, arc in zip(*sentence, strict=True)
                )
            )
            for sentence in zip(sentences, tags, arcs, strict=True)
        ]


class NetworkParser:
    """A parser that runs a tagger and then a biaffine parser, which reads the tagger's tags and gives
    better ones."""

    def __init__(self, tagger: Tagger, network: BiaffineParser) -> None:
        self.tagger = tagger
        self.network = network

    @property
    def word_analysis(self) -> WordAnalysis:
        return self.network.word_analysis

    @cached_property
    def signature(self) -> str:
        parts = (self.tagger, self.network, self.network.reader)
        fingerprints = "".join(part.fingerprint for part in parts)
        return sha256(fingerprints.encode()).hexdigest()[:12]

    def parse(self, sentences: Sequence[Sequence[str]], *, threads: int = 1) -> list[Tree]:
        tags = self.tagger.tag(sentences, threads=threads)
        lemma = self.word_analysis.lemma
        return [
            Tree(
                tuple(
                    Word(
                        form,
                        parsed.head,
                        lemma=lemma(form, parsed.xpos),
                        upos=parsed.upos,
                        xpos=parsed.xpos,
                        relation=parsed.relation,
                    )
                    for form, parsed in zip(*sentence, strict=True)
                )
            )
            for sentence in zip(
                sentences, self.network.parse(sentences, tags, threads=threads), strict=True
            )
        ]


@cache
def english_word_analysis() -> WordAnalysis:
    """The shipped parser's tables of lemmas and universal parts of speech."""
    return _loaded(shipped(TAGGER_FILE), shipped(PARSER_FILE)).word_analysis


def load_parser(name: str) -> Parser:
    """The parser called `english`, `spacy:NAME`, or the one in a folder."""
    if name == ENGLISH_PARSER:
        tagger, parser = shipped(TAGGER_FILE), shipped(PARSER_FILE)
    elif name.startswith(SPACY_PREFIX):
        return load_pipeline(name.removeprefix(SPACY_PREFIX))
    else:
        folder = Path(name)
        if not folder.is_dir():
            raise InputError(
                f"There is no parser {name!r}. Pass {ENGLISH_PARSER}, spacy:NAME for a spaCy pipeline, "
                "or the folder that wellput train parser wrote."
            )
        tagger, parser = _files_in(folder)
    return _loaded(tagger, parser)


def _files_in(folder: Path) -> tuple[Path, Path]:
    """The files of the tagger and of the parser in a folder; raises InputError if one is missing."""
    files = folder / TAGGER_FILE, folder / PARSER_FILE
    if missing := [path.name for path in files if not path.is_file()]:
        raise InputError(
            f"{folder} holds no parser: {' and '.join(missing)} missing. Make one with wellput train "
            f"parser TREES.conllu -o {folder}."
        )
    return files


def _loaded(tagger: Path, parser: Path) -> TaggingParser | NetworkParser:
    """The parser in two files, with the class that the parser's file says. A biaffine parser also needs
    the small language model whose states are its input: the one in the same folder or, if there is
    none, the shipped one."""
    if not has_kind(parser, BiaffineParser.kind):
        return TaggingParser(Tagger.load(tagger), TransitionParser.load(parser))
    own_file = parser.with_name(NETWORK_FILE)
    reader = WordNetwork.load(own_file if own_file.is_file() else shipped(NETWORK_FILE))
    return NetworkParser(Tagger.load(tagger), BiaffineParser.load(parser, reader))


class SpacyParser:
    """A parser that runs a spaCy pipeline (a `Language`); `new_doc` is spaCy's class `Doc`."""

    def __init__(self, pipeline: Any, new_doc: Any) -> None:
        self._pipeline = pipeline
        self._new_doc = new_doc

    @property
    def signature(self) -> str:
        meta = self._pipeline.meta
        return f"spacy-{meta['lang']}_{meta['name']}-{meta['version']}"

    def parse(self, sentences: Sequence[Sequence[str]], *, threads: int = 1) -> list[Tree]:
        del threads  # spaCy manages its own threads
        docs = [self._new_doc(self._pipeline.vocab, words=list(words)) for words in sentences]
        return [_tree_of_doc(doc) for doc in self._pipeline.pipe(docs)]


def load_pipeline(name: str) -> SpacyParser:
    """The installed spaCy pipeline of this name; raises InputError if there is none or it cannot
    parse."""
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


def _tree_of_doc(doc: Any) -> Tree:
    """The tree of a spaCy document, where tokens are numbered from 0 and a root is its own head."""
    roots = [token.i for token in doc if token.head.i == token.i]
    words = []
    for token in doc:
        if token.head.i != token.i:
            head, relation = token.head.i + 1, token.dep_
        elif token.i == roots[0]:
            head, relation = 0, "root"
        else:
            head, relation = roots[0] + 1, FURTHER_ROOT_RELATION
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
