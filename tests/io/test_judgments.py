from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from wellput.core.errors import InputError
from wellput.core.judgment import PAIRWISE_CHOICES, Judgment, Preference
from wellput.io import open_evalset, read_judgments, write_judgments
from wellput.io.judgments import judgments_of_records

RATINGS = [
    Judgment("j1", "7", "A", "quality", 4.0, {"when": "now"}),
    Judgment("j2", "7", "B", "quality", -0.1, {"when": ""}),
]
CHOICES = [
    Preference("j1", "7", "A", "B", "quality", "a", {}),
    Preference("j1", "8", "B", "A", "quality", "tie", {}),
]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet", ".csv.gz"])
@pytest.mark.parametrize("answers", [RATINGS, CHOICES])
def test_round_trip(
    tmp_path: Path, suffix: str, answers: list[Judgment] | list[Preference]
) -> None:
    path = tmp_path / f"j{suffix}"
    write_judgments(answers, path)
    assert read_judgments(path) == answers


def test_the_header_is_the_promised_one(tmp_path: Path) -> None:
    write_judgments(RATINGS, tmp_path / "j.csv")
    assert (tmp_path / "j.csv").read_text() == (
        "judge,item,system,question,value,when\nj1,7,A,quality,4.0,now\nj2,7,B,quality,-0.1,\n"
    )
    write_judgments(CHOICES, tmp_path / "j.csv")
    first = (tmp_path / "j.csv").read_text().split("\n")[0]
    assert first == "judge,item,system_a,system_b,question,choice"


def test_columns_may_come_in_any_order_and_names_may_be_numbers(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text(
        '{"value": 3, "judge": 1, "question": "q", "system": "A", "item": 7, "x": null}\n'
    )
    assert read_judgments(path) == [Judgment("1", "7", "A", "q", 3.0, {"x": ""})]


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (
            "judge,item,system,value\n",
            [
                "has no column question. It needs judge, item, system, question, value, in any order; "
                "it has judge, item, system, value. Name those to read, perhaps: column=['value=value'",
            ],
        ),
        ("judge,item,system,question,value\n", ["holds no judgments"]),
        (
            "judge,item,system,question,value\n"
            "j,7,A,q,4\nj,7,A,q,inf\nj,7,A,q,\n,7,,q,4\nj,7,A,q\nj,7,A,q,nan\n",
            [
                "has 5 problems",
                "line 3: the value 'inf' is not a finite number",
                "line 4: no value; remove the row of an answer that was not given",
                "line 5: no judge and no system",
                "line 6: 4 cells; the header has 5",
                "line 7: the value 'nan' is not a finite number",
            ],
        ),
        (
            "judge,item,system,question,value\nj,7,A,q,4e300\nj,7,A,q,-1e-320\n",
            [
                "line 2: the value 4e+300 is too large to be squared: divide all values by one number",
                "line 3: the value -1e-320 is too small to be squared",
            ],
        ),
        (
            "judge,item,system_a,system_b,question,choice\nj,7,A,B,q,c\nj,7,A,A,q,a\n",
            [
                "line 2: the choice 'c' is not a, b, tie or the name of one of the two systems",
                "line 3: A is compared with itself",
            ],
        ),
    ],
)
def test_all_bad_rows_are_reported(tmp_path: Path, text: str, messages: list[str]) -> None:
    path = tmp_path / "j.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_judgments(path)
    for message in messages:
        assert message in str(caught.value)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["3,5", "-4", "0,25", "1,5E-02"], [3.5, -4.0, 0.25, 0.015]),
        (["3.5", "4.25"], [3.5, 4.25]),
        (["3,5", "4.5"], ["3,5", "4.5"]),  # who knows which is the decimal sign
        (["1.234,5", "2,5"], ["1.234,5", "2,5"]),
        (["3,5", "good"], ["3,5", "good"]),
    ],
)
def test_decimal_commas_beside_semicolons(
    tmp_path: Path, cells: list[str], values: list[float] | list[str]
) -> None:
    path = tmp_path / "j.csv"
    rows = "".join(f"j;{n},5;A;q;{cell};4,5\n" for n, cell in enumerate(cells))
    path.write_text(f"\ufeffjudge;item;system;question;value;note\n{rows}")
    found = read_judgments(path)
    assert [one.value for one in found if isinstance(one, Judgment)] == values
    assert (found[0].item, found[0].extra) == ("0,5", {"note": "4,5"})


def test_a_whole_number_beyond_all_floats_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    answer = '{"judge": "j", "item": "1", "system": "A", "question": "q", "value": 1%s}'
    path.write_text(answer % ("0" * 400))
    with pytest.raises(InputError, match=r"line 1: the value 1000.* is not a finite number"):
        read_judgments(path)


def test_bad_objects(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text(
        '{"judge": "j"}\n3\n'
        '{"judge": 1.5, "item": 7, "system": "A", "question": "q", "value": true}\n'
    )
    with pytest.raises(InputError) as caught:
        read_judgments(path)
    assert str(caught.value).split("\n")[1:] == [
        "  line 1: no item, system, question, value",
        "  line 2: an object is needed",
        "  line 3: the judge 1.5 is neither a text nor a whole number",
    ]
    path.write_text('{"judge": "j", "item": 7, "system": "A", "question": "q", "value": [1]}\n')
    with pytest.raises(InputError, match=r"the value \[1\] is neither a number nor a text"):
        read_judgments(path)
    with pytest.raises(InputError, match="the name does not tell the format"):
        (tmp_path / "j.txt").write_text("x")
        read_judgments(tmp_path / "j.txt")
    (tmp_path / "j.XLSX").write_text("x")
    for read in (read_judgments, open_evalset):
        with pytest.raises(InputError, match=r"is a spreadsheet.*Save its sheet as CSV"):
            read(tmp_path / "j.XLSX")


@pytest.mark.parametrize(
    ("given", "values"),
    [
        (["true", "FALSE", "True"], [1.0, 0.0, 1.0]),
        (["yes", "No", " YES "], [1.0, 0.0, 1.0]),
        (["Up", "down", "down"], [1.0, 0.0, 0.0]),
        (["up", "up", "up"], [1.0, 1.0, 1.0]),
        (["1", "0", "2.5"], [1.0, 0.0, 2.5]),
        (["yes", "no", "unsure"], ["yes", "no", "unsure"]),
        (["yes", "no", "true"], ["yes", "no", "true"]),  # two pairs
        (["1", "0", "yes"], ["1", "0", "yes"]),
        (["1", "1.0", "n/a"], ["1", "1.0", "n/a"]),  # exact text
        (["1", "4_5", "3"], ["1", "4_5", "3"]),  # 45 in Python, a typing error elsewhere
        (["Good", "good", "bad "], ["Good", "good", "bad "]),
    ],
)
def test_values_are_numbers_a_yes_no_pair_or_labels(
    tmp_path: Path, given: list[str], values: list[object]
) -> None:
    path = tmp_path / "j.csv"
    rows = [f"{value},j{n},7,A,q,x" for n, value in enumerate(given)]
    path.write_text(
        "\n".join(["value,judge,item,system,question,remark", *rows, "3,j,7,A,other,x"])
    )
    answers = cast("list[Judgment]", read_judgments(path))
    assert [one.value for one in answers if one.question == "q"] == values
    assert [one.value for one in answers if one.question == "other"] == [3.0]
    assert {one.extra["remark"] for one in answers} == {"x"}
    for suffix in ("csv", "parquet"):
        copy = tmp_path / f"copy.{suffix}"
        write_judgments(answers, copy)
        assert read_judgments(copy) == answers


def test_true_and_false_of_json_and_frames(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    record = {"judge": "j", "item": 7, "system": "A", "question": "q"}
    records = [{**record, "value": value} for value in (True, False, np.bool_(True))]
    path.write_text(
        "".join(json.dumps({**one, "value": bool(one["value"])}) + "\n" for one in records)
    )
    values = [one.value for one in cast("list[Judgment]", read_judgments(path))]
    assert values == [1.0, 0.0, 1.0]
    found = cast("list[Judgment]", judgments_of_records(records))
    assert [one.value for one in found] == [1.0, 0.0, 1.0]


def test_a_sample_is_a_whole_number(tmp_path: Path) -> None:
    path = tmp_path / "j.csv"
    path.write_text(
        "judge,item,system,question,value,sample\nj,7,A,q,4,0\nj,7,A,q,5,1\nj,7,B,q,5,\n"
    )
    answers = cast("list[Judgment]", read_judgments(path))
    assert [one.sample for one in answers] == ["0", "1", ""]
    path.write_text("judge,item,system,question,value,sample\nj,7,A,q,4,first\n")
    with pytest.raises(InputError, match="line 2: the sample 'first' is not a whole number"):
        read_judgments(path)


MQM = """\
system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata
A\td1\t1\t7\tr1\ts\t"<v>t</v>\tAccuracy/Mistranslation\tMajor\t{}
A\td1\t1\t7\tr1\ts\tt\tFluency/Punctuation\tMinor\t{}
A\td1\t1\t7\tr1\ts\tt\tStyle/Awkward\tMinor\t{}
A\td1\t1\t7\tr2\ts\tt\tNo-error\tNo-error\t{}
B\td1\t1\t7\tr1\ts\tt\tNon-translation!\tMajor\t{}
B\td1\t2\t8\tr1\ts\tt\tFluency/Punctuation\tMajor\t{}
B\td1\t2\t8\tr1\ts\tt\tStyle\tNeutral\t{}
B\td1\t2\t8\tr1\ts\tt\tFound\tHOTW-test\t{}
"""


def test_mqm_is_summed_per_rater_segment_and_system(tmp_path: Path) -> None:
    path = tmp_path / "mqm.tsv"
    path.write_text(MQM)
    judgments = read_judgments(path)
    assert judgments == [
        Judgment("r1", "7", "A", "mqm", -6.1, {"doc": "d1"}),  # 5 + 0.1 + 1
        Judgment("r2", "7", "A", "mqm", 0.0, {"doc": "d1"}),
        Judgment("r1", "7", "B", "mqm", -25.0, {"doc": "d1"}),
        Judgment("r1", "8", "B", "mqm", -5.0, {"doc": "d1"}),  # major punctuation + neutral
    ]
    path.write_text(MQM.replace("globalSegId", "seg_id").replace("docSegId", "doc_id"))
    assert read_judgments(path) == judgments


def test_bad_mqm(tmp_path: Path) -> None:
    path = tmp_path / "mqm.tsv"
    path.write_text(MQM + "A\td1\t1\t9\tr1\ts\tt\tStyle\tHuge\t{}\nA\td1\t1\n")
    with pytest.raises(InputError) as caught:
        read_judgments(path)
    assert "line 10: the severity 'Huge' is not one of major, minor, neutral, no-error" in str(
        caught.value
    )
    assert "line 11: 7 cells too few: no rater, category, severity, globalSegId" in str(
        caught.value
    )
    path.write_text(MQM.replace("globalSegId", "segment"))
    with pytest.raises(InputError, match="no column globalSegId"):
        read_judgments(path)


def test_a_pairwise_file_is_told_what_pairwise_choices_need(tmp_path: Path) -> None:
    path = tmp_path / "j.csv"
    path.write_text("rater,item,system_a,system_b,question,choice,x\nj,7,A,B,q,a,1\n")
    with pytest.raises(InputError) as caught:
        read_judgments(path)
    assert str(caught.value) == (
        f"{path} has no column judge. It needs judge, item, system_a, system_b, question, choice, in "
        "any order; it has rater, item, system_a, system_b, question, choice, x. Name those to read, "
        "perhaps: column=['judge=rater']"
    )


def choices_in(path: Path) -> list[str]:
    return [answer.choice for answer in read_judgments(path) if isinstance(answer, Preference)]


def test_choices_in_other_words(tmp_path: Path) -> None:
    path = tmp_path / "j.csv"
    words = ["a", "A", "left", "model_a", "gpt", "B", "llama", "Tie", "tie (bothbad)"]
    rows = "".join(f"j,{n},gpt,llama,q,{word}\n" for n, word in enumerate(words))
    path.write_text("judge,item,system_a,system_b,question,choice\n" + rows)
    assert choices_in(path) == [
        *"aaaaa", "b", "b", "tie", "tie",
    ]  # fmt: skip


def test_a_choice_that_names_one_system_and_the_place_of_the_other_is_refused(
    tmp_path: Path,
) -> None:
    path = tmp_path / "j.csv"
    header = "judge,item,system_a,system_b,question,choice\n"
    path.write_text(f"{header}j,1,A,B,q,A\nj,2,B,A,q,A\nj,3,B,A,q,a\n")
    with pytest.raises(InputError) as caught:
        read_judgments(path)
    assert "has a problem" in str(caught.value)
    assert "line 3: the choice 'A' is the name of one system and the place of the other" in str(
        caught.value
    )
    path.write_text(f"{header}j,1,A,B,q,A\nj,3,B,A,q,a\n")
    assert choices_in(path) == ["a", "a"]


def test_a_study_is_not_a_file_of_judgments(tmp_path: Path) -> None:
    path = tmp_path / "quality.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x)")
    with pytest.raises(InputError) as caught:
        read_judgments(path)
    assert str(caught.value) == (
        f"{path} is a study, not a file of judgments. `wellput study export {path} -o judgments.csv` "
        f"writes its judgments; in Python, wellput.Study.open('{path}').judgments() gives them."
    )


def test_a_folder_or_a_pattern_has_the_judgments_of_all_its_files(tmp_path: Path) -> None:
    machine = Judgment("model:m", "7", "A", "quality", 3.0, {"repeat": "0"})
    write_judgments(RATINGS, tmp_path / "people.csv")
    write_judgments([machine], tmp_path / "machine.jsonl")
    for beside in ("m.answers.jsonl", "m.judge.json", "m.unanswered.csv", "people.payments.csv"):
        (tmp_path / beside).write_text('{"reason": "failed"}\n')
    found = read_judgments(tmp_path)
    assert found == [machine, *RATINGS]
    assert [Path(one.file).name for one in found] == ["machine.jsonl", "people.csv", "people.csv"]
    assert {one.file for one in read_judgments(tmp_path / "people.csv")} == {""}
    write_judgments(found, tmp_path / "all.csv")
    header = "judge,item,system,question,value,repeat,when\n"
    assert (tmp_path / "all.csv").read_text().startswith(header)
    (tmp_path / "all.csv").unlink()
    assert read_judgments(f"{tmp_path}/m*") == [machine]
    with pytest.raises(InputError, match=r"no file of judgments in the folder .*\.csv"):
        read_judgments(_folder(tmp_path / "empty"))


def test_yes_and_no_in_one_file_and_unsure_in_another_are_refused(tmp_path: Path) -> None:
    header = "judge,item,system,question,value\n"
    (tmp_path / "a.csv").write_text(f"{header}ann,1,A,safe,yes\nann,2,A,safe,no\n")
    (tmp_path / "b.csv").write_text(f"{header}bob,1,A,safe,unsure\n")
    with pytest.raises(InputError, match=r"b\.csv.*another kind"):
        read_judgments(tmp_path)


def written_choices(path: Path, column: str, *rows: str) -> list[str]:
    """The choices in rows of the two systems and the choice, such as `b a a`."""
    lines = [f"j,{n},{','.join(row.split())},q\n" for n, row in enumerate(rows)]
    path.write_text(f"judge,item,system_a,system_b,{column},question\n" + "".join(lines))
    named = [] if column == "choice" else [f"choice={column}"]
    answers = read_judgments(path, column=named)
    return [answer.choice for answer in answers if isinstance(answer, Preference)]


@pytest.mark.parametrize("column", ["choice", "winner"])
def test_other_rows_say_whether_a_word_is_a_place_or_a_name(tmp_path: Path, column: str) -> None:
    path = tmp_path / "j.csv"
    # "c" is only a name, so "a" is the system a, which stands second.
    assert written_choices(path, column, "b a a", "a c c") == ["b", "b"]
    # "b" is only a place, so "a" is the first system.
    assert written_choices(path, column, "b a a", "a c b") == ["a", "b"]
    assert written_choices(path, column, "right left left", "left gpt gpt") == ["b", "b"]
    assert written_choices(path, column, "gpt tie tie", "gpt tie b") == ["tie", "b"]
    assert written_choices(path, column, "b a system_b", "a b system_a") == ["b", "a"]


@pytest.mark.parametrize(
    ("column", "rows"),
    [
        ("winner", ["b a a", "a b tie"]),  # nothing decides
        ("winner", ["b a a", "b a system_b"]),  # other words for places do not decide
        ("choice", ["b a a", "a c c", "a c b"]),  # "c" is a name, "b" a place
        ("winner", ["gpt tie tie", "gpt tie gpt"]),  # the system tie, or a tie
        ("choice", ["gpt tie tie", "gpt tie gpt"]),
    ],
)
def test_a_word_that_may_be_a_place_or_a_name_is_refused(
    tmp_path: Path, column: str, rows: list[str]
) -> None:
    path = tmp_path / "j.csv"
    with pytest.raises(
        InputError, match=r"line 2: the choice '(a|tie)' is .*the name of (a|one) sys"
    ):
        written_choices(path, column, *rows)


def test_own_files_with_systems_called_a_b_and_tie_are_read_as_written(tmp_path: Path) -> None:
    pairs = [("a", "b"), ("b", "a"), ("tie", "a"), ("b", "tie")]
    answers = [
        Preference("j", f"{n}", *pair, f"q{choice}", choice, {})
        for n, pair in enumerate(pairs)
        for choice in PAIRWISE_CHOICES
    ]
    write_judgments(answers, tmp_path / "j.csv")
    assert read_judgments(tmp_path / "j.csv") == answers


def test_a_folder_with_ratings_and_choices_is_refused(tmp_path: Path) -> None:
    write_judgments(RATINGS, tmp_path / "a.csv")
    write_judgments(CHOICES, tmp_path / "b.csv")
    with pytest.raises(InputError, match="has ratings and pairwise choices"):
        read_judgments(tmp_path)


def _folder(path: Path) -> Path:
    path.mkdir()
    return path
