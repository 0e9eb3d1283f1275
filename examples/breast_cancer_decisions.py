"""
Decisions with unequal costs
============================

Problem: classify tumours when a missed cancer is far worse than a false positive. With calibrated
probabilities, any costs can be applied after the fit. The data are 569 samples with thirty
measurements of cell nuclei, benign or malignant. All results are out-of-fold. They are compared
with logistic regression and a support vector machine, which are hard to beat on these data.

Run it with ``python examples/breast_cancer_decisions.py``. It needs matplotlib:
``pip install "relvec[plot]"``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from relvec import RVMClassifier
from relvec.plotting import ReliabilityDisplay

X, y = load_breast_cancer(return_X_y=True)
y = 1 - y  # 1 is malignant
folds = StratifiedKFold(5, shuffle=True, random_state=0)

# %%
# Costs
# -----
# Rows are the true class, columns the decision: a missed cancer costs as much as twenty false
# positives. The model with the lowest error rate need not have the lowest cost: the cost depends
# on the accuracy of small probabilities, and on a handful of samples.

cost = np.array([[0.0, 1.0], [20.0, 0.0]])
models = {
    "relvec": RVMClassifier(length_scales="isotropic"),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
}
malignant = {}
print("FN, FP: number of false negatives (missed cancers) and false positives")
print(
    f"{'':24}{'error rate':>11}{'log loss':>10}{'FN':>5}{'FP':>5}"
    f"{'with costs: FN':>17}{'FP':>5}{'cost':>6}"
)
for name, model in models.items():
    probability = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
    malignant[name] = probability[:, 1]
    most_probable = probability.argmax(axis=1)
    cheapest = (probability @ cost).argmin(axis=1)
    print(
        f"{name:24}{np.mean(most_probable != y):11.1%}{log_loss(y, probability):10.3f}"
        f"{np.sum((most_probable == 0) & (y == 1)):5d}"
        f"{np.sum((most_probable == 1) & (y == 0)):5d}"
        f"{np.sum((cheapest == 0) & (y == 1)):17d}{np.sum((cheapest == 1) & (y == 0)):5d}"
        f"{cost[y, cheapest].sum():6.0f}"
    )
svm = cross_val_predict(make_pipeline(StandardScaler(), SVC()), X, y, cv=folds)
print(f"{'support vector machine':24}{np.mean(svm != y):11.1%}{'-':>10}")

# %%
# Number of training samples kept
# -------------------------------

model = models["relvec"].fit(X, y)
support = SVC().fit(StandardScaler().fit_transform(X), y)
print(
    f"relvec keeps {len(model.relevance_)} samples, "
    f"the support vector machine {len(support.support_)}"
)

# %%
# Calibration
# -----------
# Of the samples predicted to be malignant with probability 80 %, are 80 % malignant? Most samples
# have probabilities near 0 or 1, so the error bars of the middle bins are wide.

ReliabilityDisplay.from_predictions(y, malignant, n_bins=8)
plt.show()
