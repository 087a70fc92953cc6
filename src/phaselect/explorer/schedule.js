// Temperatures of an anneal: problem/schedule.py.

/** mu0 (1 + eps)^k up to mu1, which is the last. */
function geometric(mu0, mu1, eps) {
  const count = Math.ceil(Math.log(mu1 / mu0) / Math.log1p(eps) - 1e-9);
  const mus = Array.from({ length: count + 1 }, (_, k) => mu0 * (1 + eps) ** k);
  mus[count] = mu1;
  return mus;
}
