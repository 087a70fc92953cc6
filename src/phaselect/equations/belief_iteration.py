r"""One iteration of belief propagation with Gaussian messages: one along every nonzero entry of A.

With nu = 1/(2 mu) and Lam = mu*lam: entry a = A_ij carries what measurement i tells of x_j, a precision q and q times a
mean, h, damped as such by psi.

    x_j without i    v = 1/(Lam + sum_i q - q),      x = v (sum_i h - h)
    measurement i    w = sum_j a x,     V = sum_j a^2 v,     g, curvature = output channel at c = 1/(nu + V)
    x_j by i alone   q <- (1-psi) k/(1 - v k) + psi q,      k = a^2 curvature
                     h <- (1-psi) (a g + k x)/(1 - v k) + psi h

so that x_j has the mean and the variance that measurement i gives it, when it believes the others (expectation
propagation). Where entries are many and alike, that of one makes no difference to a sum, and alg:AMP is what is left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from phaselect.equations.arrays import Array, namespace
from phaselect.equations.channels import mean_sign, output_channel_with

LEAST = 0.1
"""Precision that x_j keeps at least, over Lam: what measurements that do not know their sign tell may be negative."""


class Nonzeros(NamedTuple):
    """The nonzero entries of A, in any order and shape, zeros among them or not.

    in_rows, in_columns: a number per row, or per column, taken to the entries that are there. over_rows, over_columns:
    a number per entry, summed over each row, or over each column.
    """

    values: Array
    in_rows: Callable[[Any], Any]
    in_columns: Callable[[Any], Any]
    over_rows: Callable[[Any], Any]
    over_columns: Callable[[Any], Any]


class Messages(NamedTuple):
    """What each measurement tells of each unknown that it sees, and what each unknown is told by all of them."""

    h: Array
    q: Array
    all_h: Array
    all_q: Array


def summed(h: Array, q: Array, nonzeros: Nonzeros) -> Messages:
    """Messages with their sums."""
    return Messages(h, q, nonzeros.over_columns(h), nonzeros.over_columns(q))


def estimate(told: Messages, Lam: Array) -> Array:
    """Each x, from all that it is told."""
    return told.all_h / namespace(told.h).maximum(Lam + told.all_q, LEAST * Lam)


def belief_iteration(old: Messages, mu: Array, lam: Array, psi: Array, y: Array, nonzeros: Nonzeros) -> Messages:
    """One iteration."""
    a, xp, Lam = nonzeros.values, namespace(y), mu * lam
    v = 1 / xp.maximum(Lam + nonzeros.in_columns(old.all_q) - old.q, LEAST * Lam)
    x = v * (nonzeros.in_columns(old.all_h) - old.h)
    w, V = nonzeros.over_rows(a * x), nonzeros.over_rows(a**2 * v)
    g, curvature = output_channel_with(mean_sign)(w, y, 1 / (1 / (2 * mu) + V))
    k = a**2 * nonzeros.in_rows(curvature)
    rest = (1 - psi) / (1 - v * k)
    return summed(rest * (a * nonzeros.in_rows(g) + k * x) + psi * old.h, rest * k + psi * old.q, nonzeros)
