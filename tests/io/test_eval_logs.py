"""Logs of inspect_ai and promptfoo, in the shapes that their documentation and types give."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

import wellput
from wellput.core.errors import InputError
from wellput.io import open_evalset, read_evalset


def sample(number: int, completion: str, grade: Any, *, epoch: int = 1) -> dict[str, Any]:
    return {
        "id": number,
        "epoch": epoch,
        "input": [{"role": "user", "content": f"question {number}"}],
        "target": ["yes", "yes indeed"],
        "output": {"model": "m", "choices": [], "completion": completion},
        "scores": {"match": {"value": grade, "answer": completion}},
    }


def inspect_log(model: str, samples: list[dict[str, Any]], task: str = "quiz") -> dict[str, Any]:
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": task, "model": model},
        "samples": samples,
    }


def promptfoo_row(test: int, provider: str, output: Any, score: float) -> dict[str, Any]:
    return {
        "testIdx": test,
        "promptIdx": 0,
        "prompt": {"raw": "Say {{word}}", "label": "Say {{word}}"},
        "provider": {"id": provider, "label": ""},
        "response": {"output": output},
        "vars": {"word": f"w{test}"},
        "testCase": {"assert": [{"type": "equals", "value": f"w{test}"}, {"type": "is-json"}]},
        "success": score > 0.5,
        "score": score,
        "namedScores": {"tone": score / 2},
    }


def write(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_a_folder_of_inspect_logs_has_a_system_for_each_model(tmp_path: Path) -> None:
    write(tmp_path / "a.json", inspect_log("good", [sample(1, "yes", "C"), sample(2, "yes", "C")]))
    write(tmp_path / "b.json", inspect_log("bad", [sample(1, "no", "I"), sample(2, "hm", "P")]))
    evalset = read_evalset(tmp_path)
    assert evalset.systems == ("good", "bad")
    first, second = evalset
    assert (first.id, first.references, first.source) == ("1", ("yes", "yes indeed"), "question 1")
    assert first.outputs == {"good": "yes", "bad": "no"}
    assert second.logged == {"good": {"match": 1.0}, "bad": {"match": 0.5}}
    # (0 + ½) / 2
    assert wellput.score(evalset, "logged")["bad", "logged"].score == 0.25


def test_epochs_are_one_item_with_the_mean_of_its_scores(tmp_path: Path) -> None:
    runs = [sample(1, "yes", "C"), sample(1, "no", "I", epoch=2), sample(1, "no", 1, epoch=3)]
    (item,) = read_evalset(write(tmp_path / "log.json", inspect_log("m", runs)))
    assert item.outputs == {"m": "yes"}
    assert item.logged["m"]["match"] == pytest.approx(2 / 3)


def test_tasks_and_repeated_models_are_told_apart(tmp_path: Path) -> None:
    write(tmp_path / "a.json", inspect_log("m", [sample(1, "a", 1)]))
    write(tmp_path / "b.json", inspect_log("m", [sample(1, "b", 1)]))
    write(tmp_path / "c.json", inspect_log("m", [sample(1, "c", 1)], task="other"))
    evalset = read_evalset(tmp_path)
    assert [item.id for item in evalset] == ["quiz/1", "other/1"]
    assert evalset.systems == ("m (a)", "m (b)", "m")


def asked(questions: dict[int, str], answer: str = "yes") -> list[dict[str, Any]]:
    """Samples with these ids and questions; the target of each is its question."""
    return [
        {**sample(number, answer, "C"), "input": question, "target": question}
        for number, question in questions.items()
    ]


def test_an_argument_that_chooses_the_data_tells_items_apart(tmp_path: Path) -> None:
    """`-T subject=…` with ids 1, 2 in each subject; the temperature tells nothing apart."""
    for place, (model, subject, temperature) in enumerate(
        (model, subject, temperature)
        for model, temperature in (("a", 0), ("b", 1))
        for subject in ("bones", "acts")
    ):
        log = inspect_log(model, asked({1: f"{subject} 1", 2: f"{subject} 2"}))
        log["eval"]["task_args"] = {"temperature": temperature, "subject": subject}
        write(tmp_path / f"{place}.json", log)
    evalset = read_evalset(tmp_path)
    assert evalset.systems == ("a", "b")
    assert [item.id for item in evalset] == [
        "subject=bones/1", "subject=bones/2", "subject=acts/1", "subject=acts/2",
    ]  # fmt: skip
    assert all(item.references == (item.source,) for item in evalset)
    assert all(set(item.outputs) == {"a", "b"} for item in evalset)


def test_the_name_of_the_data_tells_items_apart_after_the_task(tmp_path: Path) -> None:
    for model in ("a", "b"):
        log = inspect_log(model, asked({1: f"{model} 1"}))
        log["eval"]["dataset"] = {"name": f"data-{model}"}
        write(tmp_path / f"{model}.json", log)
    assert [item.id for item in read_evalset(tmp_path)] == ["data-a/1", "data-b/1"]
    write(tmp_path / "c.json", inspect_log("a", asked({1: "x"}), task="other"))
    found = [item.id for item in read_evalset(tmp_path)]
    assert found == ["quiz/data-a/1", "quiz/data-b/1", "other/1"]


def test_two_arguments_may_be_needed(tmp_path: Path) -> None:
    parts = [(subject, split) for subject in ("bones", "acts") for split in ("dev", "test")]
    for place, (subject, split) in enumerate(parts):
        log = inspect_log("m", asked({1: f"{subject} of {split}"}))
        log["eval"]["task_args"] = {"subject": subject, "split": split}
        write(tmp_path / f"{place}.json", log)
    evalset = read_evalset(tmp_path)
    assert evalset.systems == ("m",)
    assert [item.id for item in evalset] == [f"subject={a},split={b}/1" for a, b in parts]


@pytest.mark.parametrize("seeds", [(1, 1), (1, 2)])
def test_shuffled_questions_are_not_paired(tmp_path: Path, seeds: tuple[int, int]) -> None:
    """Automatic ids of a shuffled data set; a seed as an argument does not make other questions."""
    texts = ["France?", "Italy?", "Spain?"]
    for model, seed, shuffled in zip("ab", seeds, (texts, texts[::-1]), strict=True):
        log = inspect_log(model, asked(dict(enumerate(shuffled, start=1))))
        log["eval"]["task_args"] = {"seed": seed}
        write(tmp_path / f"{model}.json", log)
    with pytest.raises(InputError) as error:
        read_evalset(tmp_path)
    message = str(error.value)
    assert f"item 1: the question is 'France?' in {tmp_path}/a.json, but 'Spain?' in" in message
    assert "item 2" not in message and "give each question an id of its own" in message


def test_another_target_or_other_choices_are_another_question(tmp_path: Path) -> None:
    first, second = sample(1, "A", "C"), sample(1, "A", "C")
    second["target"] = "no"
    for name, one in (("a", first), ("b", second)):
        write(tmp_path / f"{name}.json", inspect_log(name, [one]))
    with pytest.raises(InputError, match=r"item 1: the target is 'yes / yes indeed' in .*'no' in"):
        read_evalset(tmp_path)
    second["target"] = first["target"]
    first["choices"], second["choices"] = ["Rome", "Paris"], ["Paris", "Rome"]
    for name, one in (("a", first), ("b", second)):
        write(tmp_path / f"{name}.json", inspect_log(name, [one]))
    with pytest.raises(InputError, match=r"item 1: the question is 'question 1 \[\"Rome\""):
        read_evalset(tmp_path)


def test_two_questions_with_one_id_in_a_log_are_refused(tmp_path: Path) -> None:
    log = inspect_log("m", asked({1: "France?"}) + asked({1: "Italy?"}))
    with pytest.raises(InputError, match=r"'France\?' for m, but 'Italy\?' for m"):
        read_evalset(write(tmp_path / "log.json", log))


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("cancelled", "the evaluation was cancelled: 1 of 4 samples"),
        ("error", "the evaluation ended with an error: 1 of 4 samples"),
        ("started", "the evaluation has not ended: 1 of 4 samples"),
    ],
)
def test_a_log_of_an_evaluation_that_did_not_end_is_refused(
    tmp_path: Path, status: str, words: str
) -> None:
    failed = {**sample(2, "", "I"), "error": {"message": "stopped"}}
    log = inspect_log("m", [sample(1, "yes", "C"), failed])
    log["status"] = status
    log["eval"] |= {"dataset": {"sample_ids": [1, 2]}, "config": {"epochs": 2}}
    write(tmp_path / "a.json", log)
    write(tmp_path / "b.json", inspect_log("n", [sample(1, "yes", "C")]))
    for path in (tmp_path, tmp_path / "a.json"):
        with pytest.raises(InputError, match=rf"a\.json: {words}\n.*eval-retry"):
            read_evalset(path)
    del log["samples"]
    archived = write_archive(tmp_path / "a.eval", {"header.json": log}, plain)
    write(tmp_path / "a.json", log)
    for path in (archived, tmp_path / "a.json"):
        with pytest.raises(InputError, match=words.partition(":")[0]):
            read_evalset(path)


def test_hidden_files_of_a_folder_of_logs_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / "a.json", inspect_log("m", [sample(1, "yes", "C")]))
    write(tmp_path / ".a.json", inspect_log("n", [sample(1, "yes", "C")]))
    (tmp_path / "._a.json").write_bytes(b"Mac OS X")
    assert read_evalset(tmp_path).systems == ("m",)


def test_scores_of_several_parts_and_answers_of_several_parts(tmp_path: Path) -> None:
    one = sample(1, "", {"tone": "yes", "length": 3, "note": "fine"})
    message = {"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}]}
    one["output"] = {"choices": [{"message": message}]}
    failed = {"id": 2, "epoch": 1, "input": "x", "target": "", "error": {"message": "timeout"}}
    (item,) = read_evalset(write(tmp_path / "log.json", inspect_log("m", [one, failed])))
    assert item.outputs == {"m": "a\nb"}
    assert item.logged == {"m": {"match.tone": 1.0, "match.length": 3.0}}


def test_promptfoo_results(tmp_path: Path) -> None:
    rows = [
        promptfoo_row(test, provider, output, score)
        for test in (0, 1)
        for provider, output, score in (("p:a", f"w{test}", 1.0), ("p:b", {"x": 1}, 0.25))
    ]
    rows.append({**promptfoo_row(2, "p:a", None, 0), "error": "no answer"})
    log = {"evalId": "eval-1", "results": {"version": 3, "results": rows}, "config": {}}
    evalset = read_evalset(write(tmp_path / "results.json", log))
    assert evalset.systems == ("p:a", "p:b") and len(evalset) == 2
    first = evalset.items[0]
    assert (first.id, first.references) == ("1", ("w0",))
    assert first.outputs == {"p:a": "w0", "p:b": '{"x": 1}'}
    assert first.logged["p:b"] == {"score": 0.25, "pass": 0.0, "tone": 0.125}
    result = wellput.score(evalset, "exact,logged:scorer=pass")
    assert result["p:a", "logged:scorer=pass"].score == 1 == result["p:a", "exact"].score


def test_the_variables_of_a_promptfoo_test_are_its_question(tmp_path: Path) -> None:
    rows = [promptfoo_row(0, "p:a", "x", 1.0), promptfoo_row(0, "p:b", "y", 1.0)]
    for row, said in zip(rows, ([], ["x"]), strict=True):
        row["vars"] = {"word": "w0", "_conversation": said}
    path = write(tmp_path / "results.json", {"results": {"results": rows}})
    assert read_evalset(path).systems == ("p:a", "p:b")
    rows[1]["vars"] = {"word": "w7"}
    write(path, {"results": {"results": rows}})
    with pytest.raises(InputError, match=r"item 1: .*\"w0\".* for p:a, but .*\"w7\".* for p:b"):
        read_evalset(path)


def test_prompts_make_systems_of_their_own(tmp_path: Path) -> None:
    rows = [
        {**promptfoo_row(0, "p", "x", 1), "promptIdx": n, "prompt": {"label": label}}
        for n, label in enumerate(("short", "long"))
    ]
    path = write(tmp_path / "results.json", {"results": {"results": rows}})
    assert read_evalset(path).systems == ("p / short", "p / long")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "is not JSON"),
        ('{"items": []}', "is no log of inspect_ai"),
        ('{"eval": {}, "samples": [1]}', "is no log"),
        ('{"eval": {}, "samples": []}', "holds no samples"),
        ('{"eval": {}, "samples": null}', "holds no samples"),
    ],
)
def test_what_is_not_a_log_is_refused(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "log.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=complaint):
        open_evalset(path)


def write_archive(path: Path, members: dict[str, object], pack: Callable[[bytes], bytes]) -> Path:
    """Writes an archive like inspect_ai: methods 0 and 8 by `zipfile`, 93 (Zstandard) by hand, because
    Python has it only from 3.14 on."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in members.items():
            archive.writestr(name, pack(json.dumps(value).encode()))
    if pack(b"") != b"":
        content = bytearray(path.read_bytes())
        for signature, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
            at = content.find(signature)
            while at >= 0:
                content[at + place] = 93
                at = content.find(signature, at + 4)
        path.write_bytes(content)
    return path


def members_of(log: dict[str, Any]) -> dict[str, object]:
    header = {key: value for key, value in log.items() if key != "samples"}
    names = (f"samples/{s['id']}_epoch_{s['epoch']}.json" for s in log["samples"])
    return {
        "_journal/start.json": {},
        **dict(zip(names, log["samples"], strict=True)),
        "header.json": header,
    }


def plain(content: bytes) -> bytes:
    return content


def in_two_frames(content: bytes) -> bytes:
    pack = zstandard.ZstdCompressor().compress
    return pack(content[:5]) + pack(content[5:])


@pytest.mark.parametrize("pack", [plain, in_two_frames])
def test_binary_logs_of_inspect_are_read_like_json(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    log = inspect_log("good", [sample(1, "yes", "C"), sample(2, "no", "I")])
    expected = read_evalset(write(tmp_path / "log.json", log))
    found = read_evalset(write_archive(tmp_path / "log.eval", members_of(log), pack))
    assert found.items == expected.items


def test_a_sample_in_several_files_is_read_from_sample_json(tmp_path: Path) -> None:
    members = members_of(inspect_log("good", [sample(1, "yes", "C")]))
    shell = {
        "samples/2_epoch_1/sample.json": sample(2, "no", "I"),
        "samples/2_epoch_1/events/0.json": [],
    }
    evalset = read_evalset(write_archive(tmp_path / "log.eval", {**members, **shell}, plain))
    assert [item.id for item in evalset] == ["1", "2"]


def test_damaged_and_unfinished_binary_logs_are_refused(tmp_path: Path) -> None:
    members = members_of(inspect_log("good", [sample(1, "yes", "C")]))
    damaged = write_archive(tmp_path / "damaged.eval", members, lambda content: b"no zstd")
    del members["header.json"]
    unfinished = write_archive(tmp_path / "unfinished.eval", members, plain)
    (tmp_path / "no.eval").write_bytes(b"PK")
    for path, words in (
        (damaged, "damaged"), (unfinished, "did not end"), (tmp_path / "no.eval", "damaged"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=words):
            open_evalset(path)


def test_without_zstandard_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = inspect_log("good", [sample(1, "yes", "C")])
    path = write_archive(tmp_path / "log.eval", members_of(log), in_two_frames)
    monkeypatch.setitem(sys.modules, "compression", None)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(InputError, match=r"wellput\[logs\]"):
        open_evalset(path)


def test_a_sample_that_ended_with_an_error_is_no_answer(tmp_path: Path) -> None:
    failed = {**sample(2, "", "I"), "error": {"message": "no connection"}}
    log = inspect_log("good", [sample(1, "", "I"), failed])
    assert [item.id for item in read_evalset(write(tmp_path / "log.json", log))] == ["1"]


def test_the_score_must_be_named_if_there_are_several(tmp_path: Path) -> None:
    rows = [promptfoo_row(0, "p", "x", 1)]
    evalset = read_evalset(write(tmp_path / "r.json", {"results": {"results": rows}}))
    with pytest.raises(InputError, match="several scores: score, pass, tone"):
        wellput.score(evalset, "logged")
    with pytest.raises(InputError, match="Did you mean tone"):
        wellput.score(evalset, "logged:scorer=tonne")
    with pytest.raises(InputError, match="needs a score in a log"):
        wellput.score(wellput.EvalSet.of({"A": ["a"]}, ["a"]), "logged")
