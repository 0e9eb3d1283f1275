"""
Probabilities and costs, on breast cancer
=========================================

569 samples, thirty measurements of cell nuclei, benign or malignant. To miss a malignant one is
far worse than a false alarm. With probabilities that can be trusted, costs need no new fit. All
figures are of samples that the model had not seen, next to logistic regression and a support
vector machine, which on these data are hard to beat.

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
# Rows are what is true, columns what is said: a missed cancer costs twenty false alarms. The model
# that errs least need not be the one that pays least: what counts here is how good small
# probabilities are, and a handful of samples decides.

cost = np.array([[0.0, 1.0], [20.0, 0.0]])
models = {
    "relvec": RVMClassifier(length_scales="isotropic"),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
}
found = {}
print(
    f"{'':24}{'wrong':>7}{'log loss':>10}{'missed':>8}{'alarms':>8}"
    f"   with costs: {'missed':>7}{'alarms':>8}{'paid':>6}"
)
for name, model in models.items():
    probability = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
    found[name] = probability[:, 1]
    plain = probability.argmax(axis=1)
    careful = (probability @ cost).argmin(axis=1)
    print(
        f"{name:24}{np.mean(plain != y):7.1%}{log_loss(y, probability):10.3f}"
        f"{np.sum((plain == 0) & (y == 1)):8d}{np.sum((plain == 1) & (y == 0)):8d}"
        f"{np.sum((careful == 0) & (y == 1)):22d}{np.sum((careful == 1) & (y == 0)):8d}"
        f"{cost[y, careful].sum():6.0f}"
    )
svm = cross_val_predict(make_pipeline(StandardScaler(), SVC()), X, y, cv=folds)
print(f"{'support vector machine':24}{np.mean(svm != y):7.1%}{'-':>10}")

# %%
# How much each model remembers
# -----------------------------

model = models["relvec"].fit(X, y)
support = SVC().fit(StandardScaler().fit_transform(X), y)
print(
    f"relvec keeps {len(model.relevance_)} samples, "
    f"the support vector machine {len(support.support_)}"
)

# %%
# Can the probabilities be trusted?
# ---------------------------------
# Of the samples that are said to be malignant with 80 %, are 80 % malignant? Most samples are clear
# cases, so the bars of the middle bins are wide.

ReliabilityDisplay.from_predictions(y, found, n_bins=8)
plt.show()
