"""The text of exported Python files, in pieces."""

from __future__ import annotations

__all__ = ["ANSWERS", "DOUBT", "HEAD", "KERNELS", "LINKS", "MAIN", "MEAN", "MOMENTS", "SOLVE"]

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

def _kernels(x):
    """Kernels between the input and every vector, and a last one that is always 1."""
    u = [(x[i] - shift) * factor for i, shift, factor in zip(INPUTS, SHIFT, FACTOR)]
    phi = []
    for v in VECTORS:
        t = sum(%s for a, b in zip(u, v))
        phi.append($kernel_text)
    return [*phi, 1.0]
'''

KERNELS = {
    "squared": _KERNELS % "(a - b) * (a - b)",
    "absolute": _KERNELS % "abs(a - b)",
    "product": _KERNELS % "a * b",
}

MEAN = """

def _mean(block, phi):
    parts = zip(block["index"], block["centre"], block["scale"], block["weights"])
    return block["offset"][0] + sum((phi[i] - m) * s * w for i, m, s, w in parts)
"""

SOLVE = '''

def _solve(factor, w):
    """Solve L w = w for a lower triangular L."""
    for i, row in enumerate(factor):
        w[i] = (w[i] - sum(row[j] * w[j] for j in range(i))) / row[i]
    return w
'''

DOUBT = '''

def _doubt(block, phi):
    """Variance of inputs that are unlike the training data."""
    if block["doubt"] is None:
        return 0.0
    cover, amplitude, known = block["doubt"]
    w = _solve(COVERS[cover]["factor"], [phi[i] for i in COVERS[cover]["pivots"]])
    return amplitude * max(1.0 - sum(a * a for a in w) - known, 0.0)
'''

MOMENTS = '''

def _moments(block, phi):
    """Means of the values of a block, and their covariance."""
    a = [(phi[i] - m) * s for i, m, s in zip(block["index"], block["centre"], block["scale"])]
    rows = [[v * d for v, d in zip(a, design)] for design in block["design"]]
    mean = [
        offset + sum(v * w for v, w in zip(row, block["weights"]))
        for offset, row in zip(block["offset"], rows)
    ]
    white = [_solve(block["factor"], row) for row in rows]
    doubt = $doubt
    cov = [
        [block["spread"] * sum(v * w for v, w in zip(p, q)) + block["constant"] for q in white]
        for p in white
    ]
    for i in range(len(cov)):
        cov[i][i] += doubt
    return mean, cov
'''

ANSWERS = {
    "predict": '''

def predict(x):
    """Mean of the target."""
    return _mean(BLOCKS[0], _kernels(x))
''',
    "predict_std": '''

def predict_std(x):
    """Standard deviation of a new target."""
    _, cov = _moments(BLOCKS[0], _kernels(x))
    return math.sqrt(cov[0][0] + BLOCKS[0]["noise"])
''',
    "predict_all": '''

def predict(x):
    """Means of the targets."""
    phi = _kernels(x)
    return [_mean(block, phi) for block in BLOCKS]
''',
    "predict_std_all": '''

def predict_std(x):
    """Standard deviations of new targets."""
    phi = _kernels(x)
    return [math.sqrt(_moments(block, phi)[1][0][0] + block["noise"]) for block in BLOCKS]
''',
}

_ODDS = """

def _log_odds(block, phi):
    [mean], [[variance]] = _moments(block, phi)
    return mean / math.sqrt(1.0 + math.pi / 8.0 * variance)
"""

LINKS = {
    "logistic": _ODDS
    + '''

def _logistic(odds):
    small = math.exp(-abs(odds))
    return (small if odds < 0.0 else 1.0) / (1.0 + small)


def probabilities(x):
    """Probability of each of CLASSES."""
    odds = _log_odds(BLOCKS[0], _kernels(x))
    return [_logistic(-odds), _logistic(odds)]
''',
    "one_vs_rest": _ODDS
    + '''

def probabilities(x):
    """Probability of each of CLASSES."""
    phi = _kernels(x)
    odds = [_log_odds(block, phi) for block in BLOCKS]
    log_p = [min(o, 0.0) - math.log1p(math.exp(-abs(o))) for o in odds]
    share = [math.exp(each - max(log_p)) for each in log_p]
    return [each / sum(share) for each in share]
''',
    "softmax": '''

def _root(a):
    """Symmetric root of a covariance, by rotations that make it diagonal."""
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


def probabilities(x):
    """Probability of each of CLASSES, averaged over what is not known of the logits."""
    mean, cov = _moments(BLOCKS[0], _kernels(x))
    root, n = _root(cov), range(len(mean))
    order = sorted(n, key=mean.__getitem__)
    rank = [order.index(i) for i in n]
    total = [0.0 for _ in n]
    for point in POINTS:
        moved = [sum(root[i][j] * point[rank[j]] for j in n) for i in n]
        for sign in (1.0, -1.0):
            logits = [m + sign * d for m, d in zip(mean, moved)]
            share = [math.exp(each - max(logits)) for each in logits]
            total = [t + each / sum(share) for t, each in zip(total, share)]
    return [t / (2.0 * len(POINTS)) for t in total]
''',
}

MAIN = """

if __name__ == "__main__":
    for number, line in enumerate(open(0), start=1):
        words = line.replace(",", " ").replace(";", " ").split()
        try:
            row = [float(word) for word in words]
        except ValueError:
            row = None
        if row is None or len(row) not in (0, $n_features):
            raise SystemExit(f"line {number}: every row must hold $row")
        if row:
            print(*$report)
"""
