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


def scored_texts(number: int, target: str, requests: list[tuple[str, ...]]) -> dict[str, Any]:
    """A sample of a task in which the model generates nothing."""
    arguments = {
        f"gen_args_{place}": {f"arg_{n}": text for n, text in enumerate(request)}
        for place, request in enumerate(requests)
    }
    likelihoods = [[str(-3.0 * place - 1), "False"] for place in range(len(requests))]
    return {
        "doc_id": number,
        "doc": {"id": f"d{number}"},
        "target": target,
        "arguments": arguments,
        "resps": [[likelihood] for likelihood in likelihoods],
        "filtered_resps": likelihoods,
        "filter": "none",
        "metrics": ["acc"],
        "acc": 0.0,
    }


@pytest.mark.parametrize(
    "requests",
    [
        [("Sarah was", " happy"), ("Maria was", " happy")],  # winogrande
        [("Sarah was", " happy"), ("Maria was", " happy"), ("", " Sarah was"), ("", " Maria was")],
        [("Sarah was", " happy")],  # lambada
    ],
)
def test_a_given_text_is_no_output(tmp_path: Path, requests: list[tuple[str, ...]]) -> None:
    row = scored_texts(0, " happy", requests)
    (item,) = read_evalset(write_samples(tmp_path / "m" / "samples_t.jsonl", [row]))
    assert item.outputs == {"m": ""} and not item.references
    assert item.logged == {"m": {"acc": 0.0}}
    with pytest.raises(InputError, match="exact needs a reference"):
        wellput.score(tmp_path / "m", "exact")


def test_choices_without_a_prompt_for_mutual_information_are_no_further_choices(
    tmp_path: Path,
) -> None:
    texts = [" Rome", " Paris"]
    row = scored_texts(0, "1", [*(("France?", text) for text in texts), *(("", t) for t in texts)])
    row["resps"] = [[[str(value), "False"]] for value in (-2.0, -1.0, -0.5, -0.75)]
    (item,) = read_evalset(write_samples(tmp_path / "m" / "samples_t.jsonl", [row]))
    assert item.outputs == {"m": "Paris"} and item.references == ("Paris",)


def test_documents_of_the_harness_are_compared(tmp_path: Path) -> None:
    """Other prompts for the same document, as with a chat template, and an image's address."""
    for model, prompt, address in (
        ("a", "Question 0?", "7f01"),
        ("b", "<user>Question 0?", "7f02"),
    ):
        row = generated(0, "Paris", "none", 1.0)
        row["arguments"]["gen_args_0"]["arg_0"] = prompt
        row["doc"]["image"] = f"<PIL.JpegImageFile image mode=RGB size=2x2 at 0x{address}>"
        write_samples(tmp_path / model / f"samples_capitals_{DATE}.jsonl", [row])
    (item,) = read_evalset(tmp_path)
    assert set(item.outputs) == {"a", "b"}
    row["doc"]["q"] = "Question 9?"
    write_samples(tmp_path / "b" / f"samples_capitals_{DATE}.jsonl", [row])
    with pytest.raises(InputError, match=r"item 0: .*Question 0.* in .*a.samples.*Question 9"):
        read_evalset(tmp_path)
    # Other keys of the document, as of another version of the harness, but the same prompt and target.
    row["arguments"]["gen_args_0"]["arg_0"] = "Question 0?"
    write_samples(tmp_path / "b" / f"samples_capitals_{DATE}.jsonl", [row])
    assert len(read_evalset(tmp_path)) == 1


def test_documents_without_a_prompt_are_compared_by_their_content(tmp_path: Path) -> None:
    for model, number in (("a", 0), ("b", 1)):
        row = {**scored_texts(number, "0", [("", "He sees."), ("", "He see.")]), "doc_id": 0}
        write_samples(tmp_path / model / f"samples_blimp_{DATE}.jsonl", [row])
    with pytest.raises(InputError, match=r"item 0: the question is .*d0.*d1"):
        read_evalset(tmp_path)


def test_a_hidden_folder_is_no_model_but_the_folder_of_a_path_is(tmp_path: Path) -> None:
    for name in ("__data__models__x", ".ipynb_checkpoints"):
        path = tmp_path / name / f"samples_capitals_{DATE}.jsonl"
        write_samples(path, [generated(0, "Paris", "none", 1.0)])
    assert read_evalset(tmp_path).systems == ("__data__models__x",)


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
    assert item.outputs == {"m": ""} and not item.references
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


def test_cases_of_deepeval_with_another_expected_output_are_other_items(tmp_path: Path) -> None:
    run = deepeval_run(["Paris", "Rome", "Rome"])
    for case, expected in zip(run["testCases"], ("Paris", "Rome", ""), strict=True):
        case |= {"input": "Capital?", "expectedOutput": expected}
    path = tmp_path / "run.json"
    path.write_text(json.dumps(run), encoding="utf-8")
    found = read_evalset(path)
    # The case without an expected output may be either question, so it is an item of its own.
    assert [item.references for item in found] == [("Paris",), ("Rome",), ()]
    run["testCases"][1]["expectedOutput"] = ""
    path.write_text(json.dumps(run), encoding="utf-8")
    (item,) = read_evalset(path)
    assert item.references == ("Paris",) and item.outputs == {"run": "Paris"}


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


def test_ids_of_ragas_that_are_other_questions_are_refused(tmp_path: Path) -> None:
    rows = [{**row, "id": str(place)} for place, row in enumerate(RAGAS_ROWS, start=1)]
    turned = [{**row, "id": str(place)} for place, row in enumerate(RAGAS_ROWS[::-1], start=1)]
    write_samples(tmp_path / "a.jsonl", rows)
    # The same questions under other ids are found by their text.
    write_samples(tmp_path / "b.jsonl", turned)
    found = read_evalset(tmp_path)
    assert [(item.id, item.references) for item in found] == [("1", ("Paris",)), ("2", ("Rome",))]
    assert found.items[0].outputs == {"a": "Paris", "b": "Paris"}
    write_samples(tmp_path / "b.jsonl", [{**row, "user_input": "Spain?"} for row in turned[:1]])
    with pytest.raises(InputError, match=r"item 1: .*'Capital of France\?' in .*'Spain\?' in"):
        read_evalset(tmp_path)


def test_rows_of_ragas_with_another_reference_or_conversation_are_other_items(
    tmp_path: Path,
) -> None:
    first, second = RAGAS_ROWS
    second = {**second, "user_input": first["user_input"]}
    path = tmp_path / "r.json"
    path.write_text(json.dumps([first, second]), encoding="utf-8")
    assert [item.references for item in read_evalset(path)] == [("Paris",), ("Rome",)]
    talks = [[{"content": said}, {"content": "And there?"}] for said in ("France", "Italy")]
    rows = [{**first, "user_input": talk} for talk in talks]
    path.write_text(json.dumps(rows), encoding="utf-8")
    found = read_evalset(path)
    assert [(item.id, item.source) for item in found] == [("1", "And there?"), ("2", "And there?")]


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


def test_prompts_of_openai_evals_may_have_more_around_the_question(tmp_path: Path) -> None:
    _openai_log(tmp_path / "a.jsonl", "gpt-4", [True])
    _openai_log(tmp_path / "b.jsonl", "cot/gpt-4", [True])
    log = (tmp_path / "b.jsonl").read_text()
    (tmp_path / "b.jsonl").write_text(log.replace("Once 0", "Think first. Once 0"))
    assert [*next(iter(read_evalset(tmp_path))).outputs] == ["gpt-4", "cot/gpt-4"]
    for said, what in (("Never", "question"), ("Once 0", "target")):
        expected = "sun" if what == "target" else "time"
        changed = log.replace("Once 0", said).replace(
            '"expected": "time"', f'"expected": "{expected}"'
        )
        (tmp_path / "b.jsonl").write_text(changed)
        with pytest.raises(InputError, match=rf"item t\.s1\.0: the {what} is"):
            read_evalset(tmp_path)
