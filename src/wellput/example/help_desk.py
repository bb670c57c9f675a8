"""An example of a language-model product: the help desk of a ferry line. `python -m
wellput.example.help_desk` writes its three files into the current folder.

The questions and answers in `help_desk.tsv` are invented. The three assistants, the grader and the
users are simulated. The assistant `brief` answers with the gold answer only, `careful` with a
sentence, `chatty` with a sentence between polite phrases; each is wrong about some questions. The
grader stands for a language model that grades answers; it likes long answers too much. Users like
correct answers in a sentence.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np

MODELS = ("brief", "careful", "chatty")
"""The systems: three assistants."""
WRONG_SHARE = {"brief": 0.15, "careful": 0.08, "chatty": 0.3}
"""The probability that an answer is wrong."""
GREETING = "Thank you for reaching out!"
GOODBYE = "Is there anything else that I can help you with today?"
LIKED_SHARE = {"brief": 0.55, "careful": 0.85, "chatty": 0.6}
"""How often users like a correct answer."""
LIKED_WRONG_SHARE = 0.1
"""How often users like a wrong answer."""
RIGHT_GRADE, WRONG_GRADE = 3.8, 2.4
"""The mean grades (on a scale from 1 to 5) of right and of wrong answers, without the bonus."""
GRADE_SD = 0.6
GRADE_BONUS = {"brief": -0.6, "careful": 0.0, "chatty": 0.7}
"""What the grader adds to the grades of an assistant because of its style."""
N_USERS = 8
USERS_PER_QUESTION = 3
N_RATED_QUESTIONS = 24
"""The number of questions whose answers users rate."""
SEED = 12


def answer_rows() -> list[dict[str, str]]:
    """The questions with the answers of the three assistants, as a team might have them in a
    spreadsheet."""
    is_wrong = _wrong_answers()
    return [
        {
            "prompt_id": f"q{place + 1:02}",
            "prompt": row["prompt"],
            "gold": row["gold"],
            **{model: _answer(model, row, is_wrong[model][place]) for model in MODELS},
            "domain": row["domain"],
            "article": row["article"],
        }
        for place, row in enumerate(_questions())
    ]


def help_desk_scores() -> Iterator[dict[str, str]]:
    """The rows of `scores.csv`: for each answer `correct` (1 or 0) and `grader` (a grade from 1 to
    5)."""
    rng = np.random.default_rng(SEED + 1)
    for model, are_wrong in _wrong_answers().items():
        for place, is_wrong in enumerate(are_wrong):
            mean_grade = (WRONG_GRADE if is_wrong else RIGHT_GRADE) + GRADE_BONUS[model]
            grade = mean_grade + rng.normal(0, GRADE_SD)
            answer = {"system": model, "item": f"q{place + 1:02}"}
            yield answer | {"metric": "correct", "score": "0" if is_wrong else "1"}
            yield answer | {"metric": "grader", "score": f"{np.clip(grade, 1, 5):.1f}"}


def thumb_rows() -> Iterator[dict[str, str]]:
    """The rows of `thumbs.csv`: thumbs up or down from simulated users. `USERS_PER_QUESTION` users rate
    the answers to each of `N_RATED_QUESTIONS` questions."""
    rng = np.random.default_rng(SEED + 2)
    are_wrong = _wrong_answers()
    for place in sorted(rng.choice(len(_questions()), N_RATED_QUESTIONS, replace=False).tolist()):
        for user in rng.choice(N_USERS, USERS_PER_QUESTION, replace=False):
            for model in MODELS:
                is_wrong = are_wrong[model][place]
                share = LIKED_WRONG_SHARE if is_wrong else LIKED_SHARE[model]
                yield {
                    "judge": f"simulated {user + 1}",
                    "item": f"q{place + 1:02}",
                    "system": model,
                    "question": "helpful",
                    "value": "up" if rng.random() < share else "down",
                }


def write_example(folder: Path) -> list[Path]:
    """Writes the three files and returns their paths."""
    tables = {
        "answers.csv": answer_rows(),
        "scores.csv": list(help_desk_scores()),
        "thumbs.csv": list(thumb_rows()),
    }
    for name, rows in tables.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return [folder / name for name in tables]


def _questions() -> list[dict[str, str]]:
    with (files("wellput.example") / "help_desk.tsv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


def _wrong_answers() -> dict[str, Sequence[bool]]:
    """For each assistant, whether its answer to each question is wrong."""
    rng = np.random.default_rng(SEED)
    n = len(_questions())
    return {model: (rng.random(n) < share).tolist() for model, share in WRONG_SHARE.items()}


def _answer(model: str, row: dict[str, str], is_wrong: bool) -> str:
    if model == "brief":
        return row["wrong" if is_wrong else "gold"]
    sentence = row["wrong_sentence" if is_wrong else "sentence"]
    return sentence if model == "careful" else f"{GREETING} {sentence} {GOODBYE}"


if __name__ == "__main__":
    for path in write_example(Path()):
        print(path)
