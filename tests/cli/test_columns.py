"""`wellput columns`, and `--column` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.io.test_own_columns import GUESSED, TABLE


def test_a_wrong_header_is_answered_by_options_to_copy(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(TABLE)
    result = run("score", str(path), "-m", "chrf")
    assert result.code == 2
    assert result.err.endswith(f"perhaps: {GUESSED}\n")
    again = run("score", str(path), "-m", "chrf", *GUESSED.split())
    assert again.code == 0 and "llama3:8b" in again.out
    shown = run("columns", str(path))
    assert GUESSED in shown.out


def test_the_items_are_saved_as_an_evalset(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(TABLE)
    shown = run("columns", str(path), *GUESSED.split(), "--save", "saved.jsonl")
    assert shown.code == 0
    assert "Written: saved.jsonl." in shown.out
    named = run("score", str(path), "-m", "chrf", *GUESSED.split(), "--format", "json").json
    assert run("score", "saved.jsonl", "-m", "chrf", "--format", "json").json == named
    refused = run("columns", str(path), "--column", GUESSED.split()[1], "--save", "saved.jsonl")
    assert refused.code == 2
    assert "no column is read as outputs, so there is nothing to save" in refused.err


COLUMNS = ("--column", "id=nr", "--column", "references=gold", "--column", "outputs=gpt")
READING = (
    "estimate {} j.csv --proxy chrf",
    "vet j.csv --judge chrf --min-items 2 --evalset {}",
    "judge {} --model m --endpoint http://127.0.0.1:9/v1 --question fluency --dry-run",
)


@pytest.mark.parametrize("command", READING)
def test_a_table_with_own_columns_is_read_as_the_same_evalset(
    command: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["a cat sat", "a dog", "the sun is up", "it rains", "we go home", "no"]
    rows = [f"{n},{text},{text[: n + 1]}" for n, text in enumerate(words)]
    Path("own.csv").write_text("nr,gold,gpt\n" + "\n".join(rows))
    Path("usual.csv").write_text("id,references.0,outputs.gpt\n" + "\n".join(rows))
    judged = [
        f"{judge},{n},gpt,quality,{n % 3 + wrong}"
        for n in range(len(words))
        for judge, wrong in (("Kim", 0), ("Lee", n % 2), ("Mia", 1))
    ]
    Path("j.csv").write_text("judge,item,system,question,value\n" + "\n".join(judged))
    own = run(*command.format("own.csv").split(), *COLUMNS, "--format", "json")
    assert own.code == 0, own.err
    assert own.json == run(*command.format("usual.csv").split(), "--format", "json").json


@pytest.mark.parametrize("verb", ["rank", "vet"])
def test_columns_need_an_evalset(verb: str, run: Run) -> None:
    judge = ["--judge", "Kim"] if verb == "vet" else []
    refused = run(verb, "j.csv", *judge, "--column", "id=nr")
    assert refused.code == 2
    assert "--column names the columns of an evalset: give --evalset, too." in refused.err


SUPPORT = """\
question_id,user_message,gold,gpt,ours,topic,ticket,order
q1,Where is it?,It left.,It left now.,Left.,shipping,T-1,O-5
q2,How much?,It is 5.,It is 6.,It costs 5.,billing,T-1,O-6
q3,I cannot log in.,Use the link.,Use a link.,Try it again.,login,T-2,O-7
q4,Where are they?,They left.,They left.,Gone.,shipping,T-3,O-8
q5,And mine?,It left.,It is here.,It left.,shipping,T-3,O-9
q6,And his?,It left too.,It is gone.,It left.,billing,T-4,O-10
"""


def test_messages_are_sources_and_tickets_are_documents(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bot.csv"
    path.write_text(SUPPORT)
    value = run("columns", str(path), "--format", "json").json
    assert value["options"] == (
        "--column id=question_id --column document=ticket --column source=user_message "
        "--column references=gold --column tags=topic --column outputs=gpt --column outputs=ours"
    )


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (
            "rater,question_id,model,thumb\nana,q1,gpt,down\nbo,q1,gpt,up\n",
            "judgments",
            "JUDGMENTS",
        ),
        ("question_id,gpt,ours\nq1,0.5,0.25\nq2,0.1,0.75\n", "scores", "`-m ./file.csv`"),
        ("item,system,correct\nq1,gpt,1\nq1,ours,0\n", "scores", "`-m ./file.csv`"),
    ],
)
def test_files_of_judgments_and_scores_are_called_so(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, kind: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file.csv").write_text(text)
    shown = run("columns", "file.csv")
    assert f"file.csv looks like a file of {kind}, not of outputs" in shown.out
    assert said in shown.out and "wellput score" not in shown.out
    assert run("columns", "file.csv", "--format", "json").json["kind"] == kind
    refused = run("score", "file.csv", "-m", "chrf")
    assert refused.code == 2 and f"looks like a file of {kind}" in refused.err


def test_a_long_table_is_read(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    rows = [f"q{n},{model},answer {n}" for n in range(30) for model in ("gpt", "ours")]
    path.write_text("question_id,model,output\n" + "\n".join(rows))
    shown = run(
        *("score", str(path), "-m", "length"),
        *("--column", "id=question_id", "--column", "outputs=output"),
    )
    assert shown.code == 0
    assert "30 items." in shown.out and " gpt " in shown.out and " ours " in shown.out


def test_empty_cells_of_outputs_are_counted(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text("id,references.0,outputs.A,outputs.B\n1,a b,a b,\n2,b c,,\n3,c d,c d,c d\n")
    for options in ((), ("--resume", str(tmp_path / "parts"))):
        shown = run("score", str(path), "-m", "chrf", *options)
        assert "1 output of A is empty and counts as an empty text." in shown.out
        assert "2 outputs of B are empty and count as empty texts." in shown.out


def test_a_misspelled_file_of_scores_and_system_are_answered(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("e.csv").write_text("id,references.0,outputs.gpt,outputs.our-v2\n1,a b,a b,b\n2,b,b,c\n")
    Path("comet.csv").write_text("item,gpt,our_v2\n1,0.5,0.25\n2,0.5,0.75\n")
    refused = run("score", "e.csv", "-m", "./comet.cvs")
    assert refused.code == 2
    assert "./comet.cvs does not exist. Did you mean comet.csv?" in refused.err
    Path("comet.txt").write_text("x")
    refused = run("score", "e.csv", "-m", "comet.txt")
    assert "comet.txt is not a file of scores or a fitted metric." in refused.err
    shown = run("score", "e.csv", "-m", "./comet.csv")
    assert "are not used ('our_v2'). Did you mean our-v2?" in shown.out
