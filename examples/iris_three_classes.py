"""
Three classes with a reject option
==================================

Problem: classify three species of iris, and reject uncertain cases instead of guessing. Two
measurements of the petals separate the species, except for a few flowers. A softmax model gives
class probabilities; with costs, the most uncertain flowers are rejected and left to an expert.

Run it with ``python examples/iris_three_classes.py``. It needs matplotlib:
``pip install "relvec[plot]"``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from relvec import RVMClassifier
from relvec.plotting import DecisionSurfaceDisplay

data = load_iris()
X, names = data.data[:, 2:], data.feature_names[2:]
y = data.target_names[data.target]

# %%
# The model
# ---------
# The length-scales of the features are learnt; nothing else has to be chosen.

model = RVMClassifier().fit(X, y)
print(f"{len(model.relevance_)} of {len(y)} flowers are relevance vectors")
display = DecisionSurfaceDisplay.from_estimator(model, X, y)
display.ax_.set(xlabel=names[0], ylabel=names[1])

# %%
# Out-of-fold predictions
# -----------------------
# Every flower is predicted by a model that was fitted without it. A rejection costs a fifth of an
# error.

folds = StratifiedKFold(5, shuffle=True, random_state=0)
probability = cross_val_predict(RVMClassifier(), X, y, cv=folds, method="predict_proba")
predicted = model.classes_[probability.argmax(axis=1)]
error_probability = 1.0 - probability.max(axis=1)
rejected = error_probability > 0.2
print(f"without rejection: {np.sum(predicted != y)} errors of {len(y)}")
n_errors = np.sum((predicted != y) & ~rejected)
print(f"with rejection: {n_errors} errors of {np.sum(~rejected)}, {rejected.sum()} rejected")
print(f"mean log loss {-np.mean(np.log(probability[np.arange(len(y)), data.target])):.3f}")

figure, axes = plt.subplots(figsize=(7.0, 3.4), layout="constrained")
for is_error, label, colour, size in (
    (False, "correct", "#1f5a99", 14),
    (True, "error", "#c2410c", 34),
):
    rows = (predicted != y) == is_error
    axes.scatter(
        np.flatnonzero(rows), error_probability[rows], s=size, color=colour, label=label, lw=0
    )
axes.axhline(0.2, color="0.45", lw=0.8, ls="--", label="above: rejected")
axes.set(
    xlabel="flower (setosa, versicolor, virginica)",
    ylabel="probability of an error",
    ylim=(0, 0.45),
)
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False, loc="upper left", fontsize=9)

# %%
# `decide` does the same for any costs. Rejected rows keep the label they would have had.

decision = model.decide(X, 1.0 - np.eye(3), reject_cost=0.2)
print(f"{decision.is_rejected.sum()} rejected, expected loss {decision.expected_loss.mean():.3f}")
plt.show()
