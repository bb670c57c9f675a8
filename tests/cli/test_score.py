"""`wellput score` on the command line."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import sacrebleu

from tests.cli.conftest import Outcome, Run

Write = Callable[..., None]

TARGET = "There was no cost estimate for the second phase"
GENERATED = "There was estimate for phase the second no cost"
FIGURE_2 = "".join(
    f"{number}\t{word}\t_\t_\t_\t_\t{head}\t_\t_\t_\n"
    for number, (word, head) in enumerate(
        zip(TARGET.split(), [5, 5, 5, 5, 0, 5, 9, 9, 6], strict=True), start=1
    )
)
REFERENCES = [
    "The ferry leaves at nine.", "It is raining in the harbor today.", "Tickets cost four euros.",
    "The museum opens at ten and closes at six.", "No boats will sail tomorrow because of the storm.",
]  # fmt: skip
GOOD = [
    "The ferry leaves at nine.", "It rains in the harbor today.", "Tickets cost four euros.",
    "The museum opens at ten, and closes at six.", "No boats will sail because of the storm.",
]  # fmt: skip
BAD = [
    "The ferry at leaves nine.", "It rain harbor today the.", "Four tickets euros.",
    "Museum the at six closes.", "Storm the no boats tomorrow.",
]  # fmt: skip


def lines(texts: list[str]) -> str:
    return "".join(f"{text}\n" for text in texts)


@pytest.fixture
def text_files(files: Write) -> None:
    files(**{"ref.txt": lines(REFERENCES), "a.txt": lines(GOOD), "b.txt": lines(BAD)})


def refused(outcome: Outcome, *fragments: str) -> None:
    """Exit code 2, one paragraph on stderr with all the fragments, nothing on stdout."""
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    for fragment in fragments:
        assert fragment in outcome.err, outcome.err


def test_table_1_from_the_command_line(run: Run, files: Write) -> None:
    files(**{"ref.txt": TARGET + "\n", "lr.txt": GENERATED + "\n", "trees.conllu": FIGURE_2 + "\n"})
    metrics = "ssa,gsa,sta,gta,understandability,quality"
    outcome = run(
        "score", "--ref", "ref.txt", "--hyp", "LR=lr.txt", "--trees", "trees.conllu", "-m", metrics
    )
    assert outcome.code == 0
    row = next(line for line in outcome.out.splitlines() if line.strip().startswith("LR"))
    assert row.split()[1:] == ["0.444", "0.556", "0.333", "0.667", "−0.128", "−0.154"]


def test_the_same_item_as_an_evalset(run: Run, files: Write) -> None:
    item = {"id": 7, "references": [TARGET], "tree": FIGURE_2, "outputs": {"LR": GENERATED}}
    files(**{"evalset.jsonl": json.dumps(item)})
    result = run("score", "evalset.jsonl", "-m", "sta,gta", "--format", "json").json
    assert result["items"] == 1
    assert result["systems"] == ["LR"]
    sta, gta = result["scores"]
    assert (sta["metric"], gta["metric"]) == ("sta", "gta")
    assert sta["score"] == pytest.approx(1 - 6 / 9)
    assert gta["score"] == pytest.approx(1 - 3 / 9)
    assert gta["components"]["moves"] == 3
    assert gta["components"]["unchanged"] == 6
    keys = {
        "system", "metric", "score", "low", "high", "signature", "components", "baseline", "delta",
        "p_value", "n",
    }  # fmt: skip
    assert keys <= sta.keys()
    assert sta["low"] is None
    assert sta["p_value"] is None


@pytest.mark.usefixtures("text_files")
def test_scores_equal_sacrebleu(run: Run) -> None:
    result = run(
        "score", "--ref", "ref.txt", "--hyp", "A=a.txt", "--hyp", "B=b.txt", "-m", "bleu,chrf,ter",
        "-m", "chrf:word_order=2", "--format", "json",
    ).json  # fmt: skip
    scores = {(row["system"], row["metric"]): row["score"] for row in result["scores"]}
    for name, texts in (("A", GOOD), ("B", BAD)):
        for metric, theirs in (
            ("bleu", sacrebleu.corpus_bleu(texts, [REFERENCES])),
            ("chrf", sacrebleu.corpus_chrf(texts, [REFERENCES])),
            ("ter", sacrebleu.corpus_ter(texts, [REFERENCES])),
            ("chrf:word_order=2", sacrebleu.corpus_chrf(texts, [REFERENCES], word_order=2)),
        ):
            assert scores[name, metric] == pytest.approx(theirs.score, abs=1e-9)


@pytest.mark.usefixtures("text_files")
def test_a_paired_test_and_its_verdict(run: Run) -> None:
    arguments = ["score", "--ref", "ref.txt", "--hyp", "A=a.txt", "--hyp", "B=b.txt", "-m", "ssa"]
    outcome = run(*arguments, "--paired", "ar", "--confidence", "--all-pairs")
    assert outcome.code == 0
    assert "B against A:" in outcome.out
    assert "All pairs of systems" in outcome.out
    assert "seed 12345" in outcome.out
    again = run(*arguments, "--paired", "ar", "--confidence", "--all-pairs", "--threads", "1")
    assert again.out == outcome.out


def test_worse_than_the_baseline_is_an_exit_code(run: Run, files: Write) -> None:
    files(**{
        "ref.txt": lines(REFERENCES * 8), "a.txt": lines(GOOD * 8), "b.txt": lines(BAD * 8),
    })  # fmt: skip
    common = ["score", "--ref", "ref.txt", "-m", "ssa,ter,length", "--fail-if-worse"]
    worse = run(*common, "--hyp", "A=a.txt", "--hyp", "B=b.txt")
    assert worse.code == 1
    assert "B is worse than A on ssa" in worse.err
    assert "B is worse than A on ter" in worse.err
    assert "length" not in worse.err
    better = run(*common, "--hyp", "B=b.txt", "--hyp", "A=a.txt")
    assert (better.code, better.err) == (0, "")


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
@pytest.mark.usefixtures("text_files")
def test_segment_scores(run: Run, tmp_path: Path, suffix: str) -> None:
    outcome = run(
        "score",
        "--ref",
        "ref.txt",
        "--hyp",
        "A=a.txt",
        "-m",
        "ssa,bleu",
        "--segments",
        f"s.{suffix}",
    )
    assert outcome.code == 0
    rows = (tmp_path / f"s.{suffix}").read_text(encoding="utf-8").splitlines()
    assert len(rows) == (0 if suffix == "jsonl" else 1) + 2 * len(REFERENCES)
    if suffix == "csv":
        assert rows[0] == "system,item,metric,score"
        assert rows[1] == "A,1,ssa,1.0"


@pytest.mark.usefixtures("text_files")
@pytest.mark.parametrize("format", ["table", "json", "csv", "latex", "markdown"])
def test_every_format_goes_to_a_file(run: Run, tmp_path: Path, format: str) -> None:
    arguments = ["score", "--ref", "ref.txt", "--hyp", "A=a.txt", "-m", "ssa", "--format", format]
    shown = run(*arguments)
    written = run(*arguments, "-o", "out.txt")
    assert (written.code, written.out) == (0, "")
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == shown.out != ""


@pytest.mark.usefixtures("text_files")
def test_an_explanation(run: Run) -> None:
    outcome = run("score", "--ref", "ref.txt", "--hyp", "B=b.txt", "-m", "gsa", "--explain")
    assert "gsa of B, item" in outcome.out
    assert "output     It               rain harbor today the ." in outcome.out


def test_a_missing_output_is_reported(run: Run, files: Write) -> None:
    items = [
        {"id": "1", "references": ["a b"], "outputs": {"A": "a b", "B": "a b"}},
        {"id": "2", "references": ["a b"], "outputs": {"A": "a x", "B": None}},
    ]
    files(**{"e.jsonl": lines([json.dumps(item) for item in items])})
    outcome = run("score", "e.jsonl", "-m", "ssa")
    assert "B has outputs for 1 of them" in outcome.out
    scores = run("score", "e.jsonl", "-m", "ssa", "--format", "json").json["scores"]
    assert [(row["score"], row["n"]) for row in scores] == [(0.75, 2), (1.0, 1)]


def test_an_undefined_segment_is_reported(run: Run, files: Write) -> None:
    files(**{"ref.txt": "a\n\n", "a.txt": "a\nb c\n"})
    outcome = run("score", "--ref", "ref.txt", "--hyp", "A=a.txt", "-m", "ssa")
    assert outcome.code == 0
    assert "1 segment of A has no segment score under ssa." in outcome.out


# --- bad input: a clear message, exit 2, nothing half-written ---------------------------------


@pytest.mark.usefixtures("text_files")
@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        ([], ["Nothing to score"]),
        (["--ref", "ref.txt"], ["Nothing to score"]),
        (["--hyp", "a.txt", "--ref", "ref.txt"], ["write NAME=FILE", "--hyp A=a.txt"]),
        (["--hyp", "A=a.txt", "--hyp", "A=b.txt"], ["Two systems are named 'A'", "a.txt", "b.txt"]),
        (["--hyp", "A=none.txt", "--ref", "ref.txt"], ["none.txt"]),
        (["--hyp", "A=.", "--ref", "ref.txt"], ["folder"]),
        (["--hyp", "A=a.txt"], ["ssa needs a reference", "--ref"]),
        (["none.jsonl"], ["none.jsonl"]),
        (["e.jsonl", "--ref", "ref.txt"], ["not both"]),
        (["--hyp", "A=a.txt", "--ref", "ref.txt", "--paired", "ar"], ["needs two systems"]),
        (
            ["--hyp", "A=a.txt", "--hyp", "B=b.txt", "--ref", "ref.txt", "--baseline", "C"],
            ["--baseline C is not a system", "A, B"],
        ),
        (["--hyp", "A=a.txt", "--ref", "ref.txt", "-m", "chrff"], ["Did you mean chrf?"]),
        (
            ["--hyp", "A=a.txt", "--ref", "ref.txt", "-m", "bleu:lower=true"],
            ["no option 'lower'", "lowercase"],
        ),
        (
            ["--hyp", "A=a.txt", "--ref", "ref.txt", "-m", "bleu:lowercase=maybe"],
            ["lowercase is true or false"],
        ),
        (["--hyp", "A=a.txt", "--ref", "ref.txt", "-m", "sta"], ["sta needs a tree", "--trees"]),
        (
            ["--hyp", "A=a.txt", "--ref", "ref.txt", "-o", "no/such.txt"],
            ["folder", "does not exist"],
        ),
        (["--hyp", "A=a.txt", "--ref", "ref.txt", "--segments", "no/s.csv"], ["does not exist"]),
    ],
)
def test_bad_calls(run: Run, arguments: list[str], fragments: list[str]) -> None:
    metrics = [] if "-m" in arguments else ["-m", "ssa"]
    refused(run("score", *arguments, *metrics), *fragments)


def test_files_of_different_length(run: Run, files: Write, tmp_path: Path) -> None:
    files(**{"ref.txt": "a\nb\nc\n", "a.txt": "a\nb\n"})
    outcome = run(
        "score",
        "--ref",
        "ref.txt",
        "--hyp",
        "A=a.txt",
        "-m",
        "ssa",
        "--segments",
        "s.csv",
        "-o",
        "o",
    )
    refused(outcome, "ref.txt", "3", "a.txt", "2")
    assert {path.name for path in tmp_path.iterdir()} == {"ref.txt", "a.txt"}


def test_invalid_utf8(run: Run, files: Write, tmp_path: Path) -> None:
    files(**{"ref.txt": "a\nb\n"})
    (tmp_path / "a.txt").write_bytes(b"fine\n\xff\xfe\n")
    refused(
        run("score", "--ref", "ref.txt", "--hyp", "A=a.txt", "-m", "ssa"),
        "a.txt",
        "line 2",
        "UTF-8",
    )


def test_a_truncated_archive(run: Run, files: Write, tmp_path: Path) -> None:
    files(**{"ref.txt": lines(REFERENCES)})
    whole = gzip.compress(lines(GOOD).encode())
    (tmp_path / "a.txt.gz").write_bytes(whole[: len(whole) // 2])
    refused(run("score", "--ref", "ref.txt", "--hyp", "A=a.txt.gz", "-m", "ssa"), "a.txt.gz")


def test_all_bad_lines_of_an_evalset_are_named(run: Run, files: Write) -> None:
    good = json.dumps({"id": "1", "references": ["a"], "outputs": {"A": "a"}})
    bad_type = json.dumps({"id": "2", "references": "a", "outputs": {"A": "a"}})
    files(**{"e.jsonl": lines([good, "{", bad_type, good])})
    refused(run("score", "e.jsonl", "-m", "ssa"), "line 2", "line 3", "lines 1, 4")


@pytest.mark.parametrize(
    ("tree", "fragment"),
    [
        ("1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n2\tb\t_\t_\t_\t_\t0\t_\t_\t_\n", "root"),
        ("1\ta\t_\t_\t_\t_\t2\t_\t_\t_\n2\tb\t_\t_\t_\t_\t1\t_\t_\t_\n", "root"),
        ("1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n2\tc\t_\t_\t_\t_\t1\t_\t_\t_\n", "a c"),
        ("1\ta\t0\n", "10"),
    ],
)
def test_an_invalid_tree_is_refused(run: Run, files: Write, tree: str, fragment: str) -> None:
    item = {"id": "1", "references": ["a b"], "tree": tree, "outputs": {"A": "a b"}}
    files(**{"e.jsonl": json.dumps(item)})
    refused(run("score", "e.jsonl", "-m", "sta"), fragment)
    # A metric that needs no tree ignores a bad one.
    assert run("score", "e.jsonl", "-m", "ssa").code == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.usefixtures("text_files")
def test_a_full_disk(run: Run) -> None:
    outcome = run("score", "--ref", "ref.txt", "--hyp", "A=a.txt", "-m", "ssa", "-o", "/dev/full")
    assert outcome.code == 2
    assert "disk is full" in outcome.err


@pytest.mark.usefixtures("text_files")
def test_scoring_text_imports_neither_scipy_nor_an_extra(tmp_path: Path) -> None:
    program = (
        "import sys; from wellput.cli import cli; "
        "cli(['score', '--ref', 'ref.txt', '--hyp', 'A=a.txt', '--hyp', 'B=b.txt', '-m', "
        "'bleu,chrf,ter,wer,ssa,gsa', '--paired', 'ar'], standalone_mode=False); "
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    imported = set(done.stderr.split())
    unwanted = "scipy sacrebleu pyarrow pandas polars sklearn nltk jiwer ray torch fastapi altair"
    assert not imported & set(unwanted.split())
    assert "numpy" in imported


def test_importing_wellput_is_cheap() -> None:
    program = "import sys, wellput; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert not {"numpy", "scipy", "click", "rich"} & set(done.stdout.split())


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from wellput.cli import cli; cli(['--help'], standalone_mode=False); "
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "score" in done.stdout
    assert not {"numpy", "scipy", "rich", "wellput._native"} & set(done.stderr.split())


@pytest.mark.usefixtures("text_files")
def test_too_few_items_are_reported(run: Run) -> None:
    arguments = ["score", "--ref", "ref.txt", "--hyp", "A=a.txt", "-m", "ssa"]
    assert "5 items are too few to claim a difference" in run(*arguments, "--confidence").out
    assert "no interval" not in run(*arguments).out


def test_a_difference_on_fewer_items_is_reported(run: Run, files: Write) -> None:
    items = [
        {"id": n, "references": ["a b"], "outputs": {"A": "a b", **({"B": "a x"} if n else {})}}
        for n in range(12)
    ]
    files(**{"e.jsonl": lines([json.dumps(item) for item in items])})
    outcome = run("score", "e.jsonl", "-m", "ssa", "--paired", "ar")
    assert "B against A on the 11 items both have: worse on ssa" in outcome.out


def shard(*ids: str) -> str:
    rows = ({"id": i, "references": ["a b"], "outputs": {"A": "a b", "B": "a"}} for i in ids)
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_a_folder_with_a_poisoned_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "a.jsonl").write_text(shard("1", "2"))
    (tmp_path / "s" / "b.jsonl").write_text(shard("3") + "{\n")
    refused = run("score", "s", "-m", "ssa")
    assert refused.code == 2
    assert "s/b.jsonl has a problem:\n  line 2: not JSON" in refused.err
    done = run("score", "s", "-m", "ssa", "--on-error", "skip")
    assert done.code == 0
    assert "2 items.\nLeft out because of errors: 1 partition.\n  s/b.jsonl has" in done.out
    skipped = run("score", "s", "-m", "ssa", "--on-error", "skip", "--format", "json").json[
        "skipped"
    ]
    assert [entry["partition"] for entry in skipped] == ["s/b.jsonl"]


def test_segments_in_a_folder_and_a_resumed_run(run: Run, tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_text(shard("1", "2"))
    plain = run("score", "e.jsonl", "-m", "ssa", "--format", "json").json
    options = ("score", "e.jsonl", "-m", "ssa", "--resume", "kept", "--format", "json")
    assert run(*options, "--segments", "scores").json == plain
    assert [file.name for file in (tmp_path / "scores").iterdir()] == ["part-00000.parquet"]
    assert len(list((tmp_path / "kept").iterdir())) == 1
    assert run(*options, "--segments", "scores").json == plain
    refused = run(*options, "--segments", "scores.csv")
    assert refused.code == 2
    assert "Give a name without suffix" in refused.err


def test_items_without_references_are_reported(run: Run, files: Write) -> None:
    records = [
        {"id": f"h{i}", "references": [r] * (i not in (2, 4)), "outputs": {"A": a, "B": b}}
        for i, (r, a, b) in enumerate(zip(REFERENCES, GOOD, BAD, strict=True))
    ]
    files(**{"e.jsonl": "".join(json.dumps(record) + "\n" for record in records)})
    outcome = run("score", "e.jsonl", "-m", "bleu,chrf,length", "--paired", "ar")
    assert "2 items have no reference and are left out for bleu, chrf: h2, h4.\n" in outcome.out
    assert "B against A: " in outcome.out  # both systems have all items that can be compared
    result = run("score", "e.jsonl", "-m", "bleu,length", "--format", "json").json
    assert result["left_out"] == [
        {"reason": "no reference", "metrics": ["bleu"], "n": 2, "first": ["h2", "h4"]}
    ]
    assert [score["left_out"] for score in result["scores"]] == [2, 2, 0, 0]
    assert [score["n"] for score in result["scores"]] == [3, 3, 5, 5]


def test_a_difference_on_items_that_lack_outputs_or_references(run: Run, files: Write) -> None:
    records = [
        {"id": str(i), "references": ["a b"] * (i > 0), "outputs": {"A": "a b", "B": "a"}}
        for i in range(4)
    ]
    records[3]["outputs"] = {"A": "a b"}
    files(**{"e.jsonl": "".join(json.dumps(record) + "\n" for record in records)})
    outcome = run("score", "e.jsonl", "-m", "ssa,length", "--paired", "ar")
    assert (
        "4 items; B has outputs for 3 of them.\n1 item has no reference and is left" in outcome.out
    )
    assert "B against A on the 2 to 3 items both have: " in outcome.out


@pytest.mark.parametrize("test", ["ar", "bs"])
def test_three_items_show_nothing_and_nothing_is_lost(run: Run, files: Write, test: str) -> None:
    files(**{
        "ref.txt": lines(REFERENCES[:3]), "a.txt": lines(GOOD[:3]), "b.txt": lines(["x"] * 3),
    })  # fmt: skip
    arguments = ["score", "--ref", "ref.txt", "--hyp", "A=a.txt", "--hyp", "B=b.txt", "-m", "ssa"]
    outcome = run(*arguments, "--paired", test, "--all-pairs", "--confidence")
    assert outcome.code == 0
    assert (
        outcome.out.count("3 items are too few to claim a difference; at least 10 are needed.") == 1
    )
    table, _, notes = outcome.out.partition("\n3 items.\n")
    assert "*" not in table
    assert "B against A: no difference shown on ssa (" in notes
    assert run(*arguments, "--paired", test, "--fail-if-worse").code == 0
    _, b = run(*arguments, "--paired", test, "--format", "json").json["scores"]
    assert b["p_value"] is not None and b["delta"] < 0 and b["is_worse"] is None


def test_scores_beside_the_texts_of_one_table_and_notes_of_a_turned_table_name_options(
    run: Run, tmp_path: Path
) -> None:
    names = (
        "vendor/a-model-with-a-long-name-1.5B-Instruct",
        "vendor/b-model-with-a-long-name-7B-Chat",
    )
    rows = [f"i{n},{name},Who?,Ann,Ann,{n % 2},0.5" for name in names for n in range(12)]
    header = "instance_id,model,prompt,references,prediction,exact_match,f1_score"
    (tmp_path / "helm.csv").write_text("\n".join([header, *rows]) + "\n")
    shown = run(
        "score", "helm.csv", "--all-pairs",
        "-m", "chrf:word_order=2,chrf:beta=1,chrf:lowercase=true,./helm.csv",
        "--column", "id=instance_id", "--column", "system=model", "--column", "outputs=prediction",
    )  # fmt: skip
    assert shown.code == 0, shown.err
    assert shown.out.startswith(" metric") and "\n exact_match" in shown.out  # transposed
    assert "--margin X tests whether" in shown.out and "margin=X" not in shown.out
