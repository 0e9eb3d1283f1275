"""The text of exported C files, in pieces."""

from __future__ import annotations

__all__ = [
    "ANSWERS",
    "BASIS",
    "BASIS_AND_COVERS",
    "BLOCK",
    "CENTRE_FIELDS",
    "CHOICE",
    "COVER_FIELDS",
    "FALL_BACK",
    "FAR",
    "HEAD",
    "KERNELS",
    "LINKS",
    "MAIN",
    "MEAN",
    "MEMBERS",
    "MOMENTS",
    "PROBABILITIES",
    "REPORTS",
    "SOLVE",
    "TABLES",
    "VARIANCE_FIELDS",
    "WIDEN",
]

HEAD = """\
/* A fitted $source (kernel: $kernel), written by relvec $version.
 *
$inputs
 *
 * Nothing but math.h is needed.
 *
$usage
 *
$formula
 *
 * As a program it reads rows of numbers, one row on a line, and prints for each
$answers
 *
 *     cc -std=c99 -D${NAME}_MAIN file.c -lm && ./a.out < rows.txt
 */
#include <math.h>
"""

TABLES = """\
typedef struct {
    int n_inputs, n_vectors;
    const int *inputs;
    const double *shift, *factor;
    const $real *vectors, *cholesky;
} ${name}_table;
static const ${name}_table ${name}_tables[$n_tables] = {
$rows
};"""

BLOCK = """\
typedef struct {
    int n_weights, n_values;
    const int *index;
    const $real *centre, *scale, *weights, *offset, *design;
$fields} ${name}_block;
static const ${name}_block ${name}_blocks[$n_blocks] = {
$rows
};"""

VARIANCE_FIELDS = """\
    const $real *precision;
    $real spread, constant, noise;
"""

COVER_FIELDS = """\
    int cover;
    $real deviation, bars_from;
"""

CENTRE_FIELDS = """\
    $real means_from, target_mean;
"""

_KERNELS = """\
/* Kernels between the input and every vector of a table. */
static void ${name}_$kernels(const ${name}_table *table, const double *x, $real *phi)
{
    $real u[$n_inputs];
    int i, j, n = table->n_inputs;
    for (i = 0; i < n; i++)
        u[i] = ($real)((x[table->inputs[i]] - table->shift[i]) * table->factor[i]);
    for (j = 0; j < table->n_vectors; j++) {
        const $real *v = table->vectors + j * n;
        $real t = $zero;
        for (i = 0; i < n; i++)
            %s;
        phi[j] = $kernel_text;
    }
}
"""

KERNELS = {
    "squared": _KERNELS % "t += (u[i] - v[i]) * (u[i] - v[i])",
    "absolute": _KERNELS % "t += $fabs(u[i] - v[i])",
    "product": _KERNELS % "t += u[i] * v[i]",
}

BASIS = """\
/* Kernels between the input and every vector, and one that is always 1. */
static void ${name}_basis(const double *x, $real *phi)
{
    int c;
    for (c = 0; c < $n_kernel_tables; c++) {
        ${name}_kernels(${name}_tables + c, x, phi);
        phi += ${name}_tables[c].n_vectors;
    }
    *phi = $one;
}
"""

BASIS_AND_COVERS = """\
/* Kernels between the input and every vector, one that is always 1, and for each table of a cover
 * the share of the variance of a process that its values there leave unexplained. */
static void ${name}_basis(const double *x, $real *phi)
{
    $real w[$n_pivots];
    int c, i;
    for (c = 0; c < $n_kernel_tables; c++) {
        ${name}_kernels(${name}_tables + c, x, phi);
        phi += ${name}_tables[c].n_vectors;
    }
    *phi++ = $one;
    for (; c < $n_tables; c++) {
        const ${name}_table *table = ${name}_tables + c;
        $real rest = $one;
        ${name}_$cover_kernels(table, x, w);
        ${name}_solve(table->cholesky, table->n_vectors, w);
        for (i = 0; i < table->n_vectors; i++)
            rest -= w[i] * w[i];
        *phi++ = rest;
    }
}

/* What of such a share lies beyond a limit, from 0 there to 1. */
static $real ${name}_beyond($real share, $real limit)
{
    return share > limit ? (share - limit) / ($one - limit) : $zero;
}
"""

MEAN = """\
static $real ${name}_mean(const ${name}_block *b, const $real *phi)
{
    $real mean = b->offset[0];
    int p;
    for (p = 0; p < b->n_weights; p++)
        mean += (phi[b->index[p]] - b->centre[p]) * b->scale[p] * b->weights[p];
$fall_back    return mean;
}
"""

SOLVE = """\
/* Solve L w = w for a lower triangular L, whose rows follow each other. */
static void ${name}_solve(const $real *factor, int n, $real *w)
{
    int i, j;
    for (i = 0; i < n; i++) {
        $real rest = w[i];
        for (j = 0; j < i; j++)
            rest -= *factor++ * w[j];
        w[i] = rest / *factor++;
    }
}
"""

WIDEN = """\
/* Of inputs that are unlike the training data less is known. */
static void ${name}_widen(const ${name}_block *b, const $real *phi, $real *cov)
{
    $real rho;
    int k;
    if (!b->cover)
        return;
    rho = ${name}_beyond(phi[b->cover], b->bars_from);
    for (k = 0; k < b->n_values; k++)
        cov[k * b->n_values + k] += b->deviation * b->deviation * rho;
}
"""

FALL_BACK = """\
/* Where the input is unlike the training data, a mean that is far from all targets moves towards
 * the mean of these, by the share pull of the way. The variance, if that is asked for, becomes that
 * of a mixture: with probability rho the target is anything around the mean of all targets. */
static void ${name}_fall_back(const ${name}_block *b, const $real *phi, $real *mean, $real *cov)
{
    $real d, z, implausible, absurd, pull, moved, rest, rho;
    if (!b->cover)
        return;
    d = *mean - b->target_mean;
    z = $fabs(d) / b->deviation;
    z = z < $largest ? z * z : $largest * $largest;
    implausible = z * z / ($four + z * z);
    absurd = z * z / ($absurd + z * z);
    z = b->means_from * b->means_from;
    z = z * z;
    pull = ($one - z * z * ($one - absurd)) * implausible
         * ${name}_beyond(phi[b->cover], b->means_from);
    moved = pull * d;
    *mean -= moved;
    if (!cov)
        return;
    rest = ($one - pull) * d;
    rho = ${name}_beyond(phi[b->cover], b->bars_from);
    if (implausible < rho)
        implausible = rho;
    *cov = ($one - rho) * (*cov + moved * moved)
         + rho * (b->deviation * b->deviation + implausible * rest * rest);
}
"""

MOMENTS = """\
/* Means of the values of a block, and their covariance. */
static void ${name}_moments(const ${name}_block *b, const $real *phi, $real *mean, $real *cov)
{
    $real white[$n_values * $n_weights];
    int k, l, p, n = b->n_weights;
    for (k = 0; k < b->n_values; k++) {
        $real *row = white + k * n;
        mean[k] = b->offset[k];
        for (p = 0; p < n; p++) {
            row[p] = (phi[b->index[p]] - b->centre[p]) * b->scale[p];
            if (b->design)
                row[p] *= b->design[k * n + p];
            mean[k] += row[p] * b->weights[p];
        }
        ${name}_solve(b->precision, n, row);
    }
    for (k = 0; k < b->n_values; k++)
        for (l = 0; l < b->n_values; l++) {
            $real sum = $zero;
            for (p = 0; p < n; p++)
                sum += white[k * n + p] * white[l * n + p];
            cov[k * b->n_values + l] = b->spread * sum + b->constant;
        }
$extrapolate}
"""

ANSWERS = {
    "predict": """\
double ${name}_predict(const double *x)
{
    $real phi[$n_phi];
    ${name}_basis(x, phi);
    return ${name}_mean(${name}_blocks, phi);
}
""",
    "predict_std": """\
double ${name}_predict_std(const double *x)
{
    $real phi[$n_phi], mean, variance;
    ${name}_basis(x, phi);
    ${name}_moments(${name}_blocks, phi, &mean, &variance);
    return $sqrt(variance + ${name}_blocks[0].noise);
}
""",
    "predict_all": """\
void ${name}_predict(const double *x, double *out)
{
    $real phi[$n_phi];
    int i;
    ${name}_basis(x, phi);
    for (i = 0; i < $n_blocks; i++)
        out[i] = ${name}_mean(${name}_blocks + i, phi);
}
""",
    "predict_std_all": """\
void ${name}_predict_std(const double *x, double *out)
{
    $real phi[$n_phi], mean, variance;
    int i;
    ${name}_basis(x, phi);
    for (i = 0; i < $n_blocks; i++) {
        ${name}_moments(${name}_blocks + i, phi, &mean, &variance);
        out[i] = $sqrt(variance + ${name}_blocks[i].noise);
    }
}
""",
}

_ROOT = """\
/* Symmetric root of a covariance, by rotations that make it diagonal. */
static void ${name}_root($real *a, $real *root)
{
    $real v[$n_values * $n_values];
    int i, j, k, p, q, sweep;
    for (i = 0; i < $n_values; i++)
        for (j = 0; j < $n_values; j++)
            v[i * $n_values + j] = i == j ? $one : $zero;
    for (sweep = 0; sweep < 50; sweep++) {
        $real off = $zero, all = $zero;
        for (i = 0; i < $n_values; i++)
            for (j = 0; j < $n_values; j++) {
                $real square = a[i * $n_values + j] * a[i * $n_values + j];
                all += square;
                off += i == j ? $zero : square;
            }
        if (off <= $negligible * all)
            break;
        for (p = 0; p < $n_values; p++)
            for (q = p + 1; q < $n_values; q++) {
                $real apq = a[p * $n_values + q], theta, t, c, s;
                if (apq == $zero)
                    continue;
                theta = (a[q * $n_values + q] - a[p * $n_values + p]) / (apq + apq);
                t = $one / ($fabs(theta) + $sqrt(theta * theta + $one));
                t = theta < $zero ? -t : t;
                c = $one / $sqrt(t * t + $one);
                s = t * c;
                for (k = 0; k < $n_values; k++) {
                    $real x = a[k * $n_values + p], y = a[k * $n_values + q];
                    a[k * $n_values + p] = c * x - s * y;
                    a[k * $n_values + q] = s * x + c * y;
                    x = v[k * $n_values + p], y = v[k * $n_values + q];
                    v[k * $n_values + p] = c * x - s * y;
                    v[k * $n_values + q] = s * x + c * y;
                }
                for (k = 0; k < $n_values; k++) {
                    $real x = a[p * $n_values + k], y = a[q * $n_values + k];
                    a[p * $n_values + k] = c * x - s * y;
                    a[q * $n_values + k] = s * x + c * y;
                }
            }
    }
    for (i = 0; i < $n_values; i++)
        for (j = 0; j < $n_values; j++) {
            $real sum = $zero;
            for (k = 0; k < $n_values; k++)
                if (a[k * $n_values + k] > $zero)
                    sum += v[i * $n_values + k] * v[j * $n_values + k]
                         * $sqrt(a[k * $n_values + k]);
            root[i * $n_values + j] = sum;
        }
}
"""

LINKS = {
    "logistic": """\
static $real ${name}_logistic($real odds)
{
    $real small = $exp(-$fabs(odds));
    return odds < $zero ? small / ($one + small) : $one / ($one + small);
}

static void ${name}_linked(const ${name}_block *b, const $real *phi, $real *out)
{
    $real mean, variance;
    ${name}_moments(b, phi, &mean, &variance);
    mean /= $sqrt($one + $eighth_pi * variance);
    out[0] = ${name}_logistic(-mean);
    out[1] = ${name}_logistic(mean);
}
""",
    "one_vs_rest": """\
static void ${name}_linked(const ${name}_block *b, const $real *phi, $real *out)
{
    $real mean, variance, largest = $zero, sum = $zero;
    int k;
    for (k = 0; k < ${NAME}_N_CLASSES; k++) {
        ${name}_moments(b + k, phi, &mean, &variance);
        mean /= $sqrt($one + $eighth_pi * variance);
        out[k] = (mean < $zero ? mean : $zero) - $log1p($exp(-$fabs(mean)));
        largest = k && largest > out[k] ? largest : out[k];
    }
    for (k = 0; k < ${NAME}_N_CLASSES; k++)
        sum += out[k] = $exp(out[k] - largest);
    for (k = 0; k < ${NAME}_N_CLASSES; k++)
        out[k] /= sum;
}
""",
    "softmax": _ROOT
    + """
/* Averaged over what is not known of the logits, at evenly spread points. */
static void ${name}_linked(const ${name}_block *b, const $real *phi, $real *out)
{
    $real mean[$n_values], cov[$n_values * $n_values];
    $real root[$n_values * $n_values], moved[$n_values], share[$n_values];
    int rank[$n_values], i, j, point, side;
    ${name}_moments(b, phi, mean, cov);
    ${name}_root(cov, root);
    for (i = 0; i < $n_values; i++) {
        out[i] = $zero;
        rank[i] = 0;
        for (j = 0; j < $n_values; j++)
            rank[i] += mean[j] < mean[i] || (mean[j] == mean[i] && j < i);
    }
    for (point = 0; point < $n_points; point++) {
        for (i = 0; i < $n_values; i++) {
            moved[i] = $zero;
            for (j = 0; j < $n_values; j++)
                moved[i] += root[i * $n_values + j]
                          * ${name}_points[point * $n_values + rank[j]];
        }
        for (side = 0; side < 2; side++) {
            $real largest = $zero, sum = $zero;
            for (i = 0; i < $n_values; i++) {
                share[i] = side ? mean[i] - moved[i] : mean[i] + moved[i];
                largest = i && largest > share[i] ? largest : share[i];
            }
            for (i = 0; i < $n_values; i++)
                sum += share[i] = $exp(share[i] - largest);
            for (i = 0; i < $n_values; i++)
                out[i] += share[i] / sum;
        }
    }
    for (i = 0; i < $n_values; i++)
        out[i] /= 2 * $n_points;
}
""",
}

MEMBERS = """\
typedef struct {
    int cover;
    $real weight, shrinkage, far_from;
} ${name}_member;
static const ${name}_member ${name}_members[$n_members] = {
$members
};
"""

PROBABILITIES = """\
/* The average over all members, mixed with the shares of the classes. */
void ${name}_probabilities(const double *x, double *out)
{
    $real phi[$n_phi], p[${NAME}_N_CLASSES], kept;
    int i, m;
    ${name}_basis(x, phi);
    for (i = 0; i < ${NAME}_N_CLASSES; i++)
        out[i] = 0.0;
    for (m = 0; m < $n_members; m++) {
        const ${name}_member *member = ${name}_members + m;
        ${name}_linked(${name}_blocks + m * $n_linked, phi, p);
        kept = $one - member->shrinkage;
$far        for (i = 0; i < ${NAME}_N_CLASSES; i++)
            out[i] += member->weight * (kept * p[i] + ($one - kept) * ${name}_shares[i]);
    }
}
"""

FAR = """\
        if (member->cover) {
            $real rho = ${name}_beyond(phi[member->cover], member->far_from);
            rho *= rho;
            rho *= rho;
            kept *= $one - rho * rho;
        }
"""

CHOICE = """\
int ${name}_predict(const double *x)
{
    double p[${NAME}_N_CLASSES];
    int i, best = 0;
    ${name}_probabilities(x, p);
    for (i = 1; i < ${NAME}_N_CLASSES; i++)
        best = p[i] > p[best] ? i : best;
    return best;
}
"""

REPORTS = {
    "predict": """\
            printf("%.17g\\n", ${name}_predict(x));""",
    "predict_std": """\
            printf("%.17g %.17g\\n", ${name}_predict(x), ${name}_predict_std(x));""",
    "predict_all": """\
            ${name}_predict(x, out);
            for (i = 0; i < $n_out; i++)
                printf("%.17g%c", out[i], i + 1 < $n_out ? ' ' : '\\n');""",
    "predict_std_all": """\
            ${name}_predict(x, out);
            for (i = 0; i < $n_out; i++)
                printf("%.17g ", out[i]);
            ${name}_predict_std(x, out);
            for (i = 0; i < $n_out; i++)
                printf("%.17g%c", out[i], i + 1 < $n_out ? ' ' : '\\n');""",
    "probabilities": """\
            ${name}_probabilities(x, out);
            for (i = 0; i < $n_out; i++)
                printf("%.17g%c", out[i], i + 1 < $n_out ? ' ' : '\\n');""",
}

MAIN = """\
#ifdef ${NAME}_MAIN
#include <stdio.h>
static int ${name}_complain(long line)
{
    fprintf(stderr, "line %ld: every row must hold $row\\n", line);
    return 1;
}

int main(void)
{
    double x[$n_features];
    char word[512], rest;
    int n = 0, length = 0, c;
    long line = 1;
$buffers    do {
        c = getchar();
        if (c == ',' || c == ';' || c == '\\t' || c == '\\r')
            c = ' ';
        if (c != EOF && c != ' ' && c != '\\n') {
            if (length == (int)sizeof word - 1)
                return ${name}_complain(line);
            word[length++] = (char)c;
            continue;
        }
        if (length) {
            word[length] = 0;
            if (n == $n_features || sscanf(word, "%lf%c", &x[n], &rest) != 1)
                return ${name}_complain(line);
            length = 0;
            n++;
        }
        if (c != EOF && c != '\\n')
            continue;
        if (n && n < $n_features)
            return ${name}_complain(line);
        if (n) {
$report
        }
        n = 0;
        line++;
    } while (c != EOF);
    return 0;
}
#endif
"""
