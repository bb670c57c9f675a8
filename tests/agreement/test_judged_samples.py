"""Judgments that name the judged sample of an output: metrics are compared with them on this sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

import wellput
from tests.reporting.html.evaluations import small_evaluation
from wellput.agreement.analysis import AgreementOptions
from wellput.agreement.correlations import Uncertainty
from wellput.agreement.judged_samples import (
    DIFFERENT_SAMPLES_NOTE,
    SAMPLES_NOTE,
    JudgedSamples,
    on_same_samples,
    with_judged_samples,
)
from wellput.agreement.panel import Exclusion
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment, PairwiseChoice, Preference
from wellput.core.source import EvalSource

REFERENCE = "the cat sat on a mat"
N_ITEMS, SYSTEMS, PEOPLE = 24, "ABCD", ("Kim", "Lee", "Mia")


def text(n_right: int) -> str:
    """The reference, of which only the first words are right."""
    return " ".join((REFERENCE.split()[:n_right] + ["wrong"] * 6)[:6])


def n_right(item: int, system: str, sample: int) -> int:
    """How many words are right: of two samples, one says little about the other."""
    place = SYSTEMS.index(system)
    return (3 * item + 2 * place + item * place) % 7 if sample else (5 * item + place**2) % 7


def evalset(*samples: int) -> EvalSet:
    """Outputs that have these samples; with one sample, the output is a text."""
    items = []
    for number in range(N_ITEMS):
        texts = {s: tuple(text(n_right(number, s, k)) for k in samples) for s in SYSTEMS}
        outputs = {s: own if len(own) > 1 else own[0] for s, own in texts.items()}
        items.append(Item(f"i{number}", outputs, (REFERENCE,)))
    return EvalSet(items)


def ratings(
    sample: int, *, column: str | None = None, items: int = N_ITEMS, question: str = "quality"
) -> list[Judgment]:
    """People's ratings of one sample, with a little noise; `column` is what the column `sample` says,
    by default the number of the sample, and "" stands for a judgment without the column."""
    named = str(sample) if column is None else column
    return [
        Judgment(
            judge,
            f"i{number}",
            system,
            question,
            float(n_right(number, system, sample) + (number + place + SYSTEMS.index(system)) % 2),
            {"sample": named} if named else {},
        )
        for place, judge in enumerate(PEOPLE)
        for number in range(items)
        for system in SYSTEMS
    ]


def agree(items: EvalSet, judgments: list[Judgment]) -> object:
    (row,) = wellput.agree(items, judgments, "gsa", normalize="none").agreement
    return row.value, row.low, row.high, row.n


def agree_of_systems(items: EvalSet, judgments: list[Judgment]) -> object:
    result = wellput.agree(items, judgments, "gsa", level="system", by=None)
    return result.agreement[0].value, result.orders[0].scores


def fit(items: EvalSet, judgments: list[Judgment]) -> object:
    return wellput.fit(
        items, judgments, question="quality", predictors="gsa", no_probe=True, no_rescale=True
    ).regression.r_squared


def vet(items: EvalSet, judgments: list[Judgment]) -> object:
    found = wellput.vet(judgments, "gsa", evalset=items, min_items=5)
    return found.agreement.judge.value, found.panel, found.biases.length


def estimate(items: EvalSet, judgments: list[Judgment]) -> object:
    rows = wellput.estimate(items, judgments, "gsa").systems
    return [(row.system, row.estimate, row.proxy_only) for row in rows]


def rank(items: EvalSet, judgments: list[Judgment]) -> object:
    (ranking,) = wellput.rank(judgments, evalset=items, covariates="gsa", model="linear").rankings
    return [(row.system, round(row.estimate, 6)) for row in ranking.systems]


Command = Callable[[EvalSet, list[Judgment]], object]
COMPARISONS = (agree, agree_of_systems, fit, vet, estimate, rank)


@pytest.mark.parametrize("compare", COMPARISONS)
def test_a_metric_is_compared_on_the_judged_sample(compare: Command) -> None:
    expected = compare(evalset(1), ratings(1, column=""))
    assert compare(evalset(0, 1), ratings(1)) == expected
    # The same judgments of the other sample, and of the whole output, give other figures.
    assert compare(evalset(0, 1), ratings(1, column="0")) != expected
    assert compare(evalset(0, 1), ratings(1, column="")) != expected


@pytest.mark.parametrize("compare", COMPARISONS)
def test_the_sample_of_a_single_text_is_0(compare: Command) -> None:
    expected = compare(evalset(1), ratings(1, column=""))
    assert compare(evalset(1), ratings(1, column="0")) == expected


def test_choices_name_the_sample_of_both_systems() -> None:
    choices: list[Preference] = []
    for judge in PEOPLE:
        for number in range(N_ITEMS):
            gap = n_right(number, "A", 1) - n_right(number, "D", 1)
            choice: PairwiseChoice = "a" if gap > 0 else "b" if gap < 0 else "tie"
            sample = {"sample": "1"}
            choices.append(Preference(judge, f"i{number}", "A", "D", "better", choice, sample))
    (right,) = wellput.agree(evalset(0, 1), choices, "gsa").confusion
    assert right["accuracy"] == 1
    whole = [replace(choice, extra={}) for choice in choices]
    assert wellput.agree(evalset(0, 1), whole, "gsa").confusion[0]["accuracy"] < 0.9


def outputs_of(source: EvalSource, item: str) -> object:
    return next(i.outputs for block in source.blocks() for i in block if i.id == item)


def test_outputs_keep_the_judged_samples_and_all_others_stay_whole() -> None:
    items = EvalSet(
        [
            Item("1", {"A": ("a0", "a1", "a2"), "B": ("b0", "b1"), "C": "c"}, ("a",)),
            Item("2", {"A": ("x", "y")}, ("a",)),
        ]
    )
    answers = [
        Judgment("Kim", "1", "A", "q", 1, {"sample": "2"}),
        Judgment("Lee", "1", "A", "q", 1, {"sample": "0"}),
        Judgment("Kim", "1", "B", "q", 1, {"sample": "1"}),
        Judgment("Lee", "1", "B", "q", 1),  # of the whole output
        Judgment("Kim", "1", "C", "q", 1, {"sample": "0"}),
        Judgment("Kim", "9", "A", "q", 1, {"sample": "5"}),  # an unknown item: refused elsewhere
    ]
    judged = with_judged_samples(items, answers)
    assert outputs_of(judged, "1") == {"A": ("a0", "a2"), "B": ("b0", "b1"), "C": "c"}
    assert outputs_of(judged, "2") == {"A": ("x", "y")}
    assert judged.notes == (SAMPLES_NOTE,) and judged.are_samples_chosen
    assert outputs_of(judged.unparsed, "1") == outputs_of(judged, "1")


def test_a_source_of_which_all_samples_were_judged_is_not_changed() -> None:
    items = evalset(0, 1)
    for answers in (ratings(1, column=""), [*ratings(0), *ratings(1)], ratings(1, items=0)):
        assert with_judged_samples(items, answers) is items


def test_judgments_that_are_left_out_choose_no_sample() -> None:
    items = evalset(0, 1)
    answers = [*ratings(1), *ratings(0, question="fluency")]
    asked = with_judged_samples(items, answers, questions=["quality"])
    assert outputs_of(asked, "i3") == evalset(1).items[3].outputs
    by_lee = [replace(answer, judge="Lee") for answer in ratings(0)]
    kept = with_judged_samples(
        items,
        [*[answer for answer in ratings(1) if answer.judge == "Kim"], *by_lee],
        exclusions=[Exclusion("", "slept", judge="Lee")],
    )
    assert outputs_of(kept, "i3") == evalset(1).items[3].outputs
    machine = [replace(answer, judge="model:m") for answer in ratings(0)]
    assert agree(items, [*ratings(1), *machine]) == agree(items, ratings(1))


def test_unjudged_outputs_keep_all_samples_in_an_estimate() -> None:
    labels = ratings(1, items=12)
    mixed = EvalSet([*evalset(1).items[:12], *evalset(0, 1).items[12:]])
    plain = [replace(label, extra={}) for label in labels]
    assert estimate(evalset(0, 1), labels) == estimate(mixed, plain)


def test_questions_about_different_samples_are_noted() -> None:
    answers = [*ratings(1), *ratings(0, question="fluency")]
    result = wellput.agree(evalset(0, 1), answers, "gsa", normalize="none")
    assert DIFFERENT_SAMPLES_NOTE in result.notes and SAMPLES_NOTE not in result.notes
    chosen = wellput.agree(evalset(0, 1), answers, "gsa", normalize="none", question="quality")
    assert DIFFERENT_SAMPLES_NOTE not in chosen.notes and SAMPLES_NOTE in chosen.notes


def test_vet_gives_each_judged_sample_its_own_score() -> None:
    # Of each output both samples were judged: each is a trial, and its score is not the mean of both.
    both = [*ratings(0), *ratings(1)]
    found = wellput.vet(both, "gsa", evalset=evalset(0, 1), min_items=5)
    apart = EvalSet(
        [
            item._replace(id=f"{item.id} {sample}")
            for sample in (0, 1)
            for item in evalset(sample).items
        ]
    )
    named_apart = [replace(a, item=f"{a.item} {a.sample}", extra={}) for a in both]
    expected = wellput.vet(named_apart, "gsa", evalset=apart, min_items=5)
    assert found.agreement.judge.value == pytest.approx(expected.agreement.judge.value, abs=0.02)
    assert found.agreement.judge.value > 0.9
    assert SAMPLES_NOTE in found.notes


def test_vet_measures_the_length_of_the_judged_sample() -> None:
    # The machine gives a point more for each doubling of the judged text, which is the second sample.
    judged = ["x" * 2 ** (n % 5) for n in range(40)]
    items = EvalSet([Item(str(n), {"A": ("word", text)}) for n, text in enumerate(judged)])
    texts = EvalSet([Item(str(n), {"A": text}) for n, text in enumerate(judged)])
    machine = [Judgment("model:m", str(n), "A", "q", n % 5 + 1, {"sample": "1"}) for n in range(40)]
    people = [
        Judgment(judge, str(n), "A", "q", n % 3, {"sample": "1"})
        for judge in PEOPLE
        for n in range(40)
    ]
    found = wellput.vet([*people, *machine], "model:m", evalset=items, min_items=5).biases.length
    plain = [replace(answer, extra={}) for answer in [*people, *machine]]
    assert found == wellput.vet(plain, "model:m", evalset=texts, min_items=5).biases.length


def test_a_machine_as_proxy_counts_on_the_judged_samples() -> None:
    machine = [
        replace(answer, judge="model:m")
        for answer in [*ratings(0), *ratings(1)]
        if answer.judge == "Kim"
    ]
    labels = ratings(1, items=12)
    found = wellput.estimate(evalset(0, 1), [*labels, *machine], "judge:model:m")
    # On labeled items only the machine's answer about sample 1 counts.
    counted = [a for a in machine if int(a.item[1:]) >= 12 or a.sample == "1"]
    expected = wellput.estimate(evalset(0, 1), [*labels, *counted], "judge:model:m")
    assert found.systems == expected.systems


def test_answers_about_other_samples_count_only_where_there_are_no_others() -> None:
    def answer(judge: str, item: str, sample: str) -> Judgment:
        return Judgment(judge, item, "A", "q", 1, {"sample": sample})

    labels = [answer("Kim", "1", "0"), answer("Kim", "2", "0"), answer("Kim", "3", "")]
    of_machine = [
        *(answer("m", "1", sample) for sample in "01"),
        answer("m", "2", "1"),
        *(answer("m", item, sample) for item in "34" for sample in "01"),
    ]
    kept = on_same_samples(of_machine, labels)
    assert [(a.item, a.sample) for a in kept] == [
        ("1", "0"), ("2", "1"), ("3", "0"), ("3", "1"), ("4", "0"), ("4", "1"),
    ]  # fmt: skip


def test_a_file_of_scores_has_no_samples(tmp_path: Path) -> None:
    path = tmp_path / "comet.csv"
    rows = [f"{s},i{n},{n_right(n, s, 0)}" for s in SYSTEMS for n in range(N_ITEMS)]
    path.write_text("\n".join(["system,item,score", *rows]) + "\n")
    note = (
        "comet: the file has one score for each output, not for each sample, so this score is compared "
        "with the judgments of single samples."
    )
    result = wellput.agree(evalset(0, 1), ratings(1), [str(path), "gsa"])
    assert note in result.notes
    assert note in wellput.vet(ratings(1), str(path), evalset=evalset(0, 1), min_items=5).notes
    assert note in wellput.estimate(evalset(0, 1), ratings(1), str(path)).notes
    for items, answers in ((evalset(0, 1), ratings(1, column="")), (evalset(1), ratings(0))):
        assert note not in wellput.agree(items, answers, str(path)).notes


def test_a_report_compares_the_judged_samples_and_scores_systems_on_all() -> None:
    options = AgreementOptions(normalization="none", uncertainty=Uncertainty(n_resamples=50))
    of_samples, of_texts = (
        small_evaluation(items, answers, metrics="gsa", options=options)
        for items, answers in (
            (evalset(0, 1), ratings(1)),
            (evalset(1), ratings(1, column="")),
        )
    )
    assert of_samples.agreement is not None and of_texts.agreement is not None
    assert of_samples.agreement.agreement == of_texts.agreement.agreement
    assert of_samples.agreement.orders == of_texts.agreement.orders
    assert of_samples.people is not None and of_texts.people is not None
    assert of_samples.people.lines == of_texts.people.lines
    assert SAMPLES_NOTE in of_samples.agreement.notes
    # A point of the chart has the score of the judged sample.
    of_outputs = of_samples.output_tables["gsa"].scores
    assert (of_outputs == of_texts.output_tables["gsa"].scores).all()
    systems = {score.system: score.score for score in of_samples.result.scores}
    expected = wellput.score(evalset(0, 1), "gsa")
    assert systems == {score.system: score.score for score in expected.scores}


def report(items: EvalSet, judgments: list[Judgment]) -> object:
    return small_evaluation(items, judgments, metrics="gsa")


@pytest.mark.parametrize("compare", [agree, fit, vet, estimate, rank, report])
def test_a_sample_that_the_output_does_not_have_is_refused(compare: Command) -> None:
    answers = [*ratings(0), *ratings(1)]
    place = next(n for n, a in enumerate(answers) if (a.item, a.system) == ("i3", "B"))
    answers[place] = replace(answers[place], extra={"sample": "7"})
    with pytest.raises(InputError) as raised:
        compare(evalset(0, 1), answers)
    assert str(raised.value).splitlines() == [
        "The judgments name samples that the evalset does not have:",
        "  sample 7 of system 'B', item 'i3' (1 judgment): this output has the samples 0 and 1",
        "Samples are counted from 0. Correct the column sample, or leave such judgments out: "
        "exclude='system=B,item=i3: no such sample'.",
    ]
    rule = "system=B,item=i3: no such sample"
    assert wellput.agree(evalset(0, 1), answers, "gsa", exclude=rule).agreement[0].n == 95


def test_the_refusal_says_what_is_probably_wrong() -> None:
    with pytest.raises(
        InputError, match=r"from 0\. If the judgments count them from 1, subtract 1 from each\."
    ):
        agree(evalset(0, 1), [*ratings(0, column="1"), *ratings(1, column="2")])
    with pytest.raises(
        InputError, match=r"a single text, sample 0\n(.*\n)*.*remove the column sample"
    ):
        agree(evalset(1), ratings(1))
    for wrong in ("x", "-1", "²", "9" * 5000):
        with pytest.raises(InputError, match=f"sample {wrong} of system 'A', item 'i0'"):
            agree(evalset(0, 1), ratings(1, column=wrong))


@pytest.mark.parametrize(("metric_items", "samples"), [("all", (0, 1)), ("judged", (1,))])
def test_all_outputs_of_systems_means_all_samples(
    metric_items: Literal["all", "judged"], samples: tuple[int, ...]
) -> None:
    result = wellput.agree(
        evalset(0, 1), ratings(1), "gsa", level="system", metric_items=metric_items
    )
    (order,) = result.orders
    expected = wellput.score(evalset(*samples), "gsa")["A", "gsa"].score
    assert order.scores[order.systems.index("A")] == pytest.approx(expected)


def test_notes_parser_and_advice_are_those_of_the_source() -> None:
    class Parsed(EvalSet):
        parser = "english"
        advice = "Add outputs."
        notes = ("Some references are not English.",)

    judged = JudgedSamples(Parsed(evalset(0, 1).items), {"i0": {"A": [1]}})
    assert (judged.parser, judged.advice) == ("english", "Add outputs.")
    assert judged.notes == ("Some references are not English.", SAMPLES_NOTE)


def test_a_single_text_is_sample_0_whether_its_judgments_say_so_or_not() -> None:
    """As people's file names sample 0 of every output, and a machine's file names none."""

    def judged(judge: str, item: int, system: str, value: float, sample: str) -> Judgment:
        return Judgment(judge, str(item), system, "q", value, {"sample": sample})

    def answers(machines_sample: str) -> list[Judgment]:
        people = [
            judged(judge, item, system, item % 4 + n, "0")
            for item in range(20)
            for system in "AB"
            for n, judge in enumerate(("Kim", "Lee", "Mia"))
        ]
        machine = [
            judged("model:m", item, system, item % 4 + 1.0, machines_sample)
            for item in range(20)
            for system in "AB"
        ]
        return people + machine

    unsaid, said = (wellput.vet(answers(sample), judge="model:m").to_dict() for sample in ("", "0"))
    assert unsaid == said
