// One row of the phase diagram: the overlap that slow cooling reaches, and where the signal is hidden from it.

const DISTINCT = 1e-3, HALVINGS = 12;

/**
 * At one alpha: overlaps of the uninformed branch at the temperatures `mus`, and the temperatures [begin, end] between
 * which the signal is another attractor: the informed branch is born at `begin` (a spinodal), and at `end` one of the
 * two ends, or mus do. null where there is one branch only.
 */
function diagramRow(alpha, mus, rule) {
  const uninformed = follow(alpha, mus, rule), informed = follow(alpha, mus, rule, "informed");
  const apart = mus.map((_, k) => informed[k].m - uninformed[k].m > DISTINCT);
  const first = apart.indexOf(true), last = apart.lastIndexOf(true);
  const edge = (inside, outside) => {
    if (outside < 0 || outside === mus.length) return mus[inside];
    let near = Math.log(mus[inside]), far = Math.log(mus[outside]);
    for (let k = 0; k < HALVINGS; k++) {
      const middle = 0.5 * (near + far), control = controlAt(alpha, Math.exp(middle), rule);
      const reached = (point) => flow(point.m ? point : startingState("uninformed", control), control).m;
      if (reached(informed[inside]) - reached(uninformed[inside]) > DISTINCT) near = middle; else far = middle;
    }
    return Math.exp(0.5 * (near + far));
  };
  return {
    overlaps: uninformed.map(({ m }) => m),
    hidden: first < 0 ? null : [edge(first, first - 1), edge(last, last + 1)],
  };
}
