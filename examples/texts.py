"""
Texts and sequences, without turning them into numbers
======================================================

A kernel says how alike two inputs are, and inputs may be anything. Here they are short strands of
DNA, and the target is how strongly each binds a protein that looks for the motif ``TATAAT``, give
or take a letter. `StringSpectrum` compares strands by the short substrings they share; its length
is chosen by cross-validation, as any parameter. The relevance vectors are strands too.

Run it with ``python examples/texts.py``; it needs matplotlib.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process.kernels import RBF
from sklearn.model_selection import cross_val_score

from relvec import RVMRegressor
from relvec.kernels import StringSpectrum, Warped

MODEL, DATA = "#1f5a99", "0.45"
MOTIF = "TATAAT"


def binding(strands):
    """Letters of the motif that the best place on each strand agrees with, as a strength."""
    best = [
        max(
            sum(a == b for a, b in zip(strand[i:], MOTIF, strict=False))
            for i in range(len(strand) - 5)
        )
        for strand in strands
    ]
    return np.exp2(np.array(best) - 4.0)


rng = np.random.default_rng(0)
strands = ["".join(rng.choice(list("ACGT"), size=rng.integers(12, 25))) for _ in range(300)]
for row in range(0, 300, 2):  # half of them have the motif, with a letter wrong now and then
    written = [letter if rng.random() < 0.9 else rng.choice(list("ACGT")) for letter in MOTIF]
    place = rng.integers(0, len(strands[row]) - 6)
    strands[row] = strands[row][:place] + "".join(written) + strands[row][place + 6 :]
strength = binding(strands) + 0.2 * rng.normal(size=300)

# %%
# How long should the substrings be?
# ----------------------------------
# A list of texts goes where a table of numbers goes. Single letters do not tell strands apart,
# and long substrings are rarely shared. A function of your own is a kernel too: `Warped` compares
# what it returns, here how often each letter occurs.


def letters(strands):
    return np.array(
        [[strand.count(letter) / len(strand) for letter in "ACGT"] for strand in strands]
    )


kernels = {f"substrings of {n}": StringSpectrum(n) for n in (1, 3, 5, 8)}
kernels["shares of letters"] = Warped(RBF(0.2), letters)
scores = {
    name: cross_val_score(RVMRegressor(kernel, prior="bic"), strands, strength, cv=3).mean()
    for name, kernel in kernels.items()
}
print("variance of held-out strands explained")
for name, score in scores.items():
    print(f"  {name:18} {score:6.2f}")

# %%
# What was learnt
# ---------------
# Predictions come with error bars, which are wide for a strand unlike any seen before.

model = RVMRegressor(StringSpectrum(5), prior="bic").fit(strands[:250], strength[:250])
new = [*strands[250:], "CGCGCGCGCGCG"]
mean, std = model.predict(new, return_std=True)
print(f"{len(model.relevance_)} of 250 strands are relevance vectors, among them")
for strand, weight in sorted(zip(model.relevance_vectors_.ravel(), model.coef_, strict=True))[:4]:
    print(f"  {strand:26} weight {weight:6.2f}")

figure, axes = plt.subplots(figsize=(5.2, 3.6), layout="constrained")
truth = binding(new)
axes.errorbar(
    truth[:-1] + rng.uniform(-0.08, 0.08, 50), mean[:-1], std[:-1], fmt="o", ms=4, color=MODEL, lw=1
)
axes.plot([0, 4], [0, 4], color=DATA, lw=1, ls="--")
axes.set_xlabel("strength without noise")
axes.set_ylabel("predicted for held-out strands")
axes.spines[["top", "right"]].set_visible(False)
