"""Results of promptfoo as JSON (`promptfoo eval --output results.json`).

The system is the provider, with the prompt's label if there are several prompts; the item is the test.
References are the values of the assertions that compare with a text. The scores are `score`, `pass`
(1 or 0), and the named scores.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from wellput.io.logged_answers import LoggedAnswer, text_of

COMPARING_ASSERTIONS = ("equals", "similar", "rouge-n", "bleu", "gleu", "meteor", "levenshtein")


def is_promptfoo_log(log: Any) -> bool:
    return isinstance(log, dict) and _promptfoo_rows(log) is not None


def promptfoo_answers(log: Any) -> Iterator[LoggedAnswer]:
    """The answers in a file of results; rows of failed calls, which have no output, are left out."""
    rows = _promptfoo_rows(log) or []
    prompts = {_prompt_label(row) for row in rows}
    for row in rows:
        response, case = row.get("response"), row.get("testCase") or {}
        if not isinstance(response, dict) or response.get("output") is None:
            continue
        variables = row.get("vars") or case.get("vars") or {}
        provider = row.get("provider")
        name = (
            provider.get("label") or provider.get("id") if isinstance(provider, dict) else provider
        )
        yield LoggedAnswer(
            item=_test_name(row, variables),
            system=f"{name} / {_prompt_label(row)}" if len(prompts) > 1 else str(name),
            output=text_of(response["output"]),
            source=json.dumps(variables, ensure_ascii=False) if variables else None,
            references=tuple(_promptfoo_references(case.get("assert"))),
            scores=_promptfoo_scores(row),
        )


def _promptfoo_rows(log: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    results = log.get("results")
    rows = results.get("results") if isinstance(results, dict) else results
    is_list = isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
    return rows if is_list else None


def _test_name(row: Mapping[str, Any], variables: Mapping[str, Any]) -> str:
    """The number of the test from 1; its variables in older files, which have no numbers."""
    if isinstance(row.get("testIdx"), int):
        return str(row["testIdx"] + 1)
    return json.dumps(variables, ensure_ascii=False, sort_keys=True)


def _prompt_label(row: Mapping[str, Any]) -> str:
    prompt = row.get("prompt")
    label = prompt.get("label") if isinstance(prompt, dict) else None
    return str(label or row.get("promptIdx", ""))


def _promptfoo_references(assertions: Any) -> Iterator[str]:
    for assertion in assertions or ():
        if isinstance(assertion, dict) and assertion.get("type") in COMPARING_ASSERTIONS:
            value = assertion.get("value")
            for text in value if isinstance(value, list) else [value]:
                if text is not None:
                    yield text_of(text)


def _promptfoo_scores(row: Mapping[str, Any]) -> dict[str, float]:
    named = row.get("namedScores") or {}
    given = {"score": row.get("score"), "pass": row.get("success"), **named}
    numbers = (bool, int, float)
    return {name: float(value) for name, value in given.items() if isinstance(value, numbers)}
