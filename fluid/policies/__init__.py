"""The policies by name: one place that the simulator, the exact chain, experiments and the command line look them up."""

from __future__ import annotations

from importlib import import_module

from fluid.policy import Policy
from theory.errors import InputError

HOMES = {
    "dra": "fluid.policies.reservation:DRA",
    "dra-preemption": "fluid.policies.preemption:DRA_PREEMPTION",
    "power-of-d": "fluid.policies.sampling:POWER_OF_D",
    "static": "fluid.policies.static:STATIC",
    "first-fit": "fluid.policies.fits:FIRST_FIT",
    "best-fit": "fluid.policies.best:BEST_FIT",
    "nonpreemptive": "fluid.policies.queue.nonpreemptive:NONPREEMPTIVE",
    "max-weight-local": "fluid.policies.queue.local:MAX_WEIGHT_LOCAL",
    "randomized-sampling": "fluid.policies.queue.tokens:RANDOMIZED_SAMPLING",
    "bf-j": "fluid.policies.slotted.bestfit:BF_J",
    "bf-s": "fluid.policies.slotted.bestfit:BF_S",
    "bf-js": "fluid.policies.slotted.bestfit:BF_JS",
    "vqs": "fluid.policies.slotted.virtual:VQS",
    "vqs-bf": "fluid.policies.slotted.virtual_bestfit:VQS_BF",
    "max-weight": "fluid.policies.slotted.maxweight:MAX_WEIGHT",
    "fifo-ff": "fluid.policies.slotted.fifo:FIFO_FF",
}
"""Where each policy stands, ``module:name``; a module is imported when its policy is asked for."""


def policy(name: str) -> Policy:
    """Return a policy by name.

    Raises
    ------
    InputError
        Unknown name.

    Examples
    --------
    >>> policy("first-fit").model
    'loss'
    """
    if name not in HOMES:
        raise InputError(f"--policy: expected one of {', '.join(HOMES)}, got {name!r}")
    module, _, attribute = HOMES[name].partition(":")
    found: Policy = getattr(import_module(module), attribute)
    return found
