"""
Relevance vectors of handwritten digits
=======================================

Problem: classify digits with a small model whose training examples can be inspected. Relevance
vectors are training examples: of 600 handwritten digits a few dozen are kept. A support vector
machine keeps many times as many and has a lower error rate, so it is the better choice here if
only the error rate counts.

Run it with ``python examples/digits_relevance_vectors.py``. It needs matplotlib:
``pip install "relvec[plot]"``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from relvec import RVMClassifier

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X / 16.0, y, train_size=600, random_state=0, stratify=y)

# %%
# Three multiclass models
# -----------------------
# A softmax with its own basis functions for each class, a softmax with shared basis functions, and
# ten binary models of one class against the rest. The length-scale of the kernels is fixed.

print(f"{'':26}{'vectors':>8}{'error rate':>12}{'log loss':>10}")
fitted = {}
for form in ("softmax", "shared", "one_vs_rest"):
    model = fitted[form] = RVMClassifier(gamma=0.1, multi_class=form).fit(X, y)
    loss = log_loss(y_test, model.predict_proba(X_test))
    error = 1 - model.score(X_test, y_test)
    print(f"{form:26}{len(model.relevance_):8d}{error:12.1%}{loss:10.3f}")
svm = SVC(gamma=0.1, C=10.0).fit(X, y)
error = 1 - svm.score(X_test, y_test)
print(f"{'support vector machine':26}{len(svm.support_):8d}{error:12.1%}{'-':>10}")

# %%
# The relevance vectors
# ---------------------
# They are neither the most typical digits nor, like support vectors, those near the decision
# boundary: their kernels together represent ten functions.

model = fitted["shared"]
rows = model.relevance_[np.argsort(y[model.relevance_], kind="stable")]
columns = 10
figure, panels = plt.subplots(
    -(-len(rows) // columns),
    columns,
    figsize=(7.0, 0.85 * -(-len(rows) // columns)),
    layout="constrained",
)
for axes in panels.flat:
    axes.set_axis_off()
for axes, row in zip(panels.flat, rows, strict=False):
    axes.imshow(X[row].reshape(8, 8), cmap="gray_r")
figure.suptitle(f"{len(rows)} of {len(y)} digits are relevance vectors", fontsize=11)

# %%
# The least certain predictions
# -----------------------------
# Test digits with the lowest maximum probability, and their two most probable classes.

probability = model.predict_proba(X_test)
hardest = np.argsort(probability.max(axis=1))[:10]
figure, panels = plt.subplots(1, 10, figsize=(9.0, 1.6), layout="constrained")
for axes, row in zip(panels, hardest, strict=True):
    axes.imshow(X_test[row].reshape(8, 8), cmap="gray_r")
    first, second = np.argsort(-probability[row])[:2]
    axes.set_title(
        f"{first}: {probability[row, first]:.0%}\n{second}: {probability[row, second]:.0%}",
        fontsize=8,
    )
    axes.set_xlabel(f"true: {y_test[row]}", fontsize=8)
    axes.set(xticks=[], yticks=[])
plt.show()
