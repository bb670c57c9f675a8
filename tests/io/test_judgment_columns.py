"""Judgments whose columns have other names."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import wellput
from wellput.core.errors import InputError
from wellput.core.judgment import Judgment, Preference
from wellput.io.judgment_columns import guessed_judgments, split_columns
from wellput.io.judgments import judgments_of_frame

OWN = ["judge=user", "item=prompt_nr", "system=model", "value=thumb"]


def test_columns_are_named_and_the_answers_name_the_question(tmp_path: Path) -> None:
    file = tmp_path / "thumbs.csv"
    file.write_text("user,prompt_nr,model,thumb,shift\nann,1,gpt,up,late\nbob,1,gpt,down,early\n")
    assert wellput.read_judgments(file, column=OWN) == [
        Judgment("ann", "1", "gpt", "thumb", 1.0, {"shift": "late"}),
        Judgment("bob", "1", "gpt", "thumb", 0.0, {"shift": "early"}),
    ]
    with pytest.raises(InputError) as refused:
        wellput.read_judgments(file)
    assert "perhaps: column=['judge=user', 'item=prompt_nr', 'system=model', 'value=thumb']" in str(
        refused.value
    )
    with pytest.raises(InputError, match="has no column usr"):
        wellput.read_judgments(file, column=["judge=usr", *OWN[1:]])


def test_a_question_of_its_own_and_a_column_of_the_fields_name(tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    file.write_text("judge,item,system,question,value,rating\nx,1,A,quality,old,7\n")
    assert wellput.read_judgments(file, column="value=rating") == [
        Judgment("x", "1", "A", "quality", 7.0)
    ]


def test_choices_frames_and_records() -> None:
    rows = [{"who": "ann", "item": 1, "left": "A", "right": "B", "winner": "a"}]
    own = {"judge": "who", "system_a": "left", "system_b": "right", "choice": "winner"}
    frame = {name: [row[name] for row in rows] for name in rows[0]}
    from wellput.api.inputs import read_answers

    expected = [Preference("ann", "1", "A", "B", "winner", "a")]
    assert read_answers(rows, own) == expected
    assert read_answers(pd.DataFrame(frame), own) == expected
    with pytest.raises(InputError, match="but these judgments are objects"):
        read_answers([Judgment("x", "1", "A", "q", 1.0)], own)


def test_an_answer_without_a_question_is_suggested_in_a_way_that_works() -> None:
    from wellput.api.inputs import read_answers

    rows = [{"rater": "j", "item": 7, "system": "A", "value": 5}]
    with pytest.raises(InputError) as refused:
        read_answers(rows)
    assert str(refused.value).endswith("column=['judge=rater', 'value=value']")
    assert read_answers(rows, ["judge=rater", "value=value"]) == [
        Judgment("j", "7", "A", "value", 5.0)
    ]


def test_wrong_names_are_refused() -> None:
    from wellput.io.judgment_columns import JudgmentColumns

    with pytest.raises(InputError, match=r"is not a field of a judgment\. Did you mean judge\?"):
        JudgmentColumns.of("juge=user")
    with pytest.raises(InputError, match="given twice"):
        JudgmentColumns.of(["judge=user", "judge=name"])


def test_fields_go_to_the_file_that_has_them() -> None:
    wide = ["source=prompt", "outputs=gpt", "outputs=ours", *OWN]
    assert split_columns(wide) == (wide[:3], OWN)
    assert split_columns(["system=bot", "outputs=said"]) == (["system=bot", "outputs=said"], [])
    both = ["outputs=said", "system=bot", "judge=user"]
    assert split_columns(both) == (["outputs=said", "system=bot"], ["system=bot", "judge=user"])


def test_what_is_guessed() -> None:
    assert guessed_judgments(["rater_id", "qid", "model", "score"]) == {
        "rater_id": "judge", "qid": "item", "model": "system", "score": "value",
    }  # fmt: skip
    assert guessed_judgments(["prompt", "gold", "gpt"]) == {}
    assert guessed_judgments(["Annotator 1", "Text Nr.", "NLG System", "Rating (1-5)", "Notes"]) == {
        "Annotator 1": "judge", "Text Nr.": "item", "NLG System": "system", "Rating (1-5)": "value",
    }  # fmt: skip
    assert guessed_judgments(["rater", "item", "system_a", "system_b", "score"]) == {}


def test_every_command_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("answers.csv").write_text(
        "prompt,gold,gpt,ours\n" + "".join(f"q{n},a b {n},a b {n},a {n}\n" for n in range(1, 13))
    )
    Path("thumbs.csv").write_text(
        "user,prompt_nr,model,thumb\n"
        + "".join(
            f"{who},{n},{model},{'up' if (n + ord(who[0]) + len(model)) % 3 else 'down'}\n"
            for n in range(1, 13)
            for who in ("ann", "bob", "cyd", "dan")
            for model in ("gpt", "ours")
        )
    )
    items = ["source=prompt", "references=gold", "outputs=gpt", "outputs=ours"]
    assert wellput.rank("thumbs.csv", column=OWN, permutations=10).rankings[0].n == 96
    agreed = wellput.agree("answers.csv", "thumbs.csv", "chrf", column=[*items, *OWN])
    assert agreed.ranking[0].question == "thumb"
    planned = wellput.power(
        pilot="thumbs.csv", column=OWN, difference=0.2, items=20, simulations=100
    )
    assert planned.notes[0].startswith("From the pilot (thumb: 4 judges")
    with pytest.raises(InputError, match="columns of a pilot's judgments: give pilot="):
        wellput.power(difference=0.2, column=OWN)
    estimated = wellput.estimate("answers.csv", "thumbs.csv", "chrf", column=[*items, *OWN])
    assert {row.system for row in estimated.systems} == {"gpt", "ours"}
    by_ann = [
        wellput.estimate("answers.csv", "thumbs.csv", proxy, column=[*items, *OWN]).systems
        for proxy in ("judge:ann", "ann")
    ]
    assert by_ann[0] == by_ann[1]


def test_files_of_scores_say_what_is_not_used_in_estimate_and_vet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = wellput.demo(no_report=True)
    systems = ("careful", "smooth", "nobody")
    rows = [f"{item.id},{name},{n}" for n, item in enumerate(shown.evalset) for name in systems]
    Path("comet.csv").write_text("\n".join(["item,system,comet", *rows]) + "\n")
    said = "the scores of 1 system that the evalset does not have are not used"
    judged = [one for one in shown.judgments if one.system in systems]
    assert said in str(wellput.estimate(shown.evalset, judged, "./comet.csv"))
    assert said in str(wellput.vet(judged, judge="./comet.csv", evalset=shown.evalset))
    own = wellput.vet(judged, judge=judged[0].judge, own="careful", evalset=shown.evalset)
    assert own.biases is not None
    with pytest.raises(InputError, match="own='nobody' was not judged"):
        wellput.vet(judged, judge=judged[0].judge, own="nobody")


def test_several_columns_of_answers_are_several_questions(tmp_path: Path) -> None:
    file = tmp_path / "sheet.csv"
    file.write_text(
        "Annotator,Question ID,question,Model,Helpfulness,Safe,Comment\n"
        "ann,q1,Why?,gpt,4,yes,good\n"
        "bob,q1,Why?,gpt,,no,\n"
    )
    own = ["judge=Annotator", "item=Question ID", "system=Model", "value=Helpfulness", "value=Safe"]
    expected = [
        Judgment("ann", "q1", "gpt", "Helpfulness", 4.0, {"Comment": "good"}),
        Judgment("ann", "q1", "gpt", "Safe", 1.0, {"Comment": "good"}),
        Judgment("bob", "q1", "gpt", "Safe", 0.0, {"Comment": ""}),
    ]
    assert wellput.read_judgments(file, column=own) == expected
    frame = pd.read_csv(file, dtype=object)
    found = judgments_of_frame(frame, column=own)
    assert [answer.question for answer in found] == ["Helpfulness", "Safe", "Safe"]
    with pytest.raises(InputError, match="no other column can hold the question"):
        wellput.read_judgments(file, column=[*own, "question=question"])
    with pytest.raises(InputError, match="given twice"):
        wellput.read_judgments(file, column=[*own, "value=Safe"])


def test_an_empty_cell_of_a_named_column_is_an_answer_that_was_not_given(tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    file.write_text("who;text;model;rating\nann;1;gpt;4\nann;2;gpt;\nbob;1;gpt; \nbob;2;gpt;3\n")
    own = ["judge=who", "item=text", "system=model", "value=rating"]
    expected = [
        Judgment("ann", "1", "gpt", "rating", 4.0, {}),
        Judgment("bob", "2", "gpt", "rating", 3.0, {}),
    ]
    assert wellput.read_judgments(file, column=own) == expected
    assert judgments_of_frame(pd.read_csv(file, sep=";", na_values=" "), column=own) == expected
    file.write_text("who,item,a,b,winner\nann,1,gpt,ours,b\nann,2,gpt,ours,\n")
    own = ["judge=who", "system_a=a", "system_b=b", "choice=winner"]
    assert [one.item for one in wellput.read_judgments(file, column=own)] == ["1"]


def test_an_export_of_a_spreadsheet_is_guessed_or_the_option_is_named(tmp_path: Path) -> None:
    assert guessed_judgments(["Annotator", "Question ID", "Model", "Helpfulness", "Comment"]) == {
        "Annotator": "judge", "Question ID": "item", "Model": "system", "Helpfulness": "value",
    }  # fmt: skip
    file = tmp_path / "odd.csv"
    file.write_text("a,b,c\n1,2,3\n")
    with pytest.raises(
        InputError, match=r"say which: column=\['judge=NAME', 'item=NAME'\] and so on"
    ):
        wellput.read_judgments(file)
