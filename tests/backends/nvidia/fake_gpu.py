"""A GPU with a fake driver, and a cubin with one kernel that is a Python function."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

import xtile
from tests.backends.nvidia.fake_driver import FakeApi, FakeKernel
from xtile.arguments.kernel import signatures_of
from xtile.backends.machine_code import KernelInterface, MachineCode
from xtile.backends.sidecar import write_machine_code
from xtile.launch import LaunchResult

CODE = b"\x7fELF\x02\x01" + bytes(12) + (190).to_bytes(2, "little") + bytes(100)

Seen = list[tuple[int, ...]]


class Gpu:
    """A GPU and a cubin with one kernel.

    Attributes:
        api: The driver.
        path: The cubin.
        seen: The parameters of each block that ran.
    """

    def __init__(self, directory: Path, api: FakeApi) -> None:
        self.api = api
        self.path = directory / "k.cubin"
        self.seen: Seen = []

    def make(
        self,
        parameters: str,
        sizes: Sequence[int],
        body: Callable[..., None] | None = None,
        store: str = "",
        heap: int = 0,
        may_overlap: bool = False,
    ) -> None:
        """Makes the kernel @k; `store` is an instruction that tells which memory it writes."""
        text = f"func @k({parameters}) {{\n parallel {{\n {store}\n }}\n}}\n"
        self.make_of(text, "tensorlang", sizes, body, heap, may_overlap)

    def make_of(
        self,
        text: str,
        language: Literal["mlir", "tensorlang"],
        sizes: Sequence[int],
        body: Callable[..., None] | None = None,
        heap: int = 0,
        may_overlap: bool = False,
    ) -> None:
        """Makes the kernel @k of a text."""
        module = xtile.parse(text, language=language)
        signatures = signatures_of(module, may_overlap=may_overlap)
        code = CODE + f"{text} {heap} {may_overlap}".encode()
        kernels = {"k": KernelInterface("", heap)}
        write_machine_code(self.path, MachineCode(code, "sm_90", "tileiras", signatures, kernels))

        def run(block: tuple[int, int, int], *values: int) -> None:
            self.seen.append(values)
            if body is not None:
                body(*values)

        self.api.kernels = {"k": FakeKernel(sizes, run)}

    def run(self, *arguments: Any, grid: Any = 1, device: str = "cuda") -> LaunchResult:
        result = xtile.run(self.path, list(arguments), grid, device)
        # Tile blocks are threads, as far as a launch says.
        assert set(self.api.blocks) == {(1, 0)}
        return result


STORE = "%zero = constant 0 : index\n %one = constant 1.0 : f32\n store %one, %B[%zero]"
"""What makes a kernel one that writes to its memref %B."""


def floats(address: int, count: int) -> Any:
    """The memory of f32 at an address."""
    return np.ctypeslib.as_array((ctypes.c_float * count).from_address(address))


def address_of(array: Any) -> int:
    return array.__array_interface__["data"][0]
