// The five pictures: each is given the settings and what is known so far, and draws itself.

const MU_AXIS = { scale: logarithmic, range: MU_RANGE, ticks: [1, 10, 100, 1000, 10000], shown: powerOfTen, label: "inverse temperature μ" };
const ALPHA_TICKS = [1.128, 1.2, 1.4, 1.6, 1.8, 2];
const ALPHA_AXIS = { scale: linear, range: [1, ALPHA_RANGE[1]], ticks: ALPHA_TICKS, label: "measurements per unknown α" };
const DIAGRAM_ALPHAS = Array.from({ length: 41 }, (_, k) => ALPHA_RANGE[0] + k * (ALPHA_RANGE[1] - ALPHA_RANGE[0]) / 40);
const DIAGRAM_MUS = geometric(...MU_RANGE, (MU_RANGE[1] / MU_RANGE[0]) ** (1 / 60) - 1);
const COEXISTING = 0.05;

const overlapChart = () => new Chart(document.getElementById("overlap"), {
  x: MU_AXIS, y: { scale: linear, range: [0, 1], ticks: [0, 0.25, 0.5, 0.75, 1], label: "overlap m" }, height: 270 });
const residualChart = () => new Chart(document.getElementById("residual"), {
  x: MU_AXIS, y: { scale: logarithmic, range: [1e-8, 1], ticks: [1e-8, 1e-6, 1e-4, 1e-2, 1], shown: powerOfTen, label: "residual per measurement" }, height: 200 });
const diagramChart = () => new Chart(document.getElementById("diagram"), { x: MU_AXIS, y: ALPHA_AXIS, height: 300 });
const NEEDED_AXES = {
  product: { scale: logarithmic, range: [0.05, 20], ticks: [0.1, 1, 10], shown: powerOfTen, label: "product μλ" },
  lam: { scale: logarithmic, range: [3e-4, 0.32], ticks: [5e-4, 1e-3, 1e-2, 1e-1], shown: (tick) => (tick < 1e-3 ? "0" : powerOfTen(tick)), label: "regulariser λ" },
};
const NO_LAM = 5e-4;  // where lam = 0 is drawn
const neededChart = () => new Chart(document.getElementById("needed"), { x: NEEDED_AXES.product, y: ALPHA_AXIS, height: 300 });

/** Theory, then the instance over it. */
function drawBranches(chart, column, settings, { branches, trace }) {
  chart.begin();
  const floor = chart.y.range[0], read = (point) => [point.mu, Math.max(point[column], floor)];
  if (branches) {
    chart.line(branches.informed.map(read), "informed", { width: 2, dash: [6, 4] });
    chart.line(branches.uninformed.map(read), "theory", { width: 2.5 });
  }
  const of = (solver) => trace.filter((row) => row[solver]).map((row) => [row.mu, Math.max(row[solver][column], floor)]);
  if (column === "m") chart.dots(of("messages"), "messages", { size: 3.4, ring: true });
  chart.dots(of("metropolis"), "metropolis");
  chart.mark({ x: settings.mu });
}

/** Overlap of the slow anneal as colour, pixel by pixel between the rows and columns known; hatched where hidden. */
function drawDiagram(chart, settings, rows) {
  chart.begin();
  const { box, ratio } = chart, left = Math.round(box.left * ratio), top = Math.round(box.top * ratio);
  const width = Math.round((box.right - box.left) * ratio), height = Math.round((box.bottom - box.top) * ratio);
  const known = [...rows.keys()].sort((i, j) => i - j);
  if (known.length > 1) {
    const image = chart.pen.createImageData(width, height), low = chart.colour("paper"), high = chart.colour("theory"), line = chart.colour("informed");
    paintDiagram(image, known, rows, [low, high, line].map(channels), ratio);
    chart.pen.putImageData(image, left, top);
  }
  chart.mark({ x: settings.mu, y: settings.alpha });
  chart.dots([[settings.mu, settings.alpha]], "ink", { size: 4 });
}

const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

function paintDiagram(image, known, rows, [low, high, hatch], ratio) {
  const { width, height, data } = image, columns = DIAGRAM_MUS.length;
  for (let v = 0; v < height; v++) {
    const alpha = ALPHA_AXIS.range[1] - (v + 0.5) / height * (ALPHA_AXIS.range[1] - ALPHA_AXIS.range[0]);
    const place = (alpha - ALPHA_RANGE[0]) / (DIAGRAM_ALPHAS[1] - DIAGRAM_ALPHAS[0]);
    if (place < -0.5) continue;  // as far down as alpha = 1, where the diagram ends
    let upper = known.findIndex((index) => index >= place);
    if (upper < 0) upper = known.length - 1;
    const below = rows.get(known[Math.max(0, upper - 1)]), above = rows.get(known[upper]);
    const gap = known[upper] - known[Math.max(0, upper - 1)], part = gap ? within((place - known[upper - 1]) / gap, 0, 1) : 0;
    for (let h = 0; h < width; h++) {
      const at = (h + 0.5) / width * (columns - 1), k = Math.min(columns - 2, Math.floor(at)), along = at - k;
      const mix = (name) => (1 - part) * ((1 - along) * below[name][k] + along * below[name][k + 1])
        + part * ((1 - along) * above[name][k] + along * above[name][k + 1]);
      const m = mix("uninformed"), hidden = mix("informed") - m > COEXISTING;
      const striped = hidden && (h + v) % Math.round(7 * ratio) < 1.6 * ratio, pixel = 4 * (v * width + h);
      for (let c = 0; c < 3; c++) {
        const plain = low[c] + 0.85 * m * (high[c] - low[c]), tinted = hidden ? plain + 0.16 * (hatch[c] - plain) : plain;
        data[pixel + c] = striped ? hatch[c] : tinted;
      }
      data[pixel + 3] = 255;
    }
  }
}

/** Measurements that an infinitely slow anneal needs, against what is kept fixed. */
function drawNeeded(chart, settings) {
  const kept = settings.mode, { value, alpha } = RECOVERY[kept], { informed } = { informed: "informed" };
  chart.x = NEEDED_AXES[kept];
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
  chart.words("recovers", chart.across(kept === "lam" ? 0.004 : 1), chart.up(1.75), "theory", "center");
  chart.words("hard for all", chart.across(kept === "lam" ? 0.004 : 1), chart.up(1.06), informed, "center");
  chart.mark({ x: settings[kept] || NO_LAM, y: settings.alpha });
  chart.dots([[settings[kept] || NO_LAM, settings.alpha]], "ink", { size: 4 });
}

/** One square per measurement, in the order of their size. */
function drawSigns(canvas, { right, order, count }) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, colour = palette();
  const side = Math.max(5, Math.floor(Math.sqrt(width * 150 / count))), across = Math.floor(width / side);
  const height = side * Math.ceil(count / across);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  for (let k = 0; k < count; k++) {
    pen.fillStyle = right ? colour(right[order[k]] ? "right" : "wrong") : colour("rule");
    pen.fillRect(k % across * side, Math.floor(k / across) * side, side - 1, side - 1);
  }
}
