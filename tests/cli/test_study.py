"""`wellput study` on the command line."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from tests.cli.conftest import Run
from tests.studies.studies import answer_to
from wellput import InputError, Result, Study
from wellput.studies.connections import LimitedServer
from wellput.studies.store import Store

Write = Callable[..., None]


@pytest.fixture
def evalset(files: Write) -> None:
    items = [
        {
            "id": f"i{n}",
            "context": f"Before {n}.",
            "references": [f"the {n} ferry leaves at nine today"],
            "outputs": {
                "A": f"the {n} ferry leaves at nine",
                "B": f"ferry {n} nine leaves the the the",
                "C": f"{n}",
            },
        }
        for n in range(6)
    ]
    files(**{"e.jsonl": "".join(json.dumps(item) + "\n" for item in items)})


def answer_everything(path: str, tokens: list[str]) -> int:
    store = Store.open(path)
    n = 0
    for token in tokens:
        judge = store.judge_of(token)
        assert judge is not None
        while (trial := store.next_trial(judge)) is not None:
            store.record(judge, trial.id, answer_to(trial, n), ms=2000 + n)
            n += 1
    store.close()
    return n


@pytest.mark.heavy
@pytest.mark.usefixtures("evalset")
def test_from_evalset_to_agreement(run: Run, tmp_path: Path) -> None:
    made = run(
        "study", "create", "e.jsonl", "--design", "rating", "--questions",
        "understandability,quality", "--judges", "4", "--per-item", "3", "-o", "study.db",
        "--format", "json",
    )  # fmt: skip
    assert made.code == 0, made.err
    summary = json.loads(made.out)
    assert (summary["trials"], summary["per_judge"]) == (18, 14)
    assert Store.open("study.db").verify_owner(summary["owner_token"])
    invited = run("study", "invite", "study.db", "--judges", "4", "--format", "json")
    invitations = json.loads(invited.out)["invitations"]
    assert [one["judge"] for one in invitations] == ["J1", "J2", "J3", "J4"]
    for one in invitations:
        assert set(one) == {"judge", "token", "url"}
        assert one["url"] == f"http://127.0.0.1:8000/judge/{one['token']}"
    assert answer_everything("study.db", [one["token"] for one in invitations]) == 54
    status = run("study", "status", "study.db")
    assert "54 of 54 trials answered" in status.out
    assert json.loads(run("study", "status", "study.db", "--format", "json").out)["done"] == 54
    exported = run("study", "export", "study.db", "-o", "judgments.csv")
    assert exported.code == 0, exported.err
    assert "108 answers" in exported.out
    header = (tmp_path / "judgments.csv").read_text().splitlines()[0]
    assert header.startswith("judge,item,system,question,value")
    assert (tmp_path / "judgments.design.json").exists()
    agreed = run("agree", "e.jsonl", "judgments.csv", "-m", "bleu,random", "--resamples", "20")
    assert agreed.code == 0, agreed.err
    forgotten = run("study", "forget", "study.db", "J2", "--format", "json")
    assert json.loads(forgotten.out) == {"judge": "J2", "answers_erased": 14}
    assert "1 judge withdrew, 14 answers erased" in run("study", "status", "study.db").out
    assert run("study", "forget", "study.db", "--judge", "J2").code == 2


@pytest.mark.usefixtures("evalset")
@pytest.mark.parametrize(
    ("options", "per_judge"),
    [
        (["--design", "magnitude", "--modulus", "100"], 18),
        (["--design", "slider", "--questions", "quality,politeness"], 18),
        (["--design", "pairwise", "--ties", "--plan", "within-judge"], 6),
        (["--design", "rating", "--layout", "page", "--points", "5", "--consent", "--practice"], 6),
        (
            [
                "--design",
                "rating",
                "--select",
                "contrast",
                "-m",
                "rouge-l,length",
                "--per-stratum",
                "2",
            ],
            4,
        ),
        (["--design", "rating", "--checks", "1", "--repeats", "1", "--demographics"], 18),
    ],
)
def test_designs(run: Run, options: list[str], per_judge: int) -> None:
    made = run("study", "create", "e.jsonl", *options, "-o", "s.db", "--format", "json")
    assert made.code == 0, made.err
    assert json.loads(made.out)["per_judge"] == per_judge


@pytest.mark.usefixtures("evalset")
def test_a_settings_file(run: Run, files: Write) -> None:
    toml = "".join(
        f'[[tasks]]\nitem = "i{n}"\ntext = "When?"\nanswers = ["nine"]\n' for n in range(6)
    )
    files(**{"s.toml": toml})
    made = run(
        "study", "create", "e.jsonl", "--design", "task", "--settings", "s.toml", "-o", "t.db"
    )
    assert made.code == 0, made.err
    # 6 items × 3 systems × 3 answers: each of 3 judges gives 6 answers at most
    assert "3 judges cannot give all answers: it takes at least 9 judges" in made.out
    assert "wellput study invite t.db --judges 9" in made.out
    store = Store.open("t.db")
    judge = store.judge_of(store.invite(1)[0].token)
    assert judge is not None
    trial = store.next_trial(judge)
    assert trial is not None and trial.questions[0].text == "When?"


@pytest.mark.usefixtures("evalset")
def test_names_and_formats(run: Run) -> None:
    run("study", "create", "e.jsonl", "--design", "rating", "-o", "s.db")
    shown = run("study", "invite", "s.db", "--names", "Ann,Bob", "--url", "https://x.org/")
    assert "Ann" in shown.out and "https://x.org/judge/" in shown.out
    for form in ("csv", "latex", "markdown"):
        assert run("study", "status", "s.db", "--format", form).code == 0
        assert run("study", "invite", "s.db", "--format", form).code == 0


@pytest.mark.usefixtures("evalset")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["create", "none.jsonl", "--design", "rating", "-o", "s.db"], "none.jsonl"),
        (
            ["create", "empty.jsonl", "--design", "rating", "-o", "s.db"],
            "no item of the evalset has",
        ),
        (["create", "one.jsonl", "--design", "pairwise", "-o", "s.db"], "one system"),
        (
            ["create", "e.jsonl", "--design", "rating", "--points", "1", "-o", "s.db"],
            "at least two",
        ),
        (
            ["create", "e.jsonl", "--design", "rating", "--settings", "x.toml", "-o", "s.db"],
            "x.toml",
        ),
        (["create", "e.jsonl", "--design", "rating", "-m", "bleu", "-o", "s.db"], "add --select"),
        (
            [
                "create",
                "e.jsonl",
                "--design",
                "rating",
                "--judges",
                "2",
                "--per-item",
                "3",
                "-o",
                "s.db",
            ],
            "need 3 judges",
        ),
        (["create", "e.jsonl", "--design", "rating", "--times", "2", "-o", "s.db"], "within-judge"),
        (["create", "e.jsonl", "--design", "rating", "-o", "no/s.db"], "folder does not exist"),
        (["create", "e.jsonl", "--design", "rating", "-o", "e.jsonl"], "never overwritten"),
        (["invite", "nowhere.db"], "There is no study nowhere.db"),
        (["serve", "nowhere.db"], "There is no study nowhere.db"),
        (["status", "e.jsonl"], "not an SQLite database"),
        (["forget", "nowhere.db"], "Name one judge"),
        (["export", "nowhere.db"], "There is no study"),
    ],
)
def test_bad_input(run: Run, files: Write, arguments: list[str], message: str) -> None:
    files(
        **{
            "empty.jsonl": '{"id": "1", "references": ["x"]}\n',
            "one.jsonl": '{"id": "1", "outputs": {"A": "x"}}\n',
        }
    )
    outcome = run("study", *arguments)
    assert outcome.code == 2
    assert message in outcome.err
    assert not Path("s.db").exists()


@pytest.fixture
def answered(run: Run, evalset: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two copies of a study that one judge has answered; later tokens are equal in both."""
    run("study", "create", "e.jsonl", "--design", "rating", "--judges", "2", "-o", "a.db")
    study = Study.open("a.db")
    answer_everything("a.db", [one.token for one in study.invite(names=["Ann"])])
    study.close()
    shutil.copy("a.db", "b.db")
    monkeypatch.setattr("secrets.token_urlsafe", lambda n: "A" * n)


def made_again() -> Result:
    Path("new.db").unlink()
    return Study.create(
        "e.jsonl", path="new.db", design="rating", questions=["quality", "style"], points=5, seed=3
    ).summary()


SAME_JSON: dict[str, tuple[str, Callable[[], Result]]] = {
    "create": (
        "create e.jsonl --design rating --questions quality,style --points 5 --seed 3 -o new.db",
        made_again,
    ),
    "invite": (
        "invite a.db --names Bob --url https://x.org/",
        lambda: Study.open("b.db").invite(names="Bob", url="https://x.org"),
    ),
    "status": ("status a.db", lambda: Study.open("b.db").status()),
    "export": (
        "export a.db -o out.csv --question quality --repeats",
        lambda: Study.open("b.db").export("out.csv", question="quality", repeats=True),
    ),
    "forget": ("forget a.db Ann", lambda: Study.open("b.db").forget("Ann")),
}


@pytest.mark.usefixtures("answered")
@pytest.mark.parametrize("name", SAME_JSON)
def test_python_says_what_the_command_says(name: str, run: Run) -> None:
    command, call = SAME_JSON[name]
    outcome = run("study", *command.split(), "--format", "json")
    assert outcome.code == 0, outcome.err
    result = call()
    assert outcome.json == json.loads(json.dumps(result.to_dict()))
    assert str(result).strip() and "<" in result._repr_html_()
    assert len(result.to_pandas()) == len(result.to_polars()) == len(result.records())


@pytest.mark.usefixtures("evalset")
def test_messages_name_options_here_and_keywords_in_python(run: Run) -> None:
    command = "create e.jsonl --design rating --plan within-judge --per-item 2 -o s.db"
    told = run("study", *command.split())
    assert "--plan within-judge has no --per-item: give --times." in told.err
    with pytest.raises(InputError, match="plan='within-judge' has no per_item=: give times="):
        Study.create("e.jsonl", path="s.db", design="rating", plan="within-judge", per_item=2)
    run("study", "create", "e.jsonl", "--design", "rating", "-o", "s.db")
    assert (
        "TLS needs both: --certificate and --key."
        in run("study", "serve", "s.db", "--key", "k.pem").err
    )


@pytest.mark.usefixtures("evalset")
def test_addresses_are_shown_when_the_server_accepts_connections(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("study", "create", "e.jsonl", "--design", "rating", "-o", "s.db")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = run("study", "serve", "s.db", "--port", port)
        assert refused.code == 2
        assert "dashboard" not in refused.out
    accepted: list[str] = []

    def show(text: str) -> None:
        if "dashboard" in text:
            socket.create_connection(("127.0.0.1", int(port)), timeout=5).close()
            accepted.append(text)

    monkeypatch.setattr(click, "echo", show)
    monkeypatch.setattr(LimitedServer, "run", lambda *_, **__: None)
    run("study", "serve", "s.db", "--port", port)
    assert len(accepted) == 1
