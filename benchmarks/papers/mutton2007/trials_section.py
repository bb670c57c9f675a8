"""The section on the two trials with simulated judges."""

from __future__ import annotations

import numpy as np

from benchmarks.papers.fluency.figures import pearson
from benchmarks.papers.mutton2007.figures import SCORERS
from benchmarks.papers.mutton2007.printed import (
    BETWEEN,
    FIRST_TRIAL,
    NAMES,
    TABLE_4,
    TABLE_5,
    TABLE_8,
    TABLE_9,
)
from benchmarks.papers.mutton2007.simulated_trials import MEANS, Trial, joined


def section(first: Trial, second: Trial) -> str:
    whole = joined(first, second)
    spread = []
    for name, own in (("first", first), ("second", second)):
        r = own.between_judges
        pairs = zip(BETWEEN[name], (r.max(), r.min(), r.mean(), r.std(ddof=1)), strict=True)
        spread.append(f"| {name} | {' | '.join(f'{a:.4f} / {b:.2f}' for a, b in pairs)} |")
    sizes = np.array([float(kind) for kind in first.kinds])
    means = first.ratings.mean(axis=0)
    by_size = ", ".join(
        f"{kind}: {means[[own == kind for own in first.kinds]].mean():.2f}" for kind in FIRST_TRIAL
    )
    rows = []
    for scorer in SCORERS:
        cells = (
            (TABLE_4[scorer], pearson(first.scores[scorer], sizes)),
            (TABLE_5[scorer], first.with_people(scorer)),
            (TABLE_8[scorer], second.with_people(scorer)),
            (TABLE_9[scorer], whole.with_people(scorer)),
        )
        shown = " | ".join(f"{a:.2f} / {b:.2f}".replace("-", "−") for a, b in cells)
        rows.append(f"| {NAMES[scorer]} | {shown} |")
    planted = {kind: f"{mean:.2f}".removeprefix("0") for kind, mean in MEANS.items()}
    humans = np.mean([pearson(own, sizes) for own in first.ratings])
    return f"""## Tables 3, 4, 5, 7, 8, 9 and Figure 2, with simulated judges

**The judges in this section are simulated.** This section only shows that the analysis works as the paper describes it; it says nothing about people. The paper's two
trials are repeated as studies, made and answered as with people (`wellput study create --design magnitude --questions fluency --judges 20 --per-item 20`): twenty
simulated judges rate ten sentences of each kind, each on a scale of their own, which is normalized to 0 … 1 (`--normalize unit`). Their ratings follow the means that the
paper prints for real sentences, sizes 8 and 1 and the three generators (Table 6), plus a random deviation for each sentence, and noise; the means
of sizes 2 and 4 are ours ({planted["2"]}, {planted["4"]}). The deviations have nothing to do with the text of the sentence, so a metric can agree
with these ratings only by distinguishing the kinds of sentences.

Correlations between judges, paper / simulated (Tables 3 and 7):

| trial | maximum | minimum | mean | standard deviation |
|---|---:|---:|---:|---:|
{chr(10).join(spread)}

Figure 2, mean rating by size (simulated): {by_size} (lower than the means that we gave the simulated judges, because each judge's lowest rating becomes 0). The paper's
values are in a picture that we do not have.

Correlations of the metrics, paper / here. The column *Table 4* needs no judges; in the other columns our judges are simulated. A simulated judge correlates {humans:.2f} with size (the paper's
people: .65).

| scorer | Table 4: with size | Table 5: with judges | Table 8: second trial | Table 9: both trials |
|---|---:|---:|---:|---:|
{chr(10).join(rows)}

For your own trial: `wellput degrade` makes the sentences, `wellput study create --design magnitude` collects ratings, `wellput agree`
correlates them."""
