"""Models of a language from its treebank: files by name, tags, words cut as in the treebank, parser,
realizer and fluency by the commands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import wellput
from tests.language.tiny_treebank import write_treebank
from wellput.core.errors import InputError
from wellput.core.evalset import Batch
from wellput.core.tree import Multiword, Tree, Word
from wellput.io.trees import parse_tree, read_trees
from wellput.language.degrade.corpus import TaggedCorpus
from wellput.language.degrade.errors import ErrorGenerator, MistakenWords
from wellput.language.models.learned_tokenizer import LearnedTokenizer
from wellput.language.models.sentence_parsing import _finished
from wellput.language.models.treebanks import has_own_tags, read_treebank, tag_columns, with_tags
from wellput.language.realize.inflector import learn_inflection_rules
from wellput.language.realize.inputs import Node
from wellput.metrics.fluency import Fluency

TEXT = "Bela ka ti vidu deli ponan'ro."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_treebank(tmp_path_factory.mktemp("tiny") / "UD_Tiny")


@pytest.fixture(scope="module")
def models(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All models of the tiny language; fluency makes the parser, too."""
    path = tmp_path_factory.mktemp("models") / "tiny"
    wellput.train.fluency(treebank=str(folder), path=path)
    wellput.train.realizer(treebank=folder, path=path)
    return path


def test_files_are_found_by_name(folder: Path, tmp_path: Path) -> None:
    found = read_treebank([folder])
    assert (len(found.train), len(found.dev)) == (150, 40)
    assert found.names == ("xx_tiny-ud-train.conllu", "xx_tiny-ud-dev.conllu")
    [file] = folder.glob("*dev.conllu")
    alone = read_treebank([file])
    assert (len(alone.train), len(alone.dev)) == (36, 4)
    (tmp_path / "xx_trained-ud-dev.conllu").write_text("")
    with pytest.raises(InputError, match=r"no file named like xx_name-ud-train\.conllu"):
        read_treebank([tmp_path])


def test_tags_without_xpos(folder: Path) -> None:
    trees = read_treebank([folder]).train
    assert not has_own_tags(trees)
    tags = [word.xpos for word in with_tags(trees[:1], has_xpos=False)[0].words]
    assert tags[:3] == ["@ADJ", "@NOUN~Case=Nom", "@VERB~VerbForm=Fin"]
    assert tag_columns(tags[1]) == ("_", "Case=Nom")


def test_words_are_cut_as_in_the_treebank(folder: Path, tmp_path: Path) -> None:
    tokenizer = LearnedTokenizer.learn(read_treebank([folder]).train)
    tokenizer.save(tmp_path / "tokenizer.wpm")
    loaded = LearnedTokenizer.load(tmp_path / "tokenizer.wpm")
    for one in (tokenizer, loaded):
        words = one.words(TEXT)
        assert words.forms == ("Bela", "ka ti", "vidu", "de", "li", "ponan", "'ro", ".")
        assert words.has_space_after == (True, True, True, False, True, False, False, True)
    assert loaded.fingerprint == tokenizer.fingerprint
    assert list(tokenizer.sentences("Pona vidu. Tulo amas!\nMeru")) == [
        "Pona vidu.",
        "Tulo amas!",
        "Meru",
    ]
    assert tokenizer.words("").forms == ()


def test_a_surface_token_keeps_its_place_beside_words_with_spaces(folder: Path) -> None:
    words = LearnedTokenizer.learn(read_treebank([folder]).train).words(TEXT)
    assert words.surface_tokens == ((3, 4),)


def test_a_surface_token_stays_as_it_is_written() -> None:
    # In Welsh wrthot is wrth + ti; joined, its words would be another text.
    tree = Tree(
        (
            Word("de", 2, upos="ADP", relation="case"),
            Word("li", 0, upos="PRON", relation="root"),
            Word(".", 2, upos="PUNCT", relation="punct"),
        ),
        (Multiword(1, 2, "dil", "SpaceAfter=No"),),
    )
    words = LearnedTokenizer.learn([tree] * 3).words("dil.")
    assert (words.forms, words.surface_forms) == (("de", "li", "."), ("dil",))
    parsed = _finished(replace(tree, multiwords=()), words, "dil.", 1, None).tree
    assert parsed.multiwords == (Multiword(1, 2, "dil", "SpaceAfter=No"),)


def test_any_number_of_words_may_be_written_on_to_each_other() -> None:
    tokenizer = LearnedTokenizer(
        {"casa": 1}, {}, frozenset("/"), frozenset(["l'"]), frozenset(["-ci"]), has_spaces=True
    )
    assert tokenizer.words("L'l'uno/due-ci-ci").forms == (
        *("L'", "l'", "uno", "/", "due", "-ci", "-ci"),
    )
    many = 3000  # more than Python lets a function call itself
    assert tokenizer.words("l'" * many + "casa" + "-ci" * many).forms == (
        *["l'"] * many,
        "casa",
        *["-ci"] * many,
    )


def test_text_without_spaces_gets_the_likeliest_words() -> None:
    # 中国人 could be 中国 人 or 中 国人; 中国 and 人 are more frequent.
    def tree(*forms: str) -> Tree:
        words = [
            Word(form, int(place > 0), misc="SpaceAfter=No") for place, form in enumerate(forms)
        ]
        return Tree(tuple(words))

    trees = [tree("中国", "人", "来"), tree("中国", "人", "来"), tree("中", "国人")]
    tokenizer = LearnedTokenizer.learn(trees)
    assert not tokenizer.has_spaces
    assert tokenizer.words("中国人来GPT4").forms == ("中国", "人", "来", "GPT4")


def test_forms_of_lemmas_by_learned_rules() -> None:
    words = [
        Word("evde", 0, lemma="ev", upos="NOUN", feats="Case=Loc", relation="root"),
        Word("elde", 1, lemma="el", upos="NOUN", feats="Case=Loc"),
        Word("suyun", 1, lemma="su", upos="NOUN", feats="Case=Gen"),
    ]
    inflector = learn_inflection_rules([Tree(tuple(words))])

    def form(lemma: str, feats: str) -> str:
        return inflector.forms(Node((lemma,), "", "NOUN", "_", lemma, feats))[0].form

    assert form("yer", "Case=Loc") == "yerde"
    assert form("su", "Case=Gen") == "suyun"
    assert form("mouse", "Number=Plur") == "mouse"  # no rule of English


def test_mistakes_of_another_language() -> None:
    language = MistakenWords(("de",), "z", {"pona": ["ponan"]})
    generator = ErrorGenerator(
        TaggedCorpus.of([["pona", "vidu", "tulo", "."]]), length=None, language=language
    )
    rng = np.random.default_rng(1)
    made = {word for _ in range(200) for word in generator.spoil(0, rng)[0]}
    assert {"ponan", "de"} <= made
    assert not {"the", "of", "is"} & made


@pytest.mark.heavy
def test_parse_with_the_models_of_a_folder(models: Path) -> None:
    [tree] = wellput.parse([TEXT], models=models).trees
    assert [word.relation for word in tree.words] == [
        "amod", "nsubj", "root", "case", "det", "obl", "discourse", "punct",
    ]  # fmt: skip
    assert [word.upos for word in tree.words][:3] == ["ADJ", "NOUN", "VERB"]
    assert [word.xpos for word in tree.words] == ["_"] * 8
    assert tree.words[1].feats == "Case=Nom"
    assert tree.multiwords == (Multiword(4, 5, "deli"),)
    assert tree.text == TEXT
    with pytest.raises(InputError, match="both name a parser"):
        wellput.parse([TEXT], models=models, parser="spacy:x")


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["words", "labels", "lemmas"])
def test_realize_with_the_models_of_a_folder(folder: Path, models: Path, kind: str) -> None:
    [file] = folder.glob("*dev.conllu")
    trees = list(read_trees(file))[:20]
    made = wellput.realize(trees, models=models, input=kind)  # type: ignore[arg-type]
    wanted = [" ".join(word.form for word in tree.words) for tree in trees]
    if kind == "lemmas":  # they do not say where a sentence had its capital
        wanted = [text.lower() for text in wanted]
    assert made.sentences == wanted
    assert wellput.realize(trees[:2], models=models, model="fergus").sentences
    again = wellput.realize([trees[0].text], models=models, from_text=True)
    assert again.sentences == [" ".join(word.form for word in trees[0].words)]
    assert not again.warning


@pytest.mark.heavy
def test_fluency_of_a_folder(models: Path) -> None:
    metric = Fluency(model=str(models))
    batch = Batch.from_texts(
        [TEXT, "vidu ka ti Bela 'ro ponan li de .", "Bela ka ti ka ti vidu deli ponan'ro.", ""],
        [()] * 4,
    )
    good, shuffled, doubled, empty = metric.segment_score(metric.statistics(batch))
    assert good > doubled > shuffled > empty == 0
    assert metric.undefined_reasons(batch)[0] == ""
    assert "treebank:" in metric.signature()
    assert set(metric.components(metric.statistics(batch))) >= {"usage", "structure", "stop"}
    assert metric.explain(batch)[3] == "  (no words)"


def test_what_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="trees= or treebank="):
        wellput.train.parser()
    with pytest.raises(InputError, match="trees= or treebank="):
        wellput.train.parser(folder / "a.conllu", treebank=folder)
    with pytest.raises(InputError, match="English only"):
        wellput.train.fluency(treebank=str(folder), gleu=True, path=tmp_path)
    with pytest.raises(InputError, match=r"text= .* treebank="):
        wellput.train.fluency(path=tmp_path)
    with pytest.raises(InputError, match="with treebank="):
        wellput.train.parser([parse_tree("1\tHi\t_\tINTJ\t_\t_\t0\troot\t_\t_")])
    (tmp_path / "learned.wpm").write_bytes(b"")
    with pytest.raises(InputError, match="needs a parser"):
        wellput.realize([TEXT], models=tmp_path, from_text=True)
