"""What users pay for the variance of their deployments, and what they save by labels: (30)-(34) of the paper."""

from __future__ import annotations

from collections.abc import Sequence

from fluid.admission.law.moments import Moments
from theory.errors import InputError


def mixture(parts: Sequence[tuple[float, Moments]]) -> Moments:
    """Return mean and variance of a mixture: the mean of the variances plus the variance of the means (32)-(34).

    Parameters
    ----------
    parts : sequence of (float, Moments)
        Probabilities with sum 1, and moments.

    Examples
    --------
    >>> mixture([(0.5, Moments(0.0, 1.0)), (0.5, Moments(4.0, 3.0))])
    Moments(mean=2.0, variance=6.0)
    """
    if abs(sum(p for p, _ in parts) - 1) > 1e-9 or min(p for p, _ in parts) < 0:
        raise InputError("mixture", "expected probabilities with sum 1")
    mean = sum(p * one.mean for p, one in parts)
    variance = sum(p * (one.variance + (one.mean - mean) ** 2) for p, one in parts)
    return Moments(mean, variance)


def hourly_payment(cores: float, variance: float, per_core: float, per_variance: float) -> float:
    """Return the payment for an hour (30): a price for each core, and one for the variance of the deployment.

    Whether the paper means the variance of a deployment or of each of its cores is lost; this is of a deployment.

    Raises
    ------
    InputError
        A price that is not positive.
    """
    if not (per_core > 0 and per_variance > 0):
        raise InputError("prices", "expected numbers greater than 0")
    return per_core * cores + per_variance * variance


def saved_by_labels(parts: Sequence[tuple[float, Moments]], per_variance: float) -> float:
    """Return what a user with several types saves an hour and deployment by labelling them (31): at least 0."""
    apart = sum(p * one.variance for p, one in parts)
    return per_variance * (mixture(parts).variance - apart)
