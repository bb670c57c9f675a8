"""`wellput displays` on the command line."""

from __future__ import annotations

import http.client
import json
import re
import socket
import struct
import threading
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import wellput
from benchmarks.papers.foster_sample import METRICS, PRINTED, SCHEDULES, derivation
from tests.cli.conftest import Run
from wellput.core.evalset import EvalSet, Item
from wellput.displays.previewing import page_server
from wellput.io import read_evalset, write_evalset


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


LOCAL_HOSTS = ["127.0.0.1", *(["::1"] if has_ipv6() else [])]


@pytest.fixture
def table2(tmp_path: Path) -> str:
    sets = EvalSet([Item("1", SCHEDULES, derivation=derivation())])
    write_evalset(sets, tmp_path / "table2.jsonl")
    return "table2.jsonl"


def test_table_2_from_the_command_line(run: Run, table2: str) -> None:
    outcome = run("displays", "evaluate", table2, "--format", "json")
    assert outcome.code == 0, outcome.err
    scores = {(s["system"], s["metric"]): s["score"] for s in outcome.json["scores"]}
    for system, printed in PRINTED.items():
        found = [scores[system, f"display-{name}"] for name in METRICS]
        assert found == pytest.approx(printed, abs=0.006)
    assert {test["metric"] for test in outcome.json["rank_sums"]} == {
        f"display-{name}" for name in METRICS
    }


@pytest.mark.parametrize("command", ["evaluate", "preview"])
def test_the_corpus_is_not_overwritten(run: Run, table2: str, command: str) -> None:
    before = Path(table2).read_text()
    refused = run("displays", command, table2, "-o", table2)
    assert refused.code == 2 and "it is the input" in refused.err
    assert Path(table2).read_text() == before


def test_the_table_and_the_charts(run: Run, table2: str, tmp_path: Path) -> None:
    outcome = run("displays", "evaluate", table2, "--charts", "figure")
    assert outcome.code == 0, outcome.err
    assert "accuracy of never showing anything: 0.739" in outcome.out
    for name, bars in (("reproduction", 3 * 5), ("intrinsic", 4 * 3)):
        root = ElementTree.parse(tmp_path / f"figure-{name}.svg").getroot()
        labels = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
        assert sum(1 for text in labels if text and len(text.partition(".")[2]) == 2) >= bars


def corpus_line(**changes: object) -> str:
    record = {"id": "1", "derivation": derivation(), "outputs": {"original": {"w1": ["nd=d"]}}}
    return json.dumps({**record, **changes}) + "\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            corpus_line(outputs={"original": {"w1": ["nd=x"]}}),
            "node w1 has the unknown motion 'nd=x'. Did you mean nd=",
        ),
        (
            corpus_line(outputs={"original": {"w1": ["smile"]}}),
            "unknown motion 'smile'. The motions are nd=d, nd=u,",
        ),
        (
            corpus_line(outputs={"original": {"w2..w99": ["sq"]}}),
            "node w99 (in the span w2..w99), which is not in the derivation",
        ),
        (
            corpus_line(outputs={"original": {"w5..w2": ["sq"]}}),
            "the span w5..w2, whose last node does not end after its first",
        ),
        (corpus_line(outputs={"original": {"w1": ["sq", "sq"]}}), "node w1 has a motion twice"),
        (
            corpus_line().replace('{"w1": ["nd=d"]}', '{"w1": ["nd=d"], "w1": ["sq"]}'),
            'the key "w1" is given twice',
        ),
        (
            corpus_line(derivation={"id": "n", "children": [{"id": "w"}, {"id": "w"}]}, outputs={}),
            "the derivation has two nodes w",
        ),
        (
            corpus_line(derivation={"id": "a..b"}, outputs={}),
            "a node a..b: only spans of nodes may have ..",
        ),
    ],
)
def test_bad_corpora(run: Run, tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "bad.jsonl").write_text(line, encoding="utf-8")
    outcome = run("displays", "evaluate", "bad.jsonl")
    assert outcome.code == 2 and outcome.out == ""
    assert message in outcome.err


@pytest.mark.heavy
def test_the_whole_chain(run: Run, tmp_path: Path) -> None:
    assert run("displays", "example", "-n", "60", "-o", "corpus.jsonl").code == 0
    strategies = "rule,majority,weighted,learned"
    chosen = run(
        *("displays", "select", "corpus.jsonl", "--strategy", strategies, "--folds", "5"),
        *("--seed", "3", "-o", "all.jsonl", "--format", "json"),
    )
    assert chosen.code == 0, chosen.err
    assert [entry["system"] for entry in chosen.json["systems"]] == strategies.split(",")
    result = run("displays", "evaluate", "all.jsonl", "-m", "display-f", "--format", "json")
    assert [score["system"] for score in result.json["scores"]] == [
        "original",
        *strategies.split(","),
    ]
    # The tests: every pair of strategies, without the original.
    assert len(result.json["rank_sums"]) == 6
    refused = run("displays", "select", "corpus.jsonl", "--strategy", "rules", "-o", "x.jsonl")
    assert refused.code == 2 and "Did you mean rule?" in refused.err


def test_chi_square_of_section_3_4(run: Run, tmp_path: Path) -> None:
    choices = [("rule", "a")] * 123 + [("rule", "b")] * 93
    choices += [("weighted", "a")] * 123 + [("weighted", "b")] * 92
    lines = ["judge,item,system_a,system_b,question,choice"]
    lines += [f"J{n},1,original,{b},preference,{choice}" for n, (b, choice) in enumerate(choices)]
    lines += [f"K{n},1,weighted,rule,preference,{'a' if n < 120 else 'b'}" for n in range(217)]
    (tmp_path / "choices.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    sets = EvalSet([Item("1", SCHEDULES, derivation=derivation())])
    write_evalset(sets, tmp_path / "table2.jsonl")
    outcome = run(
        *("agree", "table2.jsonl", "choices.csv", "-m", "display-tokens", "--format", "json")
    )
    assert outcome.code == 0, outcome.err
    pairs = outcome.json["preferences"][0]["pairs"]
    assert sorted(round(pair["chi_squared"], 2) for pair in pairs) == [2.44, 4.17, 4.47]


def test_preview_writes_a_self_contained_page(run: Run, tmp_path: Path) -> None:
    run("displays", "example", "-n", "3", "-o", "corpus.jsonl")
    outcome = run("displays", "preview", "corpus.jsonl", "--items", "synthetic-2", "-o", "p.html")
    assert outcome.code == 0, outcome.err
    assert "p.html" in outcome.out
    summary = run("displays", "preview", "corpus.jsonl", "-o", "q.html", "--format", "json").json
    assert summary == {"sentences": 3, "systems": ["original"], "output": "q.html"}
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "synthetic-2" in page and "synthetic-1" not in page and "Synthetic example" in page
    assert not re.search(r"(src|href)=.https?:", page)
    for options, message in (
        (("--system", "origina"), "No system 'origina' with schedules. Did you mean original?"),
        (("--items", "9"), "There is no item 9"),
    ):
        refused = run("displays", "preview", "corpus.jsonl", *options)
        assert refused.code == 2 and message in refused.err


def test_convert_to_bml_and_what_is_refused(run: Run, tmp_path: Path) -> None:
    run("displays", "example", "-n", "2", "-o", "corpus.jsonl")
    done = run("displays", "convert", "corpus.jsonl", "--system", "original", "-o", "out.bml")
    assert done.code == 0, done.err
    assert len(ElementTree.parse(tmp_path / "out.bml").getroot()) == 2
    assert "systems   original\n" in done.out
    for options, message in (
        ((), "Whose schedules?"),
        (("--system", "orignal"), "Did you mean original?"),
    ):
        refused = run("displays", "convert", "corpus.jsonl", *options, "-o", "x.bml")
        assert refused.code == 2 and message in refused.err


def test_half_a_surrogate_pair_does_not_stop_a_page_or_bml(run: Run, tmp_path: Path) -> None:
    """As where a tool cut a text in the middle of an emoji."""
    run("displays", "example", "-n", "1", "-o", "corpus.jsonl")
    text = (tmp_path / "corpus.jsonl").read_text()
    word = json.loads(text)["derivation"]["children"][0]
    while "word" not in word:
        word = word["children"][0]
    assert f'"word": "{word["word"]}"' in text
    (tmp_path / "cut.jsonl").write_text(text.replace(f'"{word["word"]}"', '"\\ud83d"', 1))
    for command in ("preview", "convert"):
        options = ("--system", "original") if command == "convert" else ()
        target = "out.bml" if command == "convert" else "out.html"
        done = run("displays", command, "cut.jsonl", *options, "-o", target)
        assert done.code == 0, done.err


def test_selection_ratios_are_fitted_by_display_metrics(run: Run, tmp_path: Path) -> None:
    run("displays", "example", "-n", "40", "-o", "corpus.jsonl")
    run("displays", "select", "corpus.jsonl", "--folds", "4", "-o", "all.jsonl")
    sets = read_evalset(tmp_path / "all.jsonl")
    lines = ["judge,item,system_a,system_b,question,choice"]
    for item in sets:  # the system with more displays is chosen
        for a, b in combinations(sets.systems, 2):
            more = len(item.outputs[a]) - len(item.outputs[b])
            lines.append(f"J1,{item.id},{a},{b},preference,{'a' if more > 0 else 'b'}")
    (tmp_path / "choices.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    names = "display-recall,display-accuracy,display-beta,display-tokens,display-ttr"
    outcome = run(
        *("fit", "all.jsonl", "choices.csv", "--question", "preference", "--predictors", names),
        *("--no-rescale", "--stepwise", "p", "-o", "metric.json", "--format", "json"),
    )
    assert outcome.code == 0, outcome.err
    kept = [entry["predictor"] for entry in outcome.json["regression"]["coefficients"]]
    assert "display-tokens" in kept
    assert outcome.json["regression"]["adjusted_r_squared"] > 0.5
    scored = run("score", "all.jsonl", "-m", "./metric.json", "--format", "json")
    scores = {entry["system"]: entry["score"] for entry in scored.json["scores"]}
    assert scores["original"] > scores["rule"]


def test_python_needs_no_files(run: Run, tmp_path: Path) -> None:
    corpus = wellput.displays.example(n=20).evalset
    chosen = wellput.displays.select(corpus, strategy=["majority"], folds=2)
    assert chosen.evalset.systems == ("original", "majority")
    evaluation = wellput.displays.evaluate(chosen.evalset, metrics="display-f", charts="figure")
    assert list(evaluation.charts()) == ["reproduction"]
    assert (tmp_path / "figure-reproduction.svg").read_text() == evaluation.charts()["reproduction"]
    run("displays", "example", "-n", "20", "-o", "corpus.jsonl")
    options = ("--strategy", "majority", "--folds", "2", "-o", "all.jsonl")
    run("displays", "select", "corpus.jsonl", *options)
    chosen.save("python.jsonl")
    assert (tmp_path / "python.jsonl").read_bytes() == (tmp_path / "all.jsonl").read_bytes()
    converted = wellput.displays.convert(chosen.evalset, system="majority")
    run("displays", "convert", "all.jsonl", "--system", "majority", "-o", "all.bml")
    assert converted.bml() == (tmp_path / "all.bml").read_text()
    assert converted.to_dict() == {
        "file": None, "items": 20, "systems": ["original", "majority"],
    }  # fmt: skip
    with pytest.raises(wellput.InputError, match=r"Whose schedules\? Give system="):
        wellput.displays.convert(["all.jsonl"], path="x.bml")


@pytest.mark.parametrize("host", LOCAL_HOSTS)
def test_a_browser_that_leaves_early_prints_nothing(
    host: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with page_server("x" * 10_000_000, host, 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        port = server.server_address[1]
        client = socket.create_connection((host, port), timeout=10)
        client.sendall(b"GET / HTTP/1.1\r\n\r\n")
        client.recv(1)
        # With a linger of 0 seconds, closing resets the connection.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        connection = http.client.HTTPConnection(host, port, timeout=10)
        connection.request("GET", "/")
        assert len(connection.getresponse().read()) == 10_000_000
        server.shutdown()
        thread.join()
    assert capfd.readouterr() == ("", "")


def test_a_page_is_served_until_it_is_stopped() -> None:
    page = wellput.displays.preview(wellput.displays.example(n=1).evalset, port=0, browser=False)
    seen = []

    def stop(address: str) -> None:
        seen.append(address)
        raise KeyboardInterrupt

    page.serve(stop)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", seen[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 9}, r"sentences to train on \(train=FILE\)"),
        ({"temperature": -1}, "temperature=-1 must be 0 or more"),
        ({"strategy": "rules"}, "Did you mean rule?"),
    ],
)
def test_errors_name_keywords(options: dict[str, Any], message: str) -> None:
    corpus = wellput.displays.example(n=5).evalset
    with pytest.raises(wellput.InputError, match=message):
        wellput.displays.select(corpus, **options)


def test_messages_name_options_on_the_command_line(run: Run) -> None:
    run("displays", "example", "-n", "5", "-o", "corpus.jsonl")
    refused = run("displays", "select", "corpus.jsonl", "-o", "x.jsonl")
    assert "or other sentences to train on (--train FILE)." in refused.err
    refused = run("displays", "convert", "corpus.jsonl", "-o", "x.bml")
    assert "Whose schedules? Give --system, one of original." in refused.err


def test_two_outputs_are_two_files(run: Run, table2: str, tmp_path: Path) -> None:
    outcome = run("displays", "evaluate", table2, "--charts", "f", "-o", "f-intrinsic.svg")
    assert (outcome.code, "another output is written to" in outcome.err) == (2, True)
    assert not list(tmp_path.glob("f-*"))
