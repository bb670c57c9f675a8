"""Reads annotations exported from Label Studio, and writes judgments that Label Studio can import.

An export is JSON: a list of tasks, each with its data and annotations. A task's data names the item
and the system: by the keys `item` and `system` (for pairs `system_a` and `system_b`), or by one key
`id` of the form ITEM::SYSTEM. Questions are the names of the controls (the parts of Label Studio's
form). `Rating`, `Number`, and `Choices` that begin with a number give ratings; `Pairwise` (left is a),
and `Choices` such as `left` and `tie` (`tool_answers`), give pairwise choices. `Labels` in the text are
marked errors: the label is the severity of the error, and a `Taxonomy` of the same region is its
category.

`write_label_studio` writes tasks with annotations, `write_config` the labeling interface (XML) that
their project needs. A written annotation has the controls `severity` (marked errors), `kind` (their
categories), `missing` (a line for each thing that the text leaves out), one number for each question,
`comment`, and `judge`. The judge's name is an answer because Label Studio allows only its own users
as authors of annotations. In a pair, `left` is the text shown first. Offsets count code points, as in
Label Studio since version 1.5.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from wellput.core.errors import InputError, Problems
from wellput.core.evalset import Item
from wellput.core.frames import is_name
from wellput.core.judgment import (
    MISSING,
    SPANS_COLUMN,
    Judgment,
    PairwiseChoice,
    Preference,
    number_in,
)
from wellput.io.exported_spans import by_id, is_missing, spans_of
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.judgments import TRIAL_NAME_ADVICE, split_trial
from wellput.io.output import replacing_text
from wellput.io.tool_answers import ToolAnswers, choice_of_label

SEVERITY_CONTROL, KIND_CONTROL, MISSING_CONTROL = "severity", "kind", "missing"
COMMENT_CONTROL, JUDGE_CONTROL = "comment", "judge"
BETWEEN_PARTS = " · "
"""Separates the severity, the category and the words in a line about something missing."""
MAX_LEAD_SECONDS = 1e9
"""A longer lead time (the time that a judge needed) is an error of the file and is ignored."""
LEADING_NUMBER = re.compile(r"\s*([-−]?\d+(?:\.\d+)?)\b(?![.,]\d)")
"""The number at the beginning of a label, but not that of "4,5", which may mean 4.5 or 4 and 5."""
MARK_TYPES = ("labels", "taxonomy")
"""The types of results that mark errors."""
OWN_TEXT_AREAS = (MISSING_CONTROL, COMMENT_CONTROL, JUDGE_CONTROL)
PAIR_KEYS, RATING_KEYS, LABELS_KEY = ("selected",), ("rating", "number"), "choices"
"""The keys of answers in a result's value: of `Pairwise`, of `Rating` and `Number`, of `Choices`."""
RATINGS_ADVICE = "Ratings are numbers, or labels that begin with a number, such as 5 – good."


def knows(path: PathLike) -> bool:
    return InputFile(path).suffix == ".json"


def read_judgments(path: PathLike) -> list[Judgment] | list[Preference]:
    """The ratings or the pairwise choices of an export; cancelled annotations are left out.

    The judge is the answer `judge`, or else the email or the number of the person who completed the
    annotation. The lead time (the time that the judge needed) becomes the column `ms`, in milliseconds.
    """
    file = InputFile(path)
    check_readable(file)
    problems = Problems(file.name)
    answers = ToolAnswers(file.name, ratings_advice=RATINGS_ADVICE)
    tasks = _tasks(file)
    is_marked = any(_has_marks(annotation) for task in tasks for annotation in task["annotations"])
    for number, task in enumerate(tasks, start=1):
        where = f"task {task.get('id', number)}"
        item_and_systems = _item_and_systems(task.get("data"))
        if item_and_systems is None:
            problems.add(where, "its data names no item and system")
            continue
        for annotation in task["annotations"]:
            if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
                continue
            _add_answers(answers, where, annotation, *item_and_systems, is_marked=is_marked)
    problems.raise_if_any(
        advice='Give tasks the data "item" and "system" ("system_a", "system_b"), or an "id". '
        f"{TRIAL_NAME_ADVICE}"
    )
    return answers.ratings_or_choices()


def _tasks(file: InputFile) -> list[dict[str, Any]]:
    """The tasks of an export; raises InputError for any other JSON."""
    try:
        record = json.loads(file.whole())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file.name} is not JSON: {error}.") from None
    if not isinstance(record, list) or not all(
        isinstance(task, dict) and isinstance(task.get("annotations"), list) for task in record
    ):
        raise InputError(
            f"{file.name} is not a Label Studio export, which is a list of tasks with annotations. "
            "Export the project as JSON (not JSON-MIN, which does not say who answered)."
        )
    return record


def _item_and_systems(data: object) -> tuple[str, tuple[str, ...]] | None:
    """The item and its one or two systems, from the data of a task; None if the data does not name
    them."""
    if not isinstance(data, dict):
        return None
    item = data.get("item")
    if is_name(item):
        for keys in (("system",), ("system_a", "system_b")):
            if all(is_name(data.get(key)) for key in keys):
                return str(item), tuple(str(data[key]) for key in keys)
    name = data.get("id")
    return split_trial(name) if isinstance(name, str) else None


def _add_answers(
    answers: ToolAnswers,
    where: str,
    annotation: Mapping[str, Any],
    item: str,
    systems: tuple[str, ...],
    *,
    is_marked: bool,
) -> None:
    """Adds the answers of an annotation about an item and its one or two systems; `where` names the
    task. `is_marked`: judges marked errors in this export, so each answer has a column of error
    spans."""
    results = _results(annotation)
    judge = "".join(_text_area(results, JUDGE_CONTROL)) or _judge(annotation.get("completed_by"))
    seconds: Any = annotation.get("lead_time")
    is_timed = isinstance(seconds, int | float) and abs(seconds) < MAX_LEAD_SECONDS
    extra = {"ms": str(round(seconds * 1000))} if is_timed else {}
    if is_marked:
        extra[SPANS_COLUMN] = json.dumps(_spans(results), ensure_ascii=False)
    if comment := _text_area(results, COMMENT_CONTROL):
        extra["comment"] = "\n".join(comment)
    is_pair = len(systems) == 2
    for result in results:
        question, type_ = str(result.get("from_name", "")), result.get("type")
        if type_ in MARK_TYPES or (type_ == "textarea" and question in OWN_TEXT_AREAS):
            continue
        key, content = _answer(result["value"])
        if content in (None, "", []):
            continue
        if is_pair and (choice := _choice(key, content)) is not None:
            answers.add(Preference(judge, item, systems[0], systems[1], question, choice, extra))
        elif not is_pair and (number := _number(key, content)) is not None:
            answers.add(Judgment(judge, item, systems[0], question, number, extra))
        else:
            answers.add_other(
                f"{where}, judge {judge}",
                question,
                content,
                is_about_pair=is_pair,
                must_count=key in (PAIR_KEYS if is_pair else RATING_KEYS),
            )


def missing_line(span: Mapping[str, Any]) -> str:
    """The line for an omission (something that the text leaves out) in the control `missing`.

    >>> missing_line({"severity": "minor", "category": "accuracy/omission", "text": "at nine"})
    'minor · accuracy/omission · at nine'
    """
    return BETWEEN_PARTS.join((span["severity"], span.get("category") or "", span["text"]))


def _spans(results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The error spans of an annotation: first the errors marked in the text, then the omissions."""
    kinds = {
        result.get("id"): "/".join(map(str, result["value"]["taxonomy"][0]))
        for result in results
        if result.get("type") == "taxonomy"
        and _list_or_empty(_list_or_empty(result["value"].get("taxonomy"))[:1])
    }
    spans: list[dict[str, Any]] = []
    for result in results:
        value = result["value"]
        offsets, labels = (
            (value.get("start"), value.get("end")),
            _list_or_empty(value.get("labels")),
        )
        if result.get("type") == "labels" and all(type(offset) is int for offset in offsets):
            spans.append(
                {
                    "start": offsets[0],
                    "end": offsets[1],
                    "severity": str(labels[0]) if labels else "",
                    "category": kinds.get(result.get("id"), ""),
                    "text": str(value.get("text", "")),
                }
            )
    for line in _text_area(results, MISSING_CONTROL):
        # A line may have fewer parts than `missing_line` writes: the lacking ones are empty.
        severity, category, text = (*line.split(BETWEEN_PARTS, 2), "", "")[:3]
        omission = {"severity": severity, "category": category, "text": text}
        spans.append({"start": MISSING, "end": MISSING, **omission})
    return spans


def _text_area(results: Sequence[Mapping[str, Any]], control: str) -> list[str]:
    """The lines that a judge wrote into the text area `control`."""
    return [
        str(line)
        for result in results
        if result.get("from_name") == control and result.get("type") == "textarea"
        for line in _list_or_empty(result["value"].get("text"))
    ]


def _has_marks(annotation: object) -> bool:
    """Whether the annotation has marked errors. If any annotation of an export has them, the judges of
    annotations without marks found no errors."""
    results = _results(annotation) if isinstance(annotation, dict) else []
    is_labeled = any(result.get("type") == "labels" for result in results)
    return is_labeled or bool(_text_area(results, MISSING_CONTROL))


def _results(annotation: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The well-formed results of an annotation; a result is the answer in one control."""
    return [
        result
        for result in _list_or_empty(annotation.get("result"))
        if isinstance(result, dict) and isinstance(result.get("value"), dict)
    ]


def _list_or_empty(value: object) -> list[Any]:
    """The value if it is a list, otherwise an empty list."""
    return value if isinstance(value, list) else []


def _judge(completed_by: object) -> str:
    if isinstance(completed_by, dict):
        return str(completed_by.get("email") or completed_by.get("id") or "unknown")
    return "unknown" if completed_by is None else str(completed_by)


def _answer(value: Mapping[str, Any]) -> tuple[str, Any]:
    """The key of what was answered in a control, and what was answered; the key is empty for controls
    that give neither ratings nor choices. A list of one label is read as the label."""
    key = next((key for key in (*PAIR_KEYS, *RATING_KEYS, LABELS_KEY) if key in value), "")
    content = value[key] if key else value.get("text", value)
    return key, content[0] if isinstance(content, list) and len(content) == 1 else content


def _number(key: str, content: object) -> float | None:
    """The rating that an answer is; None if it is not one."""
    if key not in (*RATING_KEYS, LABELS_KEY):
        return None
    if (number := number_in(content)) is not None or not isinstance(content, str):
        return number
    match = LEADING_NUMBER.match(content)
    return None if match is None else number_in(match[1].replace("−", "-"))


def _choice(key: str, content: object) -> PairwiseChoice | None:
    """The pairwise choice that an answer is; None if it is not one."""
    if key in (*PAIR_KEYS, LABELS_KEY) and isinstance(content, str):
        return choice_of_label(content)
    return None


SIDE_OF_CHOICE = {"a": "left", "b": "right"}


def write_label_studio(
    answers: Sequence[Judgment] | Sequence[Preference], items: Sequence[Item], path: PathLike
) -> None:
    """Writes a task for each judged output or pair, with one annotation for each judge."""
    items_by_id = by_id(items)
    tasks: dict[tuple[str, ...], dict[str, list[Judgment | Preference]]] = {}
    for answer in answers:
        judges = tasks.setdefault((answer.item, *_systems(answer)), {})
        judges.setdefault(answer.judge, []).append(answer)
    records = [
        {
            "data": _data(items_by_id[item], systems),
            "annotations": [
                {
                    "result": list(_written_results(judge, judge_answers)),
                    **_lead_time(judge_answers[0]),
                }
                for judge, judge_answers in judges.items()
            ],
        }
        for (item, *systems), judges in tasks.items()
    ]
    with replacing_text(path) as file:
        json.dump(records, file, ensure_ascii=False, indent=1)
        file.write("\n")


def write_config(answers: Sequence[Judgment] | Sequence[Preference], path: PathLike) -> None:
    """Writes the labeling interface (XML) of a project for the tasks of these answers."""
    with replacing_text(path) as file:
        file.write("\n".join(["<View>", *_controls(answers), "</View>"]) + "\n")


def _controls(answers: Sequence[Judgment] | Sequence[Preference]) -> Iterator[str]:
    """The lines of the labeling interface: what it shows, and a control for each kind of answer."""
    questions = dict.fromkeys(answer.question for answer in answers)
    if isinstance(answers[0], Preference):
        for side in ("a", "b"):
            yield f'  <Text name="text_{side}" value="$text_{side}"/>'
        for question in questions:
            yield f'  <Pairwise name={quoteattr(question)} toName="text_a,text_b"/>'
        target = "text_a"
    else:
        yield '  <Text name="source" value="$source"/>'
        yield '  <Text name="text" value="$text"/>'
        target = "text"
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
        yield f'  <TextArea name="{control}" toName="{target}"/>'


def _taxonomy(paths: Iterable[str]) -> Iterator[str]:
    """The lines of a taxonomy with these categories, given as paths such as "style/awkward"."""
    tree: dict[str, Any] = {}
    for path in sorted(filter(None, paths)):
        children = tree
        for name in path.split("/"):
            children = children.setdefault(name, {})
    if tree:
        yield f'  <Taxonomy name="{KIND_CONTROL}" toName="text" perRegion="true">'
        yield from _nested_choices(tree, "    ")
        yield "  </Taxonomy>"


def _nested_choices(tree: Mapping[str, Any], indent: str) -> Iterator[str]:
    """The lines of these categories, with the categories inside them."""
    for name, children in tree.items():
        yield f"{indent}<Choice value={quoteattr(name)}>"
        yield from _nested_choices(children, f"{indent}  ")
        yield f"{indent}</Choice>"


def _systems(answer: Judgment | Preference) -> tuple[str, ...]:
    if isinstance(answer, Judgment):
        return (answer.system,)
    return answer.system_a, answer.system_b


def _data(item: Item, systems: Sequence[str]) -> dict[str, Any]:
    """The data of a task: the item, its system or two systems, and the texts to show."""
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


def _written_results(
    judge: str, answers: Sequence[Judgment | Preference]
) -> Iterator[dict[str, Any]]:
    """The results for all answers of a judge about one task. Answers to several questions share their
    marked errors and their comment, which are written once."""
    is_pair = isinstance(answers[0], Preference)
    target = "text_a" if is_pair else "text"
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
        yield _written_text_area(MISSING_CONTROL, lines, target)
    for answer in answers:
        named = {"from_name": answer.question}
        if isinstance(answer, Judgment):
            value = {"number": answer.number}
            yield {**named, "to_name": target, "type": "number", "value": value}
        elif (side := SIDE_OF_CHOICE.get(answer.choice)) is not None:
            targets = {"to_name": "text_a,text_b", "type": "pairwise"}
            yield {**named, **targets, "value": {"selected": side}}
        else:
            yield {**named, "to_name": target, "type": "choices", "value": {"choices": ["tie"]}}
    if comment := answers[0].extra.get("comment"):
        yield _written_text_area(COMMENT_CONTROL, [comment], target)
    yield _written_text_area(JUDGE_CONTROL, [judge], target)


def _marks(answer: Judgment | Preference) -> list[dict[str, Any]]:
    """The error spans of an answer; none if nobody looked for errors."""
    return (spans_of(answer) if isinstance(answer, Judgment) else None) or []


def _written_text_area(control: str, lines: Sequence[str], target: str) -> dict[str, Any]:
    value = {"text": list(lines)}
    return {"from_name": control, "to_name": target, "type": "textarea", "value": value}


def _lead_time(answer: Judgment | Preference) -> dict[str, float]:
    return {"lead_time": int(ms) / 1000} if (ms := answer.extra.get("ms")) else {}
