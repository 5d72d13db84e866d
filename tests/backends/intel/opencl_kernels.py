"""Many functions of the tensor language as one program for OpenCL's device.

A driver takes about as long for a program of one kernel as for one of ten.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute

from tests.backends.intel.agreement import Launch
from xtile.arguments.binding import BoundArgument
from xtile.arguments.groups import GroupView
from xtile.arguments.kernel import signature_of
from xtile.arguments.signature import Signature
from xtile.arguments.views import View
from xtile.backends.intel.compilation import Program, compile_program
from xtile.backends.intel.opencl.device import OpenclDevice, find_devices
from xtile.backends.intel.opencl.launching import launch
from xtile.backends.intel.opencl.session import Session, own_queue
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.semantics.arguments import Argument, GroupArgument, MemrefArgument
from xtile.semantics.configuration import Size3
from xtile.semantics.numeric_types import NUMPY_TYPES


@cache
def opencl_device() -> OpenclDevice:
    """The computer's CPU under Intel's runtime."""
    return next(device for device in find_devices() if device.is_cpu)


class Kernels:
    """Functions that are compiled and built together."""

    def __init__(self, functions: Sequence[FuncOp]) -> None:
        """Compiles functions.

        Raises:
            DiagnosticError: One of them cannot be compiled.
        """
        renamed = [_renamed(function, index) for index, function in enumerate(functions)]
        self._signatures = [signature_of(function) for function in renamed]
        self._queue = own_queue(opencl_device())
        self._session = Session(opencl_device(), self._queue.context)
        self.program: Program = compile_program(ModuleOp([*renamed]), opencl_device().target)

    def launch(self, index: int) -> Launch:
        """What runs one of the functions."""
        return partial(self._launch, self._signatures[index])

    def _launch(self, signature: Signature, arguments: Sequence[Argument], grid: Size3) -> None:
        kernel = self._session.kernel("", self.program, signature.name)
        bound = [
            _bound(parameter.type, argument)
            for parameter, argument in zip(signature.parameters, arguments, strict=True)
        ]
        launch(kernel, opencl_device(), self._queue, signature, bound, grid, None)


def _renamed(function: FuncOp, index: int) -> FuncOp:
    renamed = function.clone()
    renamed.properties["sym_name"] = StringAttr(f"kernel_{index}")
    return renamed


def _bound(type: Attribute, argument: Argument) -> BoundArgument:
    """An argument of the reference device as the argument of any launch."""
    if isinstance(argument, MemrefArgument):
        return _view(argument)
    if isinstance(argument, GroupArgument):
        entries = tuple(_view(entry) for entry in argument.entries)
        return GroupView(entries, argument.offset, argument.is_associated)
    return NUMPY_TYPES[type].type(argument.value)


def _view(memref: MemrefArgument) -> View | None:
    if memref.base is None:
        return None
    return View(memref.base, memref.shape, memref.strides)
