// A chart on a canvas: sharp at any resolution, in the colours of the style sheet, with axes that say what they show.

const logarithmic = { to: Math.log10, from: (value) => 10 ** value };
const linear = { to: (value) => value, from: (value) => value };

/** 10^k with its exponent, but for 1. */
function powerOfTen(value) {
  const exponent = Math.round(Math.log10(value));
  if (exponent === 0) return "1";
  return "10" + String(exponent).replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).replace("-", "⁻");
}

/** Colours, as the style sheet has them at this moment. */
function palette() {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(`--${name}`).trim();
}

class Chart {
  /** x and y: { scale, range, ticks, label, shown }; shown: how a tick is written. */
  constructor(canvas, { x, y, height, margin }) {
    Object.assign(this, { canvas, x, y, height, margin: { left: 58, right: 20, top: 12, bottom: 40, ...margin } });
  }

  /** Begins a drawing: clears, and draws the axes. */
  begin() {
    const ratio = window.devicePixelRatio || 1, width = this.canvas.clientWidth;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.height = `${this.height}px`;
    const { left, right, top, bottom } = this.margin;
    this.box = { left, top, right: width - right, bottom: this.height - bottom };
    this.ratio = ratio;
    this.pen = this.canvas.getContext("2d");
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.colour = palette();
    this.axes();
  }

  across(value) {
    const { scale, range } = this.x, [low, high] = range.map(scale.to);
    return this.box.left + (scale.to(value) - low) / (high - low) * (this.box.right - this.box.left);
  }

  up(value) {
    const { scale, range } = this.y, [low, high] = range.map(scale.to);
    return this.box.bottom - (scale.to(value) - low) / (high - low) * (this.box.bottom - this.box.top);
  }

  /** The values under a point of the screen. */
  valuesAt(event) {
    const bounds = this.canvas.getBoundingClientRect(), { left, right, top, bottom } = this.box;
    const value = ({ scale, range }, part) => {
      const [low, high] = range.map(scale.to);
      return scale.from(low + Math.min(1, Math.max(0, part)) * (high - low));
    };
    return {
      x: value(this.x, (event.clientX - bounds.left - left) / (right - left)),
      y: value(this.y, (bottom - event.clientY + bounds.top) / (bottom - top)),
    };
  }

  axes() {
    const { pen, box, x, y, colour } = this;
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    pen.lineWidth = 1;
    pen.strokeStyle = colour("rule");
    pen.fillStyle = colour("faint");
    pen.textBaseline = "top";
    pen.textAlign = "center";
    for (const tick of x.ticks) {
      const at = Math.round(this.across(tick)) + 0.5;
      this.stroke([[at, box.top], [at, box.bottom]]);
      pen.fillText((x.shown || String)(tick), at, box.bottom + 6);
    }
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (const tick of y.ticks) {
      const at = Math.round(this.up(tick)) + 0.5;
      this.stroke([[box.left, at], [box.right, at]]);
      pen.fillText((y.shown || String)(tick), box.left - 7, at);
    }
    pen.textAlign = "center";
    pen.textBaseline = "bottom";
    pen.fillText(x.label, (box.left + box.right) / 2, this.height - 2);
    pen.save();
    pen.translate(11, (box.top + box.bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.textBaseline = "middle";
    pen.fillText(y.label, 0, 0);
    pen.restore();
  }

  /** Draws inside the axes only. */
  inside(draw) {
    const { pen, box } = this;
    pen.save();
    pen.beginPath();
    pen.rect(box.left, box.top - 4, box.right - box.left, box.bottom - box.top + 8);
    pen.clip();
    draw(pen);
    pen.restore();
  }

  /** Draws inside the axes what takes long, and next time copies it, unless key, size or colours have changed. */
  keep(key, draw) {
    const { canvas, pen, ratio } = this;
    const whole = JSON.stringify([key, canvas.width, canvas.height, this.colour("paper")]);
    if (this.kept?.key !== whole) {
      const copy = document.createElement("canvas");
      [copy.width, copy.height] = [canvas.width, canvas.height];
      this.pen = copy.getContext("2d");
      this.pen.scale(ratio, ratio);
      this.inside(draw);
      this.pen = pen;
      this.kept = { key: whole, copy };
    }
    pen.drawImage(this.kept.copy, 0, 0, canvas.width / ratio, canvas.height / ratio);
  }

  stroke(points) {
    this.pen.beginPath();
    points.forEach(([h, v], index) => (index ? this.pen.lineTo(h, v) : this.pen.moveTo(h, v)));
    this.pen.stroke();
  }

  line(points, colour, { width = 2, dash = [] } = {}) {
    this.inside((pen) => {
      pen.strokeStyle = this.colour(colour);
      pen.lineWidth = width;
      pen.lineJoin = "round";
      pen.setLineDash(dash);
      this.stroke(points.map(([h, v]) => [this.across(h), this.up(v)]));
    });
  }

  dots(points, colour, { size = 2.6, ring = false } = {}) {
    this.inside((pen) => {
      pen.fillStyle = this.colour(colour);
      pen.strokeStyle = this.colour(colour);
      for (const [h, v] of points) {
        pen.beginPath();
        pen.arc(this.across(h), this.up(v), size, 0, 2 * Math.PI);
        if (ring) pen.stroke(); else pen.fill();
      }
    });
  }

  /** A thin line across the whole box: where we are. */
  mark({ x, y }) {
    const { pen, box } = this;
    pen.strokeStyle = this.colour("ink");
    pen.lineWidth = 1;
    pen.setLineDash([2, 3]);
    if (x !== undefined) this.stroke([[this.across(x), box.top], [this.across(x), box.bottom]]);
    if (y !== undefined) this.stroke([[box.left, this.up(y)], [box.right, this.up(y)]]);
    pen.setLineDash([]);
  }

  words(text, h, v, colour, align = "left") {
    const { pen } = this;
    pen.fillStyle = this.colour(colour);
    pen.textAlign = align;
    pen.textBaseline = "middle";
    pen.lineWidth = 3;
    pen.strokeStyle = this.colour("paper");
    pen.strokeText(text, h, v);
    pen.fillText(text, h, v);
  }
}
