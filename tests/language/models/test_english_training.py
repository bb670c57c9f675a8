"""Making the English model's files: cards, going on, and the n-gram step on a few sentences."""

from __future__ import annotations

import json
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wellput.core.errors import InputError, OutputError
from wellput.io.opened_files import keeping_opened_files
from wellput.language.models.english_steps import ngrams_step
from wellput.language.models.english_text import (
    Casing,
    decapitalized,
    prose_sentences,
    treebank_sentences,
)
from wellput.language.models.english_training import (
    TrainingInputs,
    TrainingSource,
    TrainingStep,
    make_all,
    read_card,
)
from wellput.language.models.ngram_files import load_model
from wellput.language.models.ngram_training import train

CALLS: list[str] = []


def make_first(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    CALLS.append("first")
    path.write_text(inputs.paths("treebank")[0].read_text().upper())
    return {"letters": 3}


def make_second(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    CALLS.append("second")
    path.write_text((inputs.folder / "first.wpm").read_text() + inputs.paths("dev")[0].read_text())
    return {}


STEPS = [
    TrainingStep("first.wpm", "a first", f"{__name__}:make_first", roles=("treebank",)),
    TrainingStep(
        "second.wpm", "a second", f"{__name__}:make_second", roles=("dev",), needs=("first.wpm",)
    ),
]


def conllu(*texts: str) -> str:
    rows = []
    for text in texts:
        for i, word in enumerate(text.split(), 1):
            rows.append(f"{i}\t{word}\t_\tX\t_\t_\t{i - 1}\t{'dep' if i > 1 else 'root'}\t_\t_")
        rows.append("")
    return "\n".join(rows) + "\n"


@pytest.fixture
def inputs(tmp_path: Path) -> TrainingInputs:
    (tmp_path / "en_ewt-ud-train.conllu").write_text("abc")
    (tmp_path / "dev.conllu").write_text("xyz")
    CALLS.clear()
    return TrainingInputs(
        [
            TrainingSource(tmp_path / "en_ewt-ud-train.conllu", "treebank"),
            TrainingSource(tmp_path / "dev.conllu", "dev"),
        ],
        tmp_path / "english",
    )


def test_only_what_changed_is_made_again(inputs: TrainingInputs) -> None:
    first, second = make_all(STEPS, inputs, command="c")
    assert CALLS == ["first", "second"]
    assert (inputs.folder / "second.wpm").read_text() == "ABCxyz"
    assert make_all(STEPS, inputs, command="c") == [first, second]
    assert CALLS == ["first", "second"]
    inputs.paths("dev")[0].write_text("new")
    make_all(STEPS, inputs, command="c")
    assert CALLS == ["first", "second", "second"]
    # A changed treebank changes the first file, and so the second.
    inputs.paths("treebank")[0].write_text("abd")
    make_all(STEPS, inputs, command="c")
    assert CALLS[3:] == ["first", "second"]
    # A file that is not what its card says is made again; --restart makes all again.
    (inputs.folder / "second.wpm").write_text("damaged")
    make_all(STEPS, inputs, command="c")
    assert CALLS[5:] == ["second"]
    make_all(STEPS, inputs, command="c", is_restarted=True)
    assert CALLS[6:] == ["first", "second"]


def test_files_of_the_user_in_the_folder_are_kept(inputs: TrainingInputs) -> None:
    inputs.folder.mkdir()
    own = inputs.folder / "README.md"
    own.write_text("# My project")
    with pytest.raises(OutputError, match=r"README\.md: a file of yours"):
        make_all(STEPS, inputs, command="c")
    assert (CALLS, own.read_text()) == ([], "# My project")
    own.unlink()
    with keeping_opened_files():
        make_all(STEPS, inputs, command="c")
        make_all(STEPS, inputs, command="c", is_restarted=True)
    card = inputs.folder / "first.card.json"
    treebank = TrainingSource(card, "treebank")
    inputs = replace(inputs, sources=[treebank, *inputs.sources[1:]])
    content = card.read_bytes()
    with keeping_opened_files(), pytest.raises(OutputError, match="this command reads it"):
        make_all(STEPS, inputs, command="c")
    assert card.read_bytes() == content


def test_a_card_tells_data_licence_and_hash(inputs: TrainingInputs) -> None:
    make_all(STEPS, inputs, command="wellput train english …")
    card = json.loads((inputs.folder / "first.card.json").read_text())
    (source,) = card["data"]
    assert (source["title"], source["licence"]) == ("UD English EWT", "CC BY-SA 4.0")
    # sha256sum of abc and of ABC
    assert source["sha256"].startswith("ba7816bf")
    assert card["sha256"].startswith("b5d4045c")
    assert card["licence"] == "CC BY-SA 4.0"
    assert card["figures"] == {"letters": 3}
    assert str(inputs.folder.parent) not in (inputs.folder / "first.card.json").read_text()
    readme = (inputs.folder / "README.md").read_text()
    assert "| first.wpm | a first | 0 | CC BY-SA 4.0 | `b5d4045c3f466fa9` |" in readme
    assert "- letters: 3" in readme
    make_all(STEPS[:1], inputs, command="c")  # what else is in the folder is not forgotten
    assert "second.wpm" in (inputs.folder / "README.md").read_text()
    found = read_card(inputs.folder / "first.wpm")
    assert found is not None
    assert found.sha256 == card["sha256"]
    assert read_card(inputs.folder / "absent.wpm") is None


def test_the_ngram_step(tmp_path: Path) -> None:
    (tmp_path / "train.conllu").write_text(conllu("The cat sat .", "A cat is the cat .", "I sat ."))
    (tmp_path / "dev.conllu").write_text(conllu("The cat sat .", "I 'm a cat ."))
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "a.txt").write_bytes("He said _so_. I'm a caf\xe9.".encode("latin-1"))
    sources = [
        TrainingSource(tmp_path / "train.conllu", "treebank"),
        TrainingSource(tmp_path / "dev.conllu", "dev"),
        TrainingSource(tmp_path / "books", "text"),
    ]
    inputs = TrainingInputs(sources, tmp_path)
    figures = ngrams_step(inputs, tmp_path / "ngrams.wlm")
    model = load_model(tmp_path / "ngrams.wlm")
    assert figures["model hash"] == model.fingerprint
    # Words that occur twice; "the" and "a" are small inside a sentence, "I" never is.
    assert sorted(model.words[3:]) == [".", "I", "a", "cat", "sat", "the"]
    assert sum(figures["weights"].values()) == pytest.approx(1)
    assert figures["unknown words of dev"] == 1
    first = (tmp_path / "ngrams.wlm").read_bytes()
    # Text kept apart for fluency has no part in it.
    (tmp_path / "apart").mkdir()
    (tmp_path / "apart" / "b.txt").write_text("A dog is a dog.")
    inputs = TrainingInputs([*sources, TrainingSource(tmp_path / "apart", "real")], tmp_path)
    ngrams_step(inputs, tmp_path / "again.wlm")
    assert (tmp_path / "again.wlm").read_bytes() == first


def test_texts_from_files_folders_and_archives(tmp_path: Path) -> None:
    folder = tmp_path / "books"
    folder.mkdir()
    (folder / "b.txt").write_text("It's so. Really?")
    (folder / "a.txt").write_text("A book\n\nby Kim")
    expected = ["A book", "by Kim", "It 's so .", "Really ?"]
    assert prose_sentences(folder) == expected
    with tarfile.open(tmp_path / "books.tar.xz", "w:xz") as archive:
        archive.add(folder, "books")
    assert prose_sentences(tmp_path / "books.tar.xz") == expected
    assert prose_sentences(folder / "b.txt") == expected[2:]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no text"):
        prose_sentences(tmp_path / "empty")
    (tmp_path / "t.conllu").write_text(conllu("It 's so ."))
    assert treebank_sentences(tmp_path / "t.conllu") == ["It 's so ."]


def test_first_words_are_written_as_inside_sentences() -> None:
    texts = ["The dog saw Kim", "Kim saw the dog", "I saw the cat", "Saw I Kim ?"]
    casing = Casing(texts)
    small = [casing.decapitalized(text) for text in texts]
    assert small == ["the dog saw Kim", "Kim saw the dog", "I saw the cat", "saw I Kim ?"]
    assert casing.decapitalized("") == ""
    assert casing.decapitalized("THE dog") == "THE dog"
    # A model of such text tells as much; what it does not know in either form stays as it is.
    model = train([small], order=2).model
    assert decapitalized([*texts, "Zebras run", "Zebras", ""], model) == [
        *small,
        "Zebras run",
        "Zebras",
        "",
    ]
