// What the page asks of its two workers: `predict` of one, `start`, `mu` and `stop` of the other. Work is cut into
// pieces, and between two pieces a worker listens: what was asked last is what is done.

let question = null, answered = null, rows = [], rowsFor = "", job = null, run = null, thinking = false;

self.onmessage = ({ data }) => {
  if (data.kind === "predict") {
    question = data;
    if (!thinking) think();
  } else if (data.kind === "start") {
    job = data;
    run = anneal(job);
    advance(run);
  } else if (data.kind === "mu") {
    if (job) job.mu = data.mu;
  } else {
    run = null;
  }
};

/** The branches first, then the phase diagram, row by row from coarse to fine. */
function think() {
  thinking = true;
  const { rule, mus, alphas, columns } = question, key = JSON.stringify(rule);
  if (answered !== question) {
    answered = question;
    const { id, alpha } = question, believed = (point) => ({ ...point, trusted: trusted(point) });
    const uninformed = follow(alpha, mus, rule).map(believed), informed = follow(alpha, mus, rule, "informed");
    self.postMessage({ kind: "branches", id, uninformed, informed });
    if (rowsFor !== key) {
      rowsFor = key;
      rows = coarseToFine(alphas.length);
    }
  } else if (rows.length) {
    const alpha = alphas[rows.shift()];
    self.postMessage({ kind: "row", key, alpha, ...diagramRow(alpha, columns, rule) });
  }
  thinking = answered !== question || rows.length > 0;
  if (thinking) setTimeout(think, 0);
}

/** 0 ... count - 1, those that divide the whole coarsely first. */
function coarseToFine(count) {
  const order = new Set();
  for (let stride = 8; stride >= 1; stride >>= 1) for (let k = 0; k < count; k += stride) order.add(k);
  return [...order];
}

/** The run goes on, a temperature a frame (of job.frame milliseconds at least), until there is another. */
function advance(mine) {
  if (mine !== run) return;
  const began = performance.now(), { value, done } = mine.next();
  if (done) run = null;
  else {
    if (value) self.postMessage({ kind: "run", id: job.id, ...value });
    setTimeout(advance, value ? Math.max(0, job.frame - (performance.now() - began)) : 0, mine);
  }
}
