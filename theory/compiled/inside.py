"""Compiled functions as other compiled functions see them: without entry from Python, optimised with their callers.

Numba makes a library of each function that it compiles. It adds wrappers for callers from Python and from C, optimises
the function together with all that it calls, and generates machine code; then it does the same for whatever calls it.
An event loop is a hundred small functions that are inlined into each other, and most of that work is thrown away.

A `Linked` function therefore has two forms. The one for Python is numba's. The one for compiled callers, `Inside`, is
intermediate code of LLVM that is linked into the callers, and is made once for all kinds of signed integers. It is not
stored: what is stored contains it already.

A caller whose indices are checked (`theory.compiled.checked`) gets callees whose indices are checked, in whatever way
it reaches them: as globals, attributes of modules, defaults, out of tuples. So no index of such a function, or of the
functions of packproof behind it, is ever outside its array.

Steps and routines take indices as they are. Numba compares each index with 0 and adds the length of the axis to a
negative one, in case it counts from the end, which takes as long as the rest of the access; an unsigned index is not
compared. Indices of steps that are computed are never negative. One that is written out, such as ``values[-1]``, costs
nothing and counts from the end everywhere, as do all indices of kernels and of functions whose indices are checked.

This module builds on inner classes of numba. It is loaded with the versions in `theory.compiled.kernels.TESTED` only.
"""

from __future__ import annotations

from functools import cached_property
from types import FunctionType
from typing import Any

from numba.core import ir, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NoPythonSupportedFeatureValidation
from numba.core.types.containers import BaseTuple, Tuple

from theory.compiled.code_cache import CachedKernel


class Linked(CachedKernel):
    """A compiled function: as numba makes it where Python calls it, `Inside` where compiled code does."""

    def __init__(self, function: FunctionType, options: dict[str, bool]) -> None:
        super().__init__(function, {}, options, pipeline_class=_TakingIndices)

    @property
    def inside(self) -> Inside:
        """The form for the function that is being compiled now, whose options are on top of numba's stack."""
        caller = ConfigStack.top_or_none()
        return self._checked if caller is not None and caller.boundscheck else self._as_written

    @cached_property
    def _as_written(self) -> Inside:
        return self._form()

    @cached_property
    def _checked(self) -> Inside:
        return self._as_written if self.targetoptions.get("boundscheck") else self._form(boundscheck=True)

    def _form(self, **options: bool) -> Inside:
        # no wrapper: only compiled code, into which it is linked, calls this form
        options = self.targetoptions | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True} | options
        return Inside(self.py_func, self.locals, options, pipeline_class=_IntoLibrary)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile the form for compiled callers, and return the template of its signatures."""
        return self.inside.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """Return what numba looks the form for compiled callers up by."""
        return self.inside.get_overload(sig)

    @property
    def is_compiling(self) -> bool:
        """Whether either form is being compiled, by which numba knows recursion."""
        return bool(self._compiling_counter or self.inside._compiling_counter)


class Inside(CPUDispatcher):  # type: ignore[misc]
    """The form of a function for compiled callers."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile for integers of 64 bits, whatever signed integers or constants the caller has."""
        wide = tuple(_wide(one) for one in args)
        return super().get_call_template(wide, {name: _wide(one) for name, one in dict(kws).items()})


def _wide(kind: Any) -> Any:
    """Return the type that a compiled callee takes for an argument of a type."""
    # a constant has a type of its own in numba, and would be compiled anew for each value
    if isinstance(kind, types.IntegerLiteral | types.BooleanLiteral):
        kind = kind.literal_type
    return types.int64 if kind in types.signed_domain else kind


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """Intermediate code for callers; no machine code is ever made of it.

    Its functions are still simplified one by one as they come in: without that the callers, into which each is inlined
    many times over, take four times as long to optimise.
    """

    def finalize(self) -> None:
        """Link what the functions call."""
        self._raise_if_finalized()
        # as numba does, without optimising the module and without handing it to the generator of machine code
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        del name
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """Stand for the generator of machine code, which numba asks to tie an environment to a function."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Tie nothing: there is no machine code."""


@register_pass(mutates_CFG=False, analysis_only=False)
class _TakeIndices(FunctionPass):  # type: ignore[misc]
    """Numba's pass that takes the indices of steps and routines as they are: reads and writes have unsigned ones."""

    _name = "packproof_take_indices"

    def __init__(self) -> None:
        super().__init__()  # abstract in numba

    def run_pass(self, state: Any) -> bool:
        """Change the types of reads and writes of arrays; numba converts each index to the type that it finds there."""
        if state.flags.nrt or state.flags.boundscheck:
            return False
        state.calltypes = {one: _taken(one, signature) for one, signature in state.calltypes.items()}
        return True


def _taken(statement: Any, signature: Any) -> Any:
    """Return the signature of a statement; an access to an array takes its index as it is."""
    is_access = isinstance(statement, ir.SetItem) or getattr(statement, "op", None) == "getitem"
    if not is_access or not isinstance(signature.args[0], types.Array):
        return signature
    array, index, *value = signature.args
    return signature.replace(args=(array, _unsigned(index), *value))


def _unsigned(kind: Any) -> Any:
    """Return the type of an index, or of several, that are taken as they are; constants and slices stay."""
    if isinstance(kind, BaseTuple):
        return Tuple([_unsigned(one) for one in kind])
    return types.uintp if kind in types.signed_domain else kind


class _TakingIndices(Compiler):  # type: ignore[misc]
    """Numba's compiler, with `_TakeIndices`."""

    def define_pipelines(self) -> Any:
        """Return numba's passes, and that one behind all that change the code."""
        (passes,) = super().define_pipelines()
        passes.add_pass_after(_TakeIndices, NoPythonSupportedFeatureValidation)
        passes.finalize()
        return [passes]


class _IntoLibrary(_TakingIndices):
    """That compiler, into a `_Library`."""

    def define_pipelines(self) -> Any:
        """Return its passes."""
        state = self.state
        state.library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()
