"""Numba's compiler with the steps that kernels need, in half the time of all its steps.

A function that only kernels call is typed and translated once. It is optimised again inside each kernel that calls
it, and never becomes machine code of its own.
"""

from typing import Any, ClassVar, Final

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, _LowerResult
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import (
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    RewriteSemanticConstants,
    TranslateByteCode,
)

# Without passes for closures, comprehensions, `with`, object mode, array expressions, annotations and threads of numba
_PASSES: Final = (
    TranslateByteCode,
    FixupArgs,
    IRProcessing,
    RewriteSemanticConstants,
    DeadBranchPrune,
    GenericRewrites,
    ReconstructSSA,
    DeadBranchPrune,
    NopythonTypeInference,
    PreLowerStripPhis,
    IRLegalization,
)


class _Passes(PassManager):
    """A sequence of passes; no analysis of variables after each, as the last passes make their own."""

    _ENFORCING = False


class KernelCompiler(CompilerBase):
    """Compiler of functions that Python calls."""

    lowering: ClassVar[type] = NativeLowering

    def define_pipelines(self) -> list[PassManager]:
        """The passes of a function."""
        passes = _Passes("kernels")
        for compiler_pass in (*_PASSES, self.lowering, NoPythonBackend):
            passes.add_pass(compiler_pass, compiler_pass.__name__)
        passes.finalize()
        return [passes]


class _LinkedLibrary(JITCodeLibrary):
    """Code that other libraries link and optimise, without machine code.

    Optimised on its own first, which makes kernels a sixth faster where functions of a few steps read bytes.
    """

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager(
            loop_vectorize=False, slp_vectorize=False, opt=2, cost="cheap"
        )
        passes.run(self._final_module, builder)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _RareLibrary(_LinkedLibrary):
    """Code that other libraries link, and call instead of copying it into their own functions."""

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration:
                function.add_function_attribute("noinline")
        super()._optimize_final_module()


@register_pass(mutates_CFG=True, analysis_only=False)
class _LinkedLowering(NativeLowering):
    """Translate a function to code that others link, without wrappers for calls from Python and C."""

    _name = "linked_lowering"
    library: ClassVar[type[JITCodeLibrary]] = _LinkedLibrary

    def run_pass(self, state: Any) -> bool:
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        state.flags.no_cpython_wrapper = True
        state.flags.no_cfunc_wrapper = True
        changed: bool = super().run_pass(state)
        lowered = state["cr"]
        description = lowered.fndesc
        # The key by which callers find the code; it has no address, as Python never calls it
        key = _dynfunc.make_function(
            description.lookup_module(), description.qualname, "", 0, lowered.env, (state.library,)
        )
        state.targetctx.insert_user_function(key, description, [state.library])
        state["cr"] = _LowerResult(description, lowered.call_helper, cfunc=key, env=lowered.env)
        return changed


@register_pass(mutates_CFG=True, analysis_only=False)
class _RareLowering(_LinkedLowering):
    """Translate a function to code that others call."""

    _name = "rare_lowering"
    library = _RareLibrary


class LinkedCompiler(KernelCompiler):
    """Compiler of functions that only kernels call."""

    lowering = _LinkedLowering


class RareCompiler(KernelCompiler):
    """Compiler of functions that kernels call rarely, and never copy into their loops."""

    lowering = _RareLowering
