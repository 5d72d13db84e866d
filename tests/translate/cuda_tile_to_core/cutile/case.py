"""A kernel of cuTile Python, exported without a GPU, with arguments and what it must compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import cuda.tile as ct
import ml_dtypes
import numpy as np
from cuda.tile.compilation import (
    CallingConvention,
    KernelSignature,
    ScalarConstraint,
    export_kernel,
)

from tests.dialects.cuda_tile.bytecode.cutile_kernels import CONSTANT, array
from tests.kernel_arguments import Array, assert_close, blank, integers, normal, rounding

__all__ = ["CONSTANT", "ZERO", "Array", "Case", "blank", "integers", "normal", "rounding"]

ZERO = ct.PaddingMode.ZERO

_TYPES = {
    np.dtype(bool): ct.bool_,
    np.dtype(ml_dtypes.bfloat16): ct.bfloat16,
    np.dtype(ml_dtypes.float8_e4m3fn): ct.float8_e4m3fn,
    np.dtype(ml_dtypes.float8_e5m2): ct.float8_e5m2,
    np.dtype(ml_dtypes.float8_e8m0fnu): ct.float8_e8m0fnu,
    **{
        np.dtype(name): getattr(ct, name)
        for name in (
            *("float16", "float32", "float64", "int8", "int16", "int32", "int64"),
            *("uint8", "uint16", "uint32", "uint64"),
        )
    },
}


@dataclass(frozen=True)
class Case:
    """A kernel, what it is launched with, and what must be there afterwards.

    Attributes:
        kernel: A function with `ct.kernel`.
        arguments: Arrays and numbers, of which outputs are NaN or another number that is wrong.
        wanted: For the numbers of outputs among the arguments what they hold in the end.
        grid: The tile blocks along each dimension.
        constants: The last parameters of the kernel, which its code is made for.
        tolerance: How far floats may be away, as part of the largest number in the output.
        bytecode_version: The format's version; later ones have more operations.
    """

    kernel: Any
    arguments: Sequence[Any]
    wanted: Mapping[int, Array]
    grid: tuple[int, ...] = (1,)
    constants: Sequence[Any] = ()
    tolerance: float = 0.0
    bytecode_version: str = "13.3"

    def exported(self) -> bytes:
        """The kernel's bytecode."""
        parameters = [*map(_parameter, self.arguments), *self.constants]
        output = BytesIO()
        export_kernel(
            self.kernel,
            [KernelSignature(parameters, CallingConvention.cutile_python_v1())],
            output,
            gpu_code="sm_100",
            output_format="tileir_bytecode",
            bytecode_version=self.bytecode_version,
        )
        return output.getvalue()

    def copied_arguments(self) -> list[Any]:
        """The arguments, of which a kernel may change the arrays."""
        return [each.copy() if isinstance(each, np.ndarray) else each for each in self.arguments]

    def check(self, arguments: Sequence[Any]) -> None:
        """Compares the outputs of a kernel that ran.

        Raises:
            AssertionError: One is wrong.
        """
        for number, wanted in self.wanted.items():
            assert_close(arguments[number], np.asarray(wanted), self.tolerance)


def _parameter(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return array(_TYPES[argument.dtype], argument.ndim)
    return ScalarConstraint(ct.float32 if isinstance(argument, float) else ct.int32)
