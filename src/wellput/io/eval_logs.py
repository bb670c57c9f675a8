"""Reads logs of tools that evaluate language models as evaluation sets: a JSON file of inspect_ai,
promptfoo, DeepEval or ragas, or a folder of such files. `ragas_logs` also reads tables of ragas,
`lm_eval_logs` the samples of lm-evaluation-harness.

Each log is turned into `LoggedAnswer`s: those of inspect_ai by `inspect_logs`, those of ragas by
`ragas_logs`, the others here.

Test runs of DeepEval are JSON with `testCases`, which DeepEval writes into the folder that
`DEEPEVAL_RESULTS_FOLDER` names, and as `.deepeval/.latest_run_full.json`. The system is the
hyperparameter `model`, or the run's identifier, or the file's name; if two runs have the same system,
the file's name is added. Cases with the same input and the same expected output are one item. An item's
id is the case's name if each item has one name of its own, otherwise the item's number. The scores are
those of the metrics, and `pass` (1 or 0). Cases of conversations are left out.

Results of promptfoo are JSON (`promptfoo eval --output results.json`). The system is the provider,
with the prompt's label if there are several prompts; the item is the test. With `--repeat`, each repeat
of a test has a number (`testIdx`) of its own: tests with the same variables, assertions and description
are one item, whose id is the lowest number of these tests. References are the values of the assertions
that compare with a text. The scores are `score`, `pass` (1 or 0), and the named scores.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.inspect_logs import inspect_answers, is_inspect_log, read_archive
from wellput.io.locations import is_url, visible_entries
from wellput.io.logged_answers import (
    LoggedAnswer,
    Question,
    as_number,
    evalset_of_answers,
    questions_of,
    text_of,
)
from wellput.io.ragas_logs import is_ragas_table, ragas_answers, ragas_rows, table_rows

COMPARING_ASSERTIONS = ("equals", "similar", "rouge-n", "bleu", "gleu", "meteor", "levenshtein")
"""promptfoo's assertions that compare the output with a text."""
CONVERSATION_VARIABLE = "_conversation"


def is_promptfoo_log(log: Any) -> bool:
    return isinstance(log, dict) and _promptfoo_rows(log) is not None


def promptfoo_answers(log: Any) -> Iterator[LoggedAnswer]:
    """The answers in the JSON of a promptfoo file; rows of failed calls, which have no output, are left
    out."""
    rows = _promptfoo_rows(log) or []
    prompts = {_prompt_label(row) for row in rows}
    items = _items_by_test_number(rows)
    for row in rows:
        response, case = row.get("response"), _test_case(row)
        if not isinstance(response, dict) or response.get("output") is None:
            continue
        variables = row.get("vars") or case.get("vars") or {}
        number = _test_number(row)
        provider = row.get("provider")
        name = (
            provider.get("label") or provider.get("id") if isinstance(provider, dict) else provider
        )
        yield LoggedAnswer(
            item=_sorted_json(variables) if number is None else items[number],
            system=f"{name} / {_prompt_label(row)}" if len(prompts) > 1 else str(name),
            output=text_of(response["output"]),
            source=json.dumps(variables, ensure_ascii=False) if variables else None,
            references=tuple(_promptfoo_references(case.get("assert"))),
            scores=_promptfoo_scores(row),
            question=_promptfoo_question(row),
        )


def _promptfoo_rows(log: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The results in promptfoo's JSON, of older and newer versions; None for other JSON."""
    results = log.get("results")
    rows = results.get("results") if isinstance(results, dict) else results
    is_list = isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
    return rows if is_list else None


def _test_case(row: Mapping[str, Any]) -> Mapping[str, Any]:
    case = row.get("testCase")
    return case if isinstance(case, dict) else {}


def _test_number(row: Mapping[str, Any]) -> int | None:
    """The number of the test, from 0; None in older files."""
    number = row.get("testIdx")
    return number if isinstance(number, int) else None


def _items_by_test_number(rows: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """The id of each numbered test's item: the number of the test, counted from 1. Repeats of a test
    have the lowest of their numbers."""
    rows_by_number: dict[int, Mapping[str, Any]] = {}
    for row in rows:
        if (number := _test_number(row)) is not None:
            rows_by_number.setdefault(number, row)
    lowest_numbers: dict[str, int] = {}
    items: dict[int, str] = {}
    for number in sorted(rows_by_number):
        test = _test_content(rows_by_number[number]) or str(number)
        items[number] = str(lowest_numbers.setdefault(test, number) + 1)
    return items


def _test_content(row: Mapping[str, Any]) -> str | None:
    """What all repeats of a test have in common, as text: the variables, the assertions and the
    description. None if the file does not have the variables."""
    case, variables = _test_case(row), _test_variables(row)
    if variables is None:
        return None
    return _sorted_json([variables, case.get("assert") or [], case.get("description") or ""])


def _test_variables(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """The variables of a test, without promptfoo's own variable of earlier answers; None if there are
    none in the file. To the variables of a row, promptfoo adds answers to other tests
    (`storeOutputAs`), so they are taken only if the test's own are not in the file."""
    own = _test_case(row).get("vars")
    variables = own if isinstance(own, dict) else row.get("vars")
    if not isinstance(variables, dict):
        return None
    return {name: value for name, value in variables.items() if name != CONVERSATION_VARIABLE}


def _promptfoo_question(row: Mapping[str, Any]) -> str | None:
    """The variables of a test as text."""
    asked = _test_variables(row)
    return None if asked is None else _sorted_json(asked)


def _sorted_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _prompt_label(row: Mapping[str, Any]) -> str:
    """The label of the prompt, or its number."""
    prompt = row.get("prompt")
    label = prompt.get("label") if isinstance(prompt, dict) else None
    return str(label or row.get("promptIdx", ""))


def _promptfoo_references(assertions: Any) -> Iterator[str]:
    for assertion in assertions if isinstance(assertions, list) else ():
        if isinstance(assertion, dict) and assertion.get("type") in COMPARING_ASSERTIONS:
            value = assertion.get("value")
            for text in value if isinstance(value, list) else [value]:
                if text is not None:
                    yield text_of(text)


def _promptfoo_scores(row: Mapping[str, Any]) -> dict[str, float]:
    named = row.get("namedScores")
    values = {"score": row.get("score"), "pass": row.get("success")}
    values |= named if isinstance(named, dict) else {}
    numbers = (bool, int, float)
    return {name: float(value) for name, value in values.items() if isinstance(value, numbers)}


def is_deepeval_log(log: Any) -> bool:
    return isinstance(log, dict) and _deepeval_cases(log) is not None


def deepeval_answers(logs: Mapping[str, Any]) -> Iterator[LoggedAnswer]:
    """The answers in these test runs of DeepEval; `logs` has the JSON of each file by the file's
    name."""
    run_names = {name: _run_name(log, name) for name, log in logs.items()}
    counts = Counter(run_names.values())
    cases = [(name, case) for name, log in logs.items() for case in _deepeval_cases(log) or ()]
    questions = questions_of(
        [(text_of(case.get("input")), _expected(case) or "") for _, case in cases]
    )
    items = _item_names(questions, [str(case.get("name") or "") for _, case in cases])
    for (name, case), question in zip(cases, questions, strict=True):
        is_alone = counts[run_names[name]] == 1
        expected = _expected(case)
        if case.get("actualOutput") is not None:
            yield LoggedAnswer(
                item=items[question],
                system=run_names[name] if is_alone else f"{run_names[name]} ({Path(name).stem})",
                output=text_of(case["actualOutput"]),
                source=text_of(case.get("input")),
                references=() if expected is None else (expected,),
                scores=dict(_deepeval_scores(case)),
                log=name,
            )


def _expected(case: Mapping[str, Any]) -> str | None:
    """The expected output of a test case, if it has one."""
    expected = case.get("expectedOutput")
    return None if expected in (None, "") else text_of(expected)


def _deepeval_cases(log: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The test cases in DeepEval's JSON; None for other JSON."""
    cases = log.get("testCases")
    is_list = isinstance(cases, list) and all(isinstance(case, dict) for case in cases)
    return cases if is_list else None


def _run_name(log: Mapping[str, Any], file: str) -> str:
    """The name of the system that a run of DeepEval tested."""
    chosen = log.get("hyperparameters")
    model = chosen.get("model") if isinstance(chosen, dict) else None
    named = model if isinstance(model, str) else log.get("identifier")
    return str(named or Path(file).stem)


def _item_names(questions: Sequence[Question], names: Sequence[str]) -> dict[Question, str]:
    """The id of the item that each question is; `names` are the names of the cases."""
    names_of: dict[Question, set[str]] = {}
    for question, name in zip(questions, names, strict=True):
        names_of.setdefault(question, set()).add(name)
    n_questions = Counter(name for its_names in names_of.values() for name in its_names)
    has_one_name = all(len(its_names) == 1 for its_names in names_of.values())
    if has_one_name and max(n_questions.values(), default=1) == 1:
        return {question: next(iter(its_names)) for question, its_names in names_of.items()}
    return {question: str(number) for number, question in enumerate(names_of, start=1)}


def _deepeval_scores(case: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The score of each metric of a test case, and `pass`."""
    metrics = case.get("metricsData")
    for metric in metrics if isinstance(metrics, list) else ():
        if isinstance(metric, dict) and (score := as_number(metric.get("score"))) is not None:
            yield str(metric.get("name")), score
    if isinstance(case.get("success"), bool):
        yield "pass", float(case["success"])


ARCHIVE_SUFFIX = ".eval"
LOG_SUFFIXES = (".json", ARCHIVE_SUFFIX)


def knows(path: PathLike) -> bool:
    """Whether the path has a name that logs have, or is a folder of such files."""
    location = Path(path)
    if location.is_dir():
        files = visible_entries(location)
        has_log = any(InputFile(file).suffix in LOG_SUFFIXES for file in files)
        # Only the first table is opened, because there may be many.
        return has_log or any(is_ragas_table(file) for file in files[:1])
    return not is_url(str(path)) and _is_log(location)


def _is_log(path: Path) -> bool:
    return InputFile(path).suffix in LOG_SUFFIXES or is_ragas_table(path)


def open_evalset(path: PathLike) -> EvalSet:
    """The items of one log, or of all logs of a folder, with every system's answers."""
    location = Path(path)
    files = visible_entries(location) if location.is_dir() else [location]
    logs = {str(file): _loaded(InputFile(file)) for file in files if _is_log(file)}
    contents = list(logs.values())
    if all(is_inspect_log(log) for log in contents):
        return evalset_of_answers(inspect_answers(logs), str(path))
    if len(logs) == 1 and is_promptfoo_log(contents[0]):
        return evalset_of_answers(promptfoo_answers(contents[0]), str(path))
    if all(is_deepeval_log(log) for log in contents):
        return evalset_of_answers(deepeval_answers(logs), str(path))
    rows = {name: ragas_rows(log) for name, log in logs.items()}
    if all(rows.values()):
        return evalset_of_answers(ragas_answers(rows), str(path))
    raise InputError(
        f"{path} is no log of inspect_ai (an object with eval and samples), promptfoo (an object with "
        "results), DeepEval (an object with testCases) or ragas (rows with user_input and response). "
        "An evaluation set has one item a line and ends in .jsonl."
    )


def _loaded(file: InputFile) -> Any:
    """The JSON of a log, or the rows of a table of ragas."""
    check_readable(file)
    if file.suffix == ARCHIVE_SUFFIX:
        return read_archive(file)
    if file.suffix != ".json":
        return table_rows(file)
    try:
        return json.loads(file.whole())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file.name} is not JSON: {error}") from None
