// Three by three: all that the saddle point needs of linear algebra.

/** Solves a x = b by elimination with pivots. */
function solve3(a, b) {
  const rows = a.map((row, i) => [...row, b[i]]);
  for (let j = 0; j < 3; j++) {
    let pivot = j;
    for (let i = j + 1; i < 3; i++) if (Math.abs(rows[i][j]) > Math.abs(rows[pivot][j])) pivot = i;
    [rows[j], rows[pivot]] = [rows[pivot], rows[j]];
    for (let i = j + 1; i < 3; i++) {
      const factor = rows[i][j] / rows[j][j];
      for (let k = j; k < 4; k++) rows[i][k] -= factor * rows[j][k];
    }
  }
  const x = [0, 0, 0];
  for (let i = 2; i >= 0; i--) {
    let rest = rows[i][3];
    for (let k = i + 1; k < 3; k++) rest -= rows[i][k] * x[k];
    x[i] = rest / rows[i][i];
  }
  return x;
}

/** The largest real part of an eigenvalue: the roots of the characteristic cubic in closed form. */
function largestEigenvalue(a) {
  const third = (a[0][0] + a[1][1] + a[2][2]) / 3;
  const b = a.map((row, i) => row.map((value, j) => value - (i === j ? third : 0)));  // without trace: x^3 + p x + q
  const p = b[0][0] * b[1][1] - b[0][1] * b[1][0] + b[0][0] * b[2][2] - b[0][2] * b[2][0]
    + b[1][1] * b[2][2] - b[1][2] * b[2][1];
  const q = -(b[0][0] * (b[1][1] * b[2][2] - b[1][2] * b[2][1]) - b[0][1] * (b[1][0] * b[2][2] - b[1][2] * b[2][0])
    + b[0][2] * (b[1][0] * b[2][1] - b[1][1] * b[2][0]));
  const discriminant = (q / 2) ** 2 + (p / 3) ** 3;
  if (discriminant <= 0) {
    const size = Math.sqrt(Math.max(0, -p / 3));
    if (size === 0) return third;
    return third + 2 * size * Math.cos(Math.acos(Math.max(-1, Math.min(1, -q / (2 * size ** 3)))) / 3);
  }
  const root = Math.sqrt(discriminant), far = Math.cbrt(q > 0 ? -q / 2 - root : -q / 2 + root);
  const real = far - p / (3 * far);
  return third + Math.max(real, -real / 2);  // the real root, or the real part of the pair
}
