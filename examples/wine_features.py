"""
Feature selection in classification
===================================

Problem: find the features that are needed for classification, and check that the selection is
stable. The data are 178 wines of three growers, with thirteen chemical measurements each.
`PFCVMClassifier` keeps a few of them, with an inclusion probability for each. Its accuracy is
compared on held-out wines with models that use all features, and the selection is repeated on
random halves of the data.

Run it with ``python examples/wine_features.py``. It takes some seconds and needs matplotlib:
``pip install "relvec[plot]"``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import PFCVMClassifier, RVMClassifier
from relvec.plotting import (
    DecisionSurfaceDisplay,
    FeatureRelevanceDisplay,
    SelectionFrequencyDisplay,
)

data = load_wine()
X, y, names = data.data, data.target_names[data.target], data.feature_names

# %%
# The selected features
# ---------------------
# With ``select="auto"`` the model first checks whether selection improves held-out predictions; on
# these data it does not, and all features share one length-scale. With ``select="always"`` it keeps
# a few.

for select in ("auto", "always"):
    model = PFCVMClassifier(select=select).fit(X, y)
    print(
        f"select={select!r}: {len(model.relevance_)} wines, "
        f"{model.get_support().sum()} of 13 features"
    )
for i in np.argsort(-model.feature_inclusion_probability_)[:7]:
    print(f"  {names[i]:30} inclusion probability {model.feature_inclusion_probability_[i]:.2f}")
FeatureRelevanceDisplay.from_estimator(model, feature_names=names)

# %%
# Effect on accuracy
# ------------------
# Three-fold cross-validation, with a new selection in each fold.

folds = StratifiedKFold(3, shuffle=True, random_state=0)
models = {
    "RVMClassifier, all features": RVMClassifier(length_scales="isotropic"),
    "PFCVMClassifier, selected": PFCVMClassifier(select="always"),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
}
for name, each in models.items():
    scores = cross_validate(each, X, y, cv=folds, scoring=("accuracy", "neg_log_loss"))
    error, loss = 1 - scores["test_accuracy"].mean(), -scores["test_neg_log_loss"].mean()
    print(f"{name:28} error rate {error:5.1%}, log loss {loss:.3f}")

# %%
# Stability of the selection
# --------------------------
# Six random halves of the wines. Features kept in nearly all of them are selected reliably. Of
# correlated features, different ones are kept in different halves.

display = SelectionFrequencyDisplay.from_resamples(
    PFCVMClassifier(select="always"),
    X,
    y,
    n_resamples=6,
    feature_names=names,
    random_state=0,
)

# %%
# The two features kept most often
# --------------------------------

best = np.argsort(-np.asarray(display.frequency))[:2]
two, first, second = RVMClassifier(), *(names[i] for i in best)
error = np.mean(cross_val_predict(two, X[:, best], y, cv=folds) != y)
print(f"{first} and {second} alone: error rate {error:.1%}")
surface = DecisionSurfaceDisplay.from_estimator(two.fit(X[:, best], y), X[:, best], y)
surface.ax_.set(xlabel=first, ylabel=second)
plt.show()
