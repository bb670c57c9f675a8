"""The alternative annotator test of `wellput vet` beside the figures that the authors of the test print, on five data
sets with annotations of people and of language models.

    python -m benchmarks vet
"""

from __future__ import annotations

import sys

import wellput
from benchmarks.agreement.alternative_annotators import expected, judge_of, judgments
from benchmarks.catalog import ALT_TEST_SETS
from benchmarks.pages import write_page
from wellput.agreement.machines.vetting import VetResult
from wellput.core.estimates import Estimate


def shown(estimate: Estimate | None, *, sign: bool = False) -> str:
    if estimate is None or estimate.value != estimate.value:
        return "–"
    return f"{estimate.value:{'+' if sign else ''}.2f}".replace("-", "−")


def order(result: VetResult) -> str:
    """How many pairs of systems the model orders as people do; – if people find no difference."""
    if result.pairs is None or not result.pairs.pairs:
        return "–"
    return f"{result.pairs.right} of {result.pairs.pairs}"


def page() -> tuple[str, int]:
    """The page, and the number of figures that differ from the authors'."""
    answers = {name: judgments(name) for name in ALT_TEST_SETS}
    rows, wrong, n_passed = [], 0, 0
    for row in expected():
        found = wellput.vet(
            answers[row.dataset],
            judge_of(row.model),
            epsilon=float(row.epsilon),
            scoring="accuracy" if row.scoring == "accuracy" else "neg_rmse",
        )
        test = found.alt_test
        own = (f"{test.winning_rate:.2f}", f"{test.advantage_probability:.2f}")
        theirs = (row.winning_rate, row.advantage_probability)
        wrong += sum(a != b for a, b in zip(own, theirs, strict=True))
        n_passed += bool(test.passed)
        agreement = found.agreement
        rows.append(
            f"| {row.dataset} | {row.model} | {row.epsilon} | {own[0]} | {theirs[0]} | {own[1]} | {theirs[1]} | "
            f"{'yes' if test.passed else 'no'} | {f'{test.beaten_rate:.2f}' if test.is_clustered else '–'} | {shown(agreement.people)} | {shown(agreement.judge)} | "
            f"{shown(found.biases.severity, sign=True)} | {order(found)} |"
        )
    figures = 2 * len(rows)
    text = f"""# May a language model stand in for people?

In {n_passed} of {len(rows)} comparisons a language model passes the test that asks this. On the data of the authors of the test, `wellput vet` gives the winning rates and advantage probabilities that they print: {figures - wrong} of {figures} are equal, to two decimals.

It is the alternative annotator test of Calderon, Reichart & Dror (2025). The columns:

- **data**: *wax*: the relation of two associated words (labels); *mtbench*: the better of two answers to a question; *summeval*: ratings of summaries; *cebab_stars*: stars of restaurant reviews; *lesion*: ratings of features of skin lesions in pictures.
- **ε**: an allowance, because the model costs less than people. Each person in turn is left out. The model beats this person if the share of answers where the person is nearer to the other people, minus the share where the model is nearer, is significantly below ε. ([`wellput vet`](../commands/vet.md) explains the test.)
- **winning rate**: the share of people whom the model beats; the test is **passed** if it is half or more.
- **advantage**: the advantage probability, how often the model's answer is at least as near to the other people's answers as the answer of the person who is left out.
- **whole items**: the winning rate by the stricter test of `wellput vet`, which takes all answers about one item as dependent; the published test takes them as independent. –: each item has only one question and one output, so the two tests are the same.
- **people**, **judge**: how far a person, and the model, agree with the other people: the share of equal answers for labels (wax) and choices (mtbench), Pearson's r within questions for ratings.
- **severity**: the model's rating minus people's mean, in points (–: there are no ratings, or the questions have different scales). **order**: of the pairs of systems between which people find a significant difference, the number of pairs that the model orders in the same way.

| data | model | ε | winning rate | the authors' winning rate | advantage | the authors' advantage | passed | whole items | people | judge | severity | order |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
{chr(10).join(rows)}

A model that agrees less with people than they do with each other may pass the test: it counts how often the model is nearer to the other people, not by how much (lesion, gemini_pro). And a model that orders nearly all systems as people do may fail the test (summeval, gpt-4o). So `wellput vet` prints all three: the test, the agreement and the order.
"""
    return text, wrong


def main() -> None:
    text, wrong = page()
    write_page("vet", text)
    if wrong:
        sys.exit(f"{wrong} figures differ from those of the authors.")


if __name__ == "__main__":
    main()
