"""What has names in admission: its policies, the moments that they use, and laws of initial sizes."""

from __future__ import annotations

from enum import StrEnum


class PolicyName(StrEnum):
    """Policies with a threshold to choose, by the number of moments that they use."""

    zeroth = "zeroth"
    first = "first"
    second = "second"


class RunningPolicy(StrEnum):
    """Policies that run: those of `PolicyName`, and one that moves its threshold."""

    zeroth = "zeroth"
    first = "first"
    second = "second"
    controlled = "controlled"


class Moments(StrEnum):
    """Belief and moments: exact, the paper's belief with exact moments, or the paper's belief and composition."""

    exact = "exact"
    plug_in = "plug-in"
    paper = "paper"


class InitialSizes(StrEnum):
    """The law of the cores that a deployment begins with: 1 + Poisson, or as they were seen."""

    poisson = "poisson"
    observed = "observed"
