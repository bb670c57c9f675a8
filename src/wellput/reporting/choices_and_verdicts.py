"""Tables of `wellput agree` about pairwise choices and about verdicts of right or wrong."""

from __future__ import annotations

from wellput.agreement.result import AgreementResult
from wellput.reporting.table import Table, number, p_text


def confusion_table(result: AgreementResult) -> Table:
    if any(row["metric"] == "kept" for row in result.confusion):
        return decision_table(result)
    return Table(
        columns=["metric", "question", "choices right", "κ", "n"],
        rows=[
            [
                row["metric"],
                row["question"],
                number(row["accuracy"], 3),
                number(row["kappa"], 3),
                str(row["n"]),
            ]
            for row in sorted(result.confusion, key=lambda row: (row["question"], -row["accuracy"]))
        ],
        title="Metrics as judges: how often people choose the output with the higher score",
    )


def decision_table(result: AgreementResult) -> Table:
    """A filter's decisions down, people's verdicts across (Kauchak & Barzilay's Table 8)."""
    rows = []
    notes = []
    for row in result.confusion:
        name = row["question"]
        rows.append([f"{name}: refused", str(row["true_negatives"]), str(row["false_negatives"])])
        rows.append([f"{name}: kept", str(row["false_positives"]), str(row["true_positives"])])
        notes.append(
            f"{name}: {number(row['accuracy'], 3)} of {row['n']:,} verdicts agree with the filter, "
            f"κ {number(row['kappa'], 3)}."
        )
    return Table(
        ["filter", "judged wrong", "judged right"],
        rows,
        title="The filter's decisions",
        notes=notes,
    )


def substitution_tables(result: AgreementResult) -> list[Table]:
    """Each method's substitutions by judge (Kauchak & Barzilay's Tables 7 and 8)."""
    accuracy = Table(
        ["method", "question", "judge", "right", "judged", "κ of the judges"],
        [
            [
                row["method"],
                row["question"],
                row["judge"],
                number(row["accuracy"], 3),
                str(row["n"]),
                "" if row["kappa"] is None else number(row["kappa"], 2),
            ]
            for row in result.substitutions
        ],
        title="How many of the substitutions that a method makes are right",
    )
    refusing = [row for row in result.substitutions if row["refused_right"] + row["refused_wrong"]]
    decisions = Table(
        ["method", "judge", "kept, right", "kept, wrong", "refused, right", "refused, wrong"],
        [
            [
                row["method"],
                row["judge"],
                *(
                    str(row[key])
                    for key in ("kept_right", "kept_wrong", "refused_right", "refused_wrong")
                ),
            ]
            for row in refusing
        ],
        title="What the filters decided, and what each judge said",
    )
    return [accuracy, *([decisions] if refusing else [])]


def homogeneity_table(result: AgreementResult) -> Table:
    """Two studies of the same pairs."""
    return Table(
        ["pair", "question", "chosen here", "chosen there", "χ²", "p"],
        [
            [
                " : ".join(row["systems"]),
                row["question"],
                *(" : ".join(str(count) for count in counts) for counts in row["chosen"]),
                number(row["chi_squared"], 2),
                p_text(row["p_value"]),
            ]
            for row in result.homogeneity
        ],
        title="Did people in the two studies choose alike?",
        notes=[
            "χ² of homogeneity with Yates's correction. It assumes that all choices are independent. "
            "A large p does not show that people chose alike: it may be that there are few choices."
        ],
    )
