"""Figures 3 and 4: what a regression predicts against what was rated, as pictures."""

from __future__ import annotations

from benchmarks.agreement import human_data
from benchmarks.agreement.scored import tables_of
from benchmarks.papers.bangalore2000 import hypotheses
from benchmarks.papers.bangalore2000.simulated_study import PREDICTORS, SimulatedStudy
from benchmarks.papers.scatter import Panel, svg
from wellput.agreement.models import judged_rows
from wellput.agreement.panel import normalized, panels
from wellput.stats.regression import ols

PICTURE = "docs/images/bangalore2000-figures.svg"
X_LABEL = "predicted by sta, S and length"
SECTION = """## Figures 3 and 4

The paper plots the two regressions of section 4.1. The upper plots show the same model, fitted to the **simulated** judges' ratings. The lower plots show the same model, fitted
to real judgments of other texts: ASSET's simplified sentences (15 raters each). A point is one output; on the dashed line
the predicted and the actual rating are equal.

![Four scatter plots of predicted against rated values](../images/bangalore2000-figures.svg)

For your own judgments, [`wellput report`](../commands/report.md) draws this plot, with the equation of its line. An output that `--exclude` leaves
out of the regression is drawn as a crossed ring. (The paper's plots, too, show the variant that was left out of its regression.)

```text
$ wellput report variants.jsonl judgments.csv -m ./understandability.json,./quality.json \\
    --exclude "system=variant 5,item=5: it happened to be well-formed" -o report.html
```"""


def picture(study: SimulatedStudy) -> str:
    """Two panels of simulated judges, two of ASSET's raters."""
    drawn = []
    for question, number in (("understandability", 3), ("quality", 4)):
        found = study.models[PREDICTORS, question]
        fitted = study.predicted[question]
        title = f"Figure {number}: {question} (simulated judges)"
        rated = fitted + found.residuals
        drawn.append(Panel(title, X_LABEL, "mean of z-scores", fitted, rated))
    data = human_data.asset()
    tables = tables_of(data, ("sta", "ssa", "length"))
    first = next(iter(tables.values()))
    for question, panel in panels(data.judgments, first.systems, first.items).items():
        if question == "simplicity":
            continue
        ready = normalized(panel, data.normalization or "z")
        rows = judged_rows(tables, ready.table(), hypotheses.FITTED)
        model = ols(rows.y, rows.x, hypotheses.FITTED)
        title = f"ASSET, {question} (people), R² = {model.r_squared:.2f}"
        drawn.append(Panel(title, X_LABEL, "mean rating", model.predict(rows.x), rows.y))
    return svg(drawn, columns=2, about="Ratings against what the regression predicts")
