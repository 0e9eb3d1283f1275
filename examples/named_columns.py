"""
Sparse linear regression with named columns
===========================================

Problem: find which columns of a table predict the target, with a standard deviation for each
weight. No kernels are needed. On the diabetes data a sparse linear model keeps a few of ten
columns. With all squares and products there are 65 terms, and the evidence (marginal likelihood)
selects a few of them. The RMSE on held-out patients is compared with ridge regression, the lasso
and scikit-learn's ARD on the same columns.

Run it with ``python examples/named_columns.py``. It needs matplotlib and polars, for
columns with names: ``pip install "relvec[plot]" polars``.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.datasets import load_diabetes
from sklearn.linear_model import ARDRegression, LassoCV, RidgeCV
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from relvec import SparseBayesRegressor
from relvec.bases import LinearBasis, PolynomialBasis

MODEL, DATA = "#1f5a99", "0.45"

data = load_diabetes(scaled=False)
X, y = pl.DataFrame(data.data, schema=data.feature_names), data.target
scaler = StandardScaler().set_output(transform="polars")
terms = LinearBasis() + PolynomialBasis(degree=2, include_linear=False)

# %%
# Ten columns or sixty-five
# -------------------------
# Columns are standardised. Bars are two posterior standard deviations of the weights.

figure, panels = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained", sharex=True)
for axes, (title, basis) in zip(
    panels, {"ten columns": LinearBasis(), "with squares and products": terms}.items(), strict=True
):
    model = SparseBayesRegressor(basis).fit(scaler.fit_transform(X), y)
    names, weights = model.atom_names(), model.coef_
    spread = 2.0 * np.sqrt(np.diag(model.weight_covariance_))
    order = np.argsort(np.abs(weights))
    axes.errorbar(weights[order], np.arange(len(names)), xerr=spread[order], fmt="o", color=MODEL)
    axes.set_yticks(np.arange(len(names)), [names[i] for i in order])
    axes.axvline(0.0, color=DATA, lw=0.8, ls=":")
    axes.set_title(f"{title}: {len(names)} kept", fontsize=10, loc="left")
    axes.set_xlabel("weight (progression per standard deviation)")
    axes.spines[["top", "right"]].set_visible(False)

# %%
# Comparison with other linear models
# -----------------------------------
# Ten-fold cross-validation with the same folds for all.

folds = KFold(10, shuffle=True, random_state=0)
products = PolynomialFeatures(2, include_bias=False)
models = {
    "relvec, 10 columns": make_pipeline(scaler, SparseBayesRegressor(LinearBasis())),
    "relvec, 65 terms": make_pipeline(scaler, SparseBayesRegressor(terms)),
    "ridge, 10 columns": make_pipeline(scaler, RidgeCV(np.logspace(-2, 4, 25))),
    "lasso, 65 terms": make_pipeline(
        StandardScaler(), products, StandardScaler(), LassoCV(max_iter=20_000)
    ),
    "ARDRegression, 65 terms": make_pipeline(
        StandardScaler(), products, StandardScaler(), ARDRegression()
    ),
}
print(f"{'':26}RMSE on held-out patients")
for name, model in models.items():
    scores = cross_val_score(model, X, y, cv=folds, scoring="neg_root_mean_squared_error")
    print(f"{name:26}{-scores.mean():8.2f} ± {scores.std() / np.sqrt(len(scores)):.2f}")
plt.show()
