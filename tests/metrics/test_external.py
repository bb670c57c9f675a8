"""Scores made elsewhere: the layouts of their files, their direction, and what is wrong with a file."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

import wellput
from wellput import InputError
from wellput.io import external_scores, score_columns
from wellput.io.external_scores import read_external_scores
from wellput.metrics.external import ExternalMetric
from wellput.metrics.registry import create, create_all

LONG = """\
system,item,metric,score,version
A,1,COMET-22,0.8,2.2.1
A,2,COMET-22,0.6,2.2.1
B,1,COMET-22,0.5,2.2.1
A,1,MetricX-24,2.5,xl
A,2,MetricX-24,,xl
B,1,MetricX-24,4,xl
B,2,MetricX-24,3,xl
"""


@pytest.fixture
def evalset() -> wellput.EvalSet:
    return wellput.EvalSet.of({"A": ["a b", "c"], "B": ["a", "d"]}, ["a b", "c"])


def written(folder: Path, text: str, name: str = "scores.csv") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_long_file_has_a_metric_for_each_name(tmp_path: Path, evalset: wellput.EvalSet) -> None:
    """COMET of A: (.8 + .6) / 2 = .7; of B .5, as item 2 is missing. MetricX of B: (4 + 3) / 2."""
    result = wellput.score(evalset, [written(tmp_path, LONG), "bleu"])
    assert result["A", "COMET-22"].score == pytest.approx(0.7)
    assert result["B", "COMET-22"].score == pytest.approx(0.5)
    assert result["A", "MetricX-24"].score == pytest.approx(2.5)
    assert result["B", "MetricX-24"].score == pytest.approx(3.5)
    assert {"COMET-22", "MetricX-24", "bleu"} == {one.metric for one in result.scores}


def test_a_long_file_with_semicolons_and_decimal_commas(
    tmp_path: Path, evalset: wellput.EvalSet
) -> None:
    european = LONG.replace(",", ";").replace("0.", "0,").replace("2.5", "2,5")
    result = wellput.score(evalset, written(tmp_path, european))
    assert result["A", "COMET-22"].score == pytest.approx(0.7)
    assert result["A", "MetricX-24"].score == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rater.csv", "item,A,B\n1,3,1\n2,5,\n"),
        ("rater.csv", "item;A;B\n1;3,0;1,0\n2;5;\n"),
        ("rater.tsv", "id\tA\tB\n1\t3\t1\n2\t5\t\n"),
        ("rater.csv", "system,item,rater,remark\nA,1,3,good\nA,2,5,fine\nB,1,1,odd\nB,2,,none\n"),
        ("rater.csv", "score,item,system\n3,1,A\n5,2,A\n1,1,B\nnan,2,B\n"),
        (
            "rater.jsonl",
            '{"system": "A", "item": 1, "score": 3}\n{"system": "A", "item": 2, "score": 5}\n'
            '{"system": "B", "item": 1, "score": true}\n',
        ),
    ],
)
def test_layouts(tmp_path: Path, name: str, text: str) -> None:
    (found,) = read_external_scores(written(tmp_path, text, name)).values()
    assert found.metric == "rater"
    assert found.of("A", ["1", "2", "9"])[:2].tolist() == [3, 5]
    assert str(found.of("A", ["9"])[0]) == "nan"
    assert str(found.of("B", ["2"])[0]) == "nan"
    assert found.of("B", ["1"])[0] == 1


@pytest.mark.parametrize(
    "header",
    ["model,prompt_id,metric,score", "model_name,id,metric,score", "System,ID,Metric,score"],
)
def test_systems_and_items_may_have_their_usual_names(tmp_path: Path, header: str) -> None:
    path = written(tmp_path, f"{header}\nA,1,comet,0.5\nB,1,comet,0.25\n")
    (found,) = read_external_scores(path).values()
    assert (found.metric, found.of("A", ["1"])[0], found.of("B", ["1"])[0]) == ("comet", 0.5, 0.25)
    each = written(tmp_path, "model,prompt_id,comet\nA,1,0.5\n", "each.csv")
    assert read_external_scores(each)["comet"].of("A", ["1"])[0] == 0.5


def test_a_column_of_numbers_called_model_is_a_system(tmp_path: Path) -> None:
    path = written(tmp_path, "item,model,other\n1,0.5,0.25\n")
    (found,) = read_external_scores(path).values()
    assert sorted(found.scores) == ["model", "other"]


def test_compressed_and_parquet(tmp_path: Path) -> None:
    packed = tmp_path / "s.csv.gz"
    packed.write_bytes(gzip.compress(LONG.encode()))
    assert list(read_external_scores(packed)) == ["COMET-22", "MetricX-24"]
    table = pyarrow.table({"system": ["A", "B"], "item": [1, 1], "score": [0.25, None]})
    pyarrow.parquet.write_table(table, tmp_path / "s.parquet")
    (found,) = read_external_scores(tmp_path / "s.parquet").values()
    assert found.of("A", ["1"])[0] == 0.25
    assert str(found.of("B", ["1"])[0]) == "nan"


COLUMNS = [
    LONG,
    "item,A,B\n1,3,1\n2,5,\n",
    "system,item,comet,judge\nA,1,3,0.5\n A,2,5,NaN\nB,1,1,\nA,1,3,0.5\n",
    'score,item,system\n3,"1, one",A\n5,2,A\nnan,2,B\n1,2,B\n',
]


@pytest.mark.parametrize("text", COLUMNS)
def test_columns_and_rows_give_the_same(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, text)
    by_columns = read_external_scores(path)
    monkeypatch.setattr(score_columns, "PLAIN_SUFFIXES", {})
    by_rows = read_external_scores(path)
    assert by_columns.keys() == by_rows.keys()
    ids = ["1", "2", "1, one", "9"]
    for name, found in by_columns.items():
        other = by_rows[name]
        assert (found.version, found.repeats) == (other.version, other.repeats)
        for system in ("A", "B", "C"):
            np.testing.assert_array_equal(found.of(system, ids), other.of(system, ids))


KINDS = {
    "text": pyarrow.string(),
    "large text": pyarrow.large_string(),
    "categories": pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows_in_a_group", [2, 100])
def test_names_in_parquet_may_be_of_every_kind(
    tmp_path: Path, kind: str, rows_in_a_group: int
) -> None:
    systems = ["A", "B", " A", "B", "C", "A", "C"]
    items = ["1", "1", "2", "2", "1", "3", "1"]
    scores = [1.0, 2.0, 3.0, None, 5.0, 6.0, 5.0]
    table = pyarrow.table(
        {
            "system": pyarrow.array(systems).cast(KINDS[kind]),
            "item": pyarrow.array(items).cast(KINDS[kind]),
            "score": scores,
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "s.parquet", row_group_size=rows_in_a_group)
    (found,) = read_external_scores(tmp_path / "s.parquet").values()
    assert found.of("A", ["1", "2", "3"]).tolist() == [1.0, 3.0, 6.0]
    assert found.of("C", ["1"]).tolist() == [5.0]
    assert found.of("B", ["1", "2"]).tolist()[:1] == [2.0] and np.isnan(found.of("B", ["2"])[0])
    assert found.repeats == 1


def test_numbers_may_name_systems_in_parquet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external_scores, "_by_rows", None)
    table = pyarrow.table({"system": [7, 8], "item": ["1", "1"], "score": [1, 2]})
    pyarrow.parquet.write_table(table, tmp_path / "s.parquet")
    (found,) = read_external_scores(tmp_path / "s.parquet").values()
    assert found.of("8", ["1"]).tolist() == [2.0]


def test_many_items_are_found_by_their_hashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external_scores, "MAX_ITEMS_FOUND_BY_NAME", 10)
    monkeypatch.setattr(external_scores, "NAMES_HASHED_AT_ONCE", 7)
    monkeypatch.setattr(score_columns, "MAX_NAMES_AS_LIST", 10)
    names = [f"item {number}" for number in range(30)]
    table = pyarrow.table(
        {
            "system": ["A"] * 30 + ["B"] * 30,
            "item": names * 2,
            "score": [float(number) for number in range(60)],
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "s.parquet")
    (found,) = read_external_scores(tmp_path / "s.parquet").values()
    assert found.of("B", ["item 3", "x", "item 29"]).tolist()[::2] == [33.0, 59.0]
    assert np.isnan(found.of("B", ["x"])[0])


def test_what_of_a_file_is_not_used_is_said_once(tmp_path: Path, evalset: wellput.EvalSet) -> None:
    text = "system,item,score\nA,1,1\nA,2,2\nA,2,2\nB,1,1\nX,1,1\nA,77,1\nA,78,1\n"
    result = wellput.score(evalset, written(tmp_path, text, "ter.csv"))
    assert result.notes == (
        "ter: lower is better, by its name; higher=true after the path says otherwise.",
        "ter: the scores of 1 system and 2 items that the evalset does not have are not used ('X').",
        "ter: 1 row repeats a score that another row has.",
    )


def test_a_metric_of_a_file_without_the_word_metric(tmp_path: Path) -> None:
    path = written(tmp_path, LONG)
    with pytest.raises(InputError, match=r"write .*scores\.csv:metric=COMET-22"):
        create(f"{path}:COMET-22")


def test_lower_is_better_by_name_or_by_option(tmp_path: Path) -> None:
    path = written(tmp_path, LONG)
    comet, metricx = create_all(path)
    assert comet.higher_is_better is True
    assert metricx.higher_is_better is False
    assert create(f"{path}:metric=MetricX-24:higher=true").higher_is_better is True
    assert create(f"{path}:metric=COMET-22:higher=false").higher_is_better is False
    term = written(tmp_path, "system,item,metric,score\nA,1,term-accuracy,1\n", "t.csv")
    assert create(term).higher_is_better is True


def test_the_signature_has_the_files_hash_and_release(tmp_path: Path) -> None:
    path = written(tmp_path, LONG)
    signature = create(f"{path}:metric=COMET-22").signature()
    assert signature.startswith("COMET-22|file:")
    assert "|release:2.2.1|higher:true" in signature
    other = written(tmp_path, LONG.replace("0.8", "0.9"), "other.csv")
    assert create(f"{other}:metric=COMET-22").signature() != signature


def test_two_files_with_one_name_are_told_apart(tmp_path: Path) -> None:
    one, two = written(tmp_path, LONG, "one.csv"), written(tmp_path, LONG, "two.csv")
    names = [metric.name for metric in create_all(f"{one}:metric=COMET-22,{two}:metric=COMET-22")]
    assert names == [f"{one}:metric=COMET-22", f"{two}:metric=COMET-22"]


def test_systems_are_compared_on_the_items_that_both_have_a_score_of(tmp_path: Path) -> None:
    """B is equal to A on every item; its missing scores are those of the hard items."""
    texts = {system: [f"text {n}" for n in range(20)] for system in "AB"}
    evalset = wellput.EvalSet.of(texts, texts["A"])
    lines = ["system,item,score"]
    for n in range(20):
        score = 0.9 if n < 10 else 0.2
        lines += [f"A,{n + 1},{score + n % 3 / 100}"] + [f"B,{n + 1},{score + n % 2 / 100}"] * (
            n < 10
        )
    found = wellput.score(evalset, written(tmp_path, "\n".join(lines) + "\n"), baseline="A")
    (comparison,) = found.differences
    assert comparison.n == 10
    assert abs(comparison.delta) < 0.02


def test_a_file_does_not_hide_a_metric_of_the_same_name(tmp_path: Path) -> None:
    path = written(tmp_path, "system,item,metric,score\nA,1,bleu,1\n")
    assert [metric.name for metric in create_all(f"bleu,{path}")] == ["bleu", f"{path}:metric=bleu"]


def test_a_metric_fitted_on_them_finds_the_file_again(tmp_path: Path) -> None:
    shown = wellput.demo(no_report=True)
    worth = {"careful": 6.0, "realizer": 5.0, "template": 4.0}
    lines = ["system,item,judge,other"] + [
        f"{system},{item.id},{worth.get(system, 2.0) + place % 3 / 10},{place % 5}"
        for place, item in enumerate(shown.evalset)
        for system in item.outputs
    ]
    path = written(tmp_path, "\n".join(lines) + "\n", "own.csv")
    fitted = wellput.fit(
        shown.evalset,
        shown.judgments,
        question="quality (simulated)",
        predictors=[path, "length"],
        no_rescale=True,
    )
    fitted.save(tmp_path / "fitted.json")
    again = wellput.score(shown.evalset, str(tmp_path / "fitted.json"))
    assert again["careful", str(tmp_path / "fitted.json")].score > 1


def test_agree_takes_them_like_any_metric(tmp_path: Path) -> None:
    shown = wellput.demo(no_report=True)
    worth = {"careful": 6.0, "realizer": 5.0, "template": 4.0}
    lines = ["system,item,score"] + [
        f"{system},{item.id},{worth.get(system, 2.0) + place % 3 / 10}"
        for place, item in enumerate(shown.evalset)
        for system in item.outputs
    ]
    path = written(tmp_path, "\n".join(lines) + "\n", "judge.csv")
    result = wellput.agree(shown.evalset, shown.judgments, path)
    assert [row.metric for row in result.agreement] == ["judge"]
    assert result.agreement[0].value > 0.8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system,item,score\nA,1,good\n", "line 2: scores: the score 'good' is not a number"),
        ("system,item,score\nA,1,0_5\n", "line 2: scores: the score '0_5' is not a number"),
        ("system,item,score\nA,1,1\nA,2,-1e101\n", r"line 3: .*the score -1e\+101 is too large"),
        (
            "system,item,score\nA,1,1\nA,2,1e-170\n",
            "line 3: .*the score 1e-170 is too small to be squared: multiply all scores",
        ),
        ("system,item,score\nA,1,1\nA,1,2\n", "line 3: .*a second score, 2 after 1"),
        ("system,item,score\n,1,1\n", "line 2: no system"),
        (
            "system,item,score,version\nA,1,1,v1\nA,2,1,v2\n",
            "line 3: scores: version v2 after v1, in 1 line; a file may have one version of a metric",
        ),
        ("system,item,score\nA,1,\n", "all its cells are empty"),
        ("system,item,score\n", "has no scores"),
        ("name,number\nA,1\n", "is not a file of scores. .* It has name, number"),
        ("judge,item,system,question,value\nJ,1,A,q,3\n", "is a file of judgments"),
        ("system,item,score\nX,1,3\n", "no score of any system of the evalset: it has 'X'"),
        ("system,item,score\nA,x7,3\n", "no score of any item of the evalset: it has 'x7'"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    tmp_path: Path, evalset: wellput.EvalSet, text: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        wellput.score(evalset, written(tmp_path, text))


def test_the_name_of_a_neural_metric_points_to_its_file() -> None:
    with pytest.raises(InputError, match=r"give their file: \./COMET-22\.csv with the columns"):
        create("COMET-22")


def test_the_same_score_twice_does_no_harm(tmp_path: Path) -> None:
    (found,) = read_external_scores(written(tmp_path, "system,item,score\nA,1,2\nA,1,2\n")).values()
    assert found.of("A", ["1"])[0] == 2


def test_the_metrics_of_a_file_are_listed(tmp_path: Path) -> None:
    path = written(tmp_path, LONG)
    with pytest.raises(InputError, match=r"a file of scores\. Its metrics: COMET-22, MetricX-24"):
        wellput.list_metrics(path)


def test_unknown_names_and_options(tmp_path: Path) -> None:
    path = written(tmp_path, LONG)
    with pytest.raises(InputError, match="Did you mean COMET-22"):
        create(f"{path}:metric=COMET")
    with pytest.raises(InputError, match="has several metrics: COMET-22, MetricX-24"):
        create(path)
    with pytest.raises(InputError, match="no option 'lower'"):
        create(f"{path}:lower=true")
    with pytest.raises(InputError, match="higher is true or false"):
        create(f"{path}:higher=yes")
    assert isinstance(create(f"{path}:metric=COMET-22"), ExternalMetric)


def test_items_counted_from_0_in_one_file_and_from_1_in_the_other_are_refused(
    tmp_path: Path,
) -> None:
    """Each output would get the score of the next one."""
    evalset = wellput.EvalSet.of({"A": ["a", "b", "c"]}, ["a", "b", "c"])
    own = written(tmp_path, "item,A\n0,.1\n1,.2\n2,.3\n")
    with pytest.raises(
        InputError, match="from 0, and the evalset from 1: only the file has an item 0"
    ):
        wellput.score(evalset, own)
    from_zero = wellput.EvalSet.of({"A": ["a", "b", "c"]}, ["a", "b", "c"], ids=["0", "1", "2"])
    assert wellput.score(from_zero, own)["A", "scores"].score == pytest.approx(0.2)
    with pytest.raises(InputError, match=r"only the file has an item 3.*Subtract 1 from the items"):
        wellput.score(from_zero, written(tmp_path, "item,A\n1,.1\n2,.2\n3,.3\n", "one.csv"))
    other = written(tmp_path, "item,A\n1,.1\n2,.2\n9,.3\n", "other.csv")
    assert "scores of 1 item that the evalset" in str(wellput.score(evalset, other))


def test_an_evalset_without_outputs_has_nothing_to_score(tmp_path: Path) -> None:
    evalset = wellput.EvalSet([wellput.Item(id="1", outputs={}, references=("a",))])
    with pytest.raises(InputError, match="scores of outputs, and the evalset has no outputs"):
        wellput.score(evalset, written(tmp_path, "item,A\n1,.1\n"))
