"""From lines of text to trees: tagger, parser and tables together, folders, spaCy."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.language.models.small_treebank import TREES
from wellput.core.errors import InputError
from wellput.core.tree import Tree, Word
from wellput.io.trees import format_tree, parse_tree
from wellput.language.models.parser_training import attachment_scores, jackknifed, train_parser
from wellput.language.models.parsers import SpacyParser, TaggingParser, load_parser
from wellput.language.models.sentence_parsing import SentenceParser


@pytest.fixture(scope="module")
def parser() -> TaggingParser:
    return train_parser(TREES, epochs=5)


def test_a_parser_from_trees_gives_these_trees(parser: TaggingParser) -> None:
    found = parser.parse([[word.form for word in tree.words] for tree in TREES])
    scores = attachment_scores(TREES, found)
    assert scores["words"] == sum(len(tree.words) for tree in TREES)
    # Hints of so few trees are poor, and the parser learned not to trust them.
    assert scores["xpos"] == 1.0
    assert scores["uas"] >= scores["las"] > 0.85


def test_attachment_scores_by_hand() -> None:
    gold = [Tree((Word("a", 2, relation="det"), Word("b", 0, relation="root", lemma="b")))]
    found = [Tree((Word("a", 2, relation="det:x"), Word("b", 1, relation="root", upos="N")))]
    # Heads: 1 of 2; with universal relations still that one; with subtypes none. UPOS and lemma: 1.
    scores = attachment_scores(gold, found)
    assert scores == {
        "words": 2,
        "xpos": 1.0,
        "upos": 0.5,
        "lemma": 0.5,
        "uas": 0.5,
        "las": 0.5,
        "full_las": 0.0,
    }


def test_no_fold_is_tagged_by_a_tagger_that_saw_it() -> None:
    """A word of its own tag in each sentence: no tagger but the one trained on it knows the tag."""
    tags = jackknifed([([f"w{i}"], [f"T{i}"]) for i in range(20)])
    assert [len(own) for own in tags] == [1] * 20
    assert not any(own == [f"T{i}"] for i, own in enumerate(tags))


def test_a_treebank_without_tags_is_refused() -> None:
    with pytest.raises(InputError, match="1 word of the treebank has no tag"):
        train_parser([Tree((Word("a", 0, relation="root"),))])


def test_lines_become_trees_with_comments_and_surface_tokens(parser: TaggingParser) -> None:
    lines = ["The dog doesn't bark.", "", "  ", "A  cat sleeps"]
    first, second = SentenceParser(parser).parse(lines, first=7)
    assert first.tree.comments == ("sent_id = 7", "text = The dog doesn't bark.")
    assert [word.form for word in first.tree.words] == ["The", "dog", "does", "n't", "bark", "."]
    assert [(m.first, m.last, m.form) for m in first.tree.multiwords] == [(3, 4, "doesn't")]
    assert first.tree.words[4].misc == "SpaceAfter=No"
    assert second.tree.comments == ("sent_id = 10", "text = A cat sleeps")
    # Comments left out, the text follows from the surface tokens.
    assert Tree(first.tree.words, first.tree.multiwords).text == lines[0]


def test_words_as_they_are(parser: TaggingParser) -> None:
    (found,) = SentenceParser(parser, tokenize="none").parse(["The dog doesn't bark."])
    assert [word.form for word in found.tree.words] == ["The", "dog", "doesn't", "bark."]


@given(st.lists(st.text(st.characters(exclude_characters="\n")), max_size=4))
def test_any_line_gives_a_tree_that_conllu_can_hold(lines: list[str]) -> None:
    parsing = SentenceParser(small_parser())
    trees = parsing.trees(lines, threads=2)
    for line, tree in zip(lines, trees, strict=True):
        assert "".join(word.form for word in tree.words) == "".join(line.split())
        assert not tree.mismatch(line)
        if tree.words:
            assert parse_tree(format_tree(tree)) == tree


KEPT: list[TaggingParser] = []


def small_parser() -> TaggingParser:
    if not KEPT:
        KEPT.append(train_parser(TREES[:3], epochs=1))
    return KEPT[0]


def test_a_folder_is_a_parser(parser: TaggingParser, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no parser"):
        load_parser(str(tmp_path / "none"))
    with pytest.raises(InputError, match="tagger"):
        load_parser(str(tmp_path))
    parser.tagger.save(tmp_path / "tagger.wpm")
    parser.transitions.save(tmp_path / "parser.wpm")
    loaded = SentenceParser.load(str(tmp_path))
    assert loaded.parser.signature == parser.signature
    assert loaded.parse(["The dog barks."]) == SentenceParser(parser).parse(["The dog barks."])


@dataclass
class Token:
    """As much of spaCy's token as is looked at."""

    text: str
    i: int
    dep_: str
    doc: Doc
    lemma_: str = ""
    pos_: str = "X"
    tag_: str = "XX"

    @property
    def head(self) -> Token:
        return self.doc.tokens[self.doc.heads[self.i]]


@dataclass
class Doc:
    """spaCy's Doc: every token is its own head till the pipeline says otherwise."""

    vocab: object
    words: Sequence[str]
    tokens: list[Token] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tokens = [Token(text, i, "dep", self) for i, text in enumerate(self.words)]
        self.heads = list(range(len(self.words)))

    def __iter__(self) -> Iterator[Token]:
        return iter(self.tokens)


class Pipeline:
    """Hangs every token on the one before it, but for those in `roots`."""

    vocab = object()
    pipe_names = ("parser",)

    def __init__(self, roots: Sequence[int]) -> None:
        self.meta = {"lang": "en", "name": "test", "version": "1.0"}
        self.roots = roots

    def pipe(self, docs: Sequence[Doc]) -> Iterator[Doc]:
        for doc in docs:
            doc.heads = [i if i in self.roots else i - 1 for i in range(len(doc.words))]
            yield doc


def test_spacys_trees_have_one_root() -> None:
    parser = SpacyParser(Pipeline([0, 2]), Doc)
    (tree,) = parser.parse([["a", "b", "c", "d"]])
    assert [word.head for word in tree.words] == [0, 1, 1, 3]
    assert [word.relation for word in tree.words] == ["root", "dep", "parataxis", "dep"]
    assert [word.lemma for word in tree.words] == ["_"] * 4
    assert parser.signature == "spacy-en_test-1.0"


def test_spacy_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(InputError, match="pip install spacy"):
        load_parser("spacy:en_test")

    def load(name: str) -> Any:
        if name == "none":
            raise OSError
        pipeline = Pipeline([0])
        if name == "blank":
            pipeline.pipe_names = ()  # type: ignore[assignment]
        return pipeline

    stand_in: Any = ModuleType("spacy")
    stand_in.load = load
    stand_in.tokens = ModuleType("spacy.tokens")
    stand_in.tokens.Doc = Doc
    monkeypatch.setitem(sys.modules, "spacy", stand_in)
    assert load_parser("spacy:en_test").signature == "spacy-en_test-1.0"
    with pytest.raises(InputError, match="spacy download none"):
        load_parser("spacy:none")
    with pytest.raises(InputError, match="has no parser"):
        load_parser("spacy:blank")
