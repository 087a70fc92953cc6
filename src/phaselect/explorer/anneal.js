// One anneal of one instance by both solvers, as a generator: a row per temperature, and empty yields to breathe.

const DAMPING = 0.3, STATIONARY = 1e-24, SLICE_MS = 12;
const NUDGE = 0.01;  // of x, at each temperature: x = 0 is a fixed point by symmetry, which no sampling noise leaves

/** The seed of a run, which must not be that of its instance. */
const runSeed = (seed) => (Math.imul(seed + 1, 0x27d4eb2f) ^ 0x165667b1) >>> 0;

/**
 * job: n, alpha, rule, seed, steps (sweeps, or iterations, at each temperature), mus; byHand: stay at job.mu, which may
 * change, for ever. Yields { drawn }, then rows, then { ended }; null where others may have their turn.
 */
function* anneal(job) {
  const problem = drawInstance(job.n, job.alpha, job.seed), random = new Random(runSeed(job.seed));
  yield { drawn: { rows: problem.rows, order: largestFirst(problem.y) } };
  const spectrum = decompose(problem), chain = firstSigns(problem, spectrum, random);
  const messages = { beliefs: firstBeliefs(problem, random), diverged: false };
  for (const mu of job.byHand ? chosenByHand(job) : job.mus) {
    const lam = lamAt(job.rule, mu);
    yield* sweeps(chain, spectrum, mu, lam, job.steps, random);
    messages.beliefs = nudged(messages.beliefs, random);
    yield* iterations(messages, problem, mu, lam, job.steps);
    const { x } = messages.beliefs;
    yield {
      mu,
      metropolis: signColumns(problem, spectrum, chain, lam),
      messages: messages.diverged ? null : estimateColumns(problem, x, forward(problem.A, x, problem.rows)),
      right: rightSigns(problem, chain),
    };
  }
  quench(chain, spectrum);
  const z = forward(problem.A, messages.beliefs.x, problem.rows);
  const v = problem.y.map((value, i) => (z[i] < 0 ? -value : value));
  const settled = { v, c: adjoint(spectrum.U, v, problem.n) };
  yield {
    ended: { metropolis: verdict(problem, spectrum, chain), messages: verdict(problem, spectrum, settled) },
    right: rightSigns(problem, chain),
  };
}

/** The temperature that a person has chosen, again and again. */
function* chosenByHand(job) {
  for (;;) yield job.mu;
}

/** Metropolis at one temperature, in slices of time. */
function* sweeps(chain, spectrum, mu, lam, count, random) {
  const prepared = prepare(chain, spectrum, lam);
  let due = performance.now() + SLICE_MS;
  for (let k = 0; k < count; k++) {
    sweep(chain, spectrum, prepared, mu, random);
    if (performance.now() > due) {
      yield null;
      due = performance.now() + SLICE_MS;
    }
  }
}

/** The same with a little noise on x. */
const nudged = (beliefs, random) => ({ ...beliefs, x: beliefs.x.map((value) => value + NUDGE * random.normal()) });

/** Message passing at one temperature, until x stands still; where it diverges, the last finite x stays. */
function* iterations(messages, problem, mu, lam, count) {
  let due = performance.now() + SLICE_MS;
  for (let k = 0; k < count && !messages.diverged; k++) {
    const old = messages.beliefs, next = amplify(old, problem, mu, lam, old.iterations ? DAMPING : 0);
    messages.diverged = diverged(next.x);
    if (messages.diverged) return;
    messages.beliefs = next;
    if (next.x.reduce((sum, value, i) => sum + (value - old.x[i]) ** 2, 0) / problem.n < STATIONARY) return;
    if (performance.now() > due) {
      yield null;
      due = performance.now() + SLICE_MS;
    }
  }
}

/** Signs with their least-squares x: recovered where m > 0.99, mse_x < 0.02 and mse_y < 1e-6, as in experiments. */
function verdict(problem, spectrum, signs) {
  const { m, O, mse_y } = signColumns(problem, spectrum, signs, 0);
  const q1 = signs.c.reduce((sum, value, k) => sum + value * value / spectrum.s2[k], 0) / powerOf(problem.x0);
  const wrong = Math.round(problem.rows * (1 - O) / 2), mse_x = 1 + q1 - 2 * m;
  return { m, mse_y, wrong, recovered: m > 0.99 && mse_x < 0.02 && mse_y < 1e-6 };
}

/** Measurements by size, the largest first. */
function largestFirst(y) {
  return Uint16Array.from(y.keys()).sort((i, j) => y[j] - y[i]);
}
