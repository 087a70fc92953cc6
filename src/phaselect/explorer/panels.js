// The five pictures: each is given the settings and what is known so far, and draws itself.

const MU_AXIS = { scale: logarithmic, range: MU_RANGE, ticks: [1, 10, 100, 1000, 10000], label: "inverse temperature μ" };
const OVERLAP_AXIS = { scale: linear, range: [0, 1], ticks: [0, 0.25, 0.5, 0.75, 1], label: "overlap m" };
const RESIDUAL_AXIS = {
  scale: logarithmic,
  range: [1e-8, 1],
  ticks: [1e-8, 1e-6, 1e-4, 1e-2, 1],
  shown: powerOfTen,
  label: "residual per measurement",
};
const ALPHA_AXIS = {
  scale: linear,
  range: [1, ALPHA_RANGE[1]],
  ticks: [1, 1.2, 1.4, 1.6, 1.8, 2],
  shown: (tick) => tick.toFixed(1),
  label: "measurements per unknown α",
};
const NO_LAM = 3.5e-4;  // where lam = 0 is drawn
const KEPT_AXES = {
  product: { scale: logarithmic, range: [0.05, 20], ticks: [0.1, 1, 10], label: "product μλ" },
  lam: {
    scale: logarithmic,
    range: [2.5e-4, 0.32],
    ticks: [NO_LAM, 1e-3, 1e-2, 1e-1],
    shown: (tick) => (tick === NO_LAM ? "0" : String(tick)),
    label: "regulariser λ",
  },
};
const DIAGRAM_ALPHAS = [  // closer where the hard phase is
  ...Array.from({ length: 17 }, (_, k) => ALPHA_RANGE[0] + 0.01 * k),
  ...Array.from({ length: 24 }, (_, k) => 1.2 + 0.025 * k), 1.8, 1.85, 1.9, 1.95, 2];
const DIAGRAM_MUS = geometric(...MU_RANGE, (MU_RANGE[1] / MU_RANGE[0]) ** (1 / 60) - 1);

/** The charts, by the names of their canvases. */
function makeCharts() {
  const chart = (id, x, y, height) => new Chart(document.getElementById(id), { x, y, height });
  return {
    overlap: chart("overlap", MU_AXIS, OVERLAP_AXIS, 270),
    residual: chart("residual", MU_AXIS, RESIDUAL_AXIS, 200),
    diagram: chart("diagram", MU_AXIS, ALPHA_AXIS, 300),
    needed: chart("needed", KEPT_AXES.product, ALPHA_AXIS, 300),
  };
}

/** Theory, dotted where it is not to be trusted, then the instance over it. */
function drawBranches(chart, column, settings, { branches, trace }) {
  chart.begin();
  const floor = chart.y.range[0], read = (point) => [point.mu, Math.max(point[column], floor)];
  if (branches) {
    chart.line(branches.informed.map(read), "informed", { width: 2, dash: [6, 4] });
    for (const { trusted, points } of stretches(branches.uninformed)) {
      chart.line(points.map(read), "theory", trusted ? { width: 2.5 } : { width: 2, dash: [1.5, 4] });
    }
  }
  const of = (solver) => trace.filter((row) => row[solver]).map((row) => read({ mu: row.mu, ...row[solver] }));
  if (column === "m") chart.dots(of("messages"), "messages", { size: 3.4, ring: true });
  chart.dots(of("metropolis"), "metropolis");
  chart.mark({ x: settings.mu });
}

/** A branch cut where it begins or ceases to be trusted; pieces share their ends. */
function stretches(branch) {
  const found = [];
  for (const point of branch) {
    const last = found[found.length - 1];
    if (last) last.points.push(point);
    if (last?.trusted !== point.trusted) found.push({ trusted: point.trusted, points: [point] });
  }
  return found;
}

/** Overlap that slow cooling reaches as colour, in the rows known so far; hatched where the signal is hidden from it. */
function drawDiagram(chart, settings, { rows, rowsFor, trace }) {
  chart.begin();
  const current = rowsFor === JSON.stringify(ruleOf(settings)) ? [...rows.values()] : [];
  const known = current.sort((one, other) => one.alpha - other.alpha);
  if (known.length > 1) {
    chart.keep([rowsFor, known.length], () => {
      known.slice(1).forEach((above, k) => paintBand(chart, known[k], above));
      hatch(chart, known);
    });
  }
  const { mu, alpha } = settings;
  chart.mark({ x: mu, y: alpha });
  if (trace.length) chart.line([[MU_RANGE[0], alpha], [mu, alpha]], "ink", { width: 2 });
  chart.dots([[mu, alpha]], "ink", { size: 4.5 });
}

/** The overlaps between two rows, as a strip of colours for each step between them. */
function paintBand(chart, below, above) {
  const { pen, box } = chart, top = chart.up(above.alpha), bottom = chart.up(below.alpha);
  const [low, high] = ["paper", "theory"].map((name) => channels(chart.colour(name)));
  const strips = Math.max(1, Math.round((bottom - top) / 3)), columns = below.overlaps.length;
  for (let strip = 0; strip < strips; strip++) {
    const share = (strip + 0.5) / strips, y = bottom - (strip + 1) * (bottom - top) / strips;
    const gradient = pen.createLinearGradient(box.left, 0, box.right, 0);
    for (let k = 0; k < columns; k++) {
      const m = 0.85 * ((1 - share) * below.overlaps[k] + share * above.overlaps[k]);
      const mixed = low.map((value, c) => Math.round(value + m * (high[c] - value)));
      gradient.addColorStop(k / (columns - 1), `rgb(${mixed})`);
    }
    pen.fillStyle = gradient;
    pen.fillRect(box.left, y, box.right - box.left, (bottom - top) / strips + 0.6);
  }
}

const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

/** Stripes over the region between the births and ends of the informed branch, row by row, with its border. */
function hatch(chart, known) {
  const { pen, box } = chart, hidden = known.filter((row) => row.hidden);
  if (!hidden.length) return;
  const edge = (side) => hidden.map((row) => [chart.across(row.hidden[side]), chart.up(row.alpha)]);
  const outline = [...edge(0), ...edge(1).reverse()];
  pen.save();
  pen.beginPath();
  outline.forEach(([h, v], k) => (k ? pen.lineTo(h, v) : pen.moveTo(h, v)));
  pen.closePath();
  pen.clip();
  pen.fillStyle = pen.strokeStyle = chart.colour("informed");
  pen.globalAlpha = 0.16;
  pen.fill();
  pen.globalAlpha = 1;
  pen.lineWidth = 1.3;
  const height = box.bottom - box.top;
  for (let h = box.left - height; h < box.right; h += 7) chart.stroke([[h, box.bottom], [h + height, box.top]]);
  pen.restore();
  pen.strokeStyle = chart.colour("informed");
  pen.lineWidth = 1.5;
  chart.stroke(edge(0));
  chart.stroke(edge(1));
}

/** Measurements that an infinitely slow anneal needs, against what is kept fixed. */
function drawNeeded(chart, settings) {
  const kept = settings.mode, { value, alpha } = RECOVERY[kept];
  chart.x = KEPT_AXES[kept];
  chart.begin();
  const points = value.map((entry, index) => [entry || NO_LAM, alpha[index]]).filter(([entry]) => entry > NO_LAM);
  chart.inside((pen) => {  // above the line slow cooling recovers
    pen.fillStyle = chart.colour("theory");
    pen.globalAlpha = 0.18;
    pen.beginPath();
    pen.moveTo(chart.across(points[0][0]), chart.box.top);
    for (const [h, v] of points) pen.lineTo(chart.across(h), chart.up(v));
    pen.lineTo(chart.across(points[points.length - 1][0]), chart.box.top);
    pen.fill();
    pen.globalAlpha = 1;
  });
  chart.line(points, "theory", { width: 2.5 });
  if (kept === "lam") chart.dots([[NO_LAM, alpha[0]]], "theory", { size: 4, ring: true });
  const left = chart.across(kept === "lam" ? 1.4e-3 : 0.075);
  chart.words("recovers", left, chart.up(1.88), "theory");
  chart.words("hard for all", left, chart.up(1.06), "informed");
  chart.mark({ x: settings[kept] || NO_LAM, y: settings.alpha });
  chart.dots([[settings[kept] || NO_LAM, settings.alpha]], "ink", { size: 4 });
}

/** One square per measurement, in the order of their size. */
function drawSigns(canvas, settings, { right, order }) {
  const count = right ? right.length : Math.round(settings.alpha * settings.n);
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, colour = palette();
  const side = Math.max(5, Math.floor(Math.sqrt(width * 150 / count))), across = Math.floor(width / side);
  const height = side * Math.ceil(count / across);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const [none, good, bad] = ["rule", "right", "wrong"].map(colour);
  for (let k = 0; k < count; k++) {
    pen.fillStyle = right ? (right[order[k]] ? good : bad) : none;
    pen.fillRect(k % across * side, Math.floor(k / across) * side, side - 1, side - 1);
  }
}
