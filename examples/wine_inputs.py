"""
Five chemical measurements instead of thirteen
==============================================

178 wines of three growers, thirteen measurements each. Are all of them needed? A machine that
chooses inputs says no, and tells how sure it is. Whether the choice costs accuracy is asked of
wines that were not seen, and whether it is always the same choice of random halves of the data.

Run it with ``python examples/wine_inputs.py``. It takes some seconds, and needs matplotlib:
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
# The choice
# ----------
# Left alone (``select="auto"``) the machine asks first whether a choice pays, and on these data it
# shares one width among all inputs. Told to choose, it keeps a few.

for select in ("auto", "always"):
    model = PFCVMClassifier(select=select).fit(X, y)
    print(
        f"select={select!r}: {len(model.relevance_)} wines, "
        f"{model.get_support().sum()} of 13 inputs"
    )
for i in np.argsort(-model.feature_inclusion_probability_)[:7]:
    print(f"  {names[i]:30} probability {model.feature_inclusion_probability_[i]:.2f}")
FeatureRelevanceDisplay.from_estimator(model, feature_names=names)

# %%
# Does it cost accuracy?
# ----------------------
# Three folds, columns chosen anew in each.

folds = StratifiedKFold(3, shuffle=True, random_state=0)
models = {
    "all inputs: RVMClassifier": RVMClassifier(length_scales="isotropic"),
    "chosen: PFCVMClassifier": PFCVMClassifier(select="always"),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
}
for name, each in models.items():
    scores = cross_validate(each, X, y, cv=folds, scoring=("accuracy", "neg_log_loss"))
    wrong, loss = 1 - scores["test_accuracy"].mean(), -scores["test_neg_log_loss"].mean()
    print(f"{name:28}{wrong:6.1%} wrong, log loss {loss:.3f}")

# %%
# Is it always the same choice?
# -----------------------------
# Six random halves of the wines. What is kept in nearly all of them can be relied upon; of
# measurements that say the same thing, now one is kept and now another.

display = SelectionFrequencyDisplay.from_resamples(
    PFCVMClassifier(select="always"),
    X,
    y,
    n_resamples=6,
    feature_names=names,
    random_state=0,
)

# %%
# The two inputs kept most often, by themselves
# ---------------------------------------------

best = np.argsort(-np.asarray(display.frequency))[:2]
two, first, second = RVMClassifier(), *(names[i] for i in best)
wrong = np.mean(cross_val_predict(two, X[:, best], y, cv=folds) != y)
print(f"{first} and {second} alone: {wrong:.1%} wrong")
surface = DecisionSurfaceDisplay.from_estimator(two.fit(X[:, best], y), X[:, best], y)
surface.ax_.set(xlabel=first, ylabel=second)
plt.show()
