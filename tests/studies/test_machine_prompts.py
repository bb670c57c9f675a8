"""What a machine judge is asked: people's words, marks that no text can forge, no system's name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.studies.designs.base import seven_points
from wellput.studies.machines import prompts
from wellput.studies.machines.prompts import ShownTexts
from wellput.studies.machines.rubrics import machine_trials, make_rubric

MARKED = re.compile(r"<<<(\w{16})\n(.*?)\n\1>>>", re.DOTALL)


def messages(design: str = "rating", shown: ShownTexts | None = None, **options: Any) -> list[str]:
    rubric = make_rubric("quality", design=design, **options)
    texts = shown or ShownTexts(("one", "two") if design == "pairwise" else ("one",))
    prompt = rubric.prompt(rubric.questionnaire.questions[0], texts)
    return [message["content"] for message in prompt.messages]


def test_the_words_are_those_of_the_study() -> None:
    system, user = messages(unit="sentence")
    text, labels = seven_points("quality")
    assert text in user
    assert "Rate each sentence" in system
    assert all(f"\n{point} = {words}\n" in user for point, words in labels.items())
    assert "one whole number from 1 to 7" in user
    assert "same link" not in system  # that is about the page


@pytest.mark.parametrize(
    ("unit", "many", "a"),
    [("text", "texts", "a"), ("answer", "answers", "an"), ("summary", "summaries", "a")],
)
def test_the_outputs_have_the_name_that_is_asked_for(unit: str, many: str, a: str) -> None:
    system, user = messages(unit=unit)
    assert f"How well-written is this {unit}?" in user
    assert f"You will read {many}," in system and f"Rate each {unit}" in system
    assert f"two versions of {a} {unit} at a time" in messages("pairwise", unit=unit)[0]
    assert "sentence" not in system + user


def test_a_wording_of_your_own_stays_as_it_is() -> None:
    own = {
        "instructions": "Read the sentence.",
        "questions": [{"name": "quality", "text": "Is this sentence good?"}],
    }
    rubric = make_rubric(own, unit="essay")
    prompt = rubric.prompt(rubric.questionnaire.questions[0], ShownTexts(("one",)))
    assert "Read the sentence." in prompt.messages[0]["content"]
    assert "Is this sentence good?" in prompt.messages[1]["content"]


def test_a_unit_is_a_word() -> None:
    with pytest.raises(InputError, match="must be a word"):
        make_rubric("quality", unit="2.")


def test_a_pair_is_two_versions_with_letters_and_a_tie_where_allowed() -> None:
    _, user = messages("pairwise")
    assert [text for _, text in MARKED.findall(user)] == ["one", "two"]
    assert "A for version A, B for version B." in user
    assert "T if there is no difference" in messages("pairwise", ties=True)[1]


def test_what_stands_beside_the_output_is_marked_too() -> None:
    shown = ShownTexts(("out",), context="before", source="src", references=("r1", "r2"))
    assert [t for _, t in MARKED.findall(messages(shown=shown)[1])] == [
        "before", "src", "r1", "r2", "out",
    ]  # fmt: skip


@given(st.text(), st.text(alphabet="<>0123456789abcdef\n", max_size=80))
def test_no_text_can_end_its_own_part(first: str, second: str) -> None:
    _, user = messages("pairwise", ShownTexts((first, second)))
    assert [text for _, text in MARKED.findall(user)] == [first, second]


def test_a_text_that_holds_its_mark_gets_another(monkeypatch: pytest.MonkeyPatch) -> None:
    # With marks of one character, a text with half of the digits forces several draws.
    monkeypatch.setattr(prompts, "MARK_CHARACTERS", 1)
    text = "01234567"
    mark = prompts._mark([text])
    assert mark not in text


def test_the_same_texts_get_the_same_prompt() -> None:
    assert messages() == messages()


def test_the_hash_is_that_of_the_wording_alone() -> None:
    plain = make_rubric("quality").hash
    assert plain == make_rubric("quality").hash
    others = [
        make_rubric("fluency"),
        make_rubric("quality", points=5),
        make_rubric("quality", show_source=True),
        make_rubric({"questions": [{"name": "quality", "text": "Is it good?"}]}),
        make_rubric({"instructions": "Be strict.", "questions": [{"name": "quality"}]}),
    ]
    assert len({plain, *(other.hash for other in others)}) == 6


EVALSET = EvalSet(
    [
        Item(
            "i1",
            references=("ref",),
            outputs={"alpha": "a b", "beta": "b a", "gamma": "a b"},
            source="s",
        ),
        Item("i2", references=("ref",), outputs={"alpha": "c d", "beta": "d c"}, source="s"),
    ]
)


def test_a_prompt_names_no_system_and_no_item() -> None:
    rubric = make_rubric("quality", design="pairwise", show_source=True, show_reference=True)
    for trial in machine_trials(rubric, EVALSET, repeats=1, swap=True, seed=1):
        words = " ".join(m["content"] for m in rubric.prompt(trial.question, trial.shown).messages)
        assert not any(name in words for name in ("alpha", "beta", "gamma", "i1", "i2"))


def test_swap_shows_each_pair_in_both_orders_and_repeats_ask_again() -> None:
    rubric = make_rubric("quality", design="pairwise")
    trials = machine_trials(rubric, EVALSET, repeats=2, swap=True, seed=1)
    # Equal texts (alpha and gamma of i1) are not compared: 2 pairs of i1, 1 of i2; × 2 orders × 2.
    assert len(trials) == 12
    orders = {(t.item, t.systems) for t in trials}
    assert all((item, systems[::-1]) in orders for item, systems in orders)
    assert sorted({t.repeat for t in trials}) == [0, 1]


def test_without_swap_about_half_of_the_pairs_come_in_each_order() -> None:
    many = EvalSet([Item(f"{n}", outputs={"A": f"a {n}", "B": f"b {n}"}) for n in range(400)])
    trials = machine_trials(
        make_rubric("q", design="pairwise"), many, repeats=1, swap=False, seed=7
    )
    n_first = sum(trial.systems == ("A", "B") for trial in trials)
    assert 150 < n_first < 250  # 5 standard deviations


def test_each_sample_of_an_output_is_judged() -> None:
    items = EvalSet(
        [
            Item("1", outputs={"A": ("a0", "a1", "a2"), "B": ("b0", "b1")}),
            Item("2", outputs={"A": "a", "B": "b"}),
        ]
    )
    trials = machine_trials(make_rubric("q"), items, repeats=1, swap=False, seed=1)
    assert [(t.item, t.sample, t.shown.outputs[0]) for t in trials] == [
        ("1", 0, "a0"), ("1", 0, "b0"), ("1", 1, "a1"), ("1", 1, "b1"), ("1", 2, "a2"),
        ("2", 0, "a"), ("2", 0, "b"),
    ]  # fmt: skip
    pairs = make_rubric("q", design="pairwise")
    shown = [
        {*t.shown.outputs} for t in machine_trials(pairs, items, repeats=1, swap=False, seed=1)
    ]
    assert shown == [{"a0", "b0"}, {"a1", "b1"}, {"a", "b"}]


def test_a_file_of_settings_is_a_rubric(tmp_path: Path) -> None:
    file = tmp_path / "rubric.toml"
    file.write_text(
        'design = "slider"\nshow_reference = true\nconsent = true\ninstructions = "Be strict."\n'
        '[[questions]]\nname = "clarity"\ntext = "How clear is it?"\n'
        'labels = {"0" = "Not at all", "100" = "Very"}\n',
        encoding="utf-8",
    )
    rubric = make_rubric(str(file))
    assert rubric.questionnaire.kind == "slider" and rubric.show_reference
    prompt = rubric.prompt(rubric.questionnaire.questions[0], ShownTexts(("x",), references=("r",)))
    assert prompt.messages[0]["content"].startswith("Be strict.")
    asked = (
        "How clear is it?\n0 = Not at all\n100 = Very\nAnswer with one whole number from 0 to 100"
    )
    assert asked in prompt.messages[1]["content"]


def test_a_text_file_is_not_taken_for_the_name_of_a_question(tmp_path: Path) -> None:
    file = tmp_path / "rubric.txt"
    file.write_text("Is the answer helpful?")
    with pytest.raises(InputError, match=r"must be TOML and end in \.toml"):
        make_rubric(str(file))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: make_rubric(()), "question= is needed"),
        (lambda: make_rubric(["a.toml", "b"]), "one file of settings"),
        (lambda: make_rubric({"desing": "rating"}), "no setting 'desing'"),
        (lambda: make_rubric("q", design="task"), "only as a judge of a study"),
        (
            lambda: machine_trials(make_rubric("q"), EVALSET, repeats=1, swap=True, seed=1),
            "design='pairwise'",
        ),
        (
            lambda: machine_trials(
                make_rubric("q", show_reference=True),
                EvalSet([Item("1", outputs={"A": "a"})]),
                repeats=1,
                swap=False,
                seed=1,
            ),
            "no item of the evalset has a reference",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused(wrong, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=re.escape(message)):
        wrong()
