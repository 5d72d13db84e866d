"""Raises entries of CUDA Tile IR, and runs what becomes of them with the source's arguments."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.semantics.cuda_tile.entries import module
from xtile.translate.route import translate

Array = Any


def raised(text: str) -> ModuleOp:
    """What a module becomes; it is printed, read again and verified."""
    return xtile.parse(_raised(text), language="mlir")


def lowered_again(text: str) -> ModuleOp:
    """A module of CUDA Tile IR that was in the core form in between."""
    return xtile.parse(_lowered_again(text), language="mlir")


@lru_cache(maxsize=128)
def _raised(text: str) -> str:
    made = translate(xtile.parse(text, language="mlir"), "cuda_tile-to-core")
    return xtile.to_text(made, "mlir")


@lru_cache(maxsize=128)
def _lowered_again(text: str) -> str:
    return xtile.to_text(translate(raised(text), "tile-to-cuda_tile"), "mlir")


WAYS: dict[str, Callable[[str], str]] = {"raised": _raised, "lowered again": _lowered_again}
"""What the text of a module may become."""


def runs_as(way: Callable[[str], str]) -> Callable[..., None]:
    """Runs what becomes of an entry, with the arguments of `entries.run`."""

    def run(parameters: str, body: str, *arguments: Any, before: str = "", **options: Any) -> None:
        grid = options.pop("grid", 1)
        xtile.run(way(module(parameters, body, before)), list(arguments), grid, **options)

    return run


def results(kernel: str | ModuleOp, arguments: Sequence[Any], **options: Any) -> list[Array]:
    """The arrays among copies of the arguments, after a kernel ran on them."""
    given = copy.deepcopy(list(arguments))
    grid = options.pop("grid", 1)
    xtile.run(kernel, given, grid, **options)
    return [each for each in given if isinstance(each, np.ndarray)]


def body_of(made: ModuleOp) -> list[str]:
    """The lines of the only kernel, without their indentation."""
    lines = [line.strip() for line in xtile.to_text(made, "mlir").splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith("gpu.func"))
    return lines[start + 1 : lines.index("gpu.return")]
