"""What a fitted classifier can be asked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_bool, check_positive
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.estimators._class_model import ClassModel, ClassModelAverage
from relvec.estimators._inputs import validate_inputs
from relvec.solvers import Certificate

__all__ = ["Decision", "DecisionMixin"]


class Decision(NamedTuple):
    """Decisions of least expected loss.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        The class decided for; where the decision is refused, the one it would have been.
    expected_loss : ndarray of shape (n_samples,)
        Of what was decided, a refusal included.
    is_rejected : ndarray of bool of shape (n_samples,)
        Where refusing to decide costs less.
    """

    labels: np.ndarray
    expected_loss: Vector
    is_rejected: np.ndarray


class DecisionMixin:
    """Probabilities and decisions read from the fitted class_model."""

    class_model_: ClassModel
    average_: ClassModelAverage
    classes_: np.ndarray

    @property
    def _average(self) -> ClassModelAverage:
        """What probabilities are averages of; models of release 0.1 have one class_model alone."""
        return self.__dict__.get("average_") or ClassModelAverage((self.class_model_,), np.ones(1))

    def _validated(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_inputs(self, X, reset=False)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        labels : ndarray of shape (n_samples,)

        Examples
        --------
        >>> from relvec import RVMClassifier
        >>> from relvec.datasets import make_snake
        >>> X, y = make_snake(100, random_state=0)
        >>> classifier = RVMClassifier(gamma=1.0).fit(X, y)
        >>> classifier.predict(X[:4])
        array([0, 0, 0, 1])
        """
        best = np.argmax(self.predict_proba(X), axis=1)
        labels: np.ndarray = self.classes_[best]
        return labels

    def predict_proba(self, X: Any, *, marginalise: bool = True) -> Matrix:
        """Probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        marginalise : bool, default=True
            Whether to average over what is not known of the weights and, with ``average=True``,
            of the scales, which pulls probabilities away from zero and one; far from the training
            inputs they are the shares of the classes then. If not, they are those of the most
            probable weights of the best model.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.

        Examples
        --------
        >>> from relvec import RVMClassifier
        >>> from relvec.datasets import make_snake
        >>> X, y = make_snake(100, random_state=0)
        >>> classifier = RVMClassifier(gamma=1.0).fit(X, y)
        >>> classifier.predict_proba(X[:2]).round(2)
        array([[0.95, 0.05],
               [0.85, 0.15]])
        >>> classifier.predict_proba(X[:2], marginalise=False).round(2)
        array([[0.99, 0.01],
               [0.89, 0.11]])
        """
        check_bool("marginalise", marginalise)
        X = self._validated(X)
        return self._average.probability(X, marginalise=marginalise)

    def predict_log_proba(self, X: Any, *, marginalise: bool = True) -> Matrix:
        """Logarithm of `predict_proba`.

        Examples
        --------
        >>> from relvec import RVMClassifier
        >>> from relvec.datasets import make_snake
        >>> X, y = make_snake(100, random_state=0)
        >>> classifier = RVMClassifier(gamma=1.0).fit(X, y)
        >>> classifier.predict_log_proba(X[:2]).round(1)
        array([[-0.1, -3. ],
               [-0.2, -1.9]])
        """
        check_bool("marginalise", marginalise)
        X = self._validated(X)
        return self._average.log_probability(X, marginalise=marginalise)

    def decision_function(
        self, X: Any, return_std: bool = False, *, marginalise: bool = True
    ) -> Any:
        """Log odds by which decisions are made.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Also return the posterior standard deviation of the logit, whose mean is what
            ``marginalise=False`` gives.
        marginalise : bool, default=True
            As in `predict_proba`; False gives the posterior mean of the logit and, of a model of
            several classes, the log odds at the most probable weights.

        Returns
        -------
        log_odds : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, of the second; else of each against all others, ``log(p / (1 - p))``.
        std : ndarray of the same shape
            Only if `return_std`.

        Examples
        --------
        >>> from relvec import RVMClassifier
        >>> from relvec.datasets import make_snake
        >>> X, y = make_snake(100, random_state=0)
        >>> classifier = RVMClassifier(gamma=1.0).fit(X, y)
        >>> odds, std = classifier.decision_function(X[:3], return_std=True)
        >>> odds.round(1), std.round(1)
        (array([-3. , -1.7, -3.6]), array([1.6, 1.1, 1.6]))
        """
        check_bool("return_std", return_std)
        check_bool("marginalise", marginalise)
        X = self._validated(X)
        odds = self._average.log_odds(X, marginalise=marginalise)
        return (odds, self.class_model_.logit(X)[1]) if return_std else odds

    def extrapolating(self, X: Any) -> Vector:
        """Say how far inputs are beyond the training inputs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        share : ndarray of shape (n_samples,)
            Zero at the training inputs, one where they say nothing: probabilities there are the
            shares of the classes.

        Raises
        ------
        ValueError
            If error bars are "plain", no kernel of the basis decays, or no atom is in the model.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMClassifier
        >>> from relvec.datasets import make_snake
        >>> X, y = make_snake(100, random_state=0)
        >>> classifier = RVMClassifier(gamma=1.0).fit(X, y)
        >>> classifier.extrapolating([X[0], [30.0, 30.0]]).round(1)
        array([0., 1.])
        >>> classifier.predict_proba([[30.0, 30.0]]).round(2), np.bincount(y) / len(y)
        (array([[0.5, 0.5]]), array([0.5, 0.5]))
        """
        X = self._validated(X)
        share = self._average.extrapolation(X)
        if share is None:
            raise ValueError(
                f"{type(self).__name__} cannot tell which inputs are beyond its data: that needs "
                'error_bars="novelty", a kernel that decays, and a model with atoms.'
            )
        return share

    def decide(
        self, X: Any, cost_matrix: ArrayLike, *, reject_cost: float | None = None
    ) -> Decision:
        """Decide so that the expected loss is least.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        cost_matrix : array-like of shape (n_classes, n_classes)
            Loss of deciding for the class of the column where that of the row is true, in the
            order of `classes_`.
        reject_cost : float, optional
            Loss of not deciding.

        Returns
        -------
        decision : Decision
            With `labels`, `expected_loss` and `is_rejected`. A refused row has the label that it
            would have got, so look at `is_rejected` first.

        Examples
        --------
        >>> from relvec import RVMClassifier
        >>> from relvec.datasets import make_snake
        >>> X, y = make_snake(100, random_state=0)
        >>> classifier = RVMClassifier(gamma=1.0).fit(X, y)
        >>> decision = classifier.decide(X[:4], [[0.0, 1.0], [5.0, 0.0]], reject_cost=0.4)
        >>> decision.labels, decision.is_rejected
        (array([0, 0, 0, 1]), array([False,  True, False, False]))
        """
        check_is_fitted(self)
        n_classes = len(self.classes_)
        if cost_matrix is None:
            raise ValueError("cost_matrix is missing: what does each mistake cost?")
        try:
            cost = np.asarray(cost_matrix, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"cost_matrix must hold numbers; got {cost_matrix!r}.") from None
        if not np.isfinite(cost).all():
            raise ValueError("cost_matrix must be finite; it holds NaN or infinity.")
        if cost.shape != (n_classes, n_classes):
            raise ValueError(
                f"cost_matrix must be of shape {(n_classes, n_classes)}, true classes "
                f"in rows and decisions in columns; got shape {cost.shape}."
            )
        loss = self.predict_proba(X) @ cost
        best = np.argmin(loss, axis=1)
        least = loss[np.arange(len(best)), best]
        rejected = np.zeros(len(best), dtype=bool)
        if reject_cost is not None:
            penalty = check_positive("reject_cost", reject_cost, allow_zero=True)
            rejected = least > penalty
            least = np.minimum(least, penalty)
        return Decision(self.classes_[best], least, rejected)

    @property
    def certificate_(self) -> Certificate:
        """How far the search ended from a local maximum; of several models the largest figures.

        `gradient` is the largest derivative of the objective in a log precision, `best_gain` the
        most that any atom left out would gain, in nats, net of its penalty. They hold the curvature
        of the likelihood fixed, as the steps do, but for ``solver="exact"``.

        Examples
        --------
        >>> from relvec import RVMClassifier
        >>> from relvec.datasets import make_snake
        >>> X, y = make_snake(100, random_state=0)
        >>> certificate = RVMClassifier(gamma=1.0, solver="exact").fit(X, y).certificate_
        >>> certificate.gradient < 0.05, certificate.best_gain < 0.05
        (True, True)
        """
        check_is_fitted(self)
        return Certificate(*self.class_model_.certificate)
