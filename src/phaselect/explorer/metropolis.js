// Metropolis on the signs: backends/host/flips.py and equations/regression.py. With v = S y and c = U^T v, the energy
// is E = |y|^2 - sum_k w_k c_k^2, and a proposal costs one product with a row of U.

/** Eigenvalues of K: w_k = s_k^2 / (s_k^2 + lam/2). */
const shrinkage = (s2, lam) => s2.map((value) => value / (value + lam / 2));

/** What flipping a sign adds to the energy. */
const flipEnergy = (v, field, coupling) => 4 * v * (field - v * coupling);

/** G_ii = sum_k w_k U_ik^2. */
function selfCouplings({ U }, w, rows) {
  const n = w.length, G = new Float64Array(rows);
  for (let i = 0, at = 0; i < rows; i++) for (let k = 0; k < n; k++, at++) G[i] += w[k] * U[at] * U[at];
  return G;
}

/** A chain that starts from random signs. */
function firstSigns(problem, spectrum, random) {
  const v = problem.y.map((value) => (random.uniform() < 0.5 ? -value : value));
  return { v, c: adjoint(spectrum.U, v, problem.n) };
}

/** The regression at one temperature: what proposals at (mu, lam) need. */
function prepare(chain, spectrum, lam) {
  const w = shrinkage(spectrum.s2, lam);
  return { w, wc: w.map((value, k) => value * chain.c[k]), G: selfCouplings(spectrum, w, chain.v.length) };
}

/** One sweep: every sign in order is flipped or not. Changes v and c. */
function sweep(chain, spectrum, { w, wc, G }, mu, random) {
  const { v, c } = chain, { U } = spectrum, n = w.length;
  for (let i = 0, at = 0; i < v.length; i++, at += n) {
    let field = 0;
    for (let k = 0; k < n; k++) field += U[at + k] * wc[k];
    const cost = mu * flipEnergy(v[i], field, G[i]);
    if (cost > 0 && random.uniform() >= Math.exp(-cost)) continue;
    const twice = 2 * v[i];
    for (let k = 0; k < n; k++) {
      const change = twice * U[at + k];
      c[k] -= change;
      wc[k] -= w[k] * change;
    }
    v[i] = -v[i];
  }
}

/** Trace columns of signs and of their ridge estimate at lam. */
function signColumns(problem, spectrum, { v, c }, lam) {
  const w = shrinkage(spectrum.s2, lam), power = powerOf(v);
  let fitted = 0, lowered = 0, along = 0, agree = 0;
  for (let k = 0; k < c.length; k++) {
    fitted += w[k] * (2 - w[k]) * c[k] * c[k];
    lowered += w[k] * c[k] * c[k];
    along += c[k] * spectrum.signal[k] / (spectrum.s2[k] + lam / 2);
  }
  for (let i = 0; i < v.length; i++) agree += v[i] < 0 ? -problem.signs[i] : problem.signs[i];
  return {
    m: Math.abs(along),
    O: Math.abs(agree) / v.length,
    mse_y: Math.max(0, power - fitted) / problem.rows,
    energy: (power - lowered) / problem.n,
  };
}

/** Which signs are right, up to the sign of all of x: 1 where they are. */
function rightSigns(problem, { v }) {
  let agree = 0;
  for (let i = 0; i < v.length; i++) agree += v[i] < 0 ? -problem.signs[i] : problem.signs[i];
  const turn = agree < 0 ? -1 : 1;
  return Uint8Array.from(v, (value, i) => (value * problem.signs[i] * turn < 0 ? 0 : 1));
}

/** At the end of an anneal: at lam = 0, flip the sign that lowers the energy most, until none does. */
function quench(chain, spectrum) {
  const n = spectrum.s2.length, G = selfCouplings(spectrum, new Float64Array(n).fill(1), chain.v.length);
  for (let flips = 0; flips < chain.v.length; flips++) {
    const h = forward(spectrum.U, chain.c, chain.v.length);
    let best = -1, least = -1e-13;
    for (let i = 0; i < chain.v.length; i++) {
      const cost = flipEnergy(chain.v[i], h[i], G[i]);
      if (cost < least) { least = cost; best = i; }
    }
    if (best < 0) return;
    for (let k = 0; k < n; k++) chain.c[k] -= 2 * chain.v[best] * spectrum.U[best * n + k];
    chain.v[best] = -chain.v[best];
  }
}
