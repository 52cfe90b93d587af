"""The policies by name, for the simulator, the exact chain, experiments and the command line."""

from __future__ import annotations

import copyreg
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from fluid.simulation.policy_interface import Policy
from theory.doors import imported
from theory.errors import ArgumentError, InputError, meant
from theory.files.code import code_digest, module_of
from theory.files.places import names_own_code
from theory.files.record import RecordField, fields_of

HOMES = {
    "dra": "fluid.simulation.loss.policies.dra:DRA",
    "dra-preemption": "fluid.simulation.loss.policies.preemption:DRA_PREEMPTION",
    "power-of-d": "fluid.simulation.loss.policies.unreserved:POWER_OF_D",
    "static": "fluid.simulation.loss.policies.static:STATIC",
    "first-fit": "fluid.simulation.loss.policies.unreserved:FIRST_FIT",
    "best-fit": "fluid.simulation.loss.policies.unreserved:BEST_FIT",
    "nonpreemptive": "fluid.simulation.queue.policies.nonpreemptive:NONPREEMPTIVE",
    "max-weight-local": "fluid.simulation.queue.policies.max_weight_local:MAX_WEIGHT_LOCAL",
    "randomized-sampling": "fluid.simulation.queue.policies.randomized_sampling:RANDOMIZED_SAMPLING",
    "bf-j": "fluid.simulation.slotted.policies.best_fit:BF_J",
    "bf-s": "fluid.simulation.slotted.policies.best_fit:BF_S",
    "bf-js": "fluid.simulation.slotted.policies.best_fit:BF_JS",
    "vqs": "fluid.simulation.slotted.policies.vqs:VQS",
    "vqs-bf": "fluid.simulation.slotted.policies.vqs_bf:VQS_BF",
    "max-weight": "fluid.simulation.slotted.policies.max_weight:MAX_WEIGHT",
    "fifo-ff": "fluid.simulation.slotted.policies.best_fit:FIFO_FF",
}
"""Where each policy stands, ``module:name``; a module is imported when its policy is asked for."""


def policy(name: str) -> Policy:
    """Return a policy by name, or an author's as ``FILE.py:NAME`` or ``PACKAGE.MODULE:NAME``.

    Raises
    ------
    InputError
        Unknown name, a file that cannot be read or run, or a name in it that is no `Policy`.

    Examples
    --------
    >>> policy("first-fit").model
    'loss'
    """
    if names_own_code(name):
        path, _, attribute = name.rpartition(":")
        try:
            module = module_of(path, "policy")
        except InputError as error:
            if error.source:  # it is about the file as such, say one that is written, too
                raise
            raise ArgumentError(error.place, error.problem) from error
        value = getattr(module, attribute, None)
        if not isinstance(value, Policy):
            names = [each for each, other in vars(module).items() if isinstance(other, Policy)]
            raise ArgumentError(
                "policy", f"{path}: expected the name of a Policy ({', '.join(names) or 'none'}), got {attribute!r}"
            )
        return replace(value, source=name, code=code_digest(module))
    if name not in HOMES:
        of_packproof = f"one of {', '.join(HOMES)}, FILE.py:NAME or PACKAGE.MODULE:NAME"
        own = "FILE.py:NAME" if name.endswith(".py") else "PACKAGE.MODULE:NAME" if "." in name else of_packproof
        raise ArgumentError("policy", f"expected {own}, got {name!r}{meant(name, HOMES)}")
    return _policy_of_packproof(name)


def _reduced(policy: Policy) -> Any:
    """Let a policy travel to other processes by name, where it has one: functions of a file cannot be sent."""
    if not policy.source:
        return policy.__reduce_ex__(2)
    return sent_policy, (policy.source, os.getcwd(), policy.code)


copyreg.pickle(Policy, _reduced)


def sent_policy(name: str, folder: str, code: str) -> Policy:
    """Return a policy that another process sent by name, for which relative paths begin at its folder, not at ours.

    An author's policy whose code is not that of the other process is refused.
    """
    if not names_own_code(name):
        return policy(name)
    sent = policy(os.path.join(folder, name))
    refuse_other_code(sent, name, code)
    return replace(sent, source=name)


def refuse_other_code(policy: Policy, name: str, code: str | None) -> None:
    """Refuse an author's policy whose code, or that of a module it runs, has changed in the meantime."""
    if code and policy.code != code:
        raise ArgumentError(
            "policy",
            f"{name}: its code, or that of a module it imports, is not what it was at the start: start "
            "again, with new workers where they run on",
        )


@cache
def _policy_of_packproof(name: str) -> Policy:
    module, _, attribute = HOMES[name].partition(":")
    built_in: Policy = getattr(imported(module), attribute)
    return replace(built_in, source=name)


@cache
def all_options() -> Mapping[str, RecordField]:
    """Return the options of the policies that come with packproof, by name; this loads all of them."""
    policies = map(_policy_of_packproof, HOMES)
    return {option.name: option for each in policies for option in declared_options(each).values()}


def declared_options(policy: Policy) -> Mapping[str, RecordField]:
    """Return the options of which a policy declares more than the name, by name."""
    return {} if policy.record is None else {option.name: option for option in fields_of(policy.record)}


def option_of(policy: Policy, name: str) -> RecordField | None:
    """Return what is known of an option: as the policy declares it, or as one of packproof does."""
    return declared_options(policy).get(name) or all_options().get(name)


def read_by(policy: Policy, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a policy reads; raise InputError for one that neither it nor any policy of packproof has.

    >>> read_by(policy("power-of-d"), {"d": 3, "beta": 0.8})
    {'d': 3}
    """
    for name in table:
        if name not in policy.options and name not in all_options():
            options = ", ".join(dict.fromkeys([*policy.options, *all_options()]))
            raise InputError(f"simulation.{name}", f"unknown option, expected one of {options}")
    return {name: value for name, value in table.items() if name in policy.options}
