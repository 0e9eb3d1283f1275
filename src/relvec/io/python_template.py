"""The text of exported Python files, in pieces."""

from __future__ import annotations

__all__ = [
    "ANSWERS",
    "BASIS",
    "BASIS_AND_COVERS",
    "FALL_BACK",
    "FALL_BACK_VARIANCE",
    "FAR",
    "HEAD",
    "KERNELS",
    "LINKS",
    "MAIN",
    "MEAN",
    "MEMBERS",
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
    """Kernels between the input and every vector of a table."""
    scales = zip(table["inputs"], table["shift"], table["factor"])
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
    """Kernels between the input and every vector, and a last one that is always 1."""
    return [*(k for table in TABLES for k in _kernels(table, x)), 1.0]
'''

BASIS_AND_COVERS = '''

def _basis(x):
    """Kernels between the input and every vector, one that is always 1, and for each of COVERS the
    share of the variance of a process that its values there leave unexplained."""
    white = [_solve(cover["cholesky"], $cover_kernels(cover, x)) for cover in COVERS]
    kernels = [k for table in TABLES for k in _kernels(table, x)]
    return [*kernels, 1.0, *(1.0 - sum(a * a for a in w) for w in white)]


def _beyond(share, limit):
    """What of such a share lies beyond a limit, from 0 there to 1."""
    return max(share - limit, 0.0) / (1.0 - limit)
'''

MEAN = """

def _mean(block, phi):
    parts = zip(block["index"], block["centre"], block["scale"], block["weights"])
    mean = block["offset"][0] + sum((phi[i] - m) * s * w for i, m, s, w in parts)
    return $fallen_back
"""

SOLVE = '''

def _solve(factor, w):
    """Solve L w = w for a lower triangular L."""
    for i, row in enumerate(factor):
        w[i] = (w[i] - sum(row[j] * w[j] for j in range(i))) / row[i]
    return w
'''

WIDEN = '''

def _extrapolated(block, phi, mean, cov):
    """Mean and covariance with less known of inputs that are unlike the training data."""
    if block["cover"]:
        rho = _beyond(phi[block["cover"]], block["bars_from"])
        for i in range(len(cov)):
            cov[i][i] += block["deviation"] * block["deviation"] * rho
    return mean, cov
'''

FALL_BACK = '''

def _fall_back(block, phi, mean):
    """Where the input is unlike the training data, a mean far from all targets moves towards the
    mean of these. Returns it, by how much, what is left to go, and how implausible it was."""
    if not block["cover"]:
        return mean, 0.0, 0.0, 0.0
    d = mean - block["target_mean"]
    z = min(abs(d) / block["deviation"], $largest)
    implausible = z**4 / (4.0 + z**4)
    absurd = z**4 / (65536.0 + z**4)
    telling = 1.0 - block["means_from"] ** 8 * (1.0 - absurd)
    pull = telling * _beyond(phi[block["cover"]], block["means_from"]) * implausible
    return mean - pull * d, pull * d, (1.0 - pull) * d, implausible
'''

FALL_BACK_VARIANCE = '''

def _extrapolated(block, phi, mean, cov):
    """Mean and variance, that of a mixture: with probability rho the target is anything around the
    mean of all targets."""
    if not block["cover"]:
        return mean, cov
    mean, moved, rest, implausible = _fall_back(block, phi, mean[0])
    rho = _beyond(phi[block["cover"]], block["bars_from"])
    other = block["deviation"] * block["deviation"] + max(rho, implausible) * rest * rest
    return [mean], [[(1.0 - rho) * (cov[0][0] + moved * moved) + rho * other]]
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
    """Standard deviation of a new target."""
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
    """Standard deviations of new targets."""
    phi = _basis(x)
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


def _linked(blocks, phi):
    """Probability of each of CLASSES, by one model."""
    odds = _log_odds(blocks[0], phi)
    return [_logistic(-odds), _logistic(odds)]
''',
    "one_vs_rest": _ODDS
    + '''

def _linked(blocks, phi):
    """Probability of each of CLASSES, by one model."""
    odds = [_log_odds(block, phi) for block in blocks]
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


def _linked(blocks, phi):
    """Probability of each of CLASSES by one model, averaged over what is not known of the
    logits."""
    mean, cov = _moments(blocks[0], phi)
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

MEMBERS = '''

def probabilities(x):
    """Probability of each of CLASSES: the average over all members, mixed with SHARES."""
    phi, n_blocks = _basis(x), len(BLOCKS) // len(MEMBERS)
    total = [0.0 for _ in SHARES]
    for number, member in enumerate(MEMBERS):
        p = _linked(BLOCKS[number * n_blocks : (number + 1) * n_blocks], phi)
        kept = 1.0 - member["shrinkage"]
$far        each = zip(total, p, SHARES)
        total = [t + member["weight"] * (kept * a + (1.0 - kept) * s) for t, a, s in each]
    return total
'''

FAR = """\
        if member["cover"]:
            kept *= 1.0 - _beyond(phi[member["cover"]], member["far_from"]) ** 8
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
            raise SystemExit(f"line {number}: every row must hold $row")
        if row:
            print(*$report)
"""
