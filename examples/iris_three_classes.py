"""
Three kinds of iris, and an answer of "I do not know"
=====================================================

Two measurements of the petals tell the three kinds apart, but for a few flowers. One softmax model
gives probabilities. They say where the doubt is, and with costs they become decisions: some flowers
are left to an expert.

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
# Scales of the inputs are learnt; nothing else has to be chosen.

model = RVMClassifier().fit(X, y)
print(f"{len(model.relevance_)} of {len(y)} flowers are relevance vectors")
display = DecisionSurfaceDisplay.from_estimator(model, X, y)
display.ax_.set(xlabel=names[0], ylabel=names[1])

# %%
# Flowers that were not seen
# --------------------------
# Every flower is predicted by a model that was fitted without it. To leave a flower to an expert
# costs a fifth of a mistake.

folds = StratifiedKFold(5, shuffle=True, random_state=0)
probability = cross_val_predict(RVMClassifier(), X, y, cv=folds, method="predict_proba")
said = model.classes_[probability.argmax(axis=1)]
doubt = 1.0 - probability.max(axis=1)
refused = doubt > 0.2
print(f"all decided:  {np.sum(said != y)} of {len(y)} wrong")
wrong = np.sum((said != y) & ~refused)
print(f"with refusal: {wrong} of {np.sum(~refused)} wrong, {refused.sum()} refused")
print(f"mean log loss {-np.mean(np.log(probability[np.arange(len(y)), data.target])):.3f}")

figure, axes = plt.subplots(figsize=(7.0, 3.4), layout="constrained")
for value, label, colour, size in ((False, "right", "#1f5a99", 14), (True, "wrong", "#c2410c", 34)):
    rows = (said != y) == value
    axes.scatter(np.flatnonzero(rows), doubt[rows], s=size, color=colour, label=label, lw=0)
axes.axhline(0.2, color="0.45", lw=0.8, ls="--", label="above: left to an expert")
axes.set(
    xlabel="flower (setosa, versicolor, virginica)",
    ylabel="probability of an error",
    ylim=(0, 0.45),
)
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False, loc="upper left", fontsize=9)

# %%
# A fitted model decides by itself, for any costs; refused rows keep the label they would have got.

decision = model.decide(X, 1.0 - np.eye(3), reject_cost=0.2)
print(f"{decision.is_rejected.sum()} refused, loss {decision.expected_loss.mean():.3f} expected")
plt.show()
