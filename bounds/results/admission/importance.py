"""Rare failures: worlds drawn from buckets with weights (Appendix D of the paper).

A measure of how bad they are sorts worlds into buckets B_1, ..., B_K. A world of bucket i < K is drawn again with
probability r_i, and buckets below i are then blocked; so worlds of high buckets come more often. Proposition D.2 gives
how often. The share of refused scale-outs is a ratio of sums weighted by p_i / q_i, and its interval comes from a
bootstrap that draws runs within buckets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fluid.statistics import Interval
from theory.errors import InputError


def redrawn_probabilities(nominal: ArrayLike, redraw: ArrayLike) -> NDArray[np.float64]:
    """Return the probability q(B_i) of each bucket under redrawing (Proposition D.2), float64[K].

    Parameters
    ----------
    nominal : float64[K]
        p_i, with sum 1.
    redraw : float64[K]
        r_i, below 1; 0 in the last bucket.

    Examples
    --------
    >>> redrawn_probabilities([0.9, 0.1], [0.5, 0.0]).round(6).tolist()  # 0.45 / 0.55 and 0.1 / 0.55
    [0.818182, 0.181818]
    """
    # with p'_i = p_i / (p_i + ... + p_K): q(B_i) is the product over j < i of (1 - p'_j) / (1 - p'_j r_j), times
    # p'_i (1 - r_i) / (1 - p'_i r_i)
    p, r = _checked(nominal), np.asarray(redraw, float)
    if r.shape != p.shape or np.any(r < 0) or np.any(r >= 1) or r[-1] != 0:
        raise InputError("redraw", "expected one probability below 1 for each bucket, 0 in the last")
    conditional = p / np.cumsum(p[::-1])[::-1]
    passed = np.cumprod(np.concatenate([[1.0], ((1 - conditional) / (1 - conditional * r))[:-1]]))
    return np.asarray(passed * conditional * (1 - r) / (1 - conditional * r))


def redraw_for(nominal: ArrayLike, wanted: ArrayLike) -> NDArray[np.float64]:
    """Return the probabilities of redrawing with which buckets come as often as is wanted (D.2, inverted), float64[K].

    Raises
    ------
    InputError
        If a bucket is wanted more often, among those from it on, than it comes.

    Examples
    --------
    >>> r = redraw_for([0.7, 0.2, 0.1], [0.4, 0.3, 0.3])
    >>> redrawn_probabilities([0.7, 0.2, 0.1], r).round(12).tolist()
    [0.4, 0.3, 0.3]
    """
    p, q = _checked(nominal), _checked(wanted)
    a, b = (x / np.cumsum(x[::-1])[::-1] for x in (p, q))
    if np.any(b > a + 1e-12):
        worst = int(np.argmax(b - a))
        raise InputError("wanted", f"bucket {worst + 1} cannot come more often than without redrawing")
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.where(b < 1, (a - b) / (a * (1 - b)), 0.0)
    r[-1] = 0.0
    return np.asarray(np.clip(r, 0.0, None))


def _checked(probabilities: ArrayLike) -> NDArray[np.float64]:
    checked = np.asarray(probabilities, float)
    if checked.shape != (checked.size,) or np.any(checked <= 0) or abs(checked.sum() - 1) > 1e-9:
        raise InputError("buckets", "expected positive probabilities with sum 1")
    return checked


@dataclass(frozen=True)
class Weighted:
    """Runs of one bucket."""

    weight: float  # p_i / q_i
    refused: NDArray[np.float64]  # [n]: scale-outs of each run
    asked: NDArray[np.float64]


def weighted_share(buckets: Sequence[Weighted], level: float = 0.95, resamples: int = 4999, seed: int = 0) -> Interval:
    """Return the share of refused scale-outs, sum of w f over sum of w r, with BCa's interval within buckets.

    Notes
    -----
    Resampling draws runs within buckets; acceleration comes from leaving out one run at a time.
    """
    from scipy.special import ndtr, ndtri

    def share(refused: list[NDArray[np.float64]], asked: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        top = sum(b.weight * x.sum(axis=-1) for b, x in zip(buckets, refused, strict=True))
        bottom = sum(b.weight * x.sum(axis=-1) for b, x in zip(buckets, asked, strict=True))
        return np.asarray(top / np.maximum(bottom, 1e-300))

    rng = np.random.default_rng(seed)
    value = float(share([b.refused for b in buckets], [b.asked for b in buckets]))
    picks = [rng.integers(0, len(b.asked), (resamples, len(b.asked))) for b in buckets]
    resampled = share(
        [b.refused[i] for b, i in zip(buckets, picks, strict=True)],
        [b.asked[i] for b, i in zip(buckets, picks, strict=True)],
    )
    n = sum(len(b.asked) for b in buckets)
    if np.ptp(resampled) == 0:
        return Interval(value, value, value, level, n)
    top = sum(b.weight * float(b.refused.sum()) for b in buckets)
    bottom = sum(b.weight * float(b.asked.sum()) for b in buckets)
    left_out = np.concatenate([(top - b.weight * b.refused) / (bottom - b.weight * b.asked) for b in buckets])
    skewed = left_out.mean() - left_out
    scale = float((skewed**2).sum()) ** 1.5
    acceleration = float((skewed**3).sum()) / (6 * scale) if scale > 0 else 0.0
    bias = float(ndtri(np.clip((resampled < value).mean() + (resampled == value).mean() / 2, 1e-9, 1 - 1e-9)))
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = bias + float(ndtri(tail))
        ends.append(float(np.quantile(resampled, float(ndtr(bias + z / (1 - acceleration * z))))))
    return Interval(value, ends[0], ends[1], level, n)
