"""Small evaluations for the tests of the report."""

from __future__ import annotations

from pathlib import Path

from wellput.agreement.analysis import AgreementOptions
from wellput.agreement.correlations import Uncertainty
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment, Preference
from wellput.core.tree import Tree, Word
from wellput.reporting.html.evaluation import Evaluation, evaluate_for_page
from wellput.reporting.html.page import report_page

SCRIPT = "<script>document.title = 'owned'</script>"
HOSTILE = f"{SCRIPT} <img src=x onerror=document.title='owned'> \u202eright to left {'w' * 10_000}"

# "the cat sat down": the → cat → sat ← down
TREE = Tree((Word("the", 2), Word("cat", 3), Word("sat", 0), Word("down", 3)))


def small_evalset(n: int = 6) -> EvalSet:
    """Three systems: A is the reference, B moves a word, C says something else."""
    items = [
        Item(
            f"i{number}",
            {"A": "the cat sat down", "B": "down the cat sat", "C": f"a dog {'ran ' * number}off"},
            ("the cat sat down", "the cat was sitting"),
            (TREE, None),
            source=f"source {number}",
        )
        for number in range(1, n + 1)
    ]
    return EvalSet(items)


def small_judgments() -> list[Judgment]:
    """Two judges: A best, C worst, with a little noise that differs between items."""
    values = {"A": 5.0, "B": 3.0, "C": 1.0}
    return [
        Judgment(judge, f"i{number}", system, "quality", value + (number + place) % 3 / 8)
        for place, judge in enumerate(("J1", "J2"))
        for number in range(1, 7)
        for system, value in values.items()
    ]


def small_evaluation(
    evalset: EvalSet | None = None,
    answers: list[Judgment] | list[Preference] | None = None,
    *,
    metrics: str = "gsa,gta,ter,random",
    options: AgreementOptions | None = None,
    shown: int = 100,
    title: str = "A small evaluation",
) -> Evaluation:
    return evaluate_for_page(
        evalset or small_evalset(),
        small_judgments() if answers is None else answers,
        [metrics],
        title=title,
        baseline=None,
        max_shown=shown,
        options=options or AgreementOptions(uncertainty=Uncertainty(n_resamples=50)),
    )


def write_page(evaluation: Evaluation, folder: Path, library: str) -> Path:
    file = folder / "report.html"
    file.write_bytes(report_page(evaluation, library).encode(errors="backslashreplace"))
    return file


def ladder_evalset(n_systems: int) -> EvalSet:
    """Six items of twenty words. The system s01 gives the reference, each further one has one word
    more wrong; but the last gives the reference too."""
    names = ladder_systems(n_systems)
    items = []
    for number in range(1, 7):
        words = [f"{letter}{number}" for letter in "abcdefghijklmnopqrst"]
        outputs = {
            name: " ".join(["wrong"] * place + words[place:]) for place, name in enumerate(names)
        }
        outputs[names[-1]] = " ".join(words)
        items.append(Item(f"i{number}", outputs, (" ".join(words),)))
    return EvalSet(items)


def ladder_judgments(n_systems: int, question: str = "quality") -> list[Judgment]:
    """Eight judges who rate the systems from s01 down to the last, which fools metrics."""
    return [
        Judgment(
            f"J{who}",
            f"i{number}",
            name,
            question,
            50.0 - 2 * place + (3 * number + 5 * who + 7 * place + who * place) % 5 / 10,
        )
        for who in range(1, 9)
        for number in range(1, 7)
        for place, name in enumerate(ladder_systems(n_systems))
    ]


def ladder_systems(n_systems: int) -> list[str]:
    return [f"s{place:02d}" for place in range(1, n_systems + 1)]
