"""Templates of exported Python files."""

from __future__ import annotations

__all__ = [
    "ANSWERS",
    "BASIS",
    "BASIS_AND_PIVOTS",
    "FALL_BACK",
    "FALL_BACK_VARIANCE",
    "HEAD",
    "KERNELS",
    "LINKS",
    "MAIN",
    "MEAN",
    "MEMBERS",
    "MIX_PRIOR",
    "MOMENTS",
    "SOLVE",
    "WIDEN",
]

HEAD = '''\
"""A fitted $source (kernel: $kernel), written by relvec $version.

$inputs

Nothing but Python is needed.

$usage
$formula

As a program it reads rows of numbers, one row on a line, from standard input and prints for each
$answers
"""

import math

'''

_KERNELS = '''

def $kernels(table, x):
    """Values of the kernel between the input and every vector of a table."""
    scales = zip(table["features"], table["shift"], table["factor"])
    u = [(x[i] - shift) * factor for i, shift, factor in scales]
    phi = []
    for v in table["vectors"]:
        t = sum(%s for a, b in zip(u, v))
        phi.append($kernel_text)
    return phi
'''

KERNELS = {
    "squared": _KERNELS % "(a - b) * (a - b)",
    "absolute": _KERNELS % "abs(a - b)",
    "product": _KERNELS % "a * b",
}

BASIS = '''

def _basis(x):
    """Basis functions: kernels at every vector, and one that is always 1."""
    return [*(k for table in TABLES for k in _kernels(table, x)), 1.0]
'''

BASIS_AND_PIVOTS = '''

def _basis(x):
    """Basis functions: kernels at every vector, and one that is always 1. Then, for each of
    PIVOT_SETS, the fraction of the variance of a Gaussian process with that kernel that remains at
    the input when the values at the pivots are known: 0 at a pivot, 1 far from all of them."""
    white = [_solve(pivots["cholesky"], $pivot_kernels(pivots, x)) for pivots in PIVOT_SETS]
    kernels = [k for table in TABLES for k in _kernels(table, x)]
    return [*kernels, 1.0, *(1.0 - sum(a * a for a in w) for w in white)]


def _excess(fraction, threshold):
    """Excess of such a fraction over a threshold: 0 up to the threshold, 1 for a fraction of 1."""
    return max(fraction - threshold, 0.0) / (1.0 - threshold)
'''

MEAN = '''

def _mean(block, phi):
    """Posterior mean of the target of a block."""
    parts = zip(block["index"], block["centre"], block["scale"], block["weights"])
    mean = block["offset"][0] + sum((phi[i] - m) * s * w for i, m, s, w in parts)
    return $fallen_back
'''

SOLVE = '''

def _solve(factor, w):
    """Solve L w = b for a lower triangular L by forward substitution; w holds b before."""
    for i, row in enumerate(factor):
        w[i] = (w[i] - sum(row[j] * w[j] for j in range(i))) / row[i]
    return w
'''

WIDEN = '''

def _extrapolated(block, phi, mean, cov):
    """Mean and covariance; the variance is larger where the input is far from the training data."""
    if block["pivot_set"]:
        rho = _excess(phi[block["pivot_set"]], block["variance_threshold"])
        for i in range(len(cov)):
            cov[i][i] += block["deviation"] * block["deviation"] * rho
    return mean, cov
'''

FALL_BACK = '''

def _fall_back(block, phi, mean):
    """Where the input is far from the training data, a mean that is far from all training targets
    moves towards their mean. Returns the new mean, the distance moved, the distance that remains,
    and how implausible the mean was (0 to 1)."""
    if not block["pivot_set"]:
        return mean, 0.0, 0.0, 0.0
    d = mean - block["target_mean"]
    z = min(abs(d) / block["deviation"], $largest)
    implausible = z**4 / (4.0 + z**4)
    extreme = z**4 / (65536.0 + z**4)
    strength = 1.0 - block["mean_threshold"] ** 8 * (1.0 - extreme)
    pull = strength * _excess(phi[block["pivot_set"]], block["mean_threshold"]) * implausible
    return mean - pull * d, pull * d, (1.0 - pull) * d, implausible
'''

FALL_BACK_VARIANCE = '''

def _extrapolated(block, phi, mean, cov):
    """Mean and variance. The variance is that of a mixture of two distributions: with probability
    rho the target has the spread of all training targets around their mean."""
    if not block["pivot_set"]:
        return mean, cov
    mean, moved, remaining, implausible = _fall_back(block, phi, mean[0])
    rho = _excess(phi[block["pivot_set"]], block["variance_threshold"])
    other = block["deviation"] * block["deviation"] + max(rho, implausible) * remaining * remaining
    return [mean], [[(1.0 - rho) * (cov[0][0] + moved * moved) + rho * other]]
'''

MOMENTS = '''

def _moments(block, phi):
    """Posterior means of the values of a block, and their posterior covariance."""
    a = [(phi[i] - m) * s for i, m, s in zip(block["index"], block["centre"], block["scale"])]
    rows = [[v * d for v, d in zip(a, design)] for design in block["design"]]
    mean = [
        offset + sum(v * w for v, w in zip(row, block["weights"]))
        for offset, row in zip(block["offset"], rows)
    ]
    white = [_solve(block["factor"], row) for row in rows]
    cov = [
        [block["spread"] * sum(v * w for v, w in zip(p, q)) + block["constant"] for q in white]
        for p in white
    ]
    return $extrapolated
'''

ANSWERS = {
    "predict": '''

def predict(x):
    """Mean of the target."""
    return _mean(BLOCKS[0], _basis(x))
''',
    "predict_std": '''

def predict_std(x):
    """Standard deviation of a new target, with the noise."""
    _, cov = _moments(BLOCKS[0], _basis(x))
    return math.sqrt(cov[0][0] + BLOCKS[0]["noise"])
''',
    "predict_all": '''

def predict(x):
    """Means of the targets."""
    phi = _basis(x)
    return [_mean(block, phi) for block in BLOCKS]
''',
    "predict_std_all": '''

def predict_std(x):
    """Standard deviations of new targets, with the noise."""
    phi = _basis(x)
    return [math.sqrt(_moments(block, phi)[1][0][0] + block["noise"]) for block in BLOCKS]
''',
}

_ODDS = '''

def _log_odds(block, phi):
    """Log-odds of the logistic function averaged over the posterior of the logit (MacKay 1992)."""
    [mean], [[variance]] = _moments(block, phi)
    return mean / math.sqrt(1.0 + math.pi / 8.0 * variance)
'''

LINKS = {
    "logistic": _ODDS
    + '''

def _logistic(odds):
    small = math.exp(-abs(odds))
    return (small if odds < 0.0 else 1.0) / (1.0 + small)


def _member_probabilities(blocks, phi):
    """Probability of each of CLASSES in one model."""
    odds = _log_odds(blocks[0], phi)
    return [_logistic(-odds), _logistic(odds)]
''',
    "one_vs_rest": _ODDS
    + '''

def _member_probabilities(blocks, phi):
    """Probability of each of CLASSES in one model."""
    odds = [_log_odds(block, phi) for block in blocks]
    log_p = [min(o, 0.0) - math.log1p(math.exp(-abs(o))) for o in odds]
    p = [math.exp(each - max(log_p)) for each in log_p]
    return [each / sum(p) for each in p]
''',
    "softmax": '''

def _root(a):
    """Symmetric square root of a covariance, by its eigenvectors (Jacobi rotations)."""
    n = range(len(a))
    v = [[float(i == j) for j in n] for i in n]
    for _ in range(50):
        off = sum(a[i][j] ** 2 for i in n for j in n if i != j)
        if off <= 1e-32 * sum(a[i][j] ** 2 for i in n for j in n):
            break
        for p in n:
            for q in range(p + 1, len(a)):
                if a[p][q] == 0.0:
                    continue
                theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q])
                t = math.copysign(1.0 / (abs(theta) + math.hypot(theta, 1.0)), theta)
                c = 1.0 / math.sqrt(t * t + 1.0)
                s = t * c
                for m in (a, v):
                    for k in n:
                        m[k][p], m[k][q] = c * m[k][p] - s * m[k][q], s * m[k][p] + c * m[k][q]
                for k in n:
                    a[p][k], a[q][k] = c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]
    roots = [math.sqrt(max(a[k][k], 0.0)) for k in n]
    return [[sum(v[i][k] * v[j][k] * roots[k] for k in n) for j in n] for i in n]


def _member_probabilities(blocks, phi):
    """Probability of each of CLASSES in one model: the softmax averaged over the posterior of the
    logits, at quasi-random points of a normal distribution."""
    mean, cov = _moments(blocks[0], phi)
    root, n = _root(cov), range(len(mean))
    order = sorted(n, key=mean.__getitem__)
    rank = [order.index(i) for i in n]
    total = [0.0 for _ in n]
    for point in POINTS:
        moved = [sum(root[i][j] * point[rank[j]] for j in n) for i in n]
        for sign in (1.0, -1.0):
            logits = [m + sign * d for m, d in zip(mean, moved)]
            p = [math.exp(each - max(logits)) for each in logits]
            total = [t + each / sum(p) for t, each in zip(total, p)]
    return [t / (2.0 * len(POINTS)) for t in total]
''',
}

MEMBERS = '''

def probabilities(x):
    """Probability of each of CLASSES: the average over all models, each mixed with CLASS_PRIOR."""
    phi, n_blocks = _basis(x), len(BLOCKS) // len(MEMBERS)
    total = [0.0 for _ in CLASS_PRIOR]
    for number, member in enumerate(MEMBERS):
        p = _member_probabilities(BLOCKS[number * n_blocks : (number + 1) * n_blocks], phi)
        # p becomes kept * p + (1 - kept) * CLASS_PRIOR; far from the training data kept is zero
        kept = 1.0 - member["shrinkage"]
$mix_prior        each = zip(total, p, CLASS_PRIOR)
        total = [t + member["weight"] * (kept * a + (1.0 - kept) * s) for t, a, s in each]
    return total
'''

MIX_PRIOR = """\
        if member["pivot_set"]:
            kept *= 1.0 - _excess(phi[member["pivot_set"]], member["prior_threshold"]) ** 8
"""

MAIN = """

if __name__ == "__main__":
    for number, line in enumerate(open(0), start=1):
        words = line.replace(",", " ").replace(";", " ").split()
        try:
            row = [float(word) for word in words]
        except ValueError:
            row = None
        if row is None or len(row) not in (0, $n_features):
            raise SystemExit(f"line {number}: every row must have $row")
        if row:
            print(*$report)
"""
