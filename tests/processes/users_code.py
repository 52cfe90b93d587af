"""A user's compiled functions whose indices are computed and negative: their numbers and their code, printed as JSON.

``python -m tests.processes.users_code`` imports nothing of packproof; with the word ``packproof`` it lets packproof
solve an instance and compile functions of each kind first, in the same process.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import warnings
from ctypes import POINTER, c_double
from typing import Any

import numpy as np
from numba import carray, cfunc, guvectorize, njit, prange, stencil, types, vectorize
from numba.core.errors import NumbaWarning

VIEW = np.arange(20.0)[10:]
"""Entries before it are in the same memory: an index that is not taken from the end finds them."""

TABLE = np.arange(24.0)[6:].reshape(6, 3)


def entry(values: Any, i: int) -> Any:
    return values[-i]


def written(values: Any, i: int) -> Any:
    values[i - 5] += 7.5
    return values[i - 5]


def of_table(table: Any, i: int) -> Any:
    return table[i - 4, -i] + table[-i][i - 4] + table[-i:, i - 4].sum()


def chosen(values: Any, i: int) -> Any:
    return values[np.array([-i, i - 4])]


def in_parallel(values: Any, i: int) -> Any:
    sums = np.zeros(len(values))
    for place in prange(len(values)):
        sums[place] = values[place - i] + values[-place]
    return sums


def from_view(value: float, i: int) -> Any:
    return VIEW[-i] + value


def shifted(values: Any, i: int, out: Any) -> None:
    for place in range(len(values)):
        out[place] = values[place - i]


def called_back(pointer: Any, i: int) -> Any:
    return carray(pointer, (10,))[i - 4]


@stencil  # type: ignore[untyped-decorator]
def around(values: Any) -> Any:
    return values[-2] + values[1]


def with_stencil(values: Any, i: int) -> Any:
    return around(values)[i - 5]


def on_device(values: Any, i: int) -> None:
    values[0] = values[-i]


def let_packproof_compile() -> None:
    """Compile a kernel, a step and what solves an instance; the step reads an index of the kind that users have."""
    import packproof

    step = packproof.step(lambda values, i: values[-i])

    @packproof.kernel
    def outer(values: Any, i: int) -> Any:
        return step(values, i) + values[i - 4]

    outer(VIEW, 3)
    assert str(packproof.solve(packproof.additive([12], [[5], [7]])).ratio) == "3/4"


def outcomes() -> dict[str, tuple[Any, str]]:
    """Return the numbers and the intermediate code of each kind of function."""
    results: dict[str, tuple[Any, str]] = {}
    ways: dict[str, dict[str, bool]] = {"njit": {}, "without counts": {"_nrt": False}, "checked": {"boundscheck": True}}
    for way, options in ways.items():
        for function, argument in ((entry, VIEW), (written, VIEW.copy()), (of_table, TABLE), (chosen, VIEW)):
            if function is chosen and way == "without counts":  # it makes an array
                continue
            compiled = njit(**options)(function)
            results[f"{way} {function.__name__}"] = compiled(argument, 3), _code(compiled)
    for function in (in_parallel, with_stencil):
        compiled = njit(parallel=True)(function)
        results[function.__name__] = compiled(VIEW, 3), _code(compiled)
    vectorized = vectorize(["f8(f8, i8)"])(from_view)
    results["vectorize"] = vectorized(VIEW, 3), _code(vectorized._dispatcher)
    generalised = guvectorize(["void(f8[:], i8, f8[:])"], "(n),()->(n)")(shifted)
    results["guvectorize"] = generalised(VIEW, 3), _code(generalised.gufunc_builder.nb_func)
    callback = cfunc(types.double(types.CPointer(types.double), types.intp))(called_back)
    results["cfunc"] = callback.ctypes(VIEW.ctypes.data_as(POINTER(c_double)), 3), callback.inspect_llvm()
    return results


def _code(compiled: Any) -> str:
    return "\n".join(result.library.get_llvm_str() for result in compiled.overloads.values())


def code_for_devices() -> str | None:
    """Return the code for a graphics processor, None where NVIDIA's compiler is not installed."""
    from numba import cuda
    from numba.cuda.cudadrv.error import NvvmError, NvvmSupportError

    for capability in ((9, 0), (7, 5), (5, 0)):
        try:
            return str(cuda.compile_ptx(on_device, (types.float64[:], types.intp), cc=capability)[0])
        except NvvmSupportError:
            return None
        except NvvmError:  # this compiler is of a time that does not know such processors
            continue
    return None


def digest(code: str) -> str:
    """Return a digest of code without names, which count what was compiled before, and without addresses."""
    names: dict[str, str] = {}
    code = re.sub(r'@"[^"]*"|@[\w.$]+|\b_ZN\w+', lambda name: names.setdefault(name[0], f"@{len(names)}"), code)
    code = re.sub(r'c"[^"]*"|\[\d+ x i8\]|^; ModuleID.*|(?<=i64 )\d{9,}', "", code, flags=re.MULTILINE)
    return hashlib.sha256(code.encode()).hexdigest()


def main() -> None:
    """Print the outcomes."""
    warnings.simplefilter("ignore", NumbaWarning)
    if "packproof" in sys.argv[1:]:
        let_packproof_compile()
    shown = {name: [np.asarray(numbers).tolist(), digest(code)] for name, (numbers, code) in outcomes().items()}
    device = code_for_devices()
    print(json.dumps(shown | {"device": device and [None, digest(device)]}))


if __name__ == "__main__":
    main()
