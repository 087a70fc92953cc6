"""Averages over a measurement in 30 digits, by another route: the Fourier transform of the law of p = u0 w.

For u0 ~ N(0,1) and w = m u0 + sqrt(q0 - m^2) z the characteristic function of the product is elementary, and

    tanh(x) = int_0^inf sin(k x)/sinh(pi k/2) dk,
    log 2cosh(x) = log 2 + int_0^inf (1 - cos(k x))/(k sinh(pi k/2)) dk.

Nothing here is shared with `src`: no angles, no digamma, no panels.
"""

import mpmath as mp

mp.mp.dps = 30


def characteristic(k, q0, m):
    """E exp(i k p), up to its phase convention: 1/sqrt(1 - 2 i k m + k^2 (q0 - m^2))."""
    return 1 / mp.sqrt(1 - 2j * k * m + k * k * (q0 - m * m))


def integrate(function, s2, q0, m):
    """Over k > 0, broken on every decade in which exp(-pi k/2) or the characteristic function changes."""
    q0, m = mp.mpf(q0), mp.mpf(m)
    low = min(mp.mpf(1), s2 / (1 + mp.sqrt(q0))) / 100
    points = [mp.mpf(0), low]
    while points[-1] < 48:
        points.append(min(points[-1] * 3, mp.mpf(48)))
    return mp.quad(function, points)


def log_cosh(s2, q0, m, phi):
    """E log 2cosh(phi + p/s2)."""
    s2, q0, m, phi = map(mp.mpf, (s2, q0, m, phi))

    def integrand(k):
        wave = mp.expj(k * phi) * characteristic(k / s2, q0, m)
        return (1 - mp.re(wave)) / (k * mp.sinh(mp.pi * k / 2))

    return mp.log(2) + integrate(integrand, s2, q0, m)


def tanh(s2, q0, m, phi):
    """E tanh(phi + p/s2)."""
    s2, q0, m, phi = map(mp.mpf, (s2, q0, m, phi))

    def integrand(k):
        return mp.im(mp.expj(k * phi) * characteristic(k / s2, q0, m)) / mp.sinh(mp.pi * k / 2)

    return integrate(integrand, s2, q0, m)


def product_tanh(s2, q0, m, phi):
    """E[p tanh(phi + p/s2)]: E[p exp(i k p)] = (m + i k (q0 - m^2)) characteristic^3."""
    s2, q0, m, phi = map(mp.mpf, (s2, q0, m, phi))

    def integrand(k):
        at = k / s2
        wave = mp.expj(k * phi) * (m + 1j * at * (q0 - m * m)) * characteristic(at, q0, m) ** 3
        return mp.im(wave) / mp.sinh(mp.pi * k / 2)

    return integrate(integrand, s2, q0, m)


def slopes(s2, q0, m, phi):
    """Derivatives of `log_cosh` in m (at fixed q0) and in q0 (at fixed m)."""
    s2, q0, m, phi = map(mp.mpf, (s2, q0, m, phi))

    def by(factor):
        def integrand(k):
            at = k / s2
            wave = mp.expj(k * phi) * factor(at) * characteristic(at, q0, m) ** 3
            return -mp.re(wave) / (k * mp.sinh(mp.pi * k / 2))

        return integrate(integrand, s2, q0, m)

    return by(lambda k: 1j * k + k * k * m), by(lambda k: -k * k / 2)
