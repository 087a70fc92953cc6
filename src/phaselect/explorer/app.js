// The page: settings in, pictures out. Two workers made of this page's own text do the computing.

const byId = (id) => document.getElementById(id);
const settings = { mode: "product", product: 1, lam: 0, alpha: 1.3, mu: 3, n: 200, steps: 100, seed: 0, byHand: false };
const known = { branches: null, rows: new Map(), rowsFor: "", trace: [], right: null, order: null, running: false };
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
const CALM_MS = 500, FRAME_MS = 16, TRAIL = 400;

const source = byId("engine").textContent + byId("worker").textContent;
const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
const theorist = new Worker(address), experimenter = new Worker(address);
const charts = makeCharts();
theorist.onerror = experimenter.onerror = (event) => say(`This page cannot compute here: ${event.message}`);
let asked = 0, started = 0, drawing = false, drawn = 0;

// ------------------------------------------------------------------ pictures

/** Draws soon, once for all that has changed; where motion is unwanted, twice a second while a run goes on. */
function redraw() {
  if (drawing) return;
  drawing = true;
  const wait = known.running && calm.matches ? Math.max(0, CALM_MS - (performance.now() - drawn)) : 0;
  setTimeout(() => requestAnimationFrame(draw), wait);
}

function draw() {
  drawing = false;
  drawn = performance.now();
  drawBranches(charts.overlap, "m", settings, known);
  drawBranches(charts.residual, "mse_y", settings, known);
  drawDiagram(charts.diagram, settings, known);
  drawNeeded(charts.needed, settings);
  drawSigns(byId("signs"), settings, known);
  showNumbers();
}

function showNumbers() {
  const { mu } = settings, rule = ruleOf(settings), { branches } = known;
  byId("here").textContent = `μ = ${SLIDERS.mu.shown(mu)}, λ = ${nearestDigits(lamAt(rule, mu), 3)}`;
  const away = (row) => Math.abs(Math.log(row.mu / mu));
  const close = known.trace.reduce((best, row) => (!best || away(row) <= away(best) ? row : best), null);
  const near = close && away(close) < 0.5 * Math.log1p(EPS) ? close : null;
  const fill = (name, point, residual = true) => {
    const [m, fit] = byId(`numbers-${name}`).querySelectorAll("td");
    m.textContent = point ? point.m.toFixed(4) : "–";
    fit.textContent = point && residual ? point.mse_y.toExponential(2) : "–";
  };
  for (const start of ["uninformed", "informed"]) fill(start, branches && pointOn(branches[start], mu, rule, start));
  fill("metropolis", near && near.metropolis);
  fill("messages", near && near.messages, false);
}

const say = (text) => { byId("status").textContent = text; };

// ------------------------------------------------------------------ theory

function predict() {
  asked += 1;
  theorist.postMessage({
    kind: "predict", id: asked, alpha: settings.alpha, rule: ruleOf(settings),
    mus: SCHEDULE, alphas: DIAGRAM_ALPHAS, columns: DIAGRAM_MUS,
  });
}

theorist.onmessage = ({ data }) => {
  if (data.kind === "branches") {
    if (data.id !== asked) return;
    known.branches = { uninformed: data.uninformed, informed: data.informed };
    document.body.dataset.predicted = String(data.id);
    describe(known.branches);
  } else {
    if (known.rowsFor !== data.key) {
      known.rowsFor = data.key;
      known.rows = new Map();
    }
    known.rows.set(data.alpha, data);
    document.body.dataset.rows = String(known.rows.size);
  }
  redraw();
};

/** The charts in words, for those who do not see them. */
function describe({ uninformed, informed }) {
  const cold = uninformed[uninformed.length - 1], begins = informed.find(({ m }, k) => m - uninformed[k].m > DISTINCT);
  const apart = begins ? ` From mu = ${SLIDERS.mu.shown(begins.mu)} on, the signal is another state` : "";
  const label = (id, end) => byId(id).setAttribute("aria-label", `Against inverse temperature: cooled slowly, ${end}.`);
  label("overlap", `the overlap m ends at ${cold.m.toFixed(3)}${apart && `.${apart}`}`);
  label("residual", `the residual ends at ${cold.mse_y.toExponential(1)}`);
}

// ------------------------------------------------------------------ a run

function forget() {
  if (known.running) stop("");
  Object.assign(known, { trace: [], right: null, order: null });
  byId("progress").value = 0;
  say("Anneal draws A and x from the seed, and cools.");
}

function start() {
  forget();
  started += 1;
  known.running = true;
  byId("run").textContent = "Stop";
  say(`Drawing ${Math.round(settings.alpha * settings.n)} measurements of ${settings.n} unknowns …`);
  const { n, alpha, seed, steps, byHand, mu } = settings, frame = calm.matches && !byHand ? 0 : FRAME_MS;
  experimenter.postMessage({
    kind: "start", id: started, n, alpha, seed, steps, byHand, mu, frame, rule: ruleOf(settings), mus: SCHEDULE,
  });
  const { top, bottom } = byId("overlap").getBoundingClientRect();
  if (top < 0 || bottom > window.innerHeight) byId("first").scrollIntoView({ block: "nearest" });
  redraw();
}

function stop(words) {
  known.running = false;
  byId("run").textContent = "Anneal";
  experimenter.postMessage({ kind: "stop" });
  say(words);
  redraw();
}

experimenter.onmessage = ({ data }) => {
  if (data.id !== started || !known.running) return;
  if (data.drawn) {
    known.order = data.drawn.order;
    say(settings.byHand ? "Move μ and watch the dots follow." : "Cooling …");
    return;
  }
  known.right = data.right;
  if (data.ended) {
    document.body.dataset.verdict = JSON.stringify(data.ended);
    stop(inWords(data.ended));
    return;
  }
  known.trace.push(data);
  if (settings.byHand) known.trace.splice(0, known.trace.length - TRAIL);
  else {
    byId("progress").value = known.trace.length / SCHEDULE.length;
    set("mu", data.mu);
  }
  redraw();
};

function inWords({ metropolis, messages }) {
  const stuck = ({ wrong }) => `got stuck with ${wrong} of ${known.right.length} signs wrong`;
  const outcome = (found) => (found.recovered ? "found x" : stuck(found));
  if (metropolis.recovered && messages.recovered) return "Both found x: every sign that matters is right.";
  return `Metropolis ${outcome(metropolis)}; message passing ${outcome(messages)}.`;
}

// ------------------------------------------------------------------ settings

/** Shows a setting where it is set, and in words. */
function set(name, value) {
  settings[name] = value;
  if (name in SLIDERS) {
    const input = byId(name), shown = SLIDERS[name].shown(value);
    input.value = SLIDERS[name].position(value);
    input.setAttribute("aria-valuetext", shown);
    byId(`${name}-value`).textContent = shown;
  }
}

function showSettings() {
  for (const name of Object.keys(SLIDERS)) set(name, settings[name]);
  byId(`mode-${settings.mode}`).checked = true;
  byId("product-row").hidden = settings.mode !== "product";
  byId("lam-row").hidden = settings.mode !== "lam";
  byId("steps").value = settings.steps;
  byId("seed").value = settings.seed;
  byId("by-hand").checked = settings.byHand;
  const rule = ruleOf(settings), needed = neededAlpha(rule);
  byId("kept").textContent = `${ruleInWords(rule)}: ${needed <= ALPHA_RANGE[1] ? `α = ${needed.toFixed(3)}` : "over 2"}`;
  byId("python").textContent = pythonOf(settings);
}

/** Takes new settings; what they make out of date is computed anew. */
function change(changes) {
  Object.assign(settings, changes);
  showSettings();
  const names = Object.keys(changes);
  if (names.some((name) => name !== "mu")) {
    forget();
    tellWhereWeAre();
  }
  if (names.some((name) => ["mode", "product", "lam", "alpha"].includes(name))) predict();
  if ("mu" in changes) experimenter.postMessage({ kind: "mu", mu: settings.mu });
  redraw();
}

function wire() {
  for (const [name, { value }] of Object.entries(SLIDERS)) {
    byId(name).addEventListener("input", (event) => change({ [name]: value(Number(event.target.value)) }));
  }
  for (const radio of document.querySelectorAll("[name=mode]")) {
    radio.addEventListener("change", () => change({ mode: radio.value }));
  }
  byId("steps").addEventListener("change", (event) => change({ steps: Number(event.target.value) }));
  byId("seed").addEventListener("change", (event) => {
    change({ seed: within(Math.round(Number(event.target.value)) || 0, 0, 999999) });
  });
  byId("by-hand").addEventListener("change", (event) => change({ byHand: event.target.checked }));
  byId("controls").addEventListener("submit", (event) => {
    event.preventDefault();
    if (known.running) stop("Stopped."); else start();
  });
  byId("another").addEventListener("click", () => { change({ seed: (settings.seed + 1) % 1000000 }); start(); });
  byId("copy").addEventListener("click", copyPython);
  drag(charts.overlap, ({ x }) => ({ mu: x }));
  drag(charts.residual, ({ x }) => ({ mu: x }));
  drag(charts.diagram, ({ x, y }) => ({ mu: x, alpha: within(Math.round(100 * y) / 100, ...ALPHA_RANGE) }));
  drag(charts.needed, ({ x, y }) => ({
    [settings.mode]: keptAt(x),
    alpha: within(Math.round(100 * y) / 100, ...ALPHA_RANGE),
  }));
  window.addEventListener("resize", redraw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

/** Product or lam at a place of the chart where it is the axis: what the slider can be set to. */
function keptAt(x) {
  const { value, position } = SLIDERS[settings.mode];
  return value(Math.round(position(settings.mode === "lam" && x < 2 * NO_LAM ? 0 : x)));
}

/** A pointer that is held down in a chart moves what the chart shows. */
function drag(chart, settingsAt) {
  const move = (event) => {
    const changes = settingsAt(chart.valuesAt(event));
    for (const name of Object.keys(changes)) if (changes[name] === settings[name]) delete changes[name];
    if (Object.keys(changes).length) change(changes);
  };
  chart.canvas.addEventListener("pointerdown", (event) => {
    chart.canvas.setPointerCapture(event.pointerId);
    move(event);
  });
  chart.canvas.addEventListener("pointermove", (event) => { if (event.buttons) move(event); });
}

async function copyPython() {
  const text = byId("python").textContent;
  try {
    await navigator.clipboard.writeText(text);
    byId("copy").textContent = "Copied";
  } catch {  // no clipboard here: mark it, for the keys that copy
    getSelection().selectAllChildren(byId("python"));
    byId("copy").textContent = "Press Ctrl+C";
  }
  setTimeout(() => { byId("copy").textContent = "Copy as Python"; }, 2000);
}

// ------------------------------------------------------------------ stories

function tell(index) {
  const { text, settings: chosen } = STORIES[index];
  change({ byHand: false, ...chosen });
  showStory(text, index);
}

/** Once something else is set, no story is told, but what the theory says of these settings. */
function tellWhereWeAre() {
  showStory(outlook(settings.alpha, ruleOf(settings)), -1);
}

function showStory(text, index) {
  if (byId("story").textContent !== text) byId("story").textContent = text;
  [...byId("stories").children].forEach((button, k) => button.setAttribute("aria-pressed", String(k === index)));
}

STORIES.forEach(({ title }, index) => {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = title;
  button.addEventListener("click", () => { tell(index); start(); });
  byId("stories").append(button);
});
wire();
tell(1);
