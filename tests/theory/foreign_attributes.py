"""Attributes of other packages that change while packproof works: ``python -m tests.theory.foreign_attributes``.

Looked at are the modules and classes that are loaded before packproof is, in this process and in a worker of joblib's;
what a package notes of its own work, without packproof, is left out. Printed is one JSON document.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from types import ModuleType
from typing import Any

import highspy
import numba
import numpy as np
from joblib import Parallel, delayed

PACKAGES = {"highspy", "joblib", "llvmlite", "numba"}

OWN_WORK = {
    "joblib._multiprocessing_helpers:name",  # of a semaphore
    "joblib.executor:_executor_args",
    "joblib.externals.loky.reusable_executor:_executor",
    "joblib.externals.loky.reusable_executor:_executor_kwargs",
    "joblib.externals.loky.reusable_executor:_next_executor_id",
}


def is_foreign(module: object) -> bool:
    """Return whether a module belongs to one of the packages."""
    return str(module).partition(".")[0] in PACKAGES


def attributes() -> dict[str, Any]:
    """Return the attributes of modules and classes by ``home:name``, without modules: they come as they are loaded."""
    values = {}
    for name, module in list(sys.modules.items()):
        if not is_foreign(name):
            continue
        for attribute, value in list(vars(module).items()):
            if not isinstance(value, ModuleType):
                values[f"{name}:{attribute}"] = value
            if isinstance(value, type) and is_foreign(value.__module__):
                for member, content in list(vars(value).items()):
                    values[f"{value.__module__}.{value.__qualname__}:{member}"] = content
    notes_of_copying = ":__slotnames__"  # which Python writes
    return {
        name: value for name, value in values.items() if name not in OWN_WORK and not name.endswith(notes_of_copying)
    }


def changes(before: dict[str, Any], after: dict[str, Any], *, same: Callable[[Any, Any], bool]) -> list[str]:
    """Return the attributes that changed, have gone or have come, of modules and classes that were there before."""
    homes = {name.partition(":")[0] for name in before}
    come = [name for name in after if name not in before and name.partition(":")[0] in homes]
    return come + [name for name in before if name not in after or not same(before[name], after[name])]


def texts(work: Callable[[], None]) -> dict[str, str]:
    """Work, and return the attributes in words that mean the same in every process."""
    work()
    return {
        name: repr(value)
        if isinstance(value, int | float | str)
        else f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__qualname__)}"
        for name, value in attributes().items()
    }


def users_work() -> None:
    """Let the packages load what they load when they are first used."""
    import tests.theory.users_code  # noqa: F401 (numba counts its stencils)

    numba.njit(lambda values, i: values[-i])(np.arange(5), 2)
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.addVars(1, np.zeros(1), np.ones(1))
    model.run()


def packproofs_work() -> None:
    """Solve an instance, compile a step and a kernel, and run a small simulation."""
    import packproof
    from bounds.cli import run
    from tests.theory.users_code import let_packproof_compile

    let_packproof_compile()
    four_types = "simulate examples/four_types.toml --policy first-fit --servers 20 --until 5 --json"
    with redirect_stdout(sys.stderr):
        assert run(four_types.split()) == 0
    assert packproof.sharing.ps_dsf_tdm(packproof.sharing.cluster([[9, 12]], [[1, 2], [3, 1]])).totals


def both() -> None:
    """Work as a user, then as packproof."""
    users_work()
    packproofs_work()


def main() -> None:
    """Print what changed."""
    users_work()
    (workers_own,) = Parallel(n_jobs=2)([delayed(texts)(users_work)])
    before = attributes()
    packproofs_work()
    from fluid.parallel import run_all

    ((_, in_worker),) = run_all(texts, [(both,)], workers=2)
    here = changes(before, attributes(), same=lambda one, other: one is other)
    (workers_later,) = Parallel(n_jobs=2)([delayed(texts)(users_work)])
    answer = {
        "looked at": len(before),
        "here": here,
        "in workers of packproof": changes(workers_own, in_worker, same=str.__eq__),
        "in workers of users": changes(workers_own, workers_later, same=str.__eq__),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
