// Averages over one measurement, exact to rounding at every temperature: theory/quadrature.py and theory/averages.py
// at phi = 0. In polar coordinates u0 w = t (m + r cos psi), t ~ Exp(1): the radius has a closed form, and the angle is
// integrated on the two arcs between the zeros of the bracket, where tanh has its kinks, with tanh-sinh nodes. Fewer
// nodes and terms than there: enough for eleven digits up to mu = 10^4.

const ARC_COUNT = 64, ARC_REACH = 3.35, SERIES_COUNT = 18, SMALL_RATE = 0.012, WEAK_OVERLAP = 0.01;
const TANGENT_NUMBERS = [1, 2, 16, 272, 7936, 353792, 22368256];

/** Half of a tanh-sinh rule on [-1, 1]: distances to the end point 1, and weights that add up to 1. */
function arcNodes(count, reach) {
  const nearness = new Float64Array(count), weight = new Float64Array(count);
  let total = 0;
  for (let k = 0; k < count; k++) {
    const u = (k + 0.5) * reach / count, s = 0.5 * Math.PI * Math.sinh(u);
    nearness[k] = 2 / (1 + Math.exp(2 * s));
    weight[k] = Math.cosh(u) / Math.cosh(s) ** 2;
    total += weight[k];
  }
  return { nearness, weight: weight.map((value) => value / total) };
}

/** Weights that sum an alternating series from few terms (Cohen, Rodriguez Villegas, Zagier, Exp. Math. 2000). */
function alternatingWeights(count) {
  const total = Math.cosh(count * Math.acosh(3)), weights = new Float64Array(count);
  for (let k = 0, b = -1, c = -total; k < count; k++) {
    c = b - c;
    weights[k] = c / total;
    b *= (k + count) * (k - count) / ((k + 0.5) * (k + 1));
  }
  return weights;
}

const ARC = arcNodes(ARC_COUNT, ARC_REACH), ALTERNATING = alternatingWeights(SERIES_COUNT);

/** E_t of tanh, 1 - tanh, t sech^2 and t tanh^2 at c t, t ~ Exp(1), each accurate where it is small; into `out`. */
function radial(c, out) {
  const size = Math.abs(c);
  let tanh = 0, wrong, slope, flat = 0;
  if (size < SMALL_RATE) {
    for (let k = 0, power = 1; k < TANGENT_NUMBERS.length; k++, power *= -size * size) {
      tanh += power * size * TANGENT_NUMBERS[k];
      if (k > 0) flat -= power * (2 * k + 1) * TANGENT_NUMBERS[k];
    }
    wrong = 1 - tanh;
    slope = 1 - flat;
  } else {
    const x = 1 + 0.5 / size;
    let beta = 0, fall = 0;
    for (let k = 0; k < SERIES_COUNT; k++) {
      const inverse = 1 / (x + k), term = ALTERNATING[k] * inverse;
      beta += term;
      fall -= term * inverse;
    }
    wrong = beta / size;
    slope = (beta + fall / (2 * size)) / (size * size);
    tanh = 1 - wrong;
    flat = 1 - slope;
  }
  if (c < 0) { wrong = 1 + tanh; tanh = -tanh; }
  out[0] = tanh; out[1] = wrong; out[2] = slope; out[3] = flat;
}

const RADIAL = new Float64Array(4);

const ANGLES = {
  rate: new Float64Array(2 * ARC_COUNT),
  square: new Float64Array(2 * ARC_COUNT),
  fourth: new Float64Array(2 * ARC_COUNT),
  weight: new Float64Array(2 * ARC_COUNT),
};

/**
 * Nodes on both arcs, for overlap m >= 0 and spread D = q0 - m^2: u0 w = t rate, u0^2 = t square and u0^4 = t^2 fourth on
 * average over +-psi, and weights that add up to 1. With psi = pi - eps and m = r cos(delta), the zeros sit at
 * eps = delta; nodes are placed by their distance to it. The next call overwrites them.
 */
function angles(spread, m) {
  const r = Math.sqrt(m * m + spread), delta = Math.atan2(Math.sqrt(spread), m);
  const sinDelta = Math.sin(delta), cosDelta = Math.cos(delta);
  const sinHalf = Math.sin(delta / 2), cosHalf = Math.cos(delta / 2);
  for (let i = 0; i < 2 * ARC_COUNT; i++) {
    const k = i % ARC_COUNT, span = i < ARC_COUNT ? -delta : Math.PI - delta;
    const angle = 0.5 * span * ARC.nearness[k], sin = Math.sin(angle), cos = Math.cos(angle);
    const sinEps = sinHalf * cos + cosHalf * sin, cosEps = cosHalf * cos - sinHalf * sin;  // of eps/2
    const square = 2 * sinHalf * sinHalf + 2 * cosDelta * sinEps * sinEps;
    ANGLES.rate[i] = 2 * r * (sinDelta * cos + cosDelta * sin) * sin;
    ANGLES.square[i] = square;
    ANGLES.fourth[i] = square * square + (2 * sinEps * cosEps * sinDelta) ** 2;
    ANGLES.weight[i] = Math.abs(span) * ARC.weight[k] / Math.PI;
  }
  return ANGLES;
}

/** What the theory asks of a measurement at s2 = V + 1/(2 mu), spread D = q0 - m^2 and overlap m. */
function averages(s2, spread, m) {
  const sign = m < 0 ? -1 : 1;  // the mirror image; m >= 0 is the accurate one
  m *= sign;
  const { rate, square, weight } = angles(spread, m);
  let O = 0, gain = 0, sech = 0, late = 0, gainSquare = 0, flatSquare = 0, rateLate = 0, rateWrong = 0;
  for (let i = 0; i < rate.length; i++) {
    const c = rate[i] / s2, share = weight[i], squared = share * square[i];
    radial(c, RADIAL);
    const slope = RADIAL[2], later = RADIAL[1] - c * slope, pull = RADIAL[0] + c * slope;
    O += share * RADIAL[0];
    gain += share * pull;
    sech += squared * slope;
    late += squared * later;
    gainSquare += squared * pull;
    flatSquare += squared * RADIAL[3];
    rateLate += share * c * later;
    rateWrong += share * c * RADIAL[1];
  }
  // two forms of E[u0^2 (T - m)^2], each where it does not cancel
  const weak = m * m + flatSquare - 2 * m * gainSquare, strong = (1 - m) ** 2 + 2 * m * late - sech;
  const distance = (1 - m) ** 2 + spread;
  return {
    O: sign * O,
    gain: sign * gain,
    sech,
    misfit: distance + 2 * s2 * rateLate,
    force: (m * m + spread < WEAK_OVERLAP ? weak : strong) + spread * (1 - 2 * sech / s2),
    logZ: Math.LN2 - 0.5 * distance / s2 - rateWrong,
  };
}
