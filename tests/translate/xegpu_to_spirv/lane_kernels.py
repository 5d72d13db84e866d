"""Runs kernels at lane level, or another, on OpenCL's CPU device and on the reference device.

A driver takes about as long for a program of one kernel as for many, so all of a test module are
one program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from tests.backends.intel.opencl_kernels import opencl_device
from tests.semantics.upstream.kernels import DTYPES, argument_of
from tests.spirv_tools import problems_of
from xtile.api import parse
from xtile.arguments.kernel import signature_of
from xtile.arguments.views import View
from xtile.backends.intel.compilation import Program, compile_program, spirv_in
from xtile.backends.intel.opencl.launching import launch as launch_on_opencl
from xtile.backends.intel.opencl.session import Session, own_queue
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.spirv import encode
from xtile.dialects.spirv.disassembler import disassemble
from xtile.semantics.engine import launch as launch_on_reference
from xtile.targets.intel import CPU
from xtile.targets.lanes import LaneTarget, for_spirv
from xtile.translate.xegpu_to_spirv import translate_module

Size = tuple[int, int, int]
Array = np.ndarray[Any, Any]

ONE: Size = (1, 1, 1)

_CPU = for_spirv(CPU)


@dataclass(frozen=True)
class LaneKernel:
    """A kernel as text.

    Attributes:
        parameters: The parameters with their types.
        body: The operations, without the return.
        block: Work-items of a work-group.
        subgroup_size: Work-items of a subgroup; None leaves it open.
        attributions: Memory that the function declares beside its parameters.
        level: The level of the core form, where the kernel is not one of lanes.
    """

    parameters: str
    body: str
    block: Size = ONE
    subgroup_size: int | None = None
    attributions: str = ""
    level: str | None = None

    def text(self, name: str) -> str:
        """The function."""
        x, y, z = self.block
        attributes = [f"known_block_size = array<i32: {x}, {y}, {z}>"]
        if self.subgroup_size is not None:
            attributes.append(f"intel_reqd_sub_group_size = {self.subgroup_size} : i32")
        if self.level is not None:
            attributes.append(f'core.level = "{self.level}"')
        return f"""
            gpu.func @{name}({self.parameters}) {self.attributions} kernel
                attributes {{{", ".join(attributes)}}} {{
              {self.body}
              gpu.return
            }}"""


class LaneKernels:
    """Kernels that are compiled and built together.

    Args:
        kernels: The kernels by their names.
        around: Variables beside them.
        device: What they are compiled for; the CPU device runs kernels for the CPU.
    """

    def __init__(
        self, kernels: Mapping[str, LaneKernel], around: str = "", device: LaneTarget = _CPU
    ) -> None:
        functions = "\n".join(kernel.text(name) for name, kernel in kernels.items())
        self._text = f"gpu.module @m {{\n{around}\n{functions}\n}}"
        self._device = device

    @cached_property
    def module(self) -> ModuleOp:
        """The kernels."""
        return parse(self._text, language="mlir")

    @cached_property
    def program(self) -> Program:
        """The compiled kernels."""
        return compile_program(self.module, self._device)

    @cached_property
    def _queue(self) -> Any:
        return own_queue(opencl_device())

    @cached_property
    def _session(self) -> Session:
        return Session(opencl_device(), self._queue.context)

    @cached_property
    def _functions(self) -> dict[str, FuncOp]:
        (module,) = self.module.ops
        functions = [op for op in module.regions[0].block.ops if isinstance(op, FuncOp)]
        return {function.sym_name.data: function for function in functions}

    def function(self, name: str) -> FuncOp:
        """One of the kernels."""
        return self._functions[name]

    def on_opencl(self, name: str, *arguments: Any, grid: Size = ONE) -> None:
        """Runs a kernel on OpenCL's CPU device; arrays hold the results afterwards."""
        kernel = self._session.kernel("", self.program, name)
        signature = signature_of(self.function(name))
        bound = [_bound(argument) for argument in arguments]
        launch_on_opencl(kernel, opencl_device(), self._queue, signature, bound, grid, None)

    def on_reference(self, name: str, *arguments: Any, grid: Size = ONE) -> None:
        """Runs a kernel on the reference device; arrays hold the results afterwards."""
        given = [argument_of(argument) for argument in arguments]
        launch_on_reference(self.function(name), given, grid, block=None)

    def on_both(self, name: str, *arguments: Any, grid: Size = ONE) -> list[tuple[Array, Array]]:
        """The arrays after runs on the reference device and on OpenCL's, from equal arguments."""
        expected, found = ([_copied(a) for a in arguments] for _ in range(2))
        self.on_reference(name, *expected, grid=grid)
        self.on_opencl(name, *found, grid=grid)
        return [
            (first, second)
            for first, second in zip(expected, found, strict=True)
            if isinstance(first, np.ndarray)
        ]


def _copied(argument: Any) -> Any:
    """The same argument with memory of its own, and the same strides."""
    if not isinstance(argument, np.ndarray):
        return argument
    return cast(Array, argument).copy(order="K")


def _bound(argument: Any) -> Any:
    if not isinstance(argument, np.ndarray):
        return argument
    array = cast(Array, argument)
    strides = tuple(stride // array.itemsize for stride in array.strides)
    return View(array.ravel(order="K"), array.shape, strides)


def unwritten(count: int, type: str) -> Array:
    """Memory of which every number is NaN, or -1."""
    dtype = np.dtype(DTYPES[type])
    if dtype == np.bool_:
        return np.ones(count, np.bool_)
    return np.full(count * dtype.itemsize, 0xFF, np.uint8).view(dtype)


def spirv_text(body: str, parameters: str = "", device: LaneTarget = _CPU, **more: Any) -> str:
    """The assembler text of a kernel without names, after it was validated."""
    kernels = LaneKernels({"k": LaneKernel(parameters, body, **more)}, device=device)
    data = encode(spirv_in(translate_module(kernels.module, device)))
    validate(data)
    return disassemble(data)


def validate(data: bytes) -> None:
    """Has spirv-val check a module.

    Raises:
        AssertionError: The module is not valid.
    """
    assert problems_of(data) == ""


def same(expected: Array, found: Array) -> npt.NDArray[np.bool_]:
    """Where results are equal: NaN equals NaN, and -0 does not equal 0."""
    if expected.dtype.kind == "c":
        return same(expected.real, found.real) & same(expected.imag, found.imag)
    if expected.dtype.kind in "iub":
        return np.asarray(expected == found)
    with np.errstate(invalid="ignore"):
        wide, other = expected.astype(np.float64), found.astype(np.float64)
    equal = (wide == other) & (np.signbit(wide) == np.signbit(other))
    return equal | (np.isnan(wide) & np.isnan(other))
