// A random instance that can be drawn again: a seeded generator, Gaussian numbers, A, x0 and y = |A x0|.

/** Random numbers from a seed: xoshiro128++ (Blackman and Vigna), its state filled by a hash of the seed. */
class Random {
  constructor(seed) {
    this.state = new Uint32Array(4);
    for (let k = 0, word = seed >>> 0; k < 4; k++) {
      word = (word + 0x9e3779b9) >>> 0;  // steps of the golden ratio, then mixed
      let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
      mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
      this.state[k] = mixed ^ (mixed >>> 16);
    }
    this.spare = null;
  }

  /** Uniform in [0, 1), 32 bits. */
  uniform() {
    const s = this.state, sum = (s[0] + s[3]) >>> 0;
    const bits = (((sum << 7) | (sum >>> 25)) + s[0]) >>> 0, shifted = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = (s[3] << 11) | (s[3] >>> 21);
    return bits / 4294967296;
  }

  /** Standard normal, in pairs (Box and Muller). */
  normal() {
    if (this.spare !== null) {
      const spare = this.spare;
      this.spare = null;
      return spare;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform())), angle = 2 * Math.PI * this.uniform();
    this.spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  }
}

/** A x, row by row. */
function forward(A, x, rows) {
  const n = x.length, z = new Float64Array(rows);
  for (let i = 0, at = 0; i < rows; i++, at += n) {
    let sum = 0;
    for (let k = 0; k < n; k++) sum += A[at + k] * x[k];
    z[i] = sum;
  }
  return z;
}

/** A^T z. */
function adjoint(A, z, n) {
  const x = new Float64Array(n);
  for (let i = 0, at = 0; i < z.length; i++, at += n) {
    const factor = z[i];
    for (let k = 0; k < n; k++) x[k] += A[at + k] * factor;
  }
  return x;
}

const powerOf = (vector) => vector.reduce((sum, value) => sum + value * value, 0);

/** The problem in normalised units, as solvers see it: rows of A and y have unit mean square, y = |A x0|. */
function normalised(A, x0, rows) {
  const scale = Math.sqrt(rows / powerOf(A)), scaled = A.map((entry) => scale * entry);
  const z = forward(scaled, x0, rows), unit = Math.sqrt(rows / powerOf(z));
  return {
    A: scaled,
    x0: x0.map((entry) => unit * entry),
    y: z.map((value) => unit * Math.abs(value)),
    signs: z.map((value) => (value < 0 ? -1 : 1)),
    rows,
    n: x0.length,
  };
}

/** Gaussian A of alpha N rows and Gaussian x0. */
function drawInstance(n, alpha, seed) {
  const random = new Random(seed), rows = Math.round(alpha * n);
  const A = Float64Array.from({ length: rows * n }, () => random.normal());
  return normalised(A, Float64Array.from({ length: n }, () => random.normal()), rows);
}
