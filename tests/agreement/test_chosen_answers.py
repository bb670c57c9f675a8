"""Judgments that are labels, and judges who are machines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import wellput
from wellput.agreement.judges import summarize_labels
from wellput.agreement.panel import Normalization
from wellput.core.errors import InputError
from wellput.core.judgment import Judgment, Preference

SYSTEMS = ("A", "B", "C", "D")
ITEMS = tuple(str(n) for n in range(8))
EVALSET = wellput.EvalSet.of(
    {
        system: [f"{'word ' * (n + 2 + place)}end" for n in range(8)]
        for place, system in enumerate(SYSTEMS)
    },
    [f"{'word ' * (n + 3)}end" for n in range(8)],
    ids=ITEMS,
)
KIM = ["a", "a", "b", "c"] * 3
LEE = ["a", "b", "b", "c"] * 3


def tones() -> list[Judgment]:
    """12 outputs, labeled by two judges who differ in 3 of them."""
    return [
        Judgment(judge, ITEMS[n % 6], SYSTEMS[n // 6], "tone", label)
        for judge, labels in (("Kim", KIM), ("Lee", LEE))
        for n, label in enumerate(labels)
    ]


def ratings(judge: str, noise: int = 0) -> list[Judgment]:
    return [
        Judgment(judge, item, system, "quality", 2 * place + (int(item) * 3 + noise * place) % 4)
        for place, system in enumerate(SYSTEMS)
        for item in ITEMS
    ]


PEOPLE = [*ratings("Kim"), *ratings("Lee", 1), *ratings("Ada", 2)]


def test_agreement_on_labels_is_nominal() -> None:
    """Values: 9 a, 9 b, 6 c. Observed disagreement 3 of 12; expected 1 - (9·8 + 9·8 + 6·5) / (24·23)
    for alpha, 1 - (6·3 + 3·6 + 3·3) / 144 for kappa."""
    found = summarize_labels("tone", tones())
    assert found.alpha == pytest.approx(1 - 0.25 / (1 - 174 / 552))
    assert found.kappa == pytest.approx(1 - 0.25 / (1 - 45 / 144))
    assert (found.n_judges, found.n_trials, found.values, found.scale) == (
        2,
        12,
        "labels",
        "nominal",
    )


def test_samples_of_an_output_are_trials_of_their_own() -> None:
    answers = [
        Judgment(judge, "1", "A", "tone", label, {"sample": str(n)})
        for judge, labels in (("Kim", KIM), ("Lee", LEE))
        for n, label in enumerate(labels)
    ]
    assert summarize_labels("tone", answers).n_trials == 12


def test_rank_refuses_labels_and_goes_on_with_other_questions() -> None:
    found = wellput.rank([*PEOPLE, *tones()], permutations=10)
    assert [one.question for one in found.rankings] == ["quality"]
    assert "Labels have no order" in found.refused["tone"]
    with pytest.raises(InputError, match="tone: its values are labels \\('a', 'b', 'c'\\)"):
        wellput.rank(tones())


def test_agree_says_how_far_judges_agree_on_labels_and_goes_on() -> None:
    found = wellput.agree(EVALSET, [*PEOPLE, *tones()], "chrf")
    assert {row.question for row in found.agreement} == {"quality"}
    assert [(row.question, row.scale) for row in found.judges] == [
        ("quality", "interval"),
        ("tone", "nominal"),
    ]
    assert "tone: its values are labels ('a', 'b', 'c')" in str(found)
    with pytest.raises(InputError, match=r"2 judges agree with each other: α 0.63, κ 0.64"):
        wellput.agree(EVALSET, [*PEOPLE, *tones()], "chrf", question="tone")
    with pytest.raises(InputError, match="Labels have no order"):
        wellput.fit(EVALSET, [*PEOPLE, *tones()], question="tone", predictors="chrf")


def test_one_text_among_numbers_is_shown_with_its_place() -> None:
    answers = [*PEOPLE[:-1], Judgment("Ada", "7", "D", "quality", "5o")]
    with pytest.raises(
        InputError,
        match="1 of its 96 values is not a number; the first is '5o' \\(judge Ada, item 7, system D\\)",
    ):
        wellput.rank(answers)


def test_yes_and_no_in_memory_are_numbers() -> None:
    answers = [
        Judgment(one.judge, one.item, one.system, "good", "Yes" if one.number > 4 else "no")
        for one in PEOPLE
    ]
    numbers = [
        Judgment(one.judge, one.item, one.system, "good", float(one.number > 4)) for one in PEOPLE
    ]
    assert (
        wellput.rank(answers, permutations=10).to_dict()
        == wellput.rank(numbers, permutations=10).to_dict()
    )


MACHINE = [
    Judgment("model:big", one.item, one.system, one.question, 9 - one.number)
    for one in ratings("Kim")
]


def test_agree_leaves_machines_out_and_says_so() -> None:
    people = wellput.agree(EVALSET, PEOPLE, "chrf")
    found = wellput.agree(EVALSET, [*PEOPLE, *MACHINE], "chrf")
    assert found.agreement == people.agreement
    assert found.judges == people.judges
    assert [(row["judge"], row["n"]) for row in found.excluded] == [("model:big", 32)]
    assert "model:big on quality (32 ratings): a machine, not a person" in str(found)
    everyone = wellput.agree(EVALSET, [*PEOPLE, *MACHINE], "chrf", judges="all")
    assert (everyone.judges[0].n_judges, everyone.excluded) == (4, ())
    alone = wellput.agree(EVALSET, [*PEOPLE, *MACHINE], "chrf", judges="model:big")
    assert alone.judges[0].n_judges == 1
    with pytest.raises(InputError, match="All judges are machines"):
        wellput.agree(EVALSET, MACHINE, "chrf")


def test_a_judge_with_the_name_of_a_model_is_pointed_out() -> None:
    """Without `model:` in its name it counts as a person."""
    named = [replace(one, judge="gpt-4o") for one in MACHINE]
    said = (
        "gpt-4o counts as a person, but has the name of a model: if it is no person, call it model:"
    )
    assert said in str(wellput.agree(EVALSET, [*PEOPLE, *named], "chrf"))
    assert said in str(wellput.rank([*PEOPLE, *named], permutations=10))
    assert "name of a model" not in str(wellput.rank([*PEOPLE, *MACHINE], permutations=10))
    chosen = wellput.rank([*PEOPLE, *named], judges="all", permutations=10)
    assert "name of a model" not in str(chosen)
    without = wellput.rank([*PEOPLE, *named], exclude="judge=gpt-4o: a machine", permutations=10)
    assert "name of a model" not in str(without)
    more = [replace(one, judge="claude-3") for one in named]
    both = wellput.rank([*PEOPLE, *named, *more], permutations=10)
    assert (
        "gpt-4o, claude-3 count as people, but have names of models: if they are no people, give each "
        "the beginning model: (model:gpt-4o), or" in str(both)
    )


def test_names_that_look_alike_are_pointed_out() -> None:
    """A space behind a name, or another letter case, makes two judges of one."""
    odd = [replace(one, judge="Kim ") if one.system == "A" else one for one in PEOPLE]
    said = (
        "Names that differ only in spaces, letter case or encoding count as different: judge 'Kim ' "
        "and 'Kim'. If they mean the same, write them in the same way."
    )
    assert said in str(wellput.rank(odd, permutations=10))
    assert said in wellput.agree(EVALSET, odd, "chrf").notes
    assert (
        said
        in wellput.fit(EVALSET, odd, question="quality", predictors="chrf", no_probe=True).notes
    )
    assert said in wellput.vet(odd, "Ada", min_items=2).notes
    assert said in wellput.estimate(EVALSET, odd, "chrf").notes
    assert "count as different" not in str(wellput.rank(PEOPLE, permutations=10))
    decomposed = [
        replace(one, judge="Jose\u0301" if one.system == "A" else "Jos\u00e9", system=system)
        for one in ratings("Kim")
        for system in [one.system.lower() if one.item == "0" else one.system]
    ]
    shown = "\n".join(wellput.rank([*PEOPLE, *decomposed], permutations=10).notes)
    assert "judge 'Jose\u0301' and 'Jos\u00e9'; system 'A' and 'a'; system 'B' and 'b'; " in shown
    assert shown.count("system") == 3
    assert "; …. If" in shown


def test_a_report_leaves_machines_out_and_says_so() -> None:
    page = wellput.report(EVALSET, [*PEOPLE, *MACHINE, *tones()], metrics="chrf").html
    assert "Left out: judge model:big on quality (32 ratings): a machine, not a person." in page
    assert "tone: its values are labels" in page


def test_fit_leaves_machines_out_and_says_so() -> None:
    people = wellput.fit(EVALSET, PEOPLE, question="quality", predictors="chrf,length")
    found = wellput.fit(EVALSET, [*PEOPLE, *MACHINE], question="quality", predictors="chrf,length")
    assert found.model.card["coefficients"] == people.model.card["coefficients"]
    assert "model:big" in str(found)
    assert "a machine, not a person" in str(found)


def liked(judge: str, noise: int) -> list[Judgment]:
    return [
        Judgment(one.judge, one.item, one.system, "liked", "yes" if one.number > 3 else "no")
        for one in ratings(judge, noise)
    ]


LIKED = [*liked("Kim", 0), *liked("Lee", 1)]
ALWAYS = [Judgment("Ada", item, system, "liked", "yes") for item in ITEMS for system in SYSTEMS]


@pytest.mark.parametrize("normalize", [None, "z", "unit", "rank"])
def test_yes_and_no_are_never_normalized(normalize: Normalization | None) -> None:
    """Ada, who always says yes, stays in: z would leave her out."""
    found = wellput.agree(EVALSET, [*PEOPLE, *LIKED, *ALWAYS], "chrf", normalize=normalize)
    assert found.normalization == {"quality": normalize or "z", "liked": "none"}
    assert [row for row in found.excluded if row["question"] == "liked"] == []
    assert (
        "liked: yes and no count 1 and 0 for every judge; they are never normalized." in found.notes
    )
    assert f"quality {normalize or 'z'}, liked as given" in str(found)
    plain = wellput.agree(EVALSET, [*LIKED, *ALWAYS], "chrf", normalize="none")
    assert [row.value for row in found.agreement if row.question == "liked"] == [
        row.value for row in plain.agreement
    ]


def test_a_fit_to_yes_and_no_is_on_their_scale() -> None:
    found = wellput.fit(EVALSET, [*LIKED, *ALWAYS], question="liked", predictors="chrf")
    assert found.model.card["normalization"] == "none"
    assert found.model.card["judges"] == 3


def test_judgments_of_two_samples_are_not_repeated() -> None:
    twice = [
        Judgment(one.judge, one.item, one.system, one.question, one.value, {"sample": str(sample)})
        for one in PEOPLE
        for sample in (0, 1)
    ]
    assert "had judged the same output before" not in str(wellput.rank(twice, permutations=10))
    unnamed = [Judgment(one.judge, one.item, one.system, one.question, one.value) for one in twice]
    assert "had judged the same output before" in str(wellput.rank(unnamed, permutations=10))


def test_a_system_that_always_gets_yes_has_a_rate_with_an_interval_within_0_and_1() -> None:
    """Of 20 items with one answer each, all yes for A: the interval is not wider than the exact one of
    half as many items, and has a width."""
    answers = [
        Judgment(f"J{n}", str(n), system, "liked", yes)
        for n in range(20)
        for system, yes in (("A", 1.0), ("B", float(n % 2)), ("C", float(n % 4 > 0)))
    ]
    ranking = wellput.rank(answers, permutations=10).rankings[0]
    assert ranking.model == "rate"
    first = ranking.systems[0]
    assert first.system == "A"
    assert (first.estimate, first.high) == pytest.approx((1.0, 1.0), abs=1e-12)
    assert first.low is not None and 0.6 < first.low < 0.95
    for row in ranking.systems:
        assert row.low is not None and row.high is not None
        assert 0 <= row.low < row.estimate <= row.high <= 1
    for difference in ranking.differences:
        assert difference.low is not None and difference.high is not None
        assert -1 <= difference.low < difference.high <= 1
    assert "share of yes" in str(wellput.rank(answers, permutations=10))


def test_all_yes_says_what_that_shows() -> None:
    answers = [
        Judgment("Kim", str(n), system, "liked", "yes") for n in range(10) for system in "AB"
    ]
    with pytest.raises(InputError, match=r"share of yes is 100%; .* may lie between 69% and 100%"):
        wellput.rank(answers)


def written(folder: Path, **files: list[Judgment]) -> Path:
    """A folder with a file for each keyword."""
    folder.mkdir()
    for name, answers in files.items():
        wellput.write_judgments(answers, folder / f"{name}.csv")
    return folder


def of_items(
    numbers: str, judges: str = "Kim Lee Ada", question: str = "quality"
) -> list[Judgment]:
    return [
        replace(one, question=question)
        for one in PEOPLE
        if one.item in numbers and one.judge in judges
    ]


SHARED = "Kim, Lee, Ada have answers in several files"
COMMANDS: dict[str, Callable[[Path], object]] = {
    "rank": lambda folder: wellput.rank(folder, permutations=10),
    "agree": lambda folder: wellput.agree(EVALSET, folder, "chrf"),
    "fit": lambda folder: wellput.fit(
        EVALSET, folder, question="quality", predictors="chrf", no_probe=True
    ),
    "vet": lambda folder: wellput.vet(folder, "model:big", min_items=2),
    "estimate": lambda folder: wellput.estimate(EVALSET, folder, "chrf"),
    "power": lambda folder: wellput.power(pilot=folder, items=20, simulations=100),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_people_with_answers_in_several_files_are_pointed_out(command: str, tmp_path: Path) -> None:
    """Two studies call their judges alike, so one name may stand for two people."""
    shared = written(
        tmp_path / "shared", spring=of_items("0123"), fall=of_items("4567"), machine=MACHINE
    )
    said = str(COMMANDS[command](shared))
    assert (
        f"{SHARED} ({shared}/fall.csv, {shared}/spring.csv), and each counts as one person" in said
    )
    assert "write different names in the files" in said
    one = written(tmp_path / "one", people=PEOPLE, machine=MACHINE)
    assert "several files" not in str(COMMANDS[command](one))


def test_judges_in_several_files_count_as_the_same_people(tmp_path: Path) -> None:
    """The answers of one study may be in several files: only the note is new."""
    folder = written(tmp_path / "parts", a=of_items("0123"), b=of_items("4567"))
    found = wellput.rank(folder, permutations=10)
    assert [note for note in found.notes if SHARED in note] == list(found.to_dict()["notes"])
    together = wellput.rank([*of_items("0123"), *of_items("4567")], permutations=10)
    assert replace(found, notes=()).to_dict() == replace(together, notes=()).to_dict()
    read = wellput.rank(wellput.read_judgments(folder), permutations=10)
    assert read.notes == found.notes
    without = wellput.rank(folder, exclude=["judge=Kim: a", "judge=Lee: b"], permutations=10)
    assert without.notes[0].startswith("Ada has answers in several files")


def test_files_of_different_judges_questions_and_machines_are_not_pointed_out(
    tmp_path: Path,
) -> None:
    by_judge = {name: of_items("01234567", name) for name in ("Kim", "Lee", "Ada")}
    by_question = {q: of_items("01234567", question=q) for q in ("quality", "fluency")}
    machines = {"one": MACHINE[:16], "two": MACHINE[16:], "people": PEOPLE}
    for name, files in {"judge": by_judge, "question": by_question, "machine": machines}.items():
        folder = written(tmp_path / name, **files)
        found = wellput.rank(folder, judges="all", permutations=10)
        assert not [note for note in found.notes if "several files" in note]


def test_pairwise_choices_in_several_files_are_pointed_out(tmp_path: Path) -> None:
    choices = [
        Preference(
            one.judge,
            one.item,
            "A",
            "B",
            "better",
            "a" if (int(one.item) + len(one.judge) + place) % 3 else "b",
        )
        for place, one in enumerate(PEOPLE)
        if one.system == "A"
    ]
    wellput.write_judgments(choices[::2], tmp_path / "a.csv")
    wellput.write_judgments(choices[1::2], tmp_path / "b.csv")
    assert SHARED in str(wellput.rank(tmp_path, permutations=10))
