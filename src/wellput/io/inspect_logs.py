"""Logs of inspect_ai: one log a task and model, with `eval` about the run and its `samples`.

The system is the model, or the file where two logs are of one model and task; the item is the sample's
id, with the task before it where there are several tasks. Letter grades count as inspect_ai counts
them: C 1, P ½, I and N 0. Samples that ended with an error and have no completion are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wellput.io.logged_answers import LoggedAnswer, text_of

GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def is_inspect_log(log: Any) -> bool:
    if not isinstance(log, dict) or not isinstance(log.get("eval"), dict) or "samples" not in log:
        return False
    return all(isinstance(sample, dict) for sample in log["samples"] or ())


def inspect_answers(logs: Mapping[str, Any]) -> Iterator[LoggedAnswer]:
    """The answers in these logs, by file name."""
    tasks = {name: str(log["eval"].get("task", "")) for name, log in logs.items()}
    models = {
        name: str(log["eval"].get("model", "")) or Path(name).stem for name, log in logs.items()
    }
    pairs = [(tasks[name], models[name]) for name in logs]
    for name, log in logs.items():
        is_alone = pairs.count((tasks[name], models[name])) == 1
        system = models[name] if is_alone else f"{models[name]} ({Path(name).stem})"
        prefix = f"{tasks[name]}/" if len(set(tasks.values())) > 1 else ""
        for sample in log["samples"] or ():
            output = _completion(sample.get("output"))
            if output or (output is not None and not sample.get("error")):
                yield LoggedAnswer(
                    item=f"{prefix}{sample.get('id')}",
                    system=system,
                    output=output,
                    source=_input(sample.get("input")),
                    references=_targets(sample.get("target")),
                    scores=dict(_scores(sample.get("scores"))),
                )


def _completion(output: Any) -> str | None:
    """The answer: `completion`, or what the first choice's message says."""
    if not isinstance(output, dict):
        return None
    if isinstance(output.get("completion"), str):
        return str(output["completion"])
    choices = output.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    message = choices[0].get("message")
    return _content(message.get("content")) if isinstance(message, dict) else None


def _content(content: Any) -> str:
    """The text of a message, whose content is a text or a list of parts."""
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict))
        return "\n".join(str(text) for text in texts if text is not None)
    return "" if content is None else str(content)


def _input(given: Any) -> str | None:
    """A sample's input: a text, or the messages of a chat."""
    if isinstance(given, list):
        return "\n".join(_content(m.get("content")) for m in given if isinstance(m, dict))
    return None if given is None else text_of(given)


def _targets(target: Any) -> tuple[str, ...]:
    if isinstance(target, list):
        return tuple(text_of(text) for text in target if text != "")
    return () if target in (None, "") else (text_of(target),)


def _scores(scores: Any) -> Iterator[tuple[str, float]]:
    """Every score that is a number or stands for one; those of a dictionary as SCORER.KEY."""
    for name, score in scores.items() if isinstance(scores, dict) else ():
        value = score.get("value") if isinstance(score, dict) else score
        parts = value.items() if isinstance(value, dict) else [("", value)]
        for key, part in parts:
            number = as_number(part)
            if number is not None:
                yield (f"{name}.{key}" if key else name), number


def as_number(value: Any) -> float | None:
    """
    >>> as_number("C"), as_number(True), as_number("No"), as_number("0.25"), as_number("hm")
    (1.0, 1.0, 0.0, 0.25, None)
    """
    if isinstance(value, bool | int | float):
        return float(value)
    if not isinstance(value, str):
        return None
    known = GRADES.get(value, WORDS.get(value.lower()))
    if known is not None:
        return known
    try:
        return float(value)
    except ValueError:
        return None
