"""What a cluster of G devices would do: a model with assumed links, not a measurement.

A is split by rows. An iteration reads A once, each device its own part, and sums `A^T g`, N numbers, over all devices:

    seconds = bytes of A / (G * bandwidth) + latency + 2 (G - 1)/G * 4 N / link        (one device: the first term)
"""

from __future__ import annotations

from math import isqrt
from typing import NamedTuple

FLOAT32 = 4
FILLED = 0.9
"""The part of a device's memory that A may take."""


class Link(NamedTuple):
    """What joins the devices, as assumed."""

    name: str
    latency: float  # seconds of an all-reduce, however little it carries
    bytes_per_second: float  # of each device


ETHERNET = Link("100 Gbit/s Ethernet", 30e-6, 12.5e9)
NVLINK = Link("NVLink", 10e-6, 450e9)
INFINIBAND = Link("400 Gbit/s InfiniBand", 20e-6, 50e9)
DEVICES_A_NODE = 8


class Cluster(NamedTuple):
    """Equal devices: bandwidth and memory as measured on this one, links as assumed."""

    device: str  # cpu: a machine like this one
    bandwidth: float
    memory: float

    def link(self, devices: int) -> Link:
        """Machines by Ethernet; GPUs by NVLink in one node, by InfiniBand beyond it."""
        if self.device == "cpu":
            return ETHERNET
        return NVLINK if devices <= DEVICES_A_NODE else INFINIBAND

    def reading_seconds(self, n: int, alpha: float, devices: int) -> float:
        """One read of A, each device its own part."""
        return bytes_of_A(n, alpha) / (devices * self.bandwidth)

    def iteration_seconds(self, n: int, alpha: float, devices: int) -> float:
        """One iteration of AMP, float32."""
        link = self.link(devices)
        shared = 2 * (devices - 1) / devices * FLOAT32 * n / link.bytes_per_second
        return self.reading_seconds(n, alpha, devices) + (link.latency + shared if devices > 1 else 0.0)

    def fits(self, n: int, alpha: float, devices: int) -> bool:
        """Does the part of A that a device gets fit into its memory?"""
        return bytes_of_A(n, alpha) <= FILLED * self.memory * devices

    def largest_n(self, alpha: float, devices: int) -> int:
        """The largest N that fits."""
        return isqrt(int(FILLED * self.memory * devices / (FLOAT32 * alpha)))


def bytes_of_A(n: int, alpha: float) -> float:
    """A in float32."""
    return FLOAT32 * alpha * n * n
