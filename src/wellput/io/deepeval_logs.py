"""Test runs of DeepEval: JSON with `testCases`, which DeepEval writes into the folder that
`DEEPEVAL_RESULTS_FOLDER` names, and as `.deepeval/.latest_run_full.json`.

The system is the hyperparameter `model`, or the run's identifier, or the file's name; if two runs share
it, the file's name is added. Cases with the same input are one item. The item is the case's name if
names and inputs belong together, else the number of its input. The scores are those of the metrics, and
`pass` (1 or 0). Cases of conversations are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wellput.io.logged_answers import LoggedAnswer, as_number, text_of


def is_deepeval_log(log: Any) -> bool:
    return isinstance(log, dict) and _cases(log) is not None


def deepeval_answers(logs: Mapping[str, Any]) -> Iterator[LoggedAnswer]:
    """The answers in these runs; `logs` has them by file name."""
    run_names = {name: _run_name(log, name) for name, log in logs.items()}
    counts = Counter(run_names.values())
    items = _item_names([case for log in logs.values() for case in _cases(log) or ()])
    for name, log in logs.items():
        is_alone = counts[run_names[name]] == 1
        system = run_names[name] if is_alone else f"{run_names[name]} ({Path(name).stem})"
        for case in _cases(log) or ():
            output = case.get("actualOutput")
            if output is None:
                continue
            expected = case.get("expectedOutput")
            yield LoggedAnswer(
                item=items[text_of(case.get("input"))],
                system=system,
                output=text_of(output),
                source=text_of(case.get("input")),
                references=() if expected in (None, "") else (text_of(expected),),
                scores=dict(_scores(case)),
            )


def _cases(log: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    cases = log.get("testCases")
    is_list = isinstance(cases, list) and all(isinstance(case, dict) for case in cases)
    return cases if is_list else None


def _run_name(log: Mapping[str, Any], file: str) -> str:
    chosen = log.get("hyperparameters")
    model = chosen.get("model") if isinstance(chosen, dict) else None
    named = model if isinstance(model, str) else log.get("identifier")
    return str(named or Path(file).stem)


def _item_names(cases: list[dict[str, Any]]) -> dict[str, str]:
    """The name of the item of each input."""
    names: dict[str, set[str]] = {}
    for case in cases:
        names.setdefault(text_of(case.get("input")), set()).add(str(case.get("name") or ""))
    inputs_of = Counter(name for own in names.values() for name in own)
    if all(len(own) == 1 for own in names.values()) and max(inputs_of.values(), default=1) == 1:
        return {text: next(iter(own)) for text, own in names.items()}
    return {text: str(number) for number, text in enumerate(names, start=1)}


def _scores(case: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    metrics = case.get("metricsData")
    for metric in metrics if isinstance(metrics, list) else ():
        if isinstance(metric, dict) and (score := as_number(metric.get("score"))) is not None:
            yield str(metric.get("name")), score
    if isinstance(case.get("success"), bool):
        yield "pass", float(case["success"])
