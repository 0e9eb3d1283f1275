"""Class probabilities over two features."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

pytest.importorskip("matplotlib")

from relvec import RVMClassifier, RVMRegressor, SparseBayesClassifier
from relvec.bases import KernelBasis, LinearBasis
from relvec.datasets import make_ripley_mixture
from relvec.plotting import DecisionSurfaceDisplay

X, Y, TRUTH = make_ripley_mixture(120, random_state=0, return_truth=True)
MODEL = RVMClassifier(gamma=4.0).fit(X, Y)
X4, Y4 = make_blobs(90, centers=4, cluster_std=1.5, random_state=3)
NAMES = np.array(["north", "south", "east", "west"])
MODEL4 = RVMClassifier(gamma=0.05).fit(X4, NAMES[Y4])


def labels(display):
    return display.ax_.get_legend_handles_labels()[1]


def vertices(contours):
    return np.concatenate([path.vertices for path in contours.get_paths()])


def test_the_boundary_is_where_the_probability_is_a_half():
    display = DecisionSurfaceDisplay.from_estimator(MODEL, X, Y)
    (contours,) = display.boundary_
    line = vertices(contours)
    assert len(line) > 50
    np.testing.assert_allclose(MODEL.predict_proba(line)[:, 1], 0.5, atol=0.01)


def test_the_true_boundary_is_where_the_truth_is_a_half():
    display = DecisionSurfaceDisplay.from_estimator(MODEL, X, Y, truth=TRUTH.probability)
    line = vertices(display.truth_)
    np.testing.assert_allclose(TRUTH.probability(line), 0.5, atol=0.01)
    assert labels(display) == ["class 0", "class 1", "relevance vectors", "true boundary"]


def test_points_relevance_vectors_and_surface():
    display = DecisionSurfaceDisplay.from_estimator(MODEL, X, Y)
    np.testing.assert_array_equal(display.relevance_.get_xydata(), X[MODEL.relevance_])
    for label, points in display.points_.items():
        np.testing.assert_array_equal(points.get_xydata(), X[np.equal(Y, label)])
    assert list(display.points_) == [0, 1]
    corner = [[display.x0[7], display.x1[11]]]
    np.testing.assert_allclose(display.probability[11, 7], MODEL.predict_proba(corner)[0])
    assert display.colorbar_.ax.get_ylabel() == "probability of class 1"
    assert display.x0[0] < X[:, 0].min() < X[:, 0].max() < display.x0[-1]
    display.figure_.canvas.draw()


def test_options_reach_predict_proba():
    display = DecisionSurfaceDisplay.from_estimator(MODEL, X, marginalise=False, grid_resolution=3)
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(display.x0, display.x1)])
    expected = MODEL.predict_proba(grid, marginalise=False).reshape(3, 3, 2)
    np.testing.assert_allclose(display.probability, expected)
    assert display.points_ == {}


@pytest.mark.slow
def test_colour_is_that_of_the_most_probable_class():
    display = DecisionSurfaceDisplay.from_estimator(MODEL4, X4, NAMES[Y4], grid_resolution=60)
    assert labels(display) == ["east", "north", "south", "west", "relevance vectors"]
    np.testing.assert_array_equal(display.points_["east"].get_xydata(), X4[NAMES[Y4] == "east"])
    image = np.asarray(display.surface_.get_array())
    best = display.probability.argmax(axis=2)
    sure = display.probability.max(axis=2) > 0.8
    tints = [image[sure & (best == place)].mean(axis=0) for place in range(4)]
    apart = [np.abs(one - two).max() for i, one in enumerate(tints) for two in tints[:i]]
    assert min(apart) > 0.1
    # strength is probability: less of it is nearer to white
    for place in range(4):
        mine = best == place
        paleness = image[mine].min(axis=1)
        assert np.corrcoef(paleness, display.probability.max(axis=2)[mine])[0, 1] < -0.99
    assert display.colorbar_ is None
    display.figure_.canvas.draw()


@pytest.mark.slow
def test_boundaries_of_several_classes_are_ties():
    display = DecisionSurfaceDisplay.from_estimator(MODEL4, X4, grid_resolution=60)
    assert len(display.boundary_) == 4
    for contours in display.boundary_:
        two = np.sort(MODEL4.predict_proba(vertices(contours)), axis=1)[:, -2:]
        assert np.median(two[:, 1] - two[:, 0]) < 0.03


def test_relevance_vectors_of_a_basis_and_a_pipeline():
    model = SparseBayesClassifier(KernelBasis("rbf", gamma=4.0)).fit(X, Y)
    display = DecisionSurfaceDisplay.from_estimator(model, X, Y)
    np.testing.assert_array_equal(display.relevance_.get_xydata(), X[model.relevance_])
    scaled = make_pipeline(StandardScaler(), RVMClassifier(gamma=0.5)).fit(X, Y)
    display = DecisionSurfaceDisplay.from_estimator(scaled, X, Y)
    np.testing.assert_allclose(display.relevance_.get_xydata(), X[scaled[-1].relevance_])
    # what cannot be undone cannot be ringed
    normed = make_pipeline(Normalizer(), RVMClassifier(gamma=1.0)).fit(X, Y)
    assert DecisionSurfaceDisplay.from_estimator(normed, X).relevance_ is None


def test_models_without_relevance_vectors():
    for model in (LogisticRegression(), SparseBayesClassifier(LinearBasis())):
        display = DecisionSurfaceDisplay.from_estimator(model.fit(X, Y), X, Y)
        assert display.relevance_ is None
        assert labels(display) == ["class 0", "class 1"]


@pytest.mark.slow
def test_frames_name_the_axes():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["width", "height"])
    model = RVMClassifier(gamma=4.0).fit(frame, Y)
    display = DecisionSurfaceDisplay.from_estimator(model, frame, Y)
    assert display.ax_.get_xlabel() == "width"
    assert display.ax_.get_ylabel() == "height"


def test_no_boundary_where_one_class_always_wins():
    sure = np.full((3, 4, 2), 0.5)
    sure[:, :, 1] = 0.9
    display = DecisionSurfaceDisplay(
        x0=np.arange(4.0), x1=np.arange(3.0), probability=sure, truth=sure[:, :, 1]
    ).plot(colorbar=False)
    assert display.boundary_ == []
    assert display.truth_ is None
    assert display.colorbar_ is None


def test_given_axes_are_used():
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    display = DecisionSurfaceDisplay.from_estimator(MODEL, X, Y, ax=axes)
    assert display.ax_ is axes
    assert display.figure_ is figure


def test_wrong_models():
    with pytest.raises(TypeError, match="needs a classifier with predict_proba; got RVMRegressor"):
        DecisionSurfaceDisplay.from_estimator(RVMRegressor(gamma=1.0).fit(X, Y), X)
    with pytest.raises(NotFittedError):
        DecisionSurfaceDisplay.from_estimator(RVMClassifier(), X)
    three = RVMClassifier(gamma=1.0).fit(np.column_stack([X, X[:, 0]]), Y)
    with pytest.raises(
        ValueError, match="plots models with 2 features; RVMClassifier was fitted to 3"
    ):
        DecisionSurfaceDisplay.from_estimator(three, X)


GRID = {"x0": np.arange(4.0), "x1": np.arange(3.0), "probability": np.full((3, 4, 2), 0.5)}


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (
            {"probability": np.zeros((4, 3, 2))},
            r"probability must have shape \(3, 4, 'n_classes'\)",
        ),
        ({"probability": np.zeros((3, 4))}, r"probability must have shape"),
        (
            {"probability": np.ones((3, 4, 1))},
            "one label per class, at least 2; got 1 labels for 1",
        ),
        ({"classes": ["a", "b", "c"]}, "got 3 labels for 2"),
        ({"X": np.zeros((5, 3))}, r"X must have two features.*got shape \(5, 3\)"),
        ({"y": np.zeros(5)}, "y must contain a class for each of X, which is missing"),
        ({"X": np.zeros((5, 2)), "y": np.zeros(4)}, "each of the 5 rows of X; got shape"),
        ({"relevance_vectors": np.zeros(2)}, "relevance_vectors must have two features"),
        ({"truth": np.zeros((4, 3))}, r"truth must be .* of shape \(3, 4\); got shape \(4, 3\)"),
    ],
)
def test_shapes_must_agree(options, match):
    with pytest.raises(ValueError, match=match):
        DecisionSurfaceDisplay(**{**GRID, **options})


def test_a_grid_has_at_least_two_points():
    with pytest.raises(ValueError, match="grid_resolution must be an integer of at least 2"):
        DecisionSurfaceDisplay.from_estimator(MODEL, X, grid_resolution=1)
