"""Tokenizers that other packages bring."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import wellput
from tests.plugins import install, project_text
from wellput.core.errors import InputError
from wellput.core.evalset import Batch, EvalSet, Item
from wellput.core.tree import Tree, Word
from wellput.metrics.accuracy import GenerationStringAccuracy
from wellput.metrics.registry import create
from wellput.reporting.html.items import WORD_JOINER, drawn_alignments, glued
from wellput.text import tokenizers
from wellput.text.tokenizers import tokenize, with_native_tokenizer

MODULE = """
import re

class Camel:
    signature = "2.1"

    def __call__(self, text):
        return re.findall(r"[A-Z]?[a-z]+|[^\\sa-z]", text)

class Called:
    def __call__(self, text):
        return text.split()

    def signature(self):
        return "s"

def halves(text):
    return [text[:2], text[2:]]

def words(text):
    return text.split()

def marked(text):
    return [f"_{word}" for word in text.split()] + ["!"]

def one(text):
    return text

def numbers(text):
    return [len(word) for word in text.split()]

class Fails:
    def __init__(self):
        raise OSError("no model")
"""

POINTS = [
    *(
        'camel = "camel_words:Camel"',
        'called = "camel_words:Called"',
        'words = "camel_words:words"',
    ),
    *('halves = "camel_words:halves"', 'marked = "camel_words:marked"', 'one = "camel_words:one"'),
    *('numbers = "camel_words:numbers"', 'fails = "camel_words:Fails"', '13a = "camel_words:one"'),
    *(
        'gone = "camel_words:gone"',
        'away = "no_such_module:words"',
        'pattern = "camel_words:MODULE"',
    ),
]

WITH_TOKENIZER = "bleu ssa gsa sta gta quality understandability wer nist length length-ratio"


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "pyproject.toml").write_text(project_text("wellput.tokenizers", *POINTS))
    (tmp_path / "camel_words.py").write_text(f"MODULE = 3\n{MODULE}")
    install(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    tokenizers._of_a_package.cache_clear()
    yield
    tokenizers._of_a_package.cache_clear()


def test_a_class_and_a_function() -> None:
    assert tokenize("getUserName now", "camel") == ["get", "User", "Name", "now"]
    assert tokenize(" a  b ", "words") == ["a", "b"]
    assert tokenize("", "words") == []
    assert with_native_tokenizer(["aB c\n"], "camel") == (["a B c"], "none")


def test_the_signature_has_the_name_and_what_the_tokenizer_says_of_itself() -> None:
    assert tokenizers.tokenizer_signature("camel") == "camel-2.1"
    assert tokenizers.tokenizer_signature("called") == "called-s"
    assert tokenizers.tokenizer_signature("words") == "words"


@pytest.mark.parametrize("family", [*WITH_TOKENIZER.split(), "length-only"])
def test_every_metric_takes_it(family: str) -> None:
    """The same numbers as of text that is cut already."""
    metric = create(f"{family}:tokenize=camel")
    plain = create(f"{family}:tokenize=none")
    cut = [["get", "User", "Name"], ["the", "Cat"]]
    references = [["get", "User"], ["a", "Cat"]]

    def batch(glue: str) -> Batch:
        trees = [
            Tree(tuple(Word(form, place) for place, form in enumerate(row))) for row in references
        ]
        items = [
            Item(str(i), {"A": glue.join(output)}, (glue.join(reference),), (tree,))
            for i, (output, reference, tree) in enumerate(zip(cut, references, trees, strict=True))
        ]
        return Batch.of("A", items)

    glued, spaced = batch(""), batch(" ")
    metric, plain = metric.prepare(glued.references), plain.prepare(spaced.references)
    np.testing.assert_array_equal(metric.statistics(glued), plain.statistics(spaced))
    assert "tok:camel-2.1" in metric.signature()
    assert metric.name == f"{family}:tokenize=camel"


def test_perplexity_takes_it(tmp_path: Path) -> None:
    from wellput.language.models.ngram_files import save_model
    from wellput.language.models.ngram_training import train

    save_model(train([["get User Name", "get Name"]], order=2).model, tmp_path / "m.wlm")
    for measure in ("perplexity", "slor"):
        spec = f"perplexity:model={tmp_path / 'm.wlm'},measure={measure}"
        glued, spaced = create(f"{spec},tokenize=camel"), create(spec)
        np.testing.assert_array_equal(
            glued.statistics(Batch.from_texts(["getName", "getUser"], [[], []])),
            spaced.statistics(Batch.from_texts(["get Name", "get User"], [[], []])),
        )
        assert glued.signature().endswith("|tok:camel-2.1")


def test_diversity_takes_it() -> None:
    batch = Batch.from_texts(["getUserGetUser", "getName"], [[], []])
    words = create("ttr:tokenize=camel,lowercase=false")
    # get User Get User: three of four; get Name: two of two; together four of six
    assert words.values(batch).tolist() == [0.75, 1.0]  # type: ignore[attr-defined]
    assert words.union([batch]) == pytest.approx(4 / 6)  # type: ignore[attr-defined]
    assert words.signature() == "tok:camel-2.1|lowercase:false"
    pairs = create("distinct:tokenize=camel,lowercase=false")
    # get User, User Get, Get User: all different; get Name
    assert pairs.values(batch).tolist() == [1.0, 1.0]  # type: ignore[attr-defined]
    assert pairs.signature() == "tok:camel-2.1|lowercase:false|n:2"


def test_case_is_folded_before_a_text_is_cut() -> None:
    """In lower case there is nothing to cut: one token, the same, on both sides."""
    tree = Tree((Word("getName", 0), Word("now", 1)))
    items = [Item("1", {"A": "GetName now", "B": "getname Now"}, ("getName now",), (tree,))]
    for spec in ("ssa", "gta", "wer"):
        result = wellput.score(EvalSet(items), f"{spec}:tokenize=camel,lowercase=true")
        assert {score.score for score in result.scores} == {0.0 if spec == "wer" else 1.0}
    metric = create("gta:tokenize=camel,lowercase=true")
    drawn = metric.explain(Batch.of("A", [items[0]._replace(outputs={"A": "now"})]))  # type: ignore[attr-defined]
    assert "getname" in drawn[0] and "Name" not in drawn[0]


def test_drawings_show_its_tokens() -> None:
    batch = Batch.from_texts(["getUser"], [["getUserName"]])
    (drawn,) = create("gsa:tokenize=camel").explain(batch)  # type: ignore[attr-defined]
    assert drawn.splitlines()[0].split() == ["reference", "get", "User", "Name"]


def test_the_report_shows_its_tokens() -> None:
    metric = GenerationStringAccuracy(tokenize="camel")
    assert glued("getUser.", metric.tokens("getUser.")) == WORD_JOINER.join(["get", "User", "."])
    batch = Batch.from_texts(["getUser"], [["getUserName"]])
    (drawn,) = drawn_alignments(batch, metric)
    assert drawn == {"reference": "getUserName", "marks": "..d"}


def test_a_tree_over_a_rewritten_text_is_refused() -> None:
    tree = Tree((Word("a", 2), Word("cat", 0)))
    items = [Item("7", {"A": "a cat"}, ("a cat",), (tree,))]
    with pytest.raises(
        InputError, match="Item 7: the tokenizer marked changes characters of the reference 'a cat'"
    ):
        wellput.score(EvalSet(items), "sta:tokenize=marked")
    assert (
        wellput.score(EvalSet(items), "ssa:tokenize=marked")["A", "ssa:tokenize=marked"].score == 1
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("halves", "The tokenizer halves made the token ' a' for 'aa a'"),
        ("one", "The tokenizer one returned str for 'aa a'"),
        ("numbers", "The tokenizer numbers returned 2 among the tokens"),
        (
            "fails",
            "The tokenizer fails of the package wellput-test 1.0 cannot be loaded (OSError",
        ),
        (
            "gone",
            "The tokenizer gone of the package wellput-test 1.0 cannot be loaded (AttributeError",
        ),
        ("away", "cannot be loaded (ModuleNotFoundError: No module named 'no_such_module'"),
        (
            "pattern",
            "The tokenizer pattern must be a function from a text to the list of its tokens",
        ),
    ],
)
def test_what_is_wrong_with_a_tokenizer_is_said(name: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        tokenize("aa a", name)
    assert message in str(caught.value)


def test_an_empty_token_is_refused_in_a_short_message() -> None:
    with pytest.raises(InputError, match="made the token ''") as caught:
        tokenize("a", "halves")
    assert "aaa" not in str(caught.value)
    with pytest.raises(InputError, match=r"for 'a b a b (a b )+…'") as caught:
        tokenize("a b " * 50, "halves")
    assert len(str(caught.value)) < 250


def test_names_of_wellput_come_first() -> None:
    assert tokenize("a.", "13a") == ["a", "."]
    assert tokenizers.tokenizer_names().count("13a") == 1


def test_an_unknown_name_is_refused_when_the_metric_is_made() -> None:
    with pytest.raises(InputError) as caught:
        create("length:tokenize=camle")
    message = str(caught.value)
    assert message.startswith(
        "No tokenizer 'camle'. Did you mean camel or called? The tokenizers are 13a, char, "
    )
    assert message.endswith(
        ", called, camel, fails, gone, halves, marked, numbers, one, pattern, words."
    )


def test_a_text_is_tokenized_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import camel_words  # type: ignore[import-not-found]

    seen: list[str] = []
    monkeypatch.setattr(camel_words, "words", lambda text: seen.append(text) or text.split())  # type: ignore[func-returns-value]
    evalset = EvalSet.of({"A": ["x"], "B": ["y"]}, ["r"])
    wellput.score(evalset, "bleu:tokenize=words,wer:tokenize=words", threads=1)
    assert sorted(seen) == ["r", "x", "y"]
