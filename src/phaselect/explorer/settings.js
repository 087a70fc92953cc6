// What can be set, and how a slider's position becomes a number.

const MU_RANGE = [0.3, 1e4], ALPHA_RANGE = [1.02, 2], EPS = 0.1;
const SCHEDULE = geometric(...MU_RANGE, EPS);

const within = (value, low, high) => Math.min(high, Math.max(low, value));
const nearestDigits = (value, digits) => Number(value.toPrecision(digits));

/** For each slider: from its position to the value, back, and how the value is shown. */
const SLIDERS = {
  alpha: { value: (p) => p / 100, position: (v) => 100 * v, shown: (v) => v.toFixed(2) },
  product: { value: (p) => nearestDigits(10 ** (p / 100), 2), position: (v) => 100 * Math.log10(v), shown: String },
  lam: {
    value: (p) => (p > 0 ? nearestDigits(10 ** (-3 + 2.5 * (p - 1) / 99), 2) : 0),
    position: (v) => (v > 0 ? 1 + 99 * (Math.log10(v) + 3) / 2.5 : 0),
    shown: String,
  },
  mu: {
    value: (p) => within(nearestDigits(10 ** (p / 100), 3), ...MU_RANGE),
    position: (v) => 100 * Math.log10(v),
    shown: (v) => String(nearestDigits(v, 3)),
  },
  n: { value: Number, position: Number, shown: String },
};

/** What is kept fixed while mu grows. */
const ruleOf = ({ mode, product, lam }) => (mode === "product" ? { product } : { lam });

/** The rule in words. */
const ruleInWords = (rule) => ("product" in rule ? `μλ = ${rule.product}` : `λ = ${rule.lam}`);

/** What the theory says of a slow anneal, in words. */
function outlook(alpha, rule) {
  const needed = neededAlpha(rule), least = Math.min(...RECOVERY.product.alpha);
  const enough = needed <= ALPHA_RANGE[1] ? `α = ${needed.toFixed(3)}` : "more than α = 2";
  const here = `recovered here: at ${ruleInWords(rule)} it takes ${enough}`;
  if (alpha > needed) return `Cooled slowly enough, a large instance is ${here}.`;
  const best = `${least.toFixed(3)} ${alpha > least ? "would do" : "is the least: this is the hard phase"}`;
  return `However slowly it is cooled, a large instance is not ${here}; at μλ = 1, ${best}.`;
}

/** The smallest alpha at which an infinitely slow anneal recovers, read off the package's table; Infinity beyond. */
function neededAlpha(rule) {
  const kept = "product" in rule ? "product" : "lam", wanted = rule[kept];
  const { value, alpha } = RECOVERY[kept];
  const above = value.findIndex((entry) => entry >= wanted);
  if (above < 0) return Infinity;
  if (value[above] === wanted || above === 0) return alpha[above];
  if (value[above - 1] === 0) return alpha[above];  // any regulariser is unlike none
  const share = (wanted - value[above - 1]) / (value[above] - value[above - 1]);
  return alpha[above - 1] + share * (alpha[above] - alpha[above - 1]);
}
