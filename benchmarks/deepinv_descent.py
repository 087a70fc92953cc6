"""Phase retrieval by deepinv: its spectral start and its gradient descent, as in its own example, on our patterns."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.coded import Coded
from phaselect import InputError

START, DESCENT = 300, 2500
"""Iterations: of the start as in the example; of the descent as of Wirtinger flow, which it is (the example has 1000).
"""
STEP = 0.2
"""The longest step of Wirtinger flow, in its units, for any number of patterns. Of 0.024 (the example's), 0.1 and 0.4,
tried on two pictures for each of 3 to 6 patterns, shorter ones took longer or did not arrive; 0.4 halved the iterations
from 5 patterns on, but fell short at 4 and diverged at 3."""
LOOK = 10
"""Iterations from one look at the error to the next."""


class Operator:
    """`B` of a stack of problems with equally many measurements, in single precision, scaled as deepinv has it:
    `B^H B = 1` on average."""

    def __init__(self, torch: Any, cases: list[Coded]) -> None:
        gain = np.sqrt(cases[0].x0.size / cases[0].kept.size)
        self.torch = torch
        self.masks = torch.tensor(np.stack([gain * case.whole.masks for case in cases]).astype(np.complex64))
        self.kept = None if cases[0].complete else torch.tensor(np.stack([case.kept for case in cases]))

    def forward(self, x: Any, **_: Any) -> Any:
        """`B x`, pictures (K, 1, side, side) to measurements (K, M)."""
        z = self.torch.fft.fft2(self.masks * x, norm="ortho").flatten(1)
        return z if self.kept is None else z.gather(1, self.kept)

    def adjoint(self, z: Any, **_: Any) -> Any:
        """`B^H z`."""
        if self.kept is not None:
            z = self.torch.zeros_like(self.masks).flatten(1).scatter(1, self.kept, z.to(self.masks.dtype))
        images = self.torch.fft.ifft2(z.reshape(self.masks.shape), norm="ortho")
        return (self.masks.conj() * images).sum(1, keepdim=True)


def deepinv_errors(cases: list[Coded], enough: float) -> list[float]:
    """The least relative error that each comes to; all are done once that is small enough or nothing is finite."""
    deepinv, torch = _installed("deepinv"), _installed("torch")
    torch.manual_seed(0)
    truth = torch.tensor(np.stack([_unit(case) for case in cases]))
    torch.set_num_threads(1)  # two were slower where other programs ran, at 256 x 256 pixels too

    def physics(some: list[Coded]) -> Any:
        own = Operator(torch, some)
        linear = deepinv.physics.LinearPhysics(A=own.forward, A_adjoint=own.adjoint, img_size=tuple(truth.shape[1:]))
        return deepinv.physics.PhaseRetrieval(linear)

    def errors(x: Any) -> Any:
        inner = (x.conj() * truth).sum((1, 2, 3), keepdim=True)
        return torch.linalg.norm((x * inner / inner.abs() - truth).flatten(1), dim=1) / truth[0].numel() ** 0.5

    together = physics(cases)
    with torch.no_grad():
        y = together(truth)
        single = [physics([case]) for case in cases]  # the start is for one at a time
        x = torch.cat([one.A_dagger(own[None], n_iter=START) for one, own in zip(single, y, strict=True)])
        step = deepinv.optim.optim_iterators.GDIteration()
        given = {
            "cur_data_fidelity": deepinv.optim.data_fidelity.L2(),
            "cur_prior": deepinv.optim.prior.ZeroPrior(),
            "cur_params": {"stepsize": STEP * y.shape[1] / (2 * truth[0].numel()), "lambda": 1.0, "g_param": None},
        }
        least = errors(x)
        for iteration in range(1, DESCENT + 1):
            x = step({"est": (x,), "cost": 0}, **given, y=y, physics=together)["est"][0]
            if iteration % LOOK == 0:
                now = errors(x)
                least = torch.fmin(least, now)
                if not (now >= enough).any():
                    break
    return [float(error) for error in least]


def _unit(case: Coded) -> Any:
    """The picture with pixels of unit variance, as steps are for."""
    picture = case.x0.reshape(1, *case.whole.signal_shape)
    return (picture / np.sqrt(np.mean(np.abs(picture) ** 2))).astype(np.complex64)


def _installed(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise InputError(f"{name} is not installed: pip install deepinv") from None
