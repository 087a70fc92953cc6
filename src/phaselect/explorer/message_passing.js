// Approximate message passing: equations/channels.py and equations/amp_iteration.py.

/** Slope g and curvature of the output channel at a measurement y of mean w, at precision c = 1/(V + 1/(2 mu)). */
function outputChannel(w, y, c) {
  const t = Math.tanh(c * y * w);
  return { g: c * (y * t - w), curvature: c - (c * y) ** 2 * (1 - t * t) };
}

/** What message passing believes before its first iteration: a random x of unit variance. */
function firstBeliefs(problem, random) {
  return {
    x: Float64Array.from({ length: problem.n }, () => random.normal()),
    V: 1,
    Vd: 1,
    w: new Float64Array(problem.rows),
    g: new Float64Array(problem.rows),
    z: new Float64Array(problem.rows),
    iterations: 0,
  };
}

/** One iteration at (mu, lam), damped by psi on (V, w). z: the measurements of the x that it started from. */
function amplify(old, problem, mu, lam, psi) {
  const { A, y, n, rows } = problem;
  const Vd = (1 - psi) * old.V + psi * old.Vd, c = 1 / (0.5 / mu + Vd);
  const z = forward(A, old.x, rows), w = new Float64Array(rows), g = new Float64Array(rows);
  let total = 0;
  for (let i = 0; i < rows; i++) {
    w[i] = (1 - psi) * (z[i] - old.V * old.g[i]) + psi * old.w[i];
    const channel = outputChannel(w[i], y[i], c);
    g[i] = channel.g;
    total += channel.curvature;
  }
  const chi = Math.max(0, total / n), V = 1 / (mu * lam + chi), back = adjoint(A, g, n);
  const x = back.map((value, k) => V * (value + chi * old.x[k]));
  return { x, V, Vd, w, g, z, iterations: old.iterations + 1 };
}

/** Has x grown beyond bounds? (Not-a-number counts.) */
const diverged = (x) => !(powerOf(x) / x.length < 1e6);

/** Trace columns of an estimate x with measurements z. */
function estimateColumns(problem, x, z) {
  let along = 0, fit = 0, agree = 0;
  for (let k = 0; k < problem.n; k++) along += problem.x0[k] * x[k];
  for (let i = 0; i < problem.rows; i++) {
    fit += (problem.y[i] - Math.abs(z[i])) ** 2;
    agree += problem.signs[i] * (z[i] < 0 ? -1 : 1);
  }
  return { m: Math.abs(along) / powerOf(problem.x0), O: Math.abs(agree) / problem.rows, mse_y: fit / problem.rows };
}
