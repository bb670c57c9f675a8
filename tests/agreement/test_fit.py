"""A metric fitted to judgments, from tables made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

import wellput
from wellput.agreement.exclusions import parse_exclusion
from wellput.agreement.fit import Fit, fit_table, panel_provenance
from wellput.agreement.models import fitted_models, left_out_sentences
from wellput.agreement.panel import Exclusion, mean_of, normalized, panels
from wellput.core.errors import InputError
from wellput.core.estimates import Generalize, ScoreTable, holds_for
from wellput.core.judgment import Judgment
from wellput.core.metric import Floats

SYSTEMS = ("A", "B", "C", "D")
ITEMS = tuple(str(number) for number in range(1, 13))


def table(
    name: str,
    values: Floats,
    parts: Mapping[str, Floats] | None = None,
    perfect: Mapping[str, float] | None = None,
) -> ScoreTable:
    """A table whose statistics are (value, 1, parts…), NaN for undefined."""
    columns = [np.nan_to_num(values), np.isfinite(values).astype(float), *(parts or {}).values()]
    statistics = np.stack(columns, axis=-1)

    def components(rows: Floats) -> dict[str, Floats]:
        return {part: rows[..., place] for place, part in enumerate(parts or {}, start=2)}

    return ScoreTable(
        scorer=name,
        signature=f"made:{name}",
        systems=SYSTEMS,
        items=ITEMS,
        statistics=statistics,
        present=np.ones(values.shape, dtype=np.bool_),
        aggregate=mean_of,
        segment=mean_of,
        components=components,
        perfect=perfect or {},
    )


class Data:
    """Tree accuracies, substitution counts, lengths and noise for four systems and twelve items."""

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        shape = (len(SYSTEMS), len(ITEMS))
        self.sta = rng.uniform(-0.2, 1, shape)
        self.substitutions = rng.integers(0, 6, shape).astype(float)
        self.length = rng.integers(5, 25, shape).astype(float)
        self.noise = rng.normal(size=shape)
        self.tables = {
            "sta": table("sta", self.sta, perfect={"score": 1.0}),
            "ssa": table(
                "ssa",
                rng.uniform(0, 1, shape),
                {"substitutions": self.substitutions, "length": self.length},
                {"score": 1.0, "substitutions": 0.0},
            ),
            "length": table("length", self.length),
        }

    def human(self, values: Floats, question: str = "understanding") -> ScoreTable:
        return table(question, values)


PREDICTORS = ["sta", "ssa.substitutions", "length"]


def test_equation_4_is_found_from_its_coefficients() -> None:
    data = Data()
    judged = data.human(1.3147 * data.sta - 0.1039 * data.substitutions - 0.4458)
    result = fit_table(data.tables, judged, ["sta", "ssa.substitutions"])
    model = result.model
    assert [predictor.name for predictor in model.predictors] == ["sta", "ssa.substitutions"]
    assert [p.coefficient for p in model.predictors] == pytest.approx([1.3147, -0.1039])
    assert model.intercept == pytest.approx(-0.4458)
    assert model.scale == pytest.approx(0.8689)  # 1.3147 - 0.4458, as printed in the paper
    assert model.perfect == pytest.approx(1)
    # Table 1's sentence: STA 1/3 and one substitution give understandability -0.128.
    expected = (1.3147 / 3 - 0.1039 - 0.4458) / 0.8689
    assert model.predict(np.array([1 / 3, 1.0])) == pytest.approx(expected)
    assert any("determine the judgments" in warning for warning in result.warnings)


def test_the_metric_is_refitted_without_length_not_cut() -> None:
    data = Data(1)
    data.length += 8 * data.sta  # so that taking length out changes the other coefficients
    data.tables["length"] = table("length", data.length)
    y = 1.4 * data.sta - 0.1 * data.substitutions - 0.05 * data.length + 0.1 * data.noise
    result = fit_table(data.tables, data.human(y), PREDICTORS)
    assert result.dropped == ("length",)
    assert result.regression.names == tuple(PREDICTORS)
    x = np.column_stack([data.sta.ravel(), data.substitutions.ravel()])
    theirs = sm.OLS(y.ravel(), sm.add_constant(x)).fit()
    np.testing.assert_allclose(
        [p.coefficient for p in result.model.predictors], theirs.params[1:], rtol=1e-9
    )
    assert result.model.intercept == pytest.approx(theirs.params[0])
    assert result.model.scale == pytest.approx(theirs.params[0] + theirs.params[1])
    assert abs(result.model.predictors[0].coefficient - 1.4) > 0.2
    card = result.model.card
    assert card["r_squared"] == pytest.approx(theirs.rsquared)
    assert card["aic"] == pytest.approx(theirs.aic)
    without = [
        sm.OLS(np.delete(y, one, axis=0).ravel(), sm.add_constant(np.delete(cube, one, axis=0)
        .reshape(-1, 2))).fit().params[2]
        for cube in [x.reshape(4, 12, 2)]
        for one in range(4)
    ]  # fmt: skip
    by_system = fit_table(data.tables, data.human(y), PREDICTORS, generalize="systems").model.card
    assert by_system["coefficients"][1]["standard_error"] == pytest.approx(
        np.sqrt(3 / 4 * np.square(without - np.mean(without)).sum())
    )
    assert card["dropped"] == ["length"]
    assert result.to_dict()["regression"]["r_squared"] > card["r_squared"]


def test_the_raw_regression_keeps_length_and_the_judges_scale() -> None:
    data = Data(2)
    y = data.sta - 0.05 * data.length + 0.1 * data.noise + 4
    result = fit_table(data.tables, data.human(y), ["sta", "length"], rescale=False)
    assert [p.name for p in result.model.predictors] == ["sta", "length"]
    assert (result.model.scale, result.model.perfect) == (1.0, None)
    assert result.model.intercept == pytest.approx(4, abs=0.3)


def test_the_table_of_models() -> None:
    data = Data(3)
    y = data.sta - 0.5 * data.substitutions + 0.3 * data.noise
    models = fitted_models(data.tables, data.human(y), PREDICTORS)
    assert [model.predictors for model in models] == [
        ("sta",),
        ("ssa.substitutions",),
        ("length",),
        ("ssa.substitutions", "sta"),
        ("ssa.substitutions", "length"),
        tuple(PREDICTORS),
    ]
    for model in models:
        columns = {"sta": data.sta, "ssa.substitutions": data.substitutions, "length": data.length}
        x = np.column_stack([columns[name].ravel() for name in model.predictors])
        theirs = sm.OLS(y.ravel(), sm.add_constant(x)).fit()
        assert model.n == 48
        assert model.r_squared == pytest.approx(theirs.rsquared)
        assert model.adjusted_r_squared == pytest.approx(theirs.rsquared_adj)
        assert model.f == pytest.approx(theirs.fvalue)
        assert model.aic == pytest.approx(theirs.aic)


def test_a_model_that_cannot_be_fitted_says_why() -> None:
    data = Data(4)
    data.tables["flat"] = table("flat", np.full(data.sta.shape, 2.0))
    models = fitted_models(data.tables, data.human(data.sta + data.noise), ["sta", "flat"])
    flat = models[1]
    assert np.isnan(flat.r_squared)
    assert "flat is the same in every row" in flat.note


def test_cross_validated_r_of_a_planted_relation() -> None:
    data = Data(5)
    y = 2 * data.sta - 0.2 * data.substitutions + 0.2 * data.noise
    result = fit_table(data.tables, data.human(y), PREDICTORS)
    by = {one.left_out: one for one in result.cross_validation}
    assert [(name, one.folds) for name, one in by.items()] == [
        ("sentence", 48),
        ("item", 10),
        ("system", 4),
        ("both", 40),
    ]
    r = np.sqrt(result.derived.r_squared)
    for one in by.values():
        assert one.n == 48
        assert 0.9 < one.r < r


def test_leaving_a_system_out_shows_a_predictor_that_recognizes_systems() -> None:
    # The predictor is each system's mean judgment: it says nothing about a new system.
    data = Data(6)
    quality = np.array([0.0, 1, 2, 3])[:, None]
    y = quality + 0.1 * data.noise
    identity = np.array([2.0, 0, 3, 1])[:, None] + 0 * data.noise
    data.tables["identity"] = table("identity", identity, perfect={"score": 3.0})
    result = fit_table(data.tables, data.human(y), ["identity"])
    by = {one.left_out: one.r for one in result.cross_validation}
    assert by["system"] < by["item"] - 0.3


def test_noise_has_no_cross_validated_r() -> None:
    data = Data(7)
    result = fit_table(data.tables, data.human(data.noise), PREDICTORS, rescale=False)
    assert all(abs(one.r) < 0.3 for one in result.cross_validation)
    assert all(one.p_value is None or one.p_value > 0.05 for one in result.cross_validation)


def test_a_single_predictor_of_other_rows_is_not_compared() -> None:
    """Without its one item the first predictor is constant, and the model of both cannot be fitted."""
    data = Data(5)
    once = np.zeros((len(SYSTEMS), len(ITEMS)))
    once[:, 0] = [1.0, 2.0, 3.0, 4.0]
    data.tables["once"] = table("once", once, perfect={"score": 4.0})
    result = fit_table(data.tables, data.human(data.sta + 0.2 * data.noise), ["once", "sta"])
    by = {one.left_out: one for one in result.cross_validation}
    assert by["item"].n < 48 and by["item"].single is None
    assert by["item"].note.endswith("the best single predictor, which predicts other rows")


def test_stepwise_chooses_again_in_every_fold() -> None:
    data = Data(8)
    y = 2 * data.sta - 0.2 * data.substitutions + 0.2 * data.noise
    result = fit_table(data.tables, data.human(y), [*PREDICTORS, "ssa"], stepwise="aic")
    assert {"sta", "ssa.substitutions"} <= set(result.regression.names)
    assert result.steps[0].change == "start"
    assert "chosen by aic on all the data" in result.cross_validation[0].note
    assert result.cross_validation[1].note == ""


def test_ridge() -> None:
    data = Data(9)
    y = 2 * data.sta - 0.2 * data.substitutions + 0.5 * data.noise
    result = fit_table(data.tables, data.human(y), PREDICTORS, method="ridge")
    assert result.model.card["penalty"] > 0
    assert np.isnan(result.model.card["p_value"])
    assert result.model.perfect == pytest.approx(1)
    with pytest.raises(InputError, match="Ridge regression keeps all"):
        fit_table(data.tables, data.human(y), PREDICTORS, method="ridge", stepwise="p")


def test_outliers_are_reported_and_kept() -> None:
    data = Data(10)
    y = 2 * data.sta + 0.1 * data.noise
    y[2, 4] += 3
    result = fit_table(data.tables, data.human(y), ["sta"])
    (outlier,) = result.outliers
    assert (outlier.system, outlier.item) == ("C", "5")
    assert outlier.studentized > 3
    assert outlier.judged - outlier.predicted > 2.5
    assert result.derived.n == 48


def test_collinear_predictors_are_warned_of() -> None:
    data = Data(11)
    near = data.sta + 0.02 * data.noise
    data.tables["near"] = table("near", near, perfect={"score": 1.0})
    y = data.sta + 0.3 * np.roll(data.noise, 1)
    warnings = fit_table(data.tables, data.human(y), ["sta", "near"], rescale=False).warnings
    assert "nearly a combination" in " ".join(warnings)


def test_the_rows_left_out_are_counted_by_reason() -> None:
    data = Data(12)
    y = data.sta + 0.1 * data.noise
    y[0, :3] = np.nan  # not judged: no row, and none left out
    sta = data.sta.copy()
    sta[1, :2] = np.nan
    data.tables["sta"] = table("sta", sta, perfect={"score": 1.0})
    data.tables["sta"].present[3, 0] = False
    data.tables["length"].present[3, 1] = False
    has_output = np.ones_like(y, np.bool_)
    has_output[3, 0] = False
    human = data.human(y)
    result = fit_table(data.tables, human, ["sta", "length"], has_output=has_output)
    assert result.left_out == {"no output": 1, "no reference": 1, "sta is undefined": 2}
    assert result.model.card["n"] == 48 - 3 - 4
    assert result.left_out_cells == {
        "no output": [(SYSTEMS[3], ITEMS[0])],
        "no reference": [(SYSTEMS[3], ITEMS[1])],
        "sta is undefined": [(SYSTEMS[1], ITEMS[0]), (SYSTEMS[1], ITEMS[1])],
    }
    assert result.to_dict()["left_out_outputs"]["no output"] == [
        {"system": SYSTEMS[3], "item": ITEMS[0]}
    ]


def test_what_is_left_out_is_named_up_to_five_outputs() -> None:
    many = [("A", str(number)) for number in range(7)]
    assert left_out_sentences({"no output": many[:1], "no reference": many}) == [
        "Left out: 1 judged output, as the evalset has no such output: item 0 of A.",
        "Left out: 7 judged outputs, as their items have no reference: items 0, 1, 2, 3, 4 and 2 more.",
    ]
    assert left_out_sentences({"sta is undefined": many}) == [
        "Left out: 7 judged outputs, as sta is undefined: item 0 of A, item 1 of A, item 2 of A, "
        "item 3 of A, item 4 of A and 2 more."
    ]


def judgments(values: Floats, judge: str = "J1") -> list[Judgment]:
    return [
        Judgment(judge, item, system, "quality", float(values[s, i]))
        for s, system in enumerate(SYSTEMS)
        for i, item in enumerate(ITEMS)
    ]


def test_the_card_of_a_panel() -> None:
    data = Data(13)
    answers = [
        *judgments(data.sta * 3 + data.noise),
        *judgments(data.sta * 9 - 2 + data.noise, "J2"),
        *judgments(0 * data.sta + 4, "J3"),
    ]
    panel = panels(answers, SYSTEMS, ITEMS)["quality"]
    panel = normalized(panel.without(Exclusion("quality", "a typing error", item="7")), "z")
    result = fit_table(data.tables, panel.table(), ["sta"], provenance=panel_provenance(panel))
    card = result.model.card
    assert (card["question"], card["normalization"], card["judges"]) == ("quality", "z", 2)
    assert (card["n"], card["items"], card["systems"]) == (44, 11, 4)
    assert [one["reason"] for one in card["excluded"]] == [
        "a typing error",
        "every rating is 4: z needs ratings that differ",
    ]
    assert card["metrics"] == {"sta": "made:sta"}


# --- intervals and p-values ---------------------------------------------------------------------


def printed(result: Fit) -> list[Mapping[str, Any]]:
    """All figures with an interval and a p-value in the JSON of a fit."""
    values = result.to_dict()
    unseen = values["cross_validation"]
    return [
        *values["coefficients"],
        *values["regression"]["coefficients"],
        *unseen,
        *(one["single"] for one in unseen if one["single"] is not None),
    ]


@pytest.mark.heavy
@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    slope=st.sampled_from([0.0, 0.3, 1.0]),
    are_whole=st.booleans(),
    missing=st.integers(0, 12),
    generalize=st.sampled_from(["items", "systems", "both"]),
)
def test_p_is_below_the_level_exactly_where_the_interval_does_not_contain_0(
    seed: int, slope: float, are_whole: bool, missing: int, generalize: Generalize
) -> None:
    data = Data(seed)
    rng = np.random.default_rng([seed, 1])
    shared = rng.normal(size=(4, 1)) + rng.normal(size=(1, 12))
    y = slope * (3 * data.sta - 0.2 * data.substitutions) + 0.4 * shared + 0.5 * data.noise
    if are_whole:
        y = y.round()
    y.ravel()[rng.permutation(y.size)[:missing]] = np.nan
    result = fit_table(data.tables, data.human(y), PREDICTORS, rescale=False, generalize=generalize)
    rows = printed(result)
    assert any(row["p_value"] is not None for row in rows)
    for row in rows:
        assert (row["p_value"] is None) == (row["low"] is None)
        if row["p_value"] is not None:
            assert (row["p_value"] < 0.05) == (not row["low"] <= 0 <= row["high"])
    for model in result.models[: len(PREDICTORS)]:
        alone = fit_table(
            data.tables, data.human(y), model.predictors, rescale=False, generalize=generalize
        )
        (coefficient,) = alone.to_dict()["coefficients"]
        assert model.p_value == pytest.approx(coefficient["p_value"])


def test_a_gain_is_claimed_only_with_its_interval() -> None:
    data = Data(20)
    y = 2 * data.sta + 0.2 * data.noise
    note = str(fit_table(data.tables, data.human(y), ["sta", "ssa"], rescale=False))
    assert "No difference is shown (" in note
    assert "Unseen systems and items: the best single predictor (sta) reaches r = " in note
    y = 2 * data.sta - 0.5 * data.substitutions + 0.2 * data.noise
    note = str(fit_table(data.tables, data.human(y), PREDICTORS, rescale=False))
    assert "The metric predicts better (+" in note


def test_the_report_says_what_intervals_hold_for() -> None:
    data = Data(21)
    human = data.human(data.sta + 0.2 * data.noise)
    for generalize in get_args(Generalize):
        result = fit_table(data.tables, human, ["sta"], generalize=generalize)
        assert str(result).count(holds_for(generalize)) == 2
        assert result.model.card["generalize"] == generalize


def test_below_four_systems_there_is_a_reason_instead_of_an_interval() -> None:
    data = Data(22)
    y = data.sta + 0.2 * data.noise
    y[3] = np.nan
    result = fit_table(data.tables, data.human(y), ["sta"])
    (coefficient,) = result.to_dict()["coefficients"]
    assert (coefficient["low"], coefficient["p_value"]) == (None, None)
    by = {one.left_out: one for one in result.cross_validation}
    assert by["item"].low is not None
    assert by["both"].low is None
    assert by["both"].note == "no interval: 3 systems cannot show how others differ, it takes 4"
    assert "No interval and no p: 3 systems cannot show" in str(result)


# --- bad input --------------------------------------------------------------------------------


def test_a_perfect_sentence_must_be_above_zero() -> None:
    data = Data(14)
    with pytest.raises(InputError, match=r"perfect sentence \(sta = 1\) -.*not above 0"):
        fit_table(data.tables, data.human(-data.sta - 1 + 0.1 * data.noise), ["sta"])


def test_nothing_is_left_without_length() -> None:
    data = Data(15)
    with pytest.raises(InputError, match="length has no perfect value"):
        fit_table(data.tables, data.human(data.length + data.noise), ["length"])


@pytest.mark.parametrize(
    ("predictors", "message"),
    [
        (["stta"], "No scores of 'stta'. Did you mean sta?"),
        (["ssa.substitution"], "Did you mean ssa.substitutions?"),
        (["sta.moves"], "sta has no component 'moves'. It has none."),
        ([], "No predictor was given"),
        (["sta", "sta"], "sta is given twice"),
        (["length", "ssa.length"], "ssa.length is a combination of length"),
    ],
)
def test_bad_predictors(predictors: list[str], message: str) -> None:
    data = Data(16)
    with pytest.raises(InputError) as error:
        fit_table(data.tables, data.human(data.sta + data.noise), predictors)
    assert message in str(error.value)


def test_bad_judgments() -> None:
    data = Data(17)
    with pytest.raises(InputError, match="All judgments are equal"):
        fit_table(data.tables, data.human(0 * data.sta + 3), ["sta"])
    few = np.full(data.sta.shape, np.nan)
    with pytest.raises(InputError, match="No sentence has both a judgment"):
        fit_table(data.tables, data.human(few), ["sta"])
    few[0, :4] = [1, 2, 2, 3]
    with pytest.raises(InputError, match="need at least 5 rows; there are 4"):
        fit_table(data.tables, data.human(few), PREDICTORS)
    human = data.human(data.sta)
    other = ScoreTable(**{**vars(human), "systems": ("A", "B", "C", "E")})
    with pytest.raises(InputError, match="different systems or items"):
        fit_table(data.tables, other, ["sta"])


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("judge=J1", "has no reason"),
        ("judge=J1: ", "has no reason"),
        ("jugde=J1: asleep", "Did you mean judge?"),
        ("judge: asleep", "must be judge=NAME"),
        ("judge=J1,judge=J2: asleep", "names judge twice"),
    ],
)
def test_bad_exclusions(rule: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        parse_exclusion(rule, "quality")
    assert message in str(error.value)


def test_an_exclusion() -> None:
    exclusion = parse_exclusion("system=B, item=7: see: page 3", "quality")
    assert exclusion == Exclusion("quality", "see: page 3", system="B", item="7")
    panel = panels(judgments(Data().sta), SYSTEMS, ITEMS)["quality"]
    assert panel.without(exclusion).excluded[0].n == 1
    with pytest.raises(InputError, match="There is no judge 'J2' to exclude"):
        panel.without(Exclusion("quality", "asleep", judge="J2"))


def test_a_fit_is_a_metric() -> None:
    texts = ["a b c", "a b", "c a b", "a", "b c a"]
    evalset = wellput.EvalSet.of({"A": texts}, ["a b c"] * 5)
    ratings = [
        wellput.Judgment("Kim", str(n), "A", "quality", value)
        for n, value in enumerate((7, 5, 4, 2, 3), 1)
    ]
    fitted = wellput.fit(evalset, ratings, question="quality", predictors="ssa")
    result = wellput.score(evalset, [fitted, "ssa"])
    assert result.metrics == ("fitted:quality", "ssa")
    assert wellput.score(evalset, fitted).scores[0].score == result["A", "fitted:quality"].score
