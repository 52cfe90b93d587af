"""Deployments on which claims of cluster admission are checked; the paper's own parameters (Table 1) are lost."""

from __future__ import annotations

from fluid.admission.model import Gamma, Priors

WORKED = Priors(Gamma(3, 2), Gamma(2, 4), Gamma(1.5, 1), 0.8, 0.2)
"""Priors of a worked example, ours: 4 cores, 1.7 hours ahead."""

STAND_IN = Priors(Gamma(0.542, 3.163), Gamma(0.799, 0.4125), Gamma(0.404, 0.0513), 1.145, 0.0537)
"""Priors, ours, that stand in for Table 1: fitted to four ratios which the text prints."""

SHARP = Priors(Gamma(40, 20), Gamma(30, 20), Gamma(20, 8), 1.3, 0.1)
"""Priors, ours, that say nearly what the parameters are."""
