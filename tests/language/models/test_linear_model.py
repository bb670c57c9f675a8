"""A plane found by hand, and by scikit-learn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wellput.core.errors import InputError
from wellput.io.model_files import save_model_file
from wellput.language.models.linear_model import LinearModel, fit_separating


def rows(seed: int, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)) * [1.0, 5.0, 0.1] + [0.0, 3.0, -1.0]
    return x, x[:, 0] + 0.2 * x[:, 1] + rng.normal(size=n) > 0.6


def test_scores_are_standardized_features_weighted_and_added() -> None:
    model = LinearModel(
        ("a", "b"), np.array([1.0, 0.0]), np.array([2.0, 1.0]), np.array([3.0, 4.0]), 0.5
    )
    features = np.array([[3.0, 2.0]])
    # a: (3 - 1) / 2 x 3 = 3; b: 2 x 4 = 8; bias .5; |w| = 5
    assert model.contributions(features).tolist() == [[3.0, 8.0]]
    assert model.scores(features).tolist() == [11.5]
    assert model.distances(features).tolist() == [2.3]


def test_the_hinge_is_that_of_a_linear_support_vector_machine() -> None:
    from sklearn.svm import LinearSVC

    x, y = rows(1)
    model = fit_separating(("a", "b", "c"), x, y, loss="hinge")
    z = (x - model.means) / model.scales
    # Its bias is regularized as the weight of a constant feature; a large constant makes that nothing.
    svm = LinearSVC(C=1.0, intercept_scaling=1000.0, tol=1e-10, max_iter=200_000, random_state=0)
    svm.fit(z, y)
    assert model.weights == pytest.approx(svm.coef_[0], abs=2e-3)
    assert model.bias == pytest.approx(svm.intercept_[0], abs=2e-3)


def test_the_logistic_loss_is_that_of_logistic_regression() -> None:
    from sklearn.linear_model import LogisticRegression

    x, y = rows(2)
    each = np.where(y, 2.0, 0.5)
    model = fit_separating(("a", "b", "c"), x, y, loss="logistic", weights=each, regularization=4.0)
    z = (x - model.means) / model.scales
    other = LogisticRegression(C=0.25, tol=1e-10, max_iter=10_000).fit(z, y, sample_weight=each)
    assert model.weights == pytest.approx(other.coef_[0], abs=1e-4)
    assert model.bias == pytest.approx(other.intercept_[0], abs=1e-4)


def test_a_feature_that_never_varies_has_no_weight() -> None:
    x, y = rows(3)
    x[:, 2] = 7.0
    assert fit_separating(("a", "b", "c"), x, y, loss="hinge").weights[2] == 0.0


def test_a_saved_model_is_the_same_one(tmp_path: Path) -> None:
    x, y = rows(4)
    model = fit_separating(("a", "b", "c"), x, y, loss="hinge")
    model.save(tmp_path / "plane.wpm", "plane", {"made": "here"})
    loaded, file = LinearModel.load(tmp_path / "plane.wpm", "plane")
    assert loaded.features == ("a", "b", "c")
    assert file.card["made"] == "here"
    assert loaded.scores(x).tolist() == model.scores(x).tolist()


@pytest.mark.parametrize("name", ["means", "scales", "weights"])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_a_model_with_numbers_for_other_features_is_refused(
    tmp_path: Path, name: str, n: int
) -> None:
    """With the right hash: the file was forged."""
    x, y = rows(4)
    arrays = fit_separating(("a", "b", "c"), x, y, loss="hinge").arrays()
    save_model_file(tmp_path / "plane.wpm", "plane", {}, {**arrays, name: np.ones(n)})
    with pytest.raises(InputError, match="damaged"):
        LinearModel.load(tmp_path / "plane.wpm", "plane")
