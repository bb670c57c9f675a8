"""Error spans that judges mark: what is taken, what is refused, and what an error costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.studies.served_study import client_of, new_store
from wellput.agreement.marked_outputs import marked_questions
from wellput.api.study import Study
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment
from wellput.core.line_breaks import place_with_line_feeds
from wellput.io import read_judgments
from wellput.studies.designs.error_categories import (
    checked_weights,
    cost,
    flat_categories,
    read_categories,
)
from wellput.studies.designs.registry import create, default_questionnaire
from wellput.studies.exports import export
from wellput.studies.imports import plan_import
from wellput.studies.marked_spans import MAX_SPANS, checked_spans
from wellput.studies.prefilled_spans import with_prefilled
from wellput.studies.questions import AnswerError, Question, check_values
from wellput.studies.settings import make_settings, with_categories
from wellput.studies.study_setup import StudyItem, StudyPlan, all_trials, make_setup

TEXT = "The 👩‍🚀 ate a fairy."  # the woman astronaut is 3 code points: places 4 to 6
SEVERITIES = ("minor", "major")
ERRORS = Question("errors", "?", "spans", severities=SEVERITIES)


def span(start: Any, end: Any, severity: str = "minor", **others: Any) -> dict[str, Any]:
    return {"start": start, "end": end, "severity": severity, **others}


def test_places_count_code_points_and_marks_come_in_the_order_of_the_text() -> None:
    given = [span("missing", "missing", text=" when "), span(14, 19, "major"), span(4, 7)]
    assert checked_spans(given, TEXT, severities=SEVERITIES) == (
        [
            {"start": 4, "end": 7, "severity": "minor", "category": "", "text": "👩‍🚀"},
            {"start": 14, "end": 19, "severity": "major", "category": "", "text": "fairy"},
            {
                "start": "missing",
                "end": "missing",
                "severity": "minor",
                "category": "",
                "text": "when",
            },
        ],
        [],
    )


def test_marks_may_overlap_and_nest() -> None:
    given = [span(0, 11), span(8, 19, "major"), span(8, 11), span(8, 11, "major")]
    spans, reasons = checked_spans(given, TEXT, severities=SEVERITIES)
    assert [(one["start"], one["end"]) for one in spans] == [(0, 11), (8, 11), (8, 11), (8, 19)]
    assert not reasons


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "a list of marked spans is needed"),
        ("[]", "a list of marked spans is needed"),
        ([7], "mark 1: an object with start, end and severity is needed"),
        ([span(0, 3), span(0, 3)], "mark 2: the same span is marked twice"),
        ([span(0, len(TEXT) + 1)], "mark 1: it must lie inside the text, which has 20 characters"),
        ([span(-1, 3)], "inside the text"),
        ([span(3, 3)], "inside the text"),
        ([span(3, 2)], "inside the text"),
        ([span(True, 3)], "places in the text"),
        ([span(0.0, 3)], "places in the text"),
        ([span(None, None)], "places in the text"),
        ([span("missing", 3)], "places in the text"),
        ([span(10**400, 10**401)], "inside the text"),
        ([span(3, 4)], "it covers only blanks"),
        ([span(0, 3, "huge")], "choose how bad it is: minor, major"),
        ([span(0, 3, ["minor"])], "choose how bad it is"),  # type: ignore[arg-type]
        ([span(0, 3, category="accuracy")], "this study has no kinds of errors"),
        ([span(0, 3, category=[])], "this study has no kinds of errors"),
        ([span(0, 3, color="red")], "unknown key 'color'"),
        # "ate" in UTF-16 units, in which JavaScript counts: the astronaut has 5 of them.
        ([span(10, 13, text="ate")], "its text differs from what stands there"),
        ([span("missing", "missing", text="x" * 301)], "at most 300 characters"),
        ([span("missing", "missing", text="\ud800")], "cannot be stored"),
        ([span("missing", "missing", text="\0")], "cannot be stored"),
        ([span("missing", "missing", text=7)], "at most 300 characters"),
        ([span(0, 3)] * (MAX_SPANS + 1), "201 spans are marked; at most 200"),
    ],
)
def test_what_is_refused(given: object, reason: str) -> None:
    with pytest.raises(AnswerError, match="errors: ") as caught:
        check_values([ERRORS], {"errors": given}, text=TEXT)
    assert reason in str(caught.value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["start", "end", "severity", "text", "category"]) | st.text(), inner
            )
        ),
    )
)
def test_no_value_does_worse_than_being_refused(value: object) -> None:
    try:
        stored = check_values([ERRORS], {"errors": value}, text=TEXT)["errors"]
    except AnswerError as error:
        json.dumps(error.reasons).encode()
    else:
        assert check_values([ERRORS], {"errors": stored}, text=TEXT)["errors"] == stored


def test_a_category_of_the_study_is_needed() -> None:
    question = create("mqm", categories={"meaning": ["wrong", "left-out"]}).question("errors")
    good = [span(0, 3, category="meaning/wrong")]
    assert check_values([question], {"errors": good}, text=TEXT)["errors"][0]["category"] == (
        "meaning/wrong"
    )
    for category in ("meaning", "meaning/", "", None, ["meaning/wrong"]):
        with pytest.raises(AnswerError, match="choose what kind of error it is"):
            check_values([question], {"errors": [span(0, 3, category=category)]}, text=TEXT)


def test_mqm_costs_five_one_and_a_tenth() -> None:
    mqm = create("mqm")
    question = mqm.question("errors")
    marks = [
        {"severity": "major", "category": "accuracy/omission"},  # 5
        {"severity": "minor", "category": "fluency/grammar"},  # 1
        {"severity": "minor", "category": "fluency/punctuation"},  # 0.1
        {"severity": "major", "category": "fluency/punctuation"},  # 5
        {"severity": "major", "category": "non-translation"},  # 25
    ]
    assert mqm.value_of(question, marks) == pytest.approx(-36.1)
    assert str(mqm.value_of(question, [])) == "0.0"  # not −0


def test_the_most_special_weight_counts() -> None:
    weights = {"minor": 1.0, "style:minor": 0.5, "style/voice/tone:minor": 0.25}
    paths = {"accuracy": 1.0, "style/voice": 0.5, "style/voice/tone": 0.25, "": 1.0}
    for path, expected in paths.items():
        assert cost({"severity": "minor", "category": path}, weights) == expected


def test_a_tree_of_categories() -> None:
    tree = {"accuracy": {"names": ["people", "places"], "addition": "Too much."}, "other": ""}
    assert flat_categories(tree) == (
        ("accuracy/names/people", ""),
        ("accuracy/names/places", ""),
        ("accuracy/addition", "Too much."),
        ("other", ""),
    )


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("categories = 7", "needs a table"),
        ("kinds = {}", "needs a table .categories."),
        ("[categories]\n", "There must be 1 to 500 categories, not 0"),
        ("[categories]\na = ['x', 'x']", "a/x comes twice"),
        ("[categories]\na = 7", "a must be a table or a list"),
        ("[categories]\na = ['x/y']", "without /"),
        ("[categories]\na = ''\n[weights]\nmajor = 5", "The severity minor has no weight"),
        (
            "[categories]\na = ''\n[weights]\nmajr = 5",
            "'majr' is for no severity.*Did you mean major",
        ),
        ("[categories]\na = ''\n[weights]\nminor = -1\nmajor = 5", "a number from 0 on, not -1"),
        ("severities = ['bad']\n[categories]\na = ''", "costs that is bad: weights=bad=NUMBER"),
        ("severities = []\n[categories]\na = ''", "at least one"),
        ("[categories", "is not TOML"),
    ],
)
def test_what_is_wrong_with_a_file_of_categories(tmp_path: Path, toml: str, message: str) -> None:
    (tmp_path / "own.toml").write_text(toml)
    with pytest.raises(InputError, match=message):
        record, options = with_categories({}, {"categories": tmp_path / "own.toml"})
        make_settings("mqm", record, **options)


def test_own_severities_and_weights(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(
        "severities = ['neutral', 'critical']\n[categories]\na = ['b']\n"
        "[weights]\nneutral = 0\ncritical = 25\n"
    )
    assert read_categories(tmp_path / "own.toml")["severities"] == ["neutral", "critical"]
    record, options = with_categories({}, {"categories": tmp_path / "own.toml"})
    mqm = create("mqm", **record)
    marks = [
        {"severity": "critical", "category": "a/b"},
        {"severity": "neutral", "category": "a/b"},
    ]
    assert mqm.value_of(mqm.question("errors"), marks) == -25
    # Options of the command line replace those of the file.
    settings = make_settings("mqm", record, **{**options, "weights": "neutral=1,critical=2"})
    again = create("mqm", **settings.questionnaire.options)
    assert again.value_of(again.question("errors"), marks) == -3


@pytest.mark.parametrize("text", ["minor", "minor=x", "=1", "minor=1,major"])
def test_weights_that_cannot_be_read(text: str) -> None:
    with pytest.raises(InputError, match="write SEVERITY=NUMBER"):
        checked_weights(text, SEVERITIES, ())


def test_the_marks_always_come_first() -> None:
    names = [q.name for q in default_questionnaire("spans", questions=["fluency"]).questions]
    assert names == ["errors", "fluency"]
    with pytest.raises(InputError, match="the design mqm asks for none"):
        default_questionnaire("spans", questions=["errors"])
    with pytest.raises(InputError, match="mqm has one question"):
        default_questionnaire("mqm", questions=["errors", "quality"])


@pytest.mark.parametrize("kind", ["spans", "mqm"])
def test_default_checks_can_be_passed_and_failed(kind: str) -> None:
    (check,) = make_settings(kind, {}, n_checks=1).checks
    design = create(kind)
    marked = [{"start": 30, "end": 35, "text": "WRONG"}]
    right = [] if kind == "spans" else marked
    assert design.is_expected(right, check.expected["errors"])
    assert not design.is_expected(marked if kind == "spans" else [], check.expected["errors"])


ITEMS = (
    StudyItem("1", {"A": TEXT, "B": "It is fine."}, source="Un.", document="d"),
    StudyItem("2", {"A": "Second, of A."}, source="Deux.", document="d"),
    StudyItem("3", {"A": "Third, of A.", "B": "Third, of B."}, source="Trois."),
)


def test_answers_go_to_the_export_and_are_read_again(tmp_path: Path) -> None:
    store = new_store(
        tmp_path,
        default_questionnaire("spans"),
        items=ITEMS[:1],
        plan=StudyPlan(judges=1, per_item=1),
    )
    (invitation,) = store.invite(1)
    client = client_of(store)
    api = f"/api/judge/{invitation.token}"
    for _ in range(2):
        trial = client.get(f"{api}/next").json()["trial"]
        is_first = trial["variants"][0]["text"] == TEXT
        assert trial["questions"][0]["severities"] == ["minor", "major"]
        marks = [span(4, 7, "major"), span("missing", "missing")] if is_first else []
        answers = {"errors": marks, "quality": 40 if is_first else 100}
        body = {"trial": trial["id"], "answers": answers, "ms": 1000}
        assert client.post(f"{api}/answers", json=body).status_code == 201
        # The same again, in another order: nothing new.
        body["answers"] = {**answers, "errors": marks[::-1]}
        assert client.post(f"{api}/answers", json=body).json()["status"] == "repeated"
    export(store, str(tmp_path / "judgments.csv"))
    found = {one.system: one for one in read_judgments(tmp_path / "judgments.csv")}  # type: ignore[union-attr]
    assert {one.question for one in found.values()} == {"quality"}
    spans = json.loads(found["A"].extra["spans"])
    assert [TEXT[s["start"] : s["end"]] for s in spans if s["start"] != "missing"] == ["👩‍🚀"]
    assert spans[1] == {
        "start": "missing",
        "end": "missing",
        "severity": "minor",
        "category": "",
        "text": "",
    }
    assert (found["A"].value, found["B"].value, found["B"].extra["spans"]) == (40, 100, "[]")  # type: ignore[union-attr]
    assert store.overview().ranking[0].question == "quality"


@pytest.mark.parametrize(
    "errors",
    [7, "x", None, [7], [[]], [{"start": 0}], [span(0, 99)], {"start": 0}, [{"__proto__": {}}]],
)
def test_hostile_answers_are_refused_with_a_sentence(tmp_path: Path, errors: object) -> None:
    store = new_store(tmp_path, default_questionnaire("spans"), items=ITEMS)
    (invitation, _) = store.invite(2)
    client = client_of(store)
    trial = client.get(f"/api/judge/{invitation.token}/next").json()["trial"]
    answers = {"errors": errors, "quality": 5}
    body = {"trial": trial["id"], "answers": answers, "ms": 1}
    refused = client.post(f"/api/judge/{invitation.token}/answers", json=body)
    assert refused.status_code == 422 and refused.json()["reasons"]
    assert not store.judgments()


def test_the_document_around_an_output_is_the_same_systems(tmp_path: Path) -> None:
    store = new_store(tmp_path, default_questionnaire("spans"), items=ITEMS)
    (judge, _) = store.invite(2)
    ref = store.judge_of(judge.token)
    assert ref is not None
    around: dict[str, tuple[Any, ...]] = {}
    while (trial := store.next_trial(ref)) is not None:
        (variant,) = trial.variants
        around[variant.text] = (
            variant.before, variant.after, trial.sources_before, trial.sources_after,
        )  # fmt: skip
        store.record(ref, trial.id, {"errors": [], "quality": 9}, ms=1)
    assert around[TEXT] == ((), ("Second, of A.",), (), ("Deux.",))
    assert around["It is fine."] == ((), (), (), ("Deux.",))  # B has no second output
    assert around["Second, of A."] == ((TEXT,), (), ("Un.",), ())
    assert around["Third, of A."] == ((), (), (), ())


def setup_of(design: str) -> Any:
    questionnaire = default_questionnaire(design)
    plan = StudyPlan(judges=1, per_item=1)
    return make_setup(questionnaire, plan, ITEMS, all_trials(questionnaire, ITEMS), seed=1)


def prefill_file(folder: Path, *rows: tuple[str, str, object]) -> Path:
    path = folder / "machine.jsonl"
    lines = [json.dumps({"item": i, "system": s, "spans": spans}) for i, s, spans in rows]
    path.write_text("\n".join(lines))
    return path


def test_prefilled_spans_are_shown_and_kept_beside_the_answer(tmp_path: Path) -> None:
    marked = span(14, 19, "major", category="accuracy", text="fairy", confidence=0.9)
    path = prefill_file(tmp_path, ("1", "A", [marked]), ("1", "B", []), ("9", "A", [span(0, 99)]))
    from wellput.studies.store import Store

    store = Store.create(tmp_path / "study.db", with_prefilled(setup_of("spans"), path))
    store = Store.open(tmp_path / "study.db")
    (invitation,) = store.invite(1)
    ref = store.judge_of(invitation.token)
    assert ref is not None
    expected = {"start": 14, "end": 19, "severity": "major", "category": "", "text": "fairy"}
    while (trial := store.next_trial(ref)) is not None:
        (variant,) = trial.variants
        assert variant.prefilled == ((expected,) if variant.text == TEXT else ())
        store.record(ref, trial.id, {"errors": [], "quality": 50}, ms=1)
    rows = {(one.item, one.system): one.extra for one in store.judgments()}  # type: ignore[union-attr]
    assert json.loads(rows["1", "A"]["prefilled"]) == [expected] and rows["1", "A"]["spans"] == "[]"
    assert rows["3", "B"]["prefilled"] == "[]"


def test_a_category_that_the_study_lacks_is_left_to_the_judge(tmp_path: Path) -> None:
    marks = [span(0, 3, category="accuracy"), span(4, 7, category="fluency/spelling")]
    setup = with_prefilled(setup_of("mqm"), prefill_file(tmp_path, ("1", "A", marks)))
    assert [one["category"] for one in setup.items[0].prefilled["A"]] == ["", "fluency/spelling"]


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([span(0, 99)], "line 1: item 1, system A: mark 1: it must lie inside the text"),
        ([span(0, 3, "critical")], "choose how bad it is: minor, major"),
        ("nonsense", "spans must be a JSON list"),
        (7, "spans must be a JSON list"),
    ],
)
def test_prefilled_spans_that_cannot_be_shown(tmp_path: Path, spans: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        with_prefilled(setup_of("spans"), prefill_file(tmp_path, ("1", "A", spans)))


def test_prefill_needs_marks_and_outputs_of_the_study(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="judges of a rating study mark nothing"):
        with_prefilled(setup_of("rating"), prefill_file(tmp_path, ("1", "A", [])))
    with pytest.raises(InputError, match="no spans of outputs that this study shows"):
        with_prefilled(setup_of("spans"), prefill_file(tmp_path, ("9", "A", [])))


LINES = "One.\r\nTwo fairies.\rThree."
SHOWN_LINES = "One.\nTwo fairies.\nThree."


def fairies(offset: int, **others: Any) -> dict[str, Any]:
    """A mark of the word "fairies" in `LINES`, where it begins at `offset`."""
    return span(offset, offset + 7, "major", **others)


def store_with_lines(tmp_path: Path, **options: Any) -> Any:
    """A study whose texts have line breaks of all kinds."""
    from wellput.studies.store import Store

    item = Item("1", {"A": LINES}, (LINES,), source=LINES, context=LINES)
    path = tmp_path / "study.db"
    Study.create(
        EvalSet([item]), path=path, design="spans", judges=1, per_item=1,
        settings={"show_reference": True, "title": "a\r\nb"}, **options,
    )  # fmt: skip
    return Store.open(path)


def test_a_line_break_is_one_character_as_in_browsers(tmp_path: Path) -> None:
    store = store_with_lines(tmp_path)
    assert store.questionnaire.title == "a\nb"
    (invitation,) = store.invite(1)
    judge = store.judge_of(invitation.token)
    trial = store.next_trial(judge)
    texts = (trial.variants[0].text, trial.source, trial.context, *trial.references)
    assert texts == (SHOWN_LINES,) * 4
    place = SHOWN_LINES.index("fairies")
    given = {"errors": [fairies(place, text="fairies")], "quality": 50}
    assert store.record(judge, trial.id, given, ms=1) == "created"
    export(store, str(tmp_path / "judgments.csv"))
    # The evalset still has its own line breaks: its text is read as the judge has seen it.
    judgments = read_judgments(tmp_path / "judgments.csv")
    for text in (LINES, SHOWN_LINES):
        [question] = marked_questions(EvalSet([Item("1", {"A": text})]), judgments)  # type: ignore[arg-type]
        [output] = question.outputs
        assert output.text == SHOWN_LINES
        [mark] = output.spans[invitation.judge]
        assert output.text[mark.start : mark.end] == "fairies"


@pytest.mark.parametrize(
    "mark",
    [
        fairies(LINES.index("fairies")),
        fairies(LINES.index("fairies"), text="fairies"),
        fairies(SHOWN_LINES.index("fairies"), text="fairies"),
    ],
)
def test_offsets_may_count_a_line_break_of_two_characters_as_one_or_two(
    tmp_path: Path, mark: dict[str, Any]
) -> None:
    path = prefill_file(tmp_path, ("1", "A", [mark]))
    (item,) = store_with_lines(tmp_path, prefill=path).setup.items
    place = SHOWN_LINES.index("fairies")
    assert item.prefilled["A"] == (fairies(place, category="", text="fairies"),)
    judgment = Judgment("J1", "1", "A", "quality", 50.0, {"spans": json.dumps([mark])})
    evalset = EvalSet([Item("1", {"A": LINES})])
    [question] = marked_questions(evalset, [judgment])
    assert [(one.start, one.end) for one in question.outputs[0].spans["J1"]] == [(place, place + 7)]
    (answer,) = plan_import(evalset, [judgment], design="spans", seed=1).answers
    assert answer.values["errors"] == [fairies(place, category="", text="fairies")]


def test_marks_beyond_a_text_stay_beyond_it_whatever_its_line_breaks() -> None:
    assert place_with_line_feeds(-1, 99, LINES) == (-1, 98)
    with pytest.raises(InputError, match="a span ends at 26, but the output has 24 characters"):
        judgment = Judgment("J1", "1", "A", "errors", 1.0, {"spans": json.dumps([span(0, 27)])})
        marked_questions(EvalSet([Item("1", {"A": LINES})]), [judgment])


def test_a_span_of_the_line_feed_of_a_line_break_is_that_line_break() -> None:
    assert place_with_line_feeds(2, 3, "a\r\nb") == (1, 2)
    assert place_with_line_feeds(1, 3, "a\r\nb") == (1, 2)
    assert place_with_line_feeds(2, 4, "a\r\nb") == (1, 3)
