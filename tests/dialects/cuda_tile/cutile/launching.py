"""Exports cuTile kernels as bytecode, and launches what is read from it."""

# pyright: basic

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import cuda.tile as ct
import ml_dtypes
import numpy as np
from cuda.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    ConstantConstraint,
    KernelSignature,
    ListConstraint,
    ScalarConstraint,
    export_kernel,
)

DTYPES: dict[Any, Any] = {
    np.dtype(np.float64): ct.float64,
    np.dtype(np.float32): ct.float32,
    np.dtype(np.float16): ct.float16,
    np.dtype(ml_dtypes.bfloat16): ct.bfloat16,
    np.dtype(np.int8): ct.int8,
    np.dtype(np.uint8): ct.uint8,
    np.dtype(np.int32): ct.int32,
    np.dtype(np.int64): ct.int64,
}


@dataclass(frozen=True)
class Constant:
    """A value that the kernel is specialized for."""

    value: Any


def exported(
    kernel: Any,
    arguments: Sequence[Any],
    *,
    version: str = "13.3",
    index_dtype: Any = ct.int32,
    divisor: int = 1,
    gpu_code: str = "sm_90",
) -> bytes:
    """The bytecode of a kernel for arguments like the given ones.

    Args:
        kernel: The kernel.
        arguments: Arrays, lists of arrays, numbers and constants.
        version: The version of the bytecode.
        index_dtype: The type of sizes and strides.
        divisor: What is promised to divide the addresses of arrays.
        gpu_code: What it is exported for.
    """
    constraints = [_constraint(argument, index_dtype, divisor) for argument in arguments]
    signature = KernelSignature(constraints, CallingConvention.cutile_python_v1(), symbol="kernel")
    file = BytesIO()
    export_kernel(
        kernel,
        [signature],
        file,
        gpu_code=gpu_code,
        output_format="tileir_bytecode",
        bytecode_version=version,
    )
    return file.getvalue()


def _constraint(argument: Any, index_dtype: Any, divisor: int) -> Any:
    match argument:
        case Constant():
            return ConstantConstraint(argument.value)
        case list():
            element = _constraint(argument[0], index_dtype, divisor)
            return ListConstraint(element, alias_groups=[], elements_may_alias=False)
        case np.ndarray():
            return ArrayConstraint(
                DTYPES[argument.dtype],
                argument.ndim,
                index_dtype=index_dtype,
                stride_lower_bound_incl=0,
                alias_groups=[],
                may_alias_internally=False,
                stride_constant=(*(None,) * (argument.ndim - 1), 1),
                base_addr_divisible_by=divisor,
            )
        case int():
            return ScalarConstraint(ct.int32)
        case _:
            return ScalarConstraint(ct.float32)


def flat(arguments: Sequence[Any]) -> list[Any]:
    """The arguments of the exported entry: for an array its pointer, sizes and strides."""
    result: list[Any] = []
    for argument in arguments:
        match argument:
            case Constant():
                pass
            case list():
                result += [[word for array in argument for word in flat([array])], len(argument)]
            case np.ndarray():
                strides = [stride // argument.itemsize for stride in argument.strides]
                result += [argument, *argument.shape, *strides]
            case _:
                result.append(argument)
    return result
