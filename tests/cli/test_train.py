"""`wellput train lm` on the command line."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import wellput
import wellput.io
from tests.cli.conftest import Run
from tests.language.models.ngram_texts import skewed
from wellput.language.models.ngram_files import load_model

CORPUS = "The cat sat .\n\nThe dog sat .\nA cat saw the dog .\n"


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    (tmp_path / "corpus.txt").write_text(CORPUS)
    return "corpus.txt"


def test_a_model_is_trained_and_scores(run: Run, corpus: str, tmp_path: Path) -> None:
    outcome = run("train", "lm", corpus, "--order", "2", "-o", "model.wlm")
    assert outcome.code == 0, outcome
    assert "14 words" in outcome.out
    (tmp_path / "a.txt").write_text("The cat sat .\nzebra quagga\n")
    scored = run(
        "score", "--hyp", "A=a.txt", "-m", "perplexity:model=model.wlm", "--format", "json"
    )
    (score,) = scored.json["scores"]
    assert score["components"]["unknown"] == 2
    assert score["components"]["words"] == 8
    assert score["score"] > 1
    summary = run("train", "lm", corpus, "--order", "2", "-o", "m.arpa", "--format", "json").json
    # <unk> <s> </s> The cat sat . dog A saw the; thirteen pairs
    assert [level["ngrams"] for level in summary["levels"]] == [11, 13]
    assert f"model:{summary['sha256'][:12]}|case:mixed|tok:none" in score["signature"]


def test_the_same_text_gives_the_same_bytes(run: Run, corpus: str, tmp_path: Path) -> None:
    (tmp_path / "big.txt").write_text(CORPUS * 4000)  # more tokens than one megabyte sorts
    for name, options in {
        "one.arpa": (),
        "two.arpa.gz": ("--memory-mb", "1"),
        "three.arpa.gz": ("--memory-mb", "1", "--threads", "2", "--seed", "7"),
    }.items():
        assert run("train", "lm", "big.txt", corpus, *options, "-o", name).code == 0
    two = (tmp_path / "two.arpa.gz").read_bytes()
    assert two == (tmp_path / "three.arpa.gz").read_bytes()
    assert gzip.decompress(two) == (tmp_path / "one.arpa").read_bytes()


def test_options_change_the_vocabulary(run: Run, corpus: str, tmp_path: Path) -> None:
    assert run("train", "lm", corpus, "--lowercase", "--min-count", "2", "-o", "m.arpa").code == 0
    text = (tmp_path / "m.arpa").read_text()
    assert "ngram 1=8" in text  # <unk> <s> </s> the cat sat . dog
    assert "\tthe\t" in text
    assert "\tThe\t" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing.txt", "-o", "m.wlm"), "No such file"),
        (("corpus.txt", "-o", "m.bin"), "ends in .arpa"),
        (("corpus.txt", "-o", "m.wlm.gz"), "ends in .arpa"),
        (("blank.txt", "-o", "m.wlm"), "no words"),
        (("corpus.txt", "-o", "nowhere/m.wlm"), "does not exist"),
        (("corpus.txt", "--compact", "-o", "m.arpa"), "--compact needs a path that ends in .wlm"),
        (("-", "--work", "counts", "-o", "m.wlm"), "standard input"),
        (("corpus.txt", "--prune", "2", "-o", "m.wlm"), "--prune"),
    ],
)
def test_bad_input_is_refused(
    run: Run, corpus: str, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "blank.txt").write_text("\n\n")
    outcome = run("train", "lm", *arguments)
    assert outcome.code == 2
    assert message in outcome.err


def test_perplexity_without_a_model_says_how_to_train_one(run: Run, corpus: str) -> None:
    outcome = run("score", "--hyp", f"A={corpus}", "-m", "perplexity")
    assert outcome.code == 2
    assert "wellput train lm" in outcome.err


def test_a_small_model_is_pruned_and_compact(run: Run, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("\n".join(skewed(800)))
    plain = run("train", "lm", "text.txt", "-o", "plain.wlm", "--format", "json").json
    options = ("--prune", "1e-5", "--compact", "--work", "counts", "-o", "small.wlm")
    small = run("train", "lm", "text.txt", *options, "--format", "json").json
    assert small["levels"][2]["ngrams"] < plain["levels"][2]["ngrams"] / 2
    sizes = [(tmp_path / name).stat().st_size for name in ("small.wlm", "plain.wlm")]
    assert sizes[0] < 0.3 * sizes[1]
    unseen = skewed(50, seed=4)
    perplexities = [load_model(tmp_path / n).perplexity(unseen) for n in ("small.wlm", "plain.wlm")]
    assert perplexities[0] < 1.1 * perplexities[1]
    # Resuming from the folder gives the same model; another option is refused.
    again = run("train", "lm", "text.txt", *options, "--format", "json").json
    assert again["sha256"] == small["sha256"]
    refused = run("train", "lm", "text.txt", "--order", "2", *options)
    assert refused.code == 2
    assert "other options" in refused.err


TREES = "".join(
    f"{i}\t{word}\t_\tX\t_\t_\t{i - 1}\t{'dep' if i > 1 else 'root'}\t_\t_\n"
    for i, word in enumerate(["The", "cat", "sees", "the", "cat", "."], 1)
)


def test_english_models_are_made_once(run: Run, tmp_path: Path) -> None:
    for name in ("train.conllu", "dev.conllu"):
        (tmp_path / name).write_text(TREES + "\n" + TREES + "\n")
    (tmp_path / "more.txt").write_text("The cat. It sees the cat.")
    options = ("--treebank", "train.conllu", "--dev", "dev.conllu", "--text", "more.txt")
    command = ("train", "english", *options, "--only", "ngrams.wlm", "-o", "english")
    outcome = run(*command, "--format", "json")
    assert outcome.code == 0, outcome
    (file,) = outcome.json["files"]
    assert (file["file"], file["is_new"]) == ("ngrams.wlm", True)
    assert file["figures"]["n-grams"]["unigrams"] == 7  # the cat sees . and three
    assert load_model(tmp_path / "english" / "ngrams.wlm").order == 3
    again = run(*command, "--format", "json").json["files"][0]
    assert again == {**file, "is_new": False}
    table = run(*command, "--restart").out
    assert "made" in table
    assert "not stated" in table  # the license of these files is unknown


def test_bad_calls_of_train_english_are_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.conllu").write_text(TREES)
    options = ("--treebank", "t.conllu", "--dev", "t.conllu", "-o", "english")
    outcome = run("train", "english", "--text", "missing.txt", *options)
    assert (outcome.code, "missing.txt" in outcome.err) == (2, True)
    outcome = run("train", "english", "--only", "ngram.wlm", *options)
    assert outcome.code == 2
    assert "Did you mean" in outcome.err


def test_a_treebank_without_tags_is_refused_with_the_option_to_use(
    run: Run, files: Callable[..., None], tmp_path: Path
) -> None:
    files(**{"t.conllu": "1\tcats\tcat\tNOUN\t_\t_\t0\troot\t_\t_\n\n"})
    refused = run("train", "parser", "t.conllu", "-o", str(tmp_path))
    assert refused.code == 2
    assert refused.err.endswith("name its folder or files with --treebank.\n")


def test_python_trains_on_what_it_has_in_memory(run: Run, corpus: str, tmp_path: Path) -> None:
    made = wellput.train.lm([CORPUS.split("\n")], order=2)
    assert made.to_dict() == wellput.train.lm(corpus, order=2).to_dict() | {"lines": 5}
    made.save("python.wlm")
    run("train", "lm", corpus, "--order", "2", "-o", "shell.wlm")
    assert (tmp_path / "python.wlm").read_bytes() == (tmp_path / "shell.wlm").read_bytes()
    (tmp_path / "t.conllu").write_text(TREES + "\n" + TREES + "\n")
    read = list(wellput.io.read_trees("t.conllu"))
    assert wellput.train.fergus(read).to_dict() == wellput.train.fergus(["t.conllu"]).to_dict()


def test_an_ngram_model_reads_the_words_of_trees_but_no_table(
    files: Callable[..., None], tmp_path: Path
) -> None:
    row = "{}\t{}\t_\tX\t_\t_\t{}\tdep\t_\t_\n"
    files(
        **{
            "t.conllu": "# text = can't go\n1-2\tcan't\t_\t_\t_\t_\t_\t_\t_\t_\n"
            + row.format(1, "ca", 0)
            + row.format(2, "n't", 1)
            + row.format(3, "go", 1)
            + "\n",
            "e.csv": "id,source\n1,x\n",
        }
    )
    of_trees = wellput.train.lm(tmp_path / "t.conllu", order=2)
    assert of_trees.to_dict() == wellput.train.lm([["can't go"]], order=2).to_dict()
    with pytest.raises(wellput.InputError, match=r"e.csv is not text: a corpus has a sentence"):
        wellput.train.lm(tmp_path / "e.csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"work": "counts"}, "work= reads files, not standard input or sentences in memory"),
        ({"prune": 2}, "prune=2 must be between 0 and 1"),
    ],
)
def test_errors_name_keywords(run: Run, options: dict[str, Any], message: str) -> None:
    with pytest.raises(wellput.InputError, match=message):
        wellput.train.lm([["The cat sat ."]], **options)


def test_the_folder_of_a_parser_is_made(run: Run, files: Callable[..., None]) -> None:
    cats = "1\tcats\tcat\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n"
    tree = f"{cats}2\tsleep\tsleep\tVERB\tVBP\t_\t0\troot\t_\t_\n\n"
    files(**{"t.conllu": tree * 4})
    trained = run("train", "parser", "t.conllu", "--epochs", "1", "-o", "new/parser")
    assert trained.code == 0, trained.err
    assert Path("new/parser/parser.wpm").is_file()
    refused = run("train", "parser", "t.conllu", "--epochs", "1", "-o", "t.conllu")
    assert refused.code == 2 and "The folder t.conllu cannot be made" in refused.err
