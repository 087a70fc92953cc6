// Where the replica symmetric theory may be believed: theory/replicon.py and theory/free_entropy.py at phi = 0.

const FADED = 45, SATURATED = 20, PANEL = legendre(56);

/** Gauss-Legendre nodes and weights on [0, 1], by Newton's method. */
function legendre(count) {
  const node = new Float64Array(count), weight = new Float64Array(count);
  for (let k = 0; k < count; k++) {
    let x = Math.cos(Math.PI * (k + 0.75) / (count + 0.5)), slope = 1;
    for (let round = 0; round < 8; round++) {
      let before = 1, now = x;
      for (let j = 2; j <= count; j++) [before, now] = [now, ((2 * j - 1) * x * now - (j - 1) * before) / j];
      slope = count * (x * now - before) / (x * x - 1);
      x -= now / slope;
    }
    node[k] = 0.5 * (1 - x);
    weight[k] = 1 / ((1 - x * x) * slope * slope);
  }
  return { node, weight };
}

/** E_t[t^2 sech^4(c t)], t ~ Exp(1): on a panel as long as it takes to saturate. */
function radialFourth(c) {
  const size = Math.abs(c), length = size > 0 ? Math.min(FADED, SATURATED / size) : FADED;
  let sum = 0;
  for (let k = 0; k < PANEL.node.length; k++) {
    const t = length * PANEL.node[k], decay = Math.exp(-2 * size * t), sech2 = 4 * decay / (1 + decay) ** 2;
    sum += length * PANEL.weight[k] * Math.exp(-t) * (t * sech2) ** 2;
  }
  return sum;
}

/** The replicon, alpha V^2 E[(d^2 phi_out/dw^2)^2]: replica symmetry is locally unstable above 1. */
function replicon({ alpha, mu, V, spread, m }) {
  const s2 = V + 0.5 / mu;
  const { rate, square, fourth, weight } = angles(spread, m);
  let second = 0, last = 0;
  for (let i = 0; i < rate.length; i++) {
    radial(rate[i] / s2, RADIAL);
    second += weight[i] * square[i] * RADIAL[2];
    last += weight[i] * fourth[i] * radialFourth(rate[i] / s2);
  }
  return alpha * V * V * (1 - 2 * second / s2 + last / s2 ** 2) / s2 ** 2;
}

/** The complexity Phi + mu E/N: the logarithm of the number of sign vectors, per unknown. */
function complexity({ alpha, mu, lam, V, spread, q0, m, mse_y }) {
  const V1 = response({ alpha, lam }), q1 = q0 + V - V1 / mu, s2 = V + 0.5 / mu, { logZ } = averages(s2, spread, m);
  const energetic = 0.5 * Math.log((1 + 2 * V1) / (2 * mu * s2)) + logZ;
  const entropic = 0.5 * (spread / V - mu * lam * q1) + 0.5 * Math.log(mu * V / V1);
  return entropic + alpha * energetic + mu * (alpha * mse_y + 0.5 * lam * q1);
}

/** Is a point locally stable, and does it count at least one sign vector? */
const trusted = (point) => point.converged && replicon(point) < 1 && complexity(point) >= 0;
