"""Logs of lm-evaluation-harness 0.4.13, DeepEval 4.3.1 and ragas 0.4.3. The records have the form that
these programs wrote for two questions: `lm_eval run --model dummy --log_samples --output_path out` with
two tasks of a YAML file each, `deepeval.evaluate(cases, metrics, hyperparameters={"model": "gpt-x"})`
with DEEPEVAL_RESULTS_FOLDER set, and `ragas.evaluate(dataset, [ExactMatch()]).to_pandas()`; keys that
are not read are left out, and answers and scores are filled in.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

import wellput
from wellput import InputError
from wellput.io import open_evalset, read_evalset

DATE = "2026-11-16T15-22-53.045590"


def generated(number: int, text: str, filter_name: str, score: float) -> dict[str, Any]:
    options = {"temperature": 0.0, "until": ["\n\n"]}
    return {
        "doc_id": number,
        "doc": {"q": f"Question {number}?", "gold": 1},
        "target": "Paris",
        "arguments": {"gen_args_0": {"arg_0": f"Question {number}?", "arg_1": options}},
        "resps": [[text]],
        "filtered_resps": [text],
        "filter": filter_name,
        "metrics": ["exact_match"],
        "doc_hash": "fd97",
        "exact_match": score,
        "bleu": ["Paris", text],
    }


def chosen(number: int, likelihoods: tuple[str, str], accuracy: float) -> dict[str, Any]:
    return {
        "doc_id": number,
        "target": "1",
        "arguments": {
            "gen_args_0": {"arg_0": "Capital of France?", "arg_1": " Rome"},
            "gen_args_1": {"arg_0": "Capital of France?", "arg_1": " Paris"},
        },
        "resps": [[[value, "False"]] for value in likelihoods],
        "filtered_resps": [[value, "False"] for value in likelihoods],
        "filter": "none",
        "metrics": ["acc"],
        "acc": accuracy,
    }


def write_samples(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_models_of_a_folder_of_samples(tmp_path: Path) -> None:
    for model, answers in {"org__a": ["Paris", "So Paris"], "org__b": ["Rome", "Rome"]}.items():
        rows = [
            generated(number, answer, name, float(name in answer or answer == "Paris"))
            for name in ("strict", "Paris")
            for number, answer in enumerate(answers)
        ]
        write_samples(tmp_path / model / f"samples_capitals_{DATE}.jsonl", rows)
        (tmp_path / model / f"results_{DATE}.json").write_text("{}", encoding="utf-8")
    found = read_evalset(tmp_path)
    assert [item.id for item in found] == ["0", "1"]
    assert found.items[1].outputs == {"org__a": "So Paris", "org__b": "Rome"}
    assert found.items[0].references == ("Paris",)
    assert found.items[0].source == "Question 0?"
    assert found.items[1].logged["org__a"] == {"exact_match.strict": 0.0, "exact_match.Paris": 1.0}
    scores = wellput.score(tmp_path, "logged:scorer=all,exact")
    assert scores["org__a", "logged:scorer=exact_match.Paris"].score == 1.0
    assert scores["org__a", "exact"].score == 0.5
    assert read_evalset(tmp_path / "org__a").systems == ("org__a",)


def test_choices_have_the_likeliest_text_and_several_tasks_name_their_items(tmp_path: Path) -> None:
    model = tmp_path / "m"
    write_samples(
        model / f"samples_choices_{DATE}.jsonl",
        [chosen(0, ("-0.5", "-0.1"), 1.0), chosen(1, ("-0.5", "-0.7"), 0.0)],
    )
    write_samples(model / f"samples_capitals_2_{DATE}.jsonl", [generated(0, "Paris", "none", 1.0)])
    found = {item.id: item for item in read_evalset(model)}
    assert found.keys() == {"capitals_2/0", "choices/0", "choices/1"}
    assert found["choices/0"].outputs == {"m": "Paris"}
    assert found["choices/1"].outputs == {"m": "Rome"}
    assert found["choices/1"].references == ("Paris",)
    assert found["choices/1"].logged == {"m": {"acc": 0.0}}
    assert found["capitals_2/0"].logged == {"m": {"exact_match": 1.0}}


def test_two_runs_of_a_task_are_two_systems_and_one_file_is_an_evalset(tmp_path: Path) -> None:
    other = "2026-11-17T01-02-03.000001"
    for date in (DATE, other):
        path = tmp_path / "m" / f"samples_capitals_{date}.jsonl"
        write_samples(path, [generated(0, "Paris", "none", 1.0)])
    assert read_evalset(tmp_path).systems == (f"m ({DATE})", f"m ({other})")
    assert read_evalset(path).systems == ("m",)


def test_a_likelihood_of_a_whole_text_has_no_output(tmp_path: Path) -> None:
    row = {
        "doc_id": 0,
        "target": "a text",
        "arguments": {"gen_args_0": {"arg_0": "a text"}},
        "resps": [["-12.5"]],
        "word_perplexity": [-12.5, 2],
        "bits_per_byte": 1.5,
    }
    (item,) = read_evalset(write_samples(tmp_path / "m" / "samples_wiki.jsonl", [row]))
    assert item.outputs == {"m": ""}
    assert item.logged == {"m": {"bits_per_byte": 1.5}}


def test_other_files_named_samples(tmp_path: Path) -> None:
    path = tmp_path / "samples_own.jsonl"
    path.write_text('{"id": "1", "outputs": {"A": "a"}}\n', encoding="utf-8")
    assert read_evalset(path).systems == ("A",)
    bad = write_samples(tmp_path / "samples_x.jsonl", [generated(0, "a", "none", 1.0), {"a": 1}])
    with pytest.raises(InputError, match="line 2: not a sample with doc_id and resps"):
        open_evalset(bad)


def deepeval_run(outputs: list[str], **more: Any) -> dict[str, Any]:
    cases = [
        {
            "name": f"test_case_{number}",
            "input": f"Question {number}?",
            "actualOutput": output,
            "expectedOutput": "Paris",
            "success": output == "Paris",
            "metricsData": [
                {"name": "Exact", "threshold": 0.5, "score": float(output == "Paris")},
                {"name": "Correctness [GEval]", "score": 0.25 + number / 2},
                {"name": "Bias", "score": None, "error": "no key"},
            ],
            "order": number,
        }
        for number, output in enumerate(outputs)
    ]
    return {"testCases": cases, "conversationalTestCases": [], "metricsScores": [], **more}


def test_runs_of_deepeval(tmp_path: Path) -> None:
    first = deepeval_run(["Paris", "Rome"], hyperparameters={"model": "gpt-x"})
    second = deepeval_run(["Rome", "Rome"], identifier="night run")
    for name, run in (("a", first), ("b", second)):
        (tmp_path / f"{name}.json").write_text(json.dumps(run), encoding="utf-8")
    found = read_evalset(tmp_path)
    assert found.systems == ("gpt-x", "night run")
    assert [item.id for item in found] == ["test_case_0", "test_case_1"]
    assert found.items[1].source == "Question 1?"
    assert found.items[1].references == ("Paris",)
    expected = {"Exact": 0.0, "Correctness [GEval]": 0.75, "pass": 0.0}
    assert found.items[1].logged["gpt-x"] == expected
    scores = wellput.score(tmp_path, "logged:scorer=Correctness [GEval],logged:scorer=E*")
    assert scores["gpt-x", "logged:scorer=Correctness [GEval]"].score == 0.5
    assert scores["gpt-x", "logged:scorer=Exact"].score == 0.5


def test_cases_of_deepeval_that_share_a_name_are_told_apart_by_their_input(tmp_path: Path) -> None:
    run = deepeval_run(["Paris", "Rome"])
    for case in run["testCases"]:
        case["name"] = "test_answer"
    path = tmp_path / "run.json"
    path.write_text(json.dumps(run), encoding="utf-8")
    found = read_evalset(path)
    assert [item.id for item in found] == ["1", "2"]
    assert found.systems == ("run",)


RAGAS_ROWS: list[dict[str, Any]] = [
    {
        "user_input": "Capital of France?",
        "retrieved_contexts": ["Paris is the capital.", "France"],
        "response": "Paris",
        "reference": "Paris",
        "exact_match": 1.0,
        "faithfulness": 0.5,
    },
    {
        "user_input": "Capital of Italy?",
        "retrieved_contexts": ["Rome"],
        "response": "Milan",
        "reference": "Rome",
        "exact_match": 0.0,
        "faithfulness": None,
    },
]
RAGAS_CSV = """\
user_input,retrieved_contexts,response,reference,exact_match,faithfulness
Capital of France?,"['Paris is the capital.', 'France']",Paris,Paris,1.0,0.5
Capital of Italy?,['Rome'],Milan,Rome,0.0,
"""


def write_ragas(path: Path) -> Path:
    if path.suffix == ".csv":
        path.write_text(RAGAS_CSV, encoding="utf-8")
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(RAGAS_ROWS), path)
    elif path.suffix == ".jsonl":
        write_samples(path, RAGAS_ROWS)
    elif path.stem == "columns":
        columns = {
            name: {str(place): row[name] for place, row in enumerate(RAGAS_ROWS)}
            for name in RAGAS_ROWS[0]
        }
        path.write_text(json.dumps(columns), encoding="utf-8")
    else:
        path.write_text(json.dumps(RAGAS_ROWS), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["r.csv", "r.jsonl", "r.parquet", "r.json", "columns.json"])
def test_results_of_ragas(tmp_path: Path, name: str) -> None:
    found = read_evalset(write_ragas(tmp_path / name))
    system = name.partition(".")[0]
    assert found.systems == (system,)
    assert [item.id for item in found] == ["1", "2"]
    assert found.items[0].source == "Capital of France?"
    assert found.items[1].outputs == {system: "Milan"}
    assert found.items[1].references == ("Rome",)
    assert found.items[0].logged == {system: {"exact_match": 1.0, "faithfulness": 0.5}}
    assert found.items[1].logged == {system: {"exact_match": 0.0}}


def test_a_folder_of_ragas_results_has_a_system_for_each_file(tmp_path: Path) -> None:
    for name in ("gpt.csv", "llama.csv"):
        write_ragas(tmp_path / name)
    scores = wellput.score(tmp_path, "logged:scorer=exact_match", baseline="gpt")
    assert scores.systems == ("gpt", "llama")
    assert scores["llama", "logged:scorer=exact_match"].score == 0.5


def test_a_json_file_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('[{"user_input": "a"}]', encoding="utf-8")
    with pytest.raises(InputError, match=r"is no log of inspect_ai .* DeepEval .* or ragas"):
        open_evalset(path)


def _openai_log(path: Path, model: str, right: list[bool]) -> None:
    lines: list[object] = [{"spec": {"completion_fns": [model], "eval_name": "t.s1.v0"}}]
    for n, is_right in enumerate(right):
        said = "time" if is_right else "moon"
        prompt = [{"role": "system", "content": "Go on."}, {"role": "user", "content": f"Once {n}"}]
        events: list[tuple[str, object]] = [
            ("sampling", {"prompt": prompt, "sampled": [said]}),
            ("sampling", {"prompt": "Grade it.", "sampled": ["B"]}),
            ("match", {"correct": is_right, "expected": "time", "picked": None, "sampled": said}),
            ("metrics", {"f1": 0.25, "choice": "B"}),
        ]
        lines += [{"sample_id": f"t.s1.{n}", "type": kind, "data": data} for kind, data in events]
    lines.append({"final_report": {"accuracy": 0.5}})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_logs_of_openai_evals(tmp_path: Path) -> None:
    _openai_log(tmp_path / "a.jsonl", "gpt-4", [True, True, False])
    _openai_log(tmp_path / "b.jsonl", "gpt-3.5", [True, False, False])
    evalset = read_evalset(tmp_path)
    assert [item.id for item in evalset] == ["t.s1.0", "t.s1.1", "t.s1.2"]
    second = list(evalset)[1]
    assert (second.source, second.references) == ("Once 1", ("time",))
    assert second.outputs == {"gpt-4": "time", "gpt-3.5": "moon"}
    assert second.logged["gpt-3.5"] == {"match": 0.0, "f1": 0.25}
    result = wellput.score(tmp_path, "logged:scorer=match")
    assert result["gpt-4", "logged:scorer=match"].score == pytest.approx(2 / 3)
    assert [*next(iter(read_evalset(tmp_path / "a.jsonl"))).outputs] == ["gpt-4"]
    _openai_log(tmp_path / "b.jsonl", "gpt-4", [True])
    assert [*next(iter(read_evalset(tmp_path))).outputs] == ["gpt-4, a", "gpt-4, b"]
