"""How many mistakes in ports the field finds, and how many tolerances let pass.

`python -m tests.conformance.field_mutants` tries 500 mutants (`mutants.py`) of ports of kernels of
Triton's corpus and of examples, and prints a line for each that was not found, and the figures.
Those are in docs/field.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.conformance.mutants import Mutant, mutants
from tests.triton_kernels.corpus import CASES
from tests.triton_releases.judges import NEWEST, compiled
from xtile.arguments.copies import copied
from xtile.checking.field import agree
from xtile.text.diagnostics import DiagnosticError

EXAMPLES = Path(__file__).parents[2] / "examples"

CHIPS = {"cuda_tile": "sm_90", "tensorlang": "pvc", "triton": "gfx942", "xegpu": "pvc"}

OF_TRITON = (
    *("softmax", "layer_norm", "rms_norm", "matmul_f16", "attention_causal", "cross_entropy"),
    *("add_strided", "welford", "geglu", "matvec", "max_pool", "inductor_persistent_reduction"),
)
"""Kernels of Triton's corpus whose ports are changed."""

OF_EXAMPLES = ("axpby", "matrix_unit", "softmax")

TOLERANCES = {"float16": 1e-2, "bfloat16": 2e-2, "float32": 1e-4, "float64": 1e-9}
"""How far floats may be apart in the tests of translations, relative and absolute."""

_SECONDS = 60.0


@dataclass(frozen=True)
class Port:
    """A kernel, a port of it, and what both are launched with."""

    name: str
    source: ModuleOp
    port: ModuleOp
    arguments: list[Any]
    grid: Any


def ports_of_examples() -> Iterator[Port]:
    """Ports of functions of the tensor language."""
    for name in OF_EXAMPLES:
        source = xtile.parse(EXAMPLES / f"{name}.ir")
        arguments, grid = _example(name)
        yield from _ports(name, source, arguments, grid)


def ports_of_triton() -> Iterator[Port]:
    """Ports of kernels of Triton's."""
    for name in OF_TRITON:
        case = CASES[name]()
        verdict = compiled(NEWEST, case.source(), "gfx942", "ttir")
        given = case.copied_arguments().values()
        arguments = [each for each in given if not (type(each) is int and each == 1)]
        yield from _ports(name, xtile.parse(verdict.text, language="ttir"), arguments, case.grid)


def _ports(name: str, source: ModuleOp, arguments: list[Any], grid: Any) -> Iterator[Port]:
    for to, chip in CHIPS.items():
        try:
            port = xtile.translate(source, to, chip=chip)
        except (DiagnosticError, ValueError):
            continue
        yield Port(f"{name} to {to}", source, port, arguments, grid)


def _example(name: str) -> tuple[list[Any], Any]:
    """Arguments and the grid of a kernel of the examples."""
    generator = np.random.default_rng(0)

    def random(*shape: int, dtype: Any = np.float32) -> Any:
        return np.asfortranarray(generator.standard_normal(shape).astype(dtype))

    def blank(*shape: int) -> Any:
        return np.full(shape, np.nan, np.float32, order="F")

    match name:
        case "axpby":
            return [0.5, random(7, 5), 2.0, random(7, 5)], 1
        case "matrix_unit":
            half = np.float16
            return [random(32, 64, dtype=half), random(64, 8, dtype=half), blank(32, 8)], 1
        case "softmax":
            return [random(5, 9), blank(5, 9)], 2
        case _:
            raise ValueError(name)


def outcome(port: Port, mutant: Mutant) -> tuple[str, str]:
    """What the field says of a mutant, and what a comparison of floats does."""
    try:
        found = agree(
            port.source, mutant.module, port.arguments, port.grid, seed=1, seconds=_SECONDS
        )
    except (DiagnosticError, ValueError):
        field = "error"
    else:
        field = found.verdict
    return field, _with_tolerances(port, mutant)


def _with_tolerances(port: Port, mutant: Mutant) -> str:
    expected, actual = copied(port.arguments), copied(port.arguments)
    xtile.run(port.source, expected, port.grid)
    try:
        xtile.run(mutant.module, actual, port.grid, seconds=_SECONDS)
    except (DiagnosticError, ValueError):
        return "error"
    pairs = zip(expected, actual, strict=True)
    is_right = all(is_near(a, b) for a, b in pairs if isinstance(a, np.ndarray))
    return "agree" if is_right else "differ"


def is_invisible(port: Port, mutant: Mutant) -> bool:
    """Whether a mutant gives the same bits as the port, so that nothing can find it here."""
    right, wrong = copied(port.arguments), copied(port.arguments)
    xtile.run(port.port, right, port.grid)
    xtile.run(mutant.module, wrong, port.grid)
    pairs = zip(right, wrong, strict=True)
    return all(a.tobytes() == b.tobytes() for a, b in pairs if isinstance(a, np.ndarray))


def is_near(expected: Any, actual: Any) -> bool:
    """Whether arrays are as near as the tests of translations want."""
    tolerance = TOLERANCES.get(expected.dtype.name)
    if tolerance is None:
        return bool((expected == actual).all())
    wide = expected.astype(np.float64), actual.astype(np.float64)
    return np.allclose(*wide, tolerance, tolerance, equal_nan=True)


def main() -> int:
    """Tries mutants, and prints what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=500)
    options = parser.parse_args()
    ports = [*ports_of_examples(), *ports_of_triton()]
    share = -(-options.count // len(ports))
    counts: Counter[tuple[str, str]] = Counter()
    kinds: Counter[tuple[str, str]] = Counter()
    began = time.monotonic()
    for port in ports:
        for mutant in mutants(port.port, share, port.name):
            result = outcome(port, mutant)
            counts[result] += 1
            kinds[mutant.kind, result[0]] += 1
            if result[0] not in ("differ", "error"):
                seen = "invisible" if is_invisible(port, mutant) else "visible"
                print(port.name, mutant.kind, mutant.what, *result, seen, sep=" | ", flush=True)
        print(
            f"{port.name}: {sum(counts.values())} after {time.monotonic() - began:.0f} s",
            flush=True,
        )
    for table in (counts, kinds):
        for key, number in sorted(table.items()):
            print(*key, number, sep=", ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
