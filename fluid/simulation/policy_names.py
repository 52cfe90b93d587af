"""The policies by name, for the simulator, the exact chain, experiments and the command line."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from fluid.simulation.policy_interface import Policy
from theory.errors import InputError
from theory.files.places import note_input, read_bytes

HOMES = {
    "dra": "fluid.simulation.loss.policies.dra:DRA",
    "dra-preemption": "fluid.simulation.loss.policies.preemption:DRA_PREEMPTION",
    "power-of-d": "fluid.simulation.loss.policies.power_of_d:POWER_OF_D",
    "static": "fluid.simulation.loss.policies.static:STATIC",
    "first-fit": "fluid.simulation.loss.policies.first_fit:FIRST_FIT",
    "best-fit": "fluid.simulation.loss.policies.best_fit:BEST_FIT",
    "nonpreemptive": "fluid.simulation.queue.policies.nonpreemptive:NONPREEMPTIVE",
    "max-weight-local": "fluid.simulation.queue.policies.max_weight_local:MAX_WEIGHT_LOCAL",
    "randomized-sampling": "fluid.simulation.queue.policies.randomized_sampling:RANDOMIZED_SAMPLING",
    "bf-j": "fluid.simulation.slotted.policies.best_fit:BF_J",
    "bf-s": "fluid.simulation.slotted.policies.best_fit:BF_S",
    "bf-js": "fluid.simulation.slotted.policies.best_fit:BF_JS",
    "vqs": "fluid.simulation.slotted.policies.vqs:VQS",
    "vqs-bf": "fluid.simulation.slotted.policies.vqs_bf:VQS_BF",
    "max-weight": "fluid.simulation.slotted.policies.max_weight:MAX_WEIGHT",
    "fifo-ff": "fluid.simulation.slotted.policies.fifo_ff:FIFO_FF",
}
"""Where each policy stands, ``module:name``; a module is imported when its policy is asked for."""


def policy(name: str) -> Policy:
    """Return a policy by name, or an author's as ``FILE.py:NAME``.

    Raises
    ------
    InputError
        Unknown name, a file that cannot be read or run, or a name in it that is no `Policy`.

    Examples
    --------
    >>> policy("first-fit").model
    'loss'
    """
    if ".py:" in name:
        path, _, attribute = name.rpartition(":")
        note_input(path)
        try:
            content = read_bytes(path)
        except InputError as error:
            reason = str(error).removeprefix(f"{path}: ")
            raise InputError(f"--policy: {path}: expected a Python file ({reason})") from None
        return _own(path, attribute, hashlib.sha256(content).hexdigest())
    if name not in HOMES:
        known = "FILE.py:NAME" if name.endswith(".py") else f"one of {', '.join(HOMES)}, or FILE.py:NAME"
        raise InputError(f"--policy: expected {known}, got {name!r}")
    return _known(name)


@cache
def _known(name: str) -> Policy:
    module, _, attribute = HOMES[name].partition(":")
    found: Policy = getattr(import_module(module), attribute)
    return replace(found, source=name)


@cache
def _own(path: str, attribute: str, digest: str) -> Policy:
    """Return a policy of a file with so much in it: a file that has changed is read again."""
    file = Path(path).resolve()
    # a name that other processes find again, where they too have read the file: compiled code is kept under it
    known_as = f"packproof_own_{hashlib.sha256(f'{file}{digest}'.encode()).hexdigest()[:16]}"
    spec = spec_from_file_location(known_as, file)
    if spec is None or spec.loader is None:
        raise InputError(f"--policy: {path}: expected a Python file")
    module = sys.modules[known_as] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[known_as]
        line = _line_in(file, error)
        told = str(error) if isinstance(error, InputError) else f"does not run: {type(error).__name__}: {error}"
        raise InputError(f"--policy: {path}{line}: {told}") from None
    found = getattr(module, attribute, None)
    if not isinstance(found, Policy):
        known = [name for name, value in vars(module).items() if isinstance(value, Policy)]
        raise InputError(
            f"--policy: {path}: expected the name of a Policy ({', '.join(known) or 'none'}), got {attribute!r}"
        )
    return replace(found, source=f"{path}:{attribute}")


def _line_in(file: Path, error: BaseException) -> str:
    """Return ``:LINE`` of a file that does not run, where it is known."""
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == str(file) else None
    step_down = error.__traceback__
    while step_down is not None and line is None:
        if step_down.tb_frame.f_code.co_filename == str(file):
            line = step_down.tb_lineno
        step_down = step_down.tb_next
    return "" if line is None else f":{line}"
