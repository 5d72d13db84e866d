"""Code of the host whose kernels a device runs; numpy's engine runs the rest of it.

Source: docs/running.md, "Files with host code".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from typing_extensions import override
from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType, ModuleOp

from xtile.arguments.binding import BoundArgument, bind
from xtile.arguments.errors import ArgumentError
from xtile.arguments.launch_checks import check_launch
from xtile.arguments.signature import Signature
from xtile.dialects.gpu.functions import FuncOp
from xtile.host.function import run_host
from xtile.host.launches import LaunchSizes
from xtile.host.memory import uniform
from xtile.launch.executable import Executable, Kernel, Launch, LaunchResult
from xtile.launch.reference import ReferenceExecutable
from xtile.launch.reference import load as load_for_reference
from xtile.launch.time_limit import time_limit
from xtile.rewrite.kernels import with_launched_sizes
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import View
from xtile.semantics.state import State
from xtile.semantics.values import Array, Value

Load = Callable[[Kernel], Executable]
"""Makes a kernel ready for a device."""


@dataclass(frozen=True)
class HostedExecutable(Executable):
    """A function of the host whose kernels a device runs.

    Attributes:
        host: The function, for the reference device.
        device: What the launch's result calls the device.
        load: Makes the kernels ready for it.
        kernel: The file that has both.
        signature: What the arguments of the function must be.
    """

    host: ReferenceExecutable
    device: str
    load: Load
    kernel: Kernel
    signature: Signature
    _loaded: dict[FuncOp, Executable] = field(default_factory=dict[FuncOp, Executable])

    @property
    @override
    def is_host(self) -> bool:
        """Always."""
        return True

    @override
    def launch(self, arguments: Sequence[BoundArgument], how: Launch) -> LaunchResult:
        """Runs the function; the arrays of the arguments hold the results afterwards.

        Raises:
            DeviceError: A kernel failed on the device, or it was not done in time.
            DiagnosticError: An operation cannot be executed, or a kernel not be compiled.
        """
        self.run_host(arguments, None, how.seconds)
        return LaunchResult(self.device, None)

    @override
    def run_host(
        self, arguments: Sequence[BoundArgument], seed: int | None, seconds: float | None
    ) -> None:
        """Runs the function, whose random numbers follow from `seed`, if there is one.

        Raises:
            DeviceError: A kernel failed on the device, or it was not done in time.
            DiagnosticError: An operation cannot be executed, or a kernel not be compiled.
        """
        with time_limit(seconds, self.signature.name):
            run_host(
                self.host.function,
                self.host.converted(arguments),
                seed=seed,
                launcher=self._launch,
            )

    def _launch(
        self, kernel: FuncOp, arguments: Sequence[Value], sizes: LaunchSizes, host: State
    ) -> None:
        if sizes.dynamic_shared_memory:
            raise UnlocatedError(
                f"{self.device} gives kernels no dynamic shared memory; run the file on the device "
                "'reference'"
            )
        types = kernel.function_type.inputs.data
        given = [_given(type_, value) for type_, value in zip(types, arguments, strict=True)]
        try:
            executable = self._executable(kernel)
            signature = executable.signature
            bound = bind(signature, given)
            check_launch(signature.name, signature.checks, bound, sizes.grid)
        except ArgumentError as error:
            raise UnlocatedError(str(error)) from None
        executable.launch(bound, Launch(sizes.grid, sizes.block))

    @cached_property
    def _file(self) -> object:
        """What the file's kernels are compiled from, with all that launches say of them."""
        module = self.host.function.get_toplevel_object()
        assert isinstance(module, ModuleOp)
        known = with_launched_sizes(module)
        return self.kernel.source if known is module else known

    def _executable(self, kernel: FuncOp) -> Executable:
        """A kernel of the file, or one that was made of the host's loops, ready for the device."""
        if kernel not in self._loaded:
            around = kernel.get_toplevel_object()
            is_of_file = around is self.host.function.get_toplevel_object()
            source = self._file if is_of_file else around
            given = replace(self.kernel, source=source, entry=kernel.sym_name.data)
            self._loaded[kernel] = self.load(given)
        return self._loaded[kernel]


def load_host(kernel: Kernel, device: str, load: Load) -> HostedExecutable | None:
    """A function of the host whose kernels a device runs; None if none is to be launched.

    Args:
        kernel: The file, and the function in it.
        device: What the launch's result calls the device.
        load: Makes a kernel ready for it.

    Raises:
        DiagnosticError: The text has errors.
    """
    try:
        host = load_for_reference(replace(kernel, binary=None))
    except ArgumentError:
        return None
    return HostedExecutable(host, device, load, kernel, host.signature) if host.is_host else None


def _given(type_: object, value: Value) -> Any:
    """An argument as `xtile.run` takes it."""
    if isinstance(type_, MemRefType):
        if not isinstance(value, View):
            raise UnlocatedError("which memory a kernel gets must be the same for the whole host")
        return _array(value)
    number = uniform(value)
    if type_ == IntegerType(1):
        return bool(number)
    return int(number) if isinstance(type_, IntegerType | IndexType) else number


def _array(view: View) -> Array:
    data: Array = view.buffer.data
    shape, strides = (
        [int(uniform(each)) for each in modes] for modes in (view.shape, view.strides)
    )
    return np.lib.stride_tricks.as_strided(
        data[int(uniform(view.offset)) :], shape, [stride * data.itemsize for stride in strides]
    )
