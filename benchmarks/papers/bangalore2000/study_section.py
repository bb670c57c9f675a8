"""The section on the study of section 4.1 with simulated judges."""

from __future__ import annotations

import numpy as np
from scipy.stats import t as student

from benchmarks.papers.bangalore2000.simulated_study import (
    PREDICTORS,
    PRINTED,
    TABLE_3,
    SimulatedStudy,
)
from benchmarks.papers.wording import listed, p_text

OPTIONS = ":tokenize=none,lowercase=true"
PAPER_R = {
    "understandability": {"ssa": 0.08, "gsa": 0.23, "sta": 0.51, "gta": 0.48},
    "quality": {"ssa": 0.16, "gsa": 0.33, "sta": 0.45, "gta": 0.42},
}
PAPER_TABLE_3 = {
    "understandability": (0.02, 0.02, 0.36, 0.35, 0.48, 0.38, 0.40, 0.51),
    "quality": (0.00, 0.05, 0.34, 0.35, 0.47, 0.34, 0.42, 0.53),
}
PAPER_TABLE_3_P = {
    "understandability": (0.571, 0.584, 0.003, 0.003, 0.001, 0.008, 0.006, 0.003),
    "quality": (0.953, 0.327, 0.003, 0.003, 0.002, 0.015, 0.006, 0.002),
}


def section(study: SimulatedStudy) -> str:
    n = study.n
    lines = [
        f"| {question} | {metric} | {PAPER_R[question][metric]:.2f} | {value:.2f} | {_p(value, n)} |"
        for (question, metric), (value, *_) in study.correlations.items()
    ]
    models = []
    for place, predictors in enumerate(TABLE_3):
        cells = []
        for question in PRINTED:
            found = study.models[predictors, question]
            cells += [
                f"{PAPER_TABLE_3[question][place]:.2f}",
                p_text(PAPER_TABLE_3_P[question][place]),
                f"{found.r_squared:.2f}",
                p_text(found.f_p_value),
            ]
        named = " + ".join(predictors).replace("ssa.substitutions", "S").replace("gsa.moves", "M")
        models.append(f"| {named} | {' | '.join(cells)} |")
    full = []
    for question, (coefficients, _) in PRINTED.items():
        found = study.models[PREDICTORS, question]
        pairs = zip(coefficients, found.coefficients, found.standard_errors, strict=True)
        cells = [f"{a:+.3f} / {b:+.3f} ± {e:.3f}".replace("-", "−") for a, b, e in pairs]
        full.append(f"| {question} | {' | '.join(cells)} | {found.f:.2f} |")
    return f"""## Section 4.1 and Table 3, with simulated judges

**The judges in this section are simulated.** This section only shows that the study and its analysis work as the paper describes them; it says nothing about people.
{n} variants of 6 test sentences, three to five of each, were made by exchanging words and by random orders in which each phrase stays together. {n - 12} of them were chosen so that `sta` goes from
high to low; the other 12 are the variants whose `sta` and `ssa` differ most, in both directions, because the paper's variants, too, were made to
contrast the metrics. S, the number of substitutions, is {study.substitutions.min():.0f} to {study.substitutions.max():.0f}, {study.substitutions.mean():.2f} on average (the paper: 0 to 10, 1.583).

The study is made in the same way as for people. A page of the study shows the two sentences before the judged one (in the paper, a short paragraph) and all variants of a sentence, with the
paper's two questions and the words of its scales. Ten simulated judges open their invitations and rate each variant from 1 to 7:

```text
$ wellput study create variants.jsonl --design rating --questions understandability,quality --layout page --judges 10 --per-item 10 -o study.db
$ wellput study export study.db -o judgments.csv
$ wellput agree variants.jsonl judgments.csv -m ssa{OPTIONS} -m gsa{OPTIONS} -m sta{OPTIONS} -m gta{OPTIONS}
$ wellput fit variants.jsonl judgments.csv --question understandability --no-rescale --predictors sta{OPTIONS} \\
    --predictors ssa{OPTIONS}.substitutions --predictors length:tokenize=none -o understandability.json
```

`python -m benchmarks.papers.bangalore2000.files FOLDER` writes `variants.jsonl` and the simulated judges' `judgments.csv`. With people, `wellput study invite`
and `wellput study serve` come between the first command and the second. The last command, with `--question quality`, also makes `quality.json`.

A simulated rating is the sum of the prediction by the regression that the paper prints, a deviation of the variant (so large that the regression explains 60% of the variance), the
judge's own level, and noise. The two questions correlate {study.between_questions:.2f} over the variants (the paper: .94).

The table has Pearson's correlations with ratings normalized per judge; p treats variants as independent, as the paper does:

| question | metric | paper, people | here, simulated | p |
|---|---|---:|---:|---:|
{chr(10).join(lines)}

Table 3 has R² and p of each regression model. S: substitutions, M: moves:

| model | understanding: paper | p | simulated | p | quality: paper | p | simulated | p |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
{chr(10).join(models)}

The next table has the coefficients of the last model. Before the slash is the coefficient that the paper prints, with which the judges were simulated; after it, the estimate from the simulated ratings, ± standard error. F is our statistic with 3 and {n - 4} degrees of freedom (the paper has
6.62 and 7.23 with 3 and 19 degrees of freedom):

| question | sta | S | length | F |
|---|---:|---:|---:|---:|
{chr(10).join(full)}

Standard errors, p and F treat the variants as independent, as the paper does. `wellput agree` and `wellput fit` print larger p, and
`fit` larger standard errors, because theirs hold for other systems and items.

The simulated ratings were stretched to the scale of 7, so the sizes of coefficients cannot be compared. {_signs(study)} {_strings(study)} The
paper's Table 3 leaves one variant out, which happened to be well-formed; here no variant is left out."""


def _strings(study: SimulatedStudy) -> str:
    """How far the string metric correlates, beside the tree metric and the paper."""
    string, tree = (
        [study.correlations[question, metric][0] for question in PRINTED]
        for metric in ("ssa", "sta")
    )
    shown = " and ".join(f"{a:.2f} against {b:.2f}" for a, b in zip(string, tree, strict=True))
    order = (
        "lower than"
        if max(a - b for a, b in zip(string, tree, strict=True)) < 0
        else "not lower than"
    )
    return (
        f"`ssa` correlates {order} `sta` ({shown}); the simulated judges follow `sta` by design, so this is no evidence. The paper has "
        ".08 against .51 and .16 against .45; its authors chose the variants by hand."
    )


def _signs(study: SimulatedStudy) -> str:
    """Which planted signs the last model finds again for both questions, and how near 0 the others are."""
    again, lost, unsure = [], [], []
    for place, name in enumerate(("`sta`", "S", "length")):
        models = {question: study.models[PREDICTORS, question] for question in PRINTED}
        errors = [m.coefficients[place] / m.standard_errors[place] for m in models.values()]
        planted = [coefficients[place] for coefficients, _ in PRINTED.values()]
        if all(a * b > 0 for a, b in zip(planted, errors, strict=True)):
            again.append(name)
            if max(map(abs, errors)) < 2:
                unsure.append(name)
        else:
            near = " and ".join(f"{abs(error):.1f}" for error in errors)
            lost.append(f"that of {name} is not: it is {near} standard errors from 0")
    if not lost:
        if not unsure:
            return "All signs are the same as in the paper."
        return (
            f"All signs are the same as in the paper, but the coefficients of {listed(unsure)} are less than two "
            "standard errors from 0."
        )
    return f"These signs are the same as in the paper: {', '.join(again)};\n{'; '.join(lost)}. {study.n} variants are too few to find it."


def _p(r: float, n: int) -> str:
    t = abs(r) * np.sqrt((n - 2) / (1 - r * r))
    return p_text(float(2 * student.sf(t, n - 2)))
