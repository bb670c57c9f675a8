"""Writes judgments as tasks with annotations that Label Studio imports, and the labeling interface
(XML) that its project needs.

An annotation has the controls `severity` (marked errors), `kind` (their categories), `missing` (what
the text leaves out, a line for each), one number for each question, `comment`, and `judge`: Label
Studio takes annotations of its own users only, so the judge's name is an answer, too. In a pair, `left`
is the text shown first. Offsets count code points, as in Label Studio since 1.5.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from wellput.core.evalset import Item
from wellput.core.judgment import Judgment, Preference
from wellput.io.exported_spans import by_id, is_missing, spans_of
from wellput.io.files import PathLike
from wellput.io.label_studio import (
    COMMENT_CONTROL,
    JUDGE_CONTROL,
    KIND_CONTROL,
    MISSING_CONTROL,
    SEVERITY_CONTROL,
    missing_line,
)
from wellput.io.output import replacing_text

SIDE_OF_CHOICE = {"a": "left", "b": "right"}


def write_label_studio(
    answers: Sequence[Judgment] | Sequence[Preference], items: Sequence[Item], path: PathLike
) -> None:
    """A task for each judged output or pair, with one annotation for each judge."""
    known = by_id(items)
    tasks: dict[tuple[str, ...], dict[str, list[Judgment | Preference]]] = {}
    for answer in answers:
        judges = tasks.setdefault((answer.item, *_systems(answer)), {})
        judges.setdefault(answer.judge, []).append(answer)
    records = [
        {
            "data": _data(known[item], systems),
            "annotations": [
                {"result": list(_results(judge, own)), **_lead_time(own[0])}
                for judge, own in judges.items()
            ],
        }
        for (item, *systems), judges in tasks.items()
    ]
    with replacing_text(path) as file:
        json.dump(records, file, ensure_ascii=False, indent=1)
        file.write("\n")


def write_config(answers: Sequence[Judgment] | Sequence[Preference], path: PathLike) -> None:
    """The labeling interface of a project for these tasks."""
    with replacing_text(path) as file:
        file.write("\n".join(["<View>", *_controls(answers), "</View>"]) + "\n")


def _controls(answers: Sequence[Judgment] | Sequence[Preference]) -> Iterator[str]:
    questions = dict.fromkeys(answer.question for answer in answers)
    if isinstance(answers[0], Preference):
        for side in ("a", "b"):
            yield f'  <Text name="text_{side}" value="$text_{side}"/>'
        for question in questions:
            yield f'  <Pairwise name={quoteattr(question)} toName="text_a,text_b"/>'
        to = "text_a"
    else:
        yield '  <Text name="source" value="$source"/>'
        yield '  <Text name="text" value="$text"/>'
        to = "text"
        spans = [span for answer in answers for span in _marks(answer)]
        if any(spans_of(answer) is not None for answer in answers if isinstance(answer, Judgment)):
            yield f'  <Labels name="{SEVERITY_CONTROL}" toName="text">'
            for severity in dict.fromkeys(span["severity"] for span in spans):
                yield f"    <Label value={quoteattr(severity)}/>"
            yield "  </Labels>"
            yield from _taxonomy({span.get("category") or "" for span in spans})
            yield f'  <TextArea name="{MISSING_CONTROL}" toName="text"/>'
        for question in questions:
            yield f'  <Number name={quoteattr(question)} toName="text"/>'
    for control in (COMMENT_CONTROL, JUDGE_CONTROL):
        yield f'  <TextArea name="{control}" toName="{to}"/>'


def _taxonomy(paths: Iterable[str]) -> Iterator[str]:
    tree: dict[str, Any] = {}
    for path in sorted(filter(None, paths)):
        below = tree
        for name in path.split("/"):
            below = below.setdefault(name, {})
    if tree:
        yield f'  <Taxonomy name="{KIND_CONTROL}" toName="text" perRegion="true">'
        yield from _choices(tree, "    ")
        yield "  </Taxonomy>"


def _choices(tree: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, below in tree.items():
        yield f"{indent}<Choice value={quoteattr(name)}>"
        yield from _choices(below, f"{indent}  ")
        yield f"{indent}</Choice>"


def _systems(answer: Judgment | Preference) -> tuple[str, ...]:
    if isinstance(answer, Judgment):
        return (answer.system,)
    return answer.system_a, answer.system_b


def _data(item: Item, systems: Sequence[str]) -> dict[str, Any]:
    shared = {"item": item.id, "source": item.source or "", "document": item.document or ""}
    if len(systems) == 1:
        return {**shared, "system": systems[0], "text": str(item.outputs[systems[0]])}
    first, second = systems
    return {
        **shared,
        "system_a": first,
        "system_b": second,
        "text_a": str(item.outputs[first]),
        "text_b": str(item.outputs[second]),
    }


def _results(judge: str, answers: Sequence[Judgment | Preference]) -> Iterator[dict[str, Any]]:
    """All answers of a judge about one task. Several questions share the marks and the comment."""
    is_pair = isinstance(answers[0], Preference)
    to = "text_a" if is_pair else "text"
    spans = _marks(answers[0])
    for number, span in enumerate(span for span in spans if not is_missing(span)):
        place = {"start": span["start"], "end": span["end"], "text": span["text"]}
        region = {"id": f"mark{number + 1}", "to_name": "text"}
        labels = {**place, "labels": [span["severity"]]}
        yield {**region, "from_name": SEVERITY_CONTROL, "type": "labels", "value": labels}
        if span.get("category"):
            kind = {**place, "taxonomy": [span["category"].split("/")]}
            yield {**region, "from_name": KIND_CONTROL, "type": "taxonomy", "value": kind}
    if lines := [missing_line(span) for span in spans if is_missing(span)]:
        yield _text_area(MISSING_CONTROL, lines, to)
    for answer in answers:
        named = {"from_name": answer.question}
        if isinstance(answer, Judgment):
            value = {"number": answer.number}
            yield {**named, "to_name": to, "type": "number", "value": value}
        elif (side := SIDE_OF_CHOICE.get(answer.choice)) is not None:
            targets = {"to_name": "text_a,text_b", "type": "pairwise"}
            yield {**named, **targets, "value": {"selected": side}}
        else:
            yield {**named, "to_name": to, "type": "choices", "value": {"choices": ["tie"]}}
    if comment := answers[0].extra.get("comment"):
        yield _text_area(COMMENT_CONTROL, [comment], to)
    yield _text_area(JUDGE_CONTROL, [judge], to)


def _marks(answer: Judgment | Preference) -> list[dict[str, Any]]:
    return (spans_of(answer) if isinstance(answer, Judgment) else None) or []


def _text_area(control: str, lines: Sequence[str], to: str) -> dict[str, Any]:
    value = {"text": list(lines)}
    return {"from_name": control, "to_name": to, "type": "textarea", "value": value}


def _lead_time(answer: Judgment | Preference) -> dict[str, float]:
    return {"lead_time": int(answer.extra["ms"]) / 1000} if "ms" in answer.extra else {}
