"""Runs operations of Triton as they are, as tiles of the core form, and on a CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import xtile
from tests.semantics.triton.programs import kernel
from xtile.translate.route import translate

Array = np.ndarray[Any, Any]

WAYS = ("as it is", "tiles", "OpenCL")


def computed(
    body: str, operands: Sequence[Array], results: Sequence[tuple[Sequence[int], str]]
) -> Iterator[tuple[str, list[Array]]]:
    """What operations make of operands, each way.

    Args:
        body: Operations on %0, %1, ..., which give %r0, %r1, ....
        operands: Arrays, whose types follow from them.
        results: The shape and the type of the elements of each result.
    """
    for way in WAYS:
        module, arrays = kernel(body, operands, results)
        if way == "tiles":
            module = translate(module, "triton-to-core")
        xtile.run(module, arrays, device="opencl" if way == "OpenCL" else "reference")
        given = arrays[len(operands) :]
        yield way, [array.reshape(shape) for array, (shape, _) in zip(given, results, strict=True)]
