// The replica symmetric saddle point: theory/flow.py, theory/saddle.py and theory/branch.py at phi = 0. It closes on
// (V, D = q0 - m^2, m); its attractors are found by implicit steps along the flow ds/dtime = map(s) - s in
// (log V, log D, m), which never leap to another branch, and are Newton's near the end.

const AIM = 1e-13, TOLERANCE = 1e-10, MOST_STEPS = 1000, SPREAD_FLOOR = 1e-14, NEGLIGIBLE = 1e-7;
const LARGEST_STEP = [1, 3, 0.1], LOST = 1e-6;

/** A point of the phase diagram. `rule` says what is kept: { product } or { lam }. */
function controlAt(alpha, mu, rule) {
  const lam = lamAt(rule, mu);
  return { alpha, mu, lam, product: mu * lam, noise: 0.5 / mu };
}

/** The regulariser at a temperature. */
function lamAt(rule, mu) {
  return "product" in rule ? rule.product / mu : rule.lam;
}

/** V1, the response of the ridge regression: positive root of V1 (lam + 2 alpha/(1 + 2 V1)) = 1. */
function response({ alpha, lam }) {
  const b = lam + 2 * alpha - 2, root = Math.sqrt(b * b + 8 * lam);
  return b > 0 ? 2 / (b + root) : (root - b) / (4 * lam);
}

/** One undamped iteration of (V, D, m): state evolution. */
function saddleMap({ V, spread, m }, control) {
  const s2 = V + control.noise, out = averages(s2, spread, m);
  const updated = 1 / (control.product + control.alpha * (1 - out.sech / s2) / s2);
  return {
    V: updated,
    spread: control.alpha * out.force * (updated / s2) ** 2,
    m: control.alpha * out.gain * updated / s2,
  };
}

/** The fixed point m = D = 0: the root V > 0 of s2^2 = V (product s2^2 + alpha (s2 - 1)), by bisection in log V. */
function paramagnet({ alpha, product, noise }) {
  const excess = (V) => V * (product * (V + noise) ** 2 + alpha * (V + noise - 1)) - (V + noise) ** 2;
  let low = -80, high = 80;  // the excess is negative at small V, positive at large V, and has one root between
  while (high - low > 1e-15 * Math.max(1, Math.abs(low))) {
    const middle = 0.5 * (low + high);
    if (middle === low || middle === high) break;
    if (excess(Math.exp(middle)) < 0) low = middle; else high = middle;
  }
  return { V: Math.exp(0.5 * (low + high)), spread: 0, m: 0 };
}

/** Do small departures from the paramagnet die out? Factors by which a small D (the replicon) and a small m grow. */
function paramagnetIsStable({ V }, { alpha, noise }) {
  const s2 = V + noise;
  return Math.max(alpha * (V / s2) ** 2 * (3 / s2 ** 2 - 2 / s2 + 1), 2 * alpha * V / s2 ** 2) <= 1;
}

/** Where a search begins: signs that know nothing, or the signal itself. */
function startingState(start, control) {
  if (start === "informed") return { V: response(control) / control.mu, spread: 0, m: 1 };
  const state = paramagnet(control);
  return paramagnetIsStable(state, control) ? state : { V: state.V, spread: 1e-6, m: 1e-3 };
}

/** Velocity map(s) - s in (log V, log D, m), and its Jacobian by forward differences, row by row. */
function linearise(s, control) {
  const widths = [1e-6, 1e-6, 1e-5 * Math.min(1, Math.exp(0.5 * s[1])) + 1e-11];
  const velocityAt = (p) => {
    const next = saddleMap({ V: Math.exp(p[0]), spread: Math.exp(p[1]), m: p[2] }, control);
    return [Math.log(next.V) - p[0], Math.log(Math.max(next.spread, SPREAD_FLOOR * next.V)) - p[1], next.m - p[2]];
  };
  const velocity = velocityAt(s), jacobian = [[0, 0, 0], [0, 0, 0], [0, 0, 0]];
  for (let j = 0; j < 3; j++) {
    const moved = velocityAt(s.map((value, i) => value + (i === j ? widths[j] : 0)));
    for (let i = 0; i < 3; i++) jacobian[i][j] = (moved[i] - velocity[i]) / widths[j];
  }
  return { velocity, jacobian };
}

/** Largest change of (V, D, m) in one iteration: of V and D relative to their sum, of m absolute. */
function residualSize(velocity, s) {
  return Math.max(Math.abs(velocity[0]), Math.abs(velocity[1]) / (1 + Math.exp(s[0] - s[1])), Math.abs(velocity[2]));
}

const largest = (vector) => Math.max(...vector.map((value, i) => Math.abs(value) / LARGEST_STEP[i]));
const finite = (rows) => rows.flat().every(Number.isFinite);

/** Follow the flow from `start` to its attractor. */
function flow(start, control) {
  const still = paramagnet(control);
  if (start.m === 0 && start.spread === 0) return { ...still, converged: true };
  const settles = paramagnetIsStable(still, control);
  let s = [Math.log(start.V), Math.log(Math.max(start.spread, 1e-12 * start.V)), start.m];
  let { velocity, jacobian } = linearise(s, control);
  let pace = 1, best = s, least = residualSize(velocity, s);
  for (let count = 0; count < MOST_STEPS && least > AIM && finite(jacobian); count++) {
    const growth = largestEigenvalue(jacobian), rising = Math.max(0, growth), size = residualSize(velocity, s);
    let step;
    for (;; pace *= 2) {  // a higher rate is a shorter time, in which fast modes still relax
      const rate = pace * size + (1 + 3 * pace) * rising;
      step = solve3(jacobian.map((row, i) => row.map((value, j) => (i === j ? rate : 0) - value)), velocity);
      if (largest(step) <= 1 || pace > 1e12) break;
    }
    const there = s.map((value, i) => value + step[i]), ahead = linearise(there, control);
    const surprise = ahead.velocity.map((value, i) =>
      value - velocity[i] - jacobian[i][0] * step[0] - jacobian[i][1] * step[1] - jacobian[i][2] * step[2]);
    if (!(finite(ahead.jacobian) && largest(surprise) < (growth > 0 ? 0.1 : 0.5) * largest(velocity))) {
      if (least < TOLERANCE || pace > 1e6) break;  // nothing but rounding is left
      pace *= 4;
      continue;
    }
    s = there;
    ({ velocity, jacobian } = ahead);
    pace = Math.max(1, pace / 2);
    if (residualSize(velocity, s) < least) { best = s; least = residualSize(velocity, s); }
    if (settles && Math.exp(s[1]) + s[2] * s[2] < NEGLIGIBLE) return { ...still, converged: true };
  }
  return { V: Math.exp(best[0]), spread: Math.exp(best[1]), m: Math.abs(best[2]), converged: least < TOLERANCE };
}

/** Observables of a state, under the names of a solver's trace. */
function pointAt(state, control) {
  const { V, spread, m } = state, V1 = response(control), V0 = V - V1 / control.mu;
  const out = averages(V + control.noise, spread, m), W = 2 * control.mu * (V + control.noise);
  const mse_y = out.misfit / W ** 2 + V0 / (W * (1 + 2 * V1));
  const { alpha, mu, lam } = control;
  return { alpha, mu, lam, V, spread, q0: m * m + spread, m, O: m ? out.O : 0, mse_y, converged: state.converged };
}

/** The saddle point that the iteration reaches from a start. */
function saddlePoint(alpha, mu, rule, start = "uninformed") {
  const control = controlAt(alpha, mu, rule);
  return pointAt(flow(startingState(start, control), control), control);
}

/** Has a branch lost the signal, or not found it yet, so that its next point starts afresh? */
const afresh = (state, start) => (start === "informed" ? state.m < LOST : state.m === 0 && state.spread === 0);

/**
 * The branch of an infinitely slow anneal through rising temperatures mu, each point from the one before; or, informed,
 * what the signal flows to at each: from the coldest on, each point from the one before until it falls.
 */
function follow(alpha, mus, rule, start = "uninformed") {
  const points = new Array(mus.length);
  let state = null;
  for (let step = 0; step < mus.length; step++) {
    const index = start === "informed" ? mus.length - 1 - step : step, control = controlAt(alpha, mus[index], rule);
    const arrival = flow(state === null || afresh(state, start) ? startingState(start, control) : state, control);
    points[index] = pointAt(arrival, control);
    state = arrival.converged ? arrival : null;
  }
  return points;
}

/** A branch at a temperature between its points: from the one before, hotter or, informed, colder. */
function pointOn(branch, mu, rule, start = "uninformed") {
  const before = start === "informed" ? branch.find((point) => point.mu >= mu) : branch.findLast((point) => point.mu <= mu);
  const control = controlAt(branch[0].alpha, mu, rule);
  return pointAt(flow(!before || afresh(before, start) ? startingState(start, control) : before, control), control);
}
