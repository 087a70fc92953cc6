"""Kinds of matrix on which a certificate may be wrong. Each is a function (rng, m, n) -> A, of about that shape."""

from itertools import combinations

import numpy as np
from scipy.fft import dct
from scipy.linalg import block_diag, circulant, hadamard, toeplitz


def gaussian(rng, m, n):
    return rng.standard_normal((m, n))


def heavy_tailed(rng, m, n):
    return rng.standard_t(1.5, (m, n))


def orthogonal(rng, m, n):
    return np.linalg.qr(gaussian(rng, m, n))[0]


def scaled_rows(rng, m, n):
    return 10.0 ** rng.uniform(-8, 8, (m, 1)) * gaussian(rng, m, n)


def scaled_columns(rng, m, n):
    decades = rng.choice([1, 3, 8])
    return gaussian(rng, m, n) * 10.0 ** rng.uniform(-decades, decades, n)


def with_singular_values(rng, m, n, values):
    return orthogonal(rng, m, n) * values @ orthogonal(rng, n, n)


def ill_conditioned(rng, m, n):
    return with_singular_values(rng, m, n, np.logspace(0, -4, n))


def nearly_deficient(rng, m, n):
    return with_singular_values(rng, m, n, np.r_[np.ones(n - 1), 10.0 ** rng.choice([-6, -9, -12, -17])])


def single_precision(rng, m, n):
    return gaussian(rng, m, n).astype(np.float32)


# Blocks: each has a global sign of its own.


def halves(m, n):
    """Shapes of two blocks that make up m x n."""
    rows, columns = (m + 1) // 2, (n + 1) // 2
    return (rows, columns), (m - rows, n - columns)


def blocks(rng, m, n):
    return block_diag(*(gaussian(rng, *shape) for shape in halves(m, n)))


def many_blocks(rng, m, n):
    parts = int(rng.integers(2, max(3, n // 3 + 1)))
    return block_diag(*(gaussian(rng, -(-m // parts), max(1, n // parts)) for _ in range(parts)))


def uneven_blocks(rng, m, n):
    small = int(rng.integers(1, 3))
    return block_diag(gaussian(rng, m - small, max(1, n - small)), gaussian(rng, small + 1, small))


def hidden_blocks(rng, m, n):
    return rng.permutation(blocks(rng, m, n)) @ orthogonal(rng, n, n)


def joined(weight):
    def matrix(rng, m, n):
        A = blocks(rng, m, n)
        rows, columns = halves(m, n)[0]
        A[rng.integers(rows), columns:] = weight * rng.standard_normal(A.shape[1] - columns)
        return A

    return matrix


def one_small_entry(rng, m, n):
    """Two blocks, joined by a single entry of 1e-3."""
    A = blocks(rng, m, n)
    rows, columns = halves(m, n)[0]
    A[rng.integers(rows), rng.integers(columns, A.shape[1])] = 1e-3
    return A


def block_triangular(rng, m, n):
    A = gaussian(rng, m, n)
    rows, columns = halves(m, n)[0]
    A[:rows, columns:] = 0
    return A


def lonely_columns(rng, m, n):
    A = gaussian(rng, m, n)
    few = max(1, n // 3)
    A[few + 1 :, :few] = 0
    return A


# Symmetries: a rival may use the columns that x does not.


def mirrored(rng, m, n):
    half = max(1, n // 2)
    (first, _), (second, _) = halves(m, n)
    B, C = gaussian(rng, first, half), gaussian(rng, second, half)
    return np.block([[B, B], [C, -C]])


def mixed_mirrored(rng, m, n):
    A = mirrored(rng, m, n)
    return rng.permutation(A) @ orthogonal(rng, A.shape[1], A.shape[1])


def even_and_odd_rows(rng, m, n):
    A = gaussian(rng, m, n)
    return A + rng.choice([-1, 1], (m, 1)) * A[:, ::-1]


def twin_magnitudes(rng, m, n):
    """Columns in pairs whose entries differ in sign only."""
    half = gaussian(rng, m, max(1, n // 2))
    return np.hstack([half, half * rng.choice([-1, 1], half.shape)])


def waves(rng, m, n):
    """Cosines and sines, as of a padded signal's Fourier transform; a row of nothing but rounding is one of zeros."""
    angles = np.pi * np.outer(np.arange(-(-m // 2)) + rng.choice([0.5, 1]), np.arange(n)) / n
    A = np.vstack([np.cos(angles), np.sin(angles)])[rng.permutation(2 * len(angles))[:m]]
    return A * (np.abs(A).max(axis=1, keepdims=True) > 1e-12)


def masked(transform):
    """Rows of a transform behind masks of random signs."""

    def matrix(rng, m, n):
        T = transform(n)
        masks = [T * rng.choice([-1, 1], n) for _ in range(-(-m // len(T)) + 1)]
        return rng.permutation(np.vstack(masks))[:m]

    return matrix


def hadamard_rows(n):
    return hadamard(1 << (n - 1).bit_length()).astype(float)[:, :n]


def dct_rows(n):
    return dct(np.eye(n), norm="ortho", axis=0)


def signs(rng, m, n):
    return rng.choice([-1.0, 1.0], (m, n))


def zeros_and_ones(rng, m, n):
    return rng.choice([0.0, 1.0], (m, n))


def small_integers(rng, m, n):
    return rng.integers(-2, 3, (m, n)).astype(float)


def large_integers(rng, m, n):
    return rng.integers(-(10**6), 10**6, (m, n)).astype(float)


def few_values(rng, m, n):
    """A few numbers in each row, the same in all of them or not."""
    own = rng.random() < 0.5
    return rng.standard_normal((m if own else 1, 3))[np.arange(m)[:, None] * own, rng.integers(3, size=(m, n))]


def block_design(rng, m, n):
    """Each row sees a block of so many unknowns: some base blocks, and all their shifts."""
    size = int(rng.integers(1, max(2, n // 2)))
    bases = [np.arange(n) < size, *(rng.permutation(n) < size for _ in range(-(-m // n)))]
    return rng.permutation(np.vstack([circulant(base.astype(float)) for base in bases]))[:m]


# Rows that say little that is new.


def duplicated_rows(rng, m, n):
    some = gaussian(rng, max(n, m // 2), n)
    return np.vstack([some, some[rng.integers(len(some), size=m - len(some))]])


def rescaled_rows(rng, m, n):
    A = duplicated_rows(rng, m, n)
    return A * rng.choice([-3.0, -1.0, 0.1, 7.0], (m, 1))


def sums_of_rows(rng, m, n):
    some = small_integers(rng, n, n)
    return np.vstack([some, rng.choice([-1.0, 0.0, 1.0], (m - n, n)) @ some])


def identity_and_more(rng, m, n):
    return np.vstack([np.eye(n), gaussian(rng, m - n, n)])


def identity_and_sums(rng, m, n):
    """Single unknowns, and sums and differences of two."""
    return np.vstack([np.eye(n), pairs(rng, m - n, n)])


def pairs(rng, m, n):
    A = np.zeros((m, n))
    for row in A:
        row[rng.choice(n, 2, replace=False)] = 1, rng.choice([-1, 1])
    return A


def differences(rng, m, n):
    """Unknowns, first differences, second differences, ..."""
    orders = [np.diff(np.eye(n), order, axis=0) for order in range(n)]
    return np.vstack([*orders, gaussian(rng, m, n)])[:m]


def incidence(rng, m, n):
    """Edges of a random graph, and one node: differences alone never say how high they stand."""
    edges = [(i, j) for i, j in combinations(range(n), 2)]
    A = np.zeros((m, n))
    A[0, 0] = 1
    for row, k in zip(A[1:], rng.permutation(len(edges) * m)[: m - 1] % len(edges), strict=True):
        row[list(edges[k])] = 1, -1
    return A


def sparse(density):
    def matrix(rng, m, n):
        return gaussian(rng, m, n) * (rng.random((m, n)) < density)

    return matrix


def circulants(rng, m, n):
    return np.vstack([circulant(rng.standard_normal(n)) for _ in range(-(-m // n))])[:m]


def toeplitz_matrix(rng, m, n):
    return toeplitz(rng.standard_normal(m), rng.standard_normal(n))


def toeplitz_stack(rng, m, n):
    """Some matrices whose diagonals are constant, on top of each other."""
    return np.vstack([toeplitz(*rng.standard_normal((2, n))) for _ in range(-(-m // n))])[:m]


def band(rng, m, n):
    """Convolution with a short filter, zero-padded: each row sees three neighbours."""
    return np.vstack([toeplitz(np.r_[rng.standard_normal(3), np.zeros(n)], np.zeros(n)) for _ in range(5)])[:m]


def vandermonde(rng, m, n):
    return np.vander(np.linspace(-1, 1, m), min(n, 12))


def kronecker(rng, m, n):
    columns = max(1, round(n**0.5))
    rows, others = max(columns + 1, round(m**0.5)), -(-n // columns)
    return np.kron(gaussian(rng, rows, columns), gaussian(rng, max(others, -(-m // rows)), others))


# A null space, in sight or not.


def low_rank(rng, m, n):
    rank = max(1, n - int(rng.integers(1, 3)))
    return gaussian(rng, m, rank) @ gaussian(rng, rank, n)


def null_space_of_a_known_seed(rng, m, n):
    """The null vector is what a generator with a small seed draws first: a probe with that seed sees nothing."""
    v = np.random.default_rng(rng.integers(3)).standard_normal(n)
    return gaussian(rng, m, n) @ (np.eye(n) - np.outer(v, v) / (v @ v))


def deficient_by_zeros(rng, m, n):
    """Some columns are seen by fewer rows than there are of them."""
    A = gaussian(rng, m + 1, n + 1)
    few = min(n, int(rng.integers(2, 5)))
    A[few - 1 :, :few] = 0
    return A


def nearly_twin_columns(rng, m, n):
    A = gaussian(rng, m, n)
    A[:, -1] = A[:, 0] + 10.0 ** rng.choice([-7, -10, -17]) * A[:, -1]
    return A


def low_rank_and_sparse(rng, m, n):
    return low_rank(rng, m, n) + sparse(0.1)(rng, m, n)


GENERAL = {
    "gaussian": gaussian,
    "heavy-tailed": heavy_tailed,
    "orthogonal": orthogonal,
    "scaled-rows": scaled_rows,
    "scaled-columns": scaled_columns,
    "ill-conditioned": ill_conditioned,
    "single-precision": single_precision,
}
"""In general position: right answers should be certified."""

SPECIAL = {
    "rounded-data": single_precision,
    "nearly-deficient": nearly_deficient,
    "blocks": blocks,
    "many-blocks": many_blocks,
    "uneven-blocks": uneven_blocks,
    "hidden-blocks": hidden_blocks,
    "joined-1e-4": joined(1e-4),
    "joined-1e-8": joined(1e-8),
    "joined-1e-12": joined(1e-12),
    "joined-1e-17": joined(1e-17),
    "one-small-entry": one_small_entry,
    "block-triangular": block_triangular,
    "lonely-columns": lonely_columns,
    "mirrored": mirrored,
    "mixed-mirrored": mixed_mirrored,
    "even-and-odd": even_and_odd_rows,
    "twin-magnitudes": twin_magnitudes,
    "waves": waves,
    "hadamard-masks": masked(hadamard_rows),
    "dct-masks": masked(dct_rows),
    "signs": signs,
    "zeros-and-ones": zeros_and_ones,
    "small-integers": small_integers,
    "large-integers": large_integers,
    "few-values": few_values,
    "block-design": block_design,
    "duplicated-rows": duplicated_rows,
    "rescaled-rows": rescaled_rows,
    "sums-of-rows": sums_of_rows,
    "identity-and-more": identity_and_more,
    "identity-and-sums": identity_and_sums,
    "pairs": pairs,
    "differences": differences,
    "incidence": incidence,
    "sparse-0.05": sparse(0.05),
    "sparse-0.1": sparse(0.1),
    "sparse-0.3": sparse(0.3),
    "sparse-0.6": sparse(0.6),
    "circulants": circulants,
    "toeplitz": toeplitz_matrix,
    "toeplitz-stack": toeplitz_stack,
    "band": band,
    "vandermonde": vandermonde,
    "kronecker": kronecker,
    "low-rank": low_rank,
    "known-seed-null": null_space_of_a_known_seed,
    "deficient-by-zeros": deficient_by_zeros,
    "nearly-twin-columns": nearly_twin_columns,
    "low-rank-and-sparse": low_rank_and_sparse,
}


# Built against x, once it is known: (rng, A, x) -> A.


def linked_in_vain(rng, A, x):
    """Two blocks, and rows that join them; what these see of each block of x is zero."""
    m, n = A.shape
    columns = (n + 1) // 2
    first = np.arange(n) < columns
    links = max(1, m // 5)
    A = np.vstack([blocks(rng, m - links, n), A[:links]])
    for part in (first, ~first):
        A[-links:] = without(A[-links:], x * part)
    return A


def forbidden_ties(rng, A, x):
    """Two blocks, tied by directions in which x does not go, as rows with y = 0 say; all columns mixed."""
    m, n = A.shape
    ties = max(1, n // 4)
    own = np.linalg.qr(np.c_[x, A.T[:, : n - 1]])[0].T
    mixed = np.vstack([orthogonal(rng, n - ties, n - ties) @ own[: n - ties], own[n - ties :]])
    tied = np.hstack([blocks(rng, m - ties, n - ties), gaussian(rng, m - ties, ties)])
    return np.vstack([tied, np.eye(n)[n - ties :]]) @ mixed


def planted(rng, A, x):
    """x = w + w', some rows do not see w, the others do not see w': then w - w' fits as well."""
    m = len(A)
    w = rng.standard_normal(x.size)
    some = rng.permutation(m) < m // 2
    return np.where(some[:, None], without(A, w), without(A, x - w))


def without(A, v):
    """The rows of A, orthogonal to v."""
    return A - np.outer(A @ v, v) / max(v @ v, 1e-300)


def columns_of(transform):
    """Some columns of a transform, scaled at random: those that x uses have partners with the same magnitudes."""

    def matrix(rng, A, x):
        T, partner = transform(rng, len(A))
        chosen = T[:, numbers(rng, x, partner)] * rng.uniform(0.5, 2, x.size)
        return rng.permutation(chosen)[: len(A)]

    return matrix


def numbers(rng, x, partner):
    """Of columns, each once; first come partners for as many of the entries of x as there is room for."""
    everyone, half = np.arange(partner.size), (x.size + 1) // 2
    some = rng.permutation(everyone[everyone < partner])[: min(half, np.count_nonzero(x))]
    some = np.where(rng.random(some.size) < 0.5, some, partner[some])
    pairs = np.r_[some, partner[some]][: x.size]
    others = rng.permutation(np.setdiff1d(everyone, pairs))[: x.size - pairs.size]
    found = np.empty(x.size, dtype=int)
    found[np.argsort(x == 0, kind="stable")] = np.r_[pairs, others]
    return found


def hadamard_and_shift(rng, m):
    """Columns j and j ^ s differ by signs that are the same for all j."""
    size = 1 << (m - 1).bit_length()
    return hadamard(size).astype(float), np.arange(size) ^ rng.integers(1, size)


def dct_and_mirror(rng, m):
    """Columns j and -1 - j differ in the signs of every other row."""
    size = m + m % 2
    return dct_rows(size), np.arange(size)[::-1]


PARTNERED = {"hadamard-columns": columns_of(hadamard_and_shift), "dct-columns": columns_of(dct_and_mirror)}
"""For an x with many zeros: if it uses most columns, and all have partners, A falls into two blocks."""

AGAINST = {"linked-in-vain": linked_in_vain, "forbidden-ties": forbidden_ties, "planted": planted} | PARTNERED
"""No certificate that counts on general position can see `planted`: only an enumeration must."""

NAMES = [*GENERAL, *SPECIAL, *AGAINST]


def matrix(kind, rng, m, n):
    """One without empty columns or rows, which are refused or left out; a single entry takes their place."""
    A = (GENERAL | SPECIAL).get(kind, gaussian)(rng, m, n)
    for lines in (A, A.T):
        for i in np.flatnonzero(~lines.any(axis=1)):
            lines[i, rng.integers(lines.shape[1])] = 1
    return A
