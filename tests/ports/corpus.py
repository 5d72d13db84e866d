"""Small kernels of every language with what they are launched on, for ports of each to each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.generators.xegpu_kernels import COLUMNS, ROWS, XeGPUKernel
from tests.seeds import same_numbers

ROOT = Path(__file__).parents[2]

Array = Any


@dataclass(frozen=True)
class Kernel:
    """A kernel, and what it is launched on.

    Attributes:
        language: Its language.
        name: Its name in tables.
        read: Reads it.
        arguments: Its arguments in order; None for those that a check finds.
        grid: The work-groups; None for those that a check finds.
    """

    language: str
    name: str
    read: Callable[[], ModuleOp]
    arguments: Callable[[], Sequence[Any]] | None = None
    grid: Callable[[], tuple[int, ...]] | None = None


# --- the tensor language ---

_ELEMENTWISE = """
func @k(%x: memref<f32x?>, %y: memref<f32x?>, %a: f32) {{
    %n = size %x[0] : index
    %c0 = constant 0 : index
    %group = group_id.x : index
    %c64 = constant 64 : index
    %first = mul %group, %c64 : index
    %rest = sub %n, %first : index
    %width = min %rest, %c64 : index
    foreach (%i)=(%c0),(%width) {{
        %at = add %first, %i : index
        %v = load %x[%at] : f32
        {body}
        store %r, %y[%at]
    }}
}}
"""

_BODIES = {
    "absolute": "%r = abs %v : f32",
    "scaled": "%r = mul %v, %a : f32",
    "exponential": "%r = exp %v : f32",
    "logarithm": "%p = abs %v : f32\n%q = add %p, %a : f32\n%r = log %q : f32",
    "cosine": "%r = cos %v : f32",
    "quotient": "%r = div %a, %v : f32",
    "clamped": "%m = max %v, %a : f32\n%r = neg %m : f32",
    "selected": (
        "%c = less_than %v, %a : bool\n"
        "%r = if %c -> (f32) { yield (%a) } else { %h = mul %v, %v : f32\nyield (%h) }"
    ),
    "counted": (
        "%c1 = constant 1 : index\n%c5 = constant 5 : index\n"
        "%r = for %k=%c1,%c5 init(%s=%v) -> (f32) { %t = mul %s, %a : f32\nyield (%t) }"
    ),
    "sine": "%s = sin %v : f32\n%r = sub %s, %a : f32",
}

_COLLECTIVE = """
func @k(%A: memref<{t}x{a}>, %B: memref<{t}x{b}>, %C: memref<{t}x{c}>) {{
    %alpha = constant {alpha} : {t}
    %beta = constant {beta} : {t}
    {instruction} %alpha, %A, %B, %beta, %C
}}
"""


def _collective(
    instruction: str, a: str, b: str, c: str, t: str = "f32", beta: str = "0.0", alpha: str = "1.0"
) -> str:
    return _COLLECTIVE.format(instruction=instruction, a=a, b=b, c=c, t=t, beta=beta, alpha=alpha)


_PRODUCTS = {
    "gemm": _collective("gemm", "32x24", "24x16", "32x16"),
    "gemm_transposed": _collective("gemm.t.n", "24x32", "24x16", "32x16", beta="0.5"),
    "gemm_both_transposed": _collective("gemm.t.t", "24x32", "16x24", "32x16"),
    "gemm_f16": _collective("gemm", "32x64", "64x16", "32x16", "f16"),
    "gemm_bf16": _collective("gemm", "32x64", "64x16", "32x16", "bf16"),
    "gemm_f64": _collective("gemm", "17x5", "5x9", "17x9", "f64", beta="1.0"),
    "gemm_of_integers": _collective("gemm", "16x32", "32x16", "16x16", "i32", "1", "2"),
    "gemv": _collective("gemv", "33x20", "20", "33"),
    "gemv_transposed": _collective("gemv.t", "20x33", "20", "33", beta="0.5"),
    "ger": _collective("ger", "33", "20", "33x20"),
    "hadamard": _collective("hadamard", "33x7", "33x7", "33x7", beta="0.25"),
    "gemm_of_complex": _collective("gemm", "8x8", "8x8", "8x8", "c32", "[0.0,0.0]", "[1.0,0.5]"),
}

_REDUCTIONS = {
    "axpby": "axpby %a, %A, %z, %B",
    "axpby_transposed": "axpby.t %a, %A, %z, %B",
}

_EXAMPLES = ("batched_gemm", "matrix_chain", "tall_and_skinny", "gemm", "softmax", "axpby")


def _tensorlang() -> Iterator[Kernel]:
    texts = {name: _ELEMENTWISE.format(body=body) for name, body in _BODIES.items()} | _PRODUCTS
    for name, instruction in _REDUCTIONS.items():
        texts[name] = (
            "func @k(%A: memref<f32x24x24>, %B: memref<f32x24x24>, %a: f32) {\n"
            f"    %z = constant 0.5 : f32\n    {instruction}\n}}\n"
        )
    for name, text in texts.items():
        yield Kernel("tensorlang", name, lambda text=text: xtile.parse(text, language="tensorlang"))
    for name in _EXAMPLES:
        path = ROOT / "examples" / f"{name}.ir"
        yield Kernel("tensorlang", f"example_{name}", lambda path=path: xtile.parse(path))


# --- XeGPU ---


def _xegpu() -> Iterator[Kernel]:
    from tests.translate.core_to_tensorlang import test_kernels as texts

    for name in ("WORK_GROUP", "SUBGROUP", "LANE_PRODUCT"):
        text = getattr(texts, name)
        yield Kernel("xegpu", name.lower(), lambda text=text: xtile.parse(text))
    blocks = {"subgroup": 16, "work_group": 64}
    for number in range(27):
        level = tuple(blocks)[number % 2]
        kernel = XeGPUKernel(Random(number), is_of_work_group=level == "work_group")
        text = kernel.text(f"known_block_size = array<i32: {blocks[level]}, 1, 1>")
        yield Kernel(
            "xegpu",
            f"random_{level}_{number}",
            lambda text=text: xtile.parse(text),
            lambda number=number: _random_memory(number),
            lambda: (1,),
        )


def _random_memory(number: int) -> list[Array]:
    generator = np.random.default_rng(number)
    shapes = ((ROWS, COLUMNS), (ROWS * COLUMNS,))
    arrays = [generator.standard_normal(shape).astype(np.float32) for shape in shapes]
    return [*arrays, np.full((ROWS, COLUMNS), np.nan, np.float32)]


def _case(name: str, make: Callable[[], Any]) -> Callable[[], Any]:
    """A case of another corpus, made once, with the same arguments in each run."""

    @cache
    def made() -> Any:
        with same_numbers(name):
            return make()

    return made


# --- CUDA Tile IR, as cuTile exports it ---


def _cuda_tile() -> Iterator[Kernel]:
    from tests.translate.cuda_tile_to_core.test_cutile_kernels import CASES

    for name, make in CASES.items():
        case = _case(f"cuda_tile {name}", make)

        def read(case: Callable[[], Any] = case) -> ModuleOp:
            import tempfile

            with tempfile.NamedTemporaryFile(suffix=".tileirbc") as file:
                file.write(case().exported())
                file.flush()
                return xtile.parse(Path(file.name))

        yield Kernel(
            "cuda_tile",
            name,
            read,
            lambda case=case: case().copied_arguments(),
            lambda case=case: case().grid,
        )


# --- Triton ---


def _triton() -> Iterator[Kernel]:
    from tests.triton_kernels.corpus import CASES
    from tests.triton_releases.judges import NEWEST, compiled

    for name, make in CASES.items():
        case = _case(f"triton {name}", make)

        def read(case: Callable[[], Any] = case) -> ModuleOp:
            verdict = compiled(NEWEST, case().source(), "gfx942", "ttir")
            assert verdict.accepted, verdict.said
            return xtile.parse(verdict.text, language="ttir")

        yield Kernel(
            "triton",
            name,
            read,
            lambda case=case: _passed(case()),
            lambda case=case: case().grid,
        )


def _passed(case: Any) -> list[Any]:
    """The arguments without those that Triton makes constants: integers that are 1."""
    given = case.copied_arguments()
    return [each for each in given.values() if not (type(each) is int and each == 1)]


FAMILIES: dict[str, Callable[[], Iterator[Kernel]]] = {
    "tensorlang": _tensorlang,
    "xegpu": _xegpu,
    "cuda_tile": _cuda_tile,
    "triton": _triton,
}


@cache
def kernels_of(language: str) -> dict[str, Kernel]:
    """The kernels of a language by name."""
    return {kernel.name: kernel for kernel in FAMILIES[language]()}
