"""
String kernels for texts and sequences
======================================

Problem: regression on texts or sequences, without converting them to feature vectors. A kernel
needs only a similarity of two inputs. Here the inputs are short DNA sequences, and the target is
the strength with which each binds a protein that recognises the motif ``TATAAT``, with few
mismatches. `StringSpectrum` compares sequences by their common substrings; the length of the
substrings is chosen by cross-validation. The relevance vectors are sequences too.

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


def binding(sequences):
    """Binding strength: 2 to the largest number of matches with the motif, minus 4."""
    best = [
        max(
            sum(a == b for a, b in zip(sequence[i:], MOTIF, strict=False))
            for i in range(len(sequence) - 5)
        )
        for sequence in sequences
    ]
    return np.exp2(np.array(best) - 4.0)


rng = np.random.default_rng(0)
sequences = ["".join(rng.choice(list("ACGT"), size=rng.integers(12, 25))) for _ in range(300)]
for row in range(0, 300, 2):  # half of the sequences contain the motif, with random mutations
    written = [letter if rng.random() < 0.9 else rng.choice(list("ACGT")) for letter in MOTIF]
    start = rng.integers(0, len(sequences[row]) - 6)
    sequences[row] = sequences[row][:start] + "".join(written) + sequences[row][start + 6 :]
strength = binding(sequences) + 0.2 * rng.normal(size=300)

# %%
# Length of the substrings
# ------------------------
# A list of texts is passed in place of a table of numbers. Single letters do not discriminate
# sequences, and long substrings are rarely shared. `Warped` applies a kernel to the output of a
# function, here the frequencies of the letters.


def letters(sequences):
    return np.array(
        [[sequence.count(letter) / len(sequence) for letter in "ACGT"] for sequence in sequences]
    )


kernels = {f"substrings of {n}": StringSpectrum(n) for n in (1, 3, 5, 8)}
kernels["letter frequencies"] = Warped(RBF(0.2), letters)
scores = {
    name: cross_val_score(RVMRegressor(kernel, prior="bic"), sequences, strength, cv=3).mean()
    for name, kernel in kernels.items()
}
print("R² on held-out sequences")
for name, score in scores.items():
    print(f"  {name:18} {score:6.2f}")

# %%
# The fitted model
# ----------------
# Error bars are wide for a sequence unlike those of the training data.

model = RVMRegressor(StringSpectrum(5), prior="bic").fit(sequences[:250], strength[:250])
new = [*sequences[250:], "CGCGCGCGCGCG"]
mean, std = model.predict(new, return_std=True)
print(f"{len(model.relevance_)} of 250 sequences are relevance vectors, among them")
for sequence, weight in sorted(zip(model.relevance_vectors_.ravel(), model.coef_, strict=True))[:4]:
    print(f"  {sequence:26} weight {weight:6.2f}")

figure, axes = plt.subplots(figsize=(5.2, 3.6), layout="constrained")
truth = binding(new)
axes.errorbar(
    truth[:-1] + rng.uniform(-0.08, 0.08, 50), mean[:-1], std[:-1], fmt="o", ms=4, color=MODEL, lw=1
)
axes.plot([0, 4], [0, 4], color=DATA, lw=1, ls="--")
axes.set_xlabel("strength without noise")
axes.set_ylabel("prediction for held-out sequences")
axes.spines[["top", "right"]].set_visible(False)
