"""500 random programs of CUDA Tile IR and of XeGPU at each level, each by one of all routes.

A program is compared with its source on the reference device. Each run takes the same programs with
other numbers; a seed in the environment gives other programs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import pytest

import xtile
from tests.generators.cuda_tile_kernels import BLOCKS, KernelWriter
from tests.generators.xegpu_kernels import XeGPUKernel, arguments
from tests.seeds import fresh_generator, given_seed, share_of

PROGRAMS = 125
"""Of CUDA Tile IR, and of each level of XeGPU."""

TOGETHER = 25
"""Programs in a test."""


@dataclass(frozen=True)
class Route:
    """Where a program goes before it runs.

    Attributes:
        to: The language or the level of the core form; None where it runs on OpenCL's CPU device.
        options: What the translation takes beside.
    """

    to: str | None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


CPU = {"chip": "cpu"}
LANES = {"xegpu_level": "lane"}
SUBGROUPS = {"xegpu_level": "subgroup"}
WORK_GROUPS = {"xegpu_level": "work-group"}

OF_TILES = (
    Route(None),
    Route("lane", CPU),
    Route("lane", {"chip": "pvc"}),
    Route("lane", {"chip": "dg2"}),
    Route("xegpu", WORK_GROUPS),
    Route("xegpu", SUBGROUPS),
    Route("triton"),
    Route("amdg", {"chip": "gfx942"}),
    Route("tensorlang"),
    Route("core"),
)
OF_XEGPU = (
    Route(None),
    Route("lane", CPU),
    Route("lane", {"chip": "dg2"}),
    Route("xegpu", {"chip": "pvc", **LANES}),
    Route("xegpu", SUBGROUPS),
    Route("cuda_tile"),
    Route("triton"),
    Route("amdg", {"chip": "gfx942"}),
    Route("tensorlang"),
    Route("core"),
)


@dataclass(frozen=True)
class Program:
    """A program with what it is launched with.

    Attributes:
        text: Its text.
        arguments: The arguments, of which the last ones are written.
        grid: How many work-groups there are.
        tolerance: How far apart sums in different orders may be, relative to 1 or to themselves.
    """

    text: str
    arguments: list[Any]
    grid: int
    tolerance: float


def _of_cuda_tile(seed: int) -> Program:
    writer = KernelWriter(seed)
    text = writer.text()
    return Program(text, writer.arguments(fresh_generator()), BLOCKS, 0.0)


def _of_xegpu(attributes: str) -> Callable[[int], Program]:
    def program(seed: int) -> Program:
        kernel = XeGPUKernel(Random(seed), is_of_work_group=attributes == WORK_GROUP)
        return Program(kernel.text(attributes), arguments(fresh_generator()), 1, 1e-5)

    return program


WORK_GROUP = "known_block_size = array<i32: 64, 1, 1>"
FAMILIES: dict[str, tuple[Callable[[int], Program], tuple[Route, ...]]] = {
    "cuda_tile": (_of_cuda_tile, OF_TILES),
    "subgroup": (_of_xegpu("known_block_size = array<i32: 16, 1, 1>"), OF_XEGPU),
    "vector compute": (
        _of_xegpu("VectorComputeFunctionINTEL, known_block_size = array<i32: 1, 1, 1>"),
        OF_XEGPU,
    ),
    "work-group": (_of_xegpu(WORK_GROUP), OF_XEGPU),
}


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, PROGRAMS, TOGETHER))
@pytest.mark.parametrize("family", FAMILIES)
def test_programs(family: str, first: int) -> None:
    program_of, routes = FAMILIES[family]
    for number in range(first, first + share_of(TOGETHER)):
        program = program_of((given_seed() or 0) + 10_000 + number)
        route = routes[number % len(routes)]
        expected, found = (deepcopy(program.arguments) for _ in range(2))
        xtile.run(program.text, expected, program.grid)
        if route.to is None:
            xtile.run(program.text, found, program.grid, device="opencl")
        else:
            made = xtile.translate(program.text, route.to, **route.options)
            xtile.run(made, found, program.grid)
        for a, b in zip(expected, found, strict=True):
            tolerance, text = program.tolerance, program.text
            np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance, err_msg=text)
