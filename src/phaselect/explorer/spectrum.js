// A = U diag(s) V^T once per instance, after which a change of lam costs nothing: A^T A is brought to tridiagonal form
// by reflections (Householder), that to diagonal form by shifted rotations (implicit QL), and U = A V / s.

/** Eigenvalues of a symmetric n x n matrix, and eigenvectors as the rows of `vectors`. The matrix is overwritten. */
function symmetricEigen(a, n) {
  const diagonal = new Float64Array(n), below = new Float64Array(n);
  const vectors = tridiagonalise(a, n, diagonal, below), rounding = 2.3e-16;
  const joined = (k) => Math.abs(below[k]) > rounding * (Math.abs(diagonal[k]) + Math.abs(diagonal[k + 1]));
  for (let first = 0; first < n; first++) {
    for (let round = 0; ; round++) {
      let last = first;
      while (last < n - 1 && joined(last)) last++;
      if (last === first) break;
      if (round === 60) throw new Error("the eigenvalues did not converge");
      chase(diagonal, below, vectors, n, first, last);
    }
  }
  return { values: diagonal, vectors };
}

/** a = Q T Q^T: fills the diagonal and what is below it, returns Q^T row by row. */
function tridiagonalise(a, n, diagonal, below) {
  const reflections = [], v = new Float64Array(n), p = new Float64Array(n);
  for (let j = 0; j < n - 2; j++) {
    let power = 0;
    for (let i = j + 1; i < n; i++) { v[i] = a[i * n + j]; power += v[i] * v[i]; }
    const length = Math.sqrt(power), first = v[j + 1], target = first > 0 ? -length : length;
    v[j + 1] = first - target;
    const half = power - first * target;  // |v|^2 / 2
    below[j] = target;
    if (half <= 0) { below[j] = first; reflections.push(null); continue; }
    let inner = 0;
    for (let i = j + 1; i < n; i++) {
      let sum = 0;
      for (let k = j + 1; k < n; k++) sum += a[i * n + k] * v[k];
      p[i] = sum / half;
      inner += p[i] * v[i];
    }
    for (let i = j + 1; i < n; i++) p[i] -= 0.5 * inner / half * v[i];
    for (let i = j + 1; i < n; i++) {
      for (let k = j + 1; k < n; k++) a[i * n + k] -= v[i] * p[k] + p[i] * v[k];
    }
    reflections.push({ v: v.slice(j + 1), half });
  }
  for (let i = 0; i < n; i++) diagonal[i] = a[i * n + i];
  if (n > 1) below[n - 2] = a[(n - 1) * n + n - 2];
  return accumulate(reflections, n);
}

/** Q^T of a list of reflections. */
function accumulate(reflections, n) {
  const q = new Float64Array(n * n);
  for (let i = 0; i < n; i++) q[i * n + i] = 1;
  for (let j = reflections.length - 1; j >= 0; j--) {
    if (reflections[j] === null) continue;
    const { v, half } = reflections[j];
    for (let i = j + 1; i < n; i++) {
      let sum = 0;
      for (let k = 0; k < v.length; k++) sum += q[i * n + j + 1 + k] * v[k];
      sum /= half;
      for (let k = 0; k < v.length; k++) q[i * n + j + 1 + k] -= sum * v[k];
    }
  }
  return q;
}

/** One shifted QL step on the block first..last. */
function chase(diagonal, below, vectors, n, first, last) {
  const middle = (diagonal[first + 1] - diagonal[first]) / (2 * below[first]);
  const root = Math.hypot(middle, 1), shift = diagonal[first] - below[first] / (middle + (middle < 0 ? -root : root));
  let bulge = diagonal[last] - shift, sin = 1, cos = 1, moved = 0;
  for (let i = last - 1; i >= first; i--) {
    const f = sin * below[i], b = cos * below[i], r = Math.hypot(f, bulge);
    below[i + 1] = r;
    if (r === 0) {  // the block has come apart
      diagonal[i + 1] -= moved;
      below[last] = 0;
      return;
    }
    sin = f / r;
    cos = bulge / r;
    const rest = diagonal[i + 1] - moved, t = (diagonal[i] - rest) * sin + 2 * cos * b;
    moved = sin * t;
    diagonal[i + 1] = rest + moved;
    bulge = cos * t - b;
    for (let k = 0, low = i * n, high = low + n; k < n; k++, low++, high++) {
      const upper = vectors[high];
      vectors[high] = sin * vectors[low] + cos * upper;
      vectors[low] = cos * vectors[low] - sin * upper;
    }
  }
  diagonal[first] -= moved;
  below[first] = bulge;
  below[last] = 0;
}

/** The regression of signs on A by its spectrum (backends/host/ridge.py): U, row by row, squared singular values. */
function decompose(problem) {
  const { A, n, rows } = problem, gram = new Float64Array(n * n);
  for (let i = 0; i < rows; i++) {
    for (let k = 0; k < n; k++) {
      const entry = A[i * n + k];
      for (let j = 0; j <= k; j++) gram[k * n + j] += entry * A[i * n + j];
    }
  }
  for (let k = 0; k < n; k++) for (let j = 0; j < k; j++) gram[j * n + k] = gram[k * n + j];
  const { values: s2, vectors } = symmetricEigen(gram, n), U = new Float64Array(rows * n);
  for (let i = 0; i < rows; i++) {
    const row = A.subarray(i * n, i * n + n), projected = forward(vectors, row, n);
    for (let k = 0; k < n; k++) U[i * n + k] = projected[k] / Math.sqrt(s2[k]);
  }
  const signal = adjoint(U, forward(A, problem.x0, rows), n), power = powerOf(problem.x0);
  return { U, s2, signal: signal.map((value) => value / power) };
}
