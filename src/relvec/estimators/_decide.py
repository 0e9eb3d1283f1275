"""Predictions and decisions of fitted classifiers."""

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
    """Decisions of minimum expected loss, with a reject option.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        Class of least expected loss, also for rows that are rejected.
    expected_loss : ndarray of shape (n_samples,)
        Expected loss of the decision; `reject_cost` for rejected rows.
    is_rejected : ndarray of bool of shape (n_samples,)
        Whether rejecting the row has a smaller loss than any class.
    """

    labels: np.ndarray
    expected_loss: Vector
    is_rejected: np.ndarray


class DecisionMixin:
    """Methods of fitted classifiers."""

    class_model_: ClassModel
    average_: ClassModelAverage
    classes_: np.ndarray

    @property
    def _average(self) -> ClassModelAverage:
        """Models over which probabilities are averaged; one in files of release 0.1."""
        return self.__dict__.get("average_") or ClassModelAverage((self.class_model_,), np.ones(1))

    def _validate(self, X: Any) -> Any:
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
            Class labels.

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
        """Predict the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        marginalise : bool, default=True
            Whether to marginalise over the posterior of the weights (MacKay 1992) and, with
            ``average=True``, over the length-scales. Probabilities are then less extreme, and far
            from the training inputs they are the class prior. If False, they are those of the most
            probable weights of the best model.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.

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
        X = self._validate(X)
        return self._average.probability(X, marginalise=marginalise)

    def predict_log_proba(self, X: Any, *, marginalise: bool = True) -> Matrix:
        """Predict the logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        marginalise : bool, default=True
            As in `predict_proba`.

        Returns
        -------
        log_probability : ndarray of shape (n_samples, n_classes)
            Log probabilities, in the order of `classes_`.

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
        X = self._validate(X)
        return self._average.log_probability(X, marginalise=marginalise)

    def decision_function(
        self, X: Any, return_std: bool = False, *, marginalise: bool = True
    ) -> Any:
        """Compute the log odds of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Whether to return the posterior standard deviation of the logit, whose mean is the
            result with ``marginalise=False``.
        marginalise : bool, default=True
            As in `predict_proba`. False gives the posterior mean of the logit or, for a joint model
            of several classes, the log odds at the most probable weights.

        Returns
        -------
        log_odds : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, log odds of the second; otherwise of each class against all others,
            ``log(p / (1 - p))``.
        std : ndarray of the same shape
            Posterior standard deviation of the logits before marginalisation. Only if `return_std`
            is True.

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
        X = self._validate(X)
        odds = self._average.log_odds(X, marginalise=marginalise)
        return (odds, self.class_model_.logit(X)[1]) if return_std else odds

    def extrapolating(self, X: Any) -> Vector:
        """Measure how far inputs are beyond the training inputs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        share : ndarray of shape (n_samples,)
            Between zero at the training inputs and one far from them, where probabilities are the
            class prior.

        Raises
        ------
        ValueError
            If `error_bars` is "plain", no kernel of the basis decays, or the model has no kernel.

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
        X = self._validate(X)
        share = self._average.extrapolation(X)
        if share is None:
            raise ValueError(
                f"{type(self).__name__} cannot measure extrapolation. This needs "
                'error_bars="novelty", a kernel that decays, and at least one kernel in the model.'
            )
        return share

    def decide(
        self, X: Any, cost_matrix: ArrayLike, *, reject_cost: float | None = None
    ) -> Decision:
        """Decide for the classes of minimum expected loss.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        cost_matrix : array-like of shape (n_classes, n_classes)
            Entry (i, j) is the loss of deciding for class j where class i is true, in the order of
            `classes_`.
        reject_cost : float, optional
            Loss of rejecting a row, that is of not deciding. By default no row is rejected.

        Returns
        -------
        decision : Decision
            Named tuple of `labels`, `expected_loss` and `is_rejected`. Rejected rows have a label
            as well, so check `is_rejected` first.

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
            raise ValueError(
                "cost_matrix is missing. Give the loss of each decision, true classes in rows and "
                "decisions in columns."
            )
        try:
            cost = np.asarray(cost_matrix, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"cost_matrix must contain numbers; got {cost_matrix!r}.") from None
        if not np.isfinite(cost).all():
            raise ValueError("cost_matrix must be finite; it contains NaN or infinity.")
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
            limit = check_positive("reject_cost", reject_cost, allow_zero=True)
            rejected = least > limit
            least = np.minimum(least, limit)
        return Decision(self.classes_[best], least, rejected)

    @property
    def certificate_(self) -> Certificate:
        """How nearly the solution satisfies the optimality conditions of a local maximum.

        `gradient` is the largest absolute derivative of the objective with respect to a log
        precision, `best_gain` the largest gain of a basis function that is not in the model, net of
        its penalty, both in nats. For several binary models they are the largest values.
        They are computed at fixed curvature of the likelihood, except with ``solver="exact"``.

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
