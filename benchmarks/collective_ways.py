"""Two ways of collective instructions to Intel's GPUs: over subgroups at once, and as tiles.

    python benchmarks/collective_ways.py [--chip pvc] [--only 'gemm f16'] [--values]

Kernels of the tensor language become code of work-items by `core-distribute`, as they do on every
route, and by `core-tile-linalg` and then `core-distribute-tiles`. A third way is the second one
where a subgroup has as many sums of a product as if it were known to be one of blocks alone.
Intel's offline compiler makes machine code of each, of which instructions are counted; no GPU is
needed. `--values` compares the code of work-items with the kernel on the reference device instead,
with the sanitizer, on smaller matrices.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from measuring import conditions, cost_of_call, print_table, seconds
from xdsl.dialects.builtin import ModuleOp

import xtile
from xtile.backends.intel.compilation import Program, compile_program
from xtile.targets import INTEL
from xtile.targets.compilers import XTILE
from xtile.targets.lanes import for_spirv
from xtile.text.diagnostics import DiagnosticError
from xtile.transforms.distribute_tiles import layouts
from xtile.translate.route import Options, translate, translate_to

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.backends.intel.machine_code import assembly_of, code_and_loops, counted  # noqa: E402


def _product(
    factor: str,
    total: str = "f32",
    transposes: str = "n.n",
    sizes: tuple[str, str, str] = ("1024", "1024", "1024"),
    alpha: str = "1.0",
    beta: str = "0.0",
) -> str:
    """C := alpha op(A) op(B) + beta C by one work-group."""
    rows, columns, depth = sizes
    of_a = f"{rows}x{depth}" if transposes[0] == "n" else f"{depth}x{rows}"
    of_b = f"{depth}x{columns}" if transposes[2] == "n" else f"{columns}x{depth}"
    alpha, beta = (each if total != "i32" else each[:-2] for each in (alpha, beta))
    return f"""
func @gemm(%A: memref<{factor}x{of_a}>, %B: memref<{factor}x{of_b}>,
           %C: memref<{total}x{rows}x{columns}>) {{
    %alpha = constant {alpha} : {factor}
    %beta = constant {beta} : {total}
    gemm.{transposes} %alpha, %A, %B, %beta, %C
}}
"""


def _blocks(factor: str, block: int = 256) -> str:
    """The product of `examples/gemm.ir`, of other factors."""
    text = (ROOT / "examples/gemm.ir").read_text().replace("$block = 256", f"$block = {block}")
    for name in ("%A", "%B", "%a", "%b", "%alpha"):
        text = re.sub(rf"({name}\b: (?:memref<)?)f32", rf"\g<1>{factor}", text)
        text = re.sub(rf"({name} = subview .*memref<)f32", rf"\g<1>{factor}", text)
    return text


def _one(instruction: str, parameters: str) -> str:
    return f"""
func @kernel(%alpha: f32, %beta: f32, {parameters}) {{
    {instruction}
}}
"""


def _examples() -> Mapping[str, str]:
    names = "axpby gemm batched_gemm reductions tall_and_skinny matrix_unit matrix_chain"
    found: dict[str, str] = {}
    for name in (*names.split(), "fused_kernel"):
        text = (ROOT / f"examples/{name}.ir").read_text()
        head, *functions = re.split(r"(?m)^(?=func )", text)
        for function in functions:
            found["@" + function.split("@")[1].split("(")[0]] = head + function
    return found


_SQUARE = "%A: memref<f32x{0}>, %B: memref<f32x{0}>, %C: memref<f32x{0}>"
_MATRIX_VECTORS = "%A: memref<f32x{0}>, %x: memref<f32x{1}>, %y: memref<f32x{1}>"

KERNELS: Mapping[str, str] = {
    **_examples(),
    "gemm f16": _product("f16"),
    "gemm bf16": _product("bf16"),
    "gemm i8": _product("i8", "i32"),
    "gemm f16 n.t": _product("f16", transposes="n.t"),
    "gemm f16 t.n": _product("f16", transposes="t.n"),
    "gemm f16 t.t": _product("f16", transposes="t.t"),
    "gemm i8 n.t": _product("i8", "i32", "n.t"),
    "gemm i8 t.n": _product("i8", "i32", "t.n"),
    "gemm f16, 2 A B + 3 C": _product("f16", alpha="2.0", beta="3.0"),
    "gemm f16, C f16": _product("f16", "f16"),
    "gemm f16, sizes ?": _product("f16", sizes=("?", "?", "?")),
    "gemm f16, blocks of 256": _blocks("f16"),
    "gemm f16, blocks of 64": _blocks("f16", 64),
    "gemm f16 1000": _product("f16", sizes=("1000", "1000", "1000")),
    "gemm f16 256": _product("f16", sizes=("256", "256", "256")),
    "gemm f16 64": _product("f16", sizes=("64", "64", "64")),
    "gemm f16 32 x 32 x 64": _product("f16", sizes=("32", "32", "64")),
    "gemm f16 16 x 16 x 32": _product("f16", sizes=("16", "16", "32")),
    "gemm i8 32 x 8 x 64": _product("i8", "i32", sizes=("32", "8", "64")),
    "gemm f32": _product("f32"),
    "gemm f32 9 x 9 x 9": _product("f32", sizes=("9", "9", "9")),
    "gemm f32 64": _product("f32", sizes=("64", "64", "64")),
    "axpby": _one("axpby.n %alpha, %A, %beta, %B", _SQUARE.format("256x256")),
    "axpby.t": _one("axpby.t %alpha, %A, %beta, %B", _SQUARE.format("256x256")),
    "hadamard": _one("hadamard %alpha, %A, %B, %beta, %C", _SQUARE.format("256x256")),
    "ger": _one("ger %alpha, %x, %y, %beta, %A", _MATRIX_VECTORS.format("256x256", "256")),
    "gemv.n": _one("gemv.n %alpha, %A, %x, %beta, %y", _MATRIX_VECTORS.format("256x256", "256")),
    "gemv.t": _one("gemv.t %alpha, %A, %x, %beta, %y", _MATRIX_VECTORS.format("256x256", "256")),
    "sum.n": _one("sum.n %alpha, %A, %beta, %y", _MATRIX_VECTORS.format("256x256", "256")),
    "sum.t": _one("sum.t %alpha, %A, %beta, %y", _MATRIX_VECTORS.format("256x256", "256")),
    "cumsum 0": _one("cumsum %alpha, %A, 0, %beta, %B", _SQUARE.format("256x256")),
    "cumsum 1": _one("cumsum %alpha, %A, 1, %beta, %B", _SQUARE.format("256x256")),
}
"""What is compiled, each for one work-group."""


_SMALLER = {"1024": "160", "1000": "100", "256x256": "64x64", "f32x256": "f32x64"}
"""What matrices whose values are compared have in place of their sizes."""

SUBGROUPS, TILES, BLOCKS_ALONE = "subgroups", "tiles", "tiles, alone"

WAYS = (SUBGROUPS, TILES, BLOCKS_ALONE)


def _begun(module: ModuleOp, way: str, chip: str) -> ModuleOp:
    """A kernel of which the rest of its route makes what it becomes in a way."""
    return module if way == SUBGROUPS else translate(module, "tensorlang-to-tile", Options(chip))


def _made(module: ModuleOp, way: str, chip: str) -> Program:
    """Compiles a kernel in a way."""
    target = for_spirv(INTEL.chips[chip])
    if way != BLOCKS_ALONE:
        return compile_program(_begun(module, way, chip), target)
    with patch.object(layouts, "is_product_alone", return_value=True):
        return compile_program(_begun(module, way, chip), target)


# --- machine code ---

_ARITHMETIC = re.compile(r"\b(?:mad|add|mul) +\((\d+)\|M\d+\) +(?:\(\S+\))?\S+:(?:f|df)\b")
_MEMORY = re.compile(r"\.(?:ugm|slm|dc0|dc1|hdc)\b")


@dataclass(frozen=True)
class Code:
    """Instructions that follow each other.

    Attributes:
        lines: Their text.
    """

    lines: Sequence[str]

    @property
    def products(self) -> int:
        """Those of the matrix unit."""
        return sum("dpas" in line for line in self.lines)

    @property
    def accesses(self) -> int:
        """Those that access memory."""
        return sum(_MEMORY.search(line) is not None for line in self.lines)

    @property
    def work(self) -> float:
        """Products of the matrix unit; else sums and products of 16 numbers each."""
        found = (_ARITHMETIC.search(line) for line in self.lines)
        return self.products or sum(int(each[1]) for each in found if each is not None) / 16


def _loop_and_all(text: str) -> tuple[Code, Code]:
    """The loop that a kernel's machine code is in most of the time, and all of its instructions.

    The loop is the shortest one with products of the matrix unit; where there are no products, the
    one with the most work that has no loops inside, or else everything.
    """
    lines, found = code_and_loops(text)
    every = {(start, end): Code(lines[start:end]) for start, end in found}
    inner = [
        code
        for (start, end), code in every.items()
        if not any(start <= s and e <= end for s, e in found - {(start, end)})
    ]
    whole = Code(lines)
    multiplying = [code for code in every.values() if code.products]
    if multiplying:
        return min(multiplying, key=lambda code: len(code.lines)), whole
    if whole.products or not any(code.work for code in inner):
        return whole, whole
    return max(inner, key=lambda code: code.work), whole


HEADINGS = (
    *("work-items", "loop", "work", "each", "accesses", "all", "dpas", "blocks", "spills"),
    *("local", "bytes", "translated", "ocloc"),
)
"""Of the loop its instructions, its work, and instructions for each of that; blocks are loads,
prefetches and stores.
"""


def figures(text: str, way: str, chip: str) -> Sequence[str]:
    """The row of a kernel for one way."""
    module = xtile.parse(text, language="tensorlang")
    try:
        made = _made(module, way, chip)
    except DiagnosticError as error:
        return (str(error).splitlines()[0].partition("error: ")[2],)
    cost = cost_of_call(lambda: _made(module, way, chip), 3)
    (kernel,) = made.kernels.values()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        assembly = assembly_of(made.spirv, chip, Path(folder), made.build_options)
    took = time.perf_counter() - started
    loop, whole = _loop_and_all(assembly)
    counts = counted(assembly)
    return (
        str(math.prod(kernel.work_group_size or (0,))),
        "none" if loop is whole else str(len(loop.lines)),
        f"{loop.work:g}",
        f"{len(loop.lines) / loop.work:.3g}" if loop.work else "",
        str(loop.accesses),
        str(len(whole.lines)),
        str(counts.products),
        f"{counts.loads} + {counts.prefetches} + {counts.stores}",
        str(counts.spilled),
        str(kernel.local_memory),
        str(len(made.spirv)),
        seconds(cost.cpu),
        seconds(took),
    )


# --- values ---


def verdict(text: str, way: str, chip: str) -> str:
    """Whether the code of work-items computes what the kernel does."""
    for large, small in _SMALLER.items():
        text = text.replace(large, small)
    module = xtile.parse(text, language="tensorlang")
    try:
        port = translate_to(_begun(module, way, chip), "lane", Options(chip, compiler=XTILE))
    except DiagnosticError as error:
        return str(error).splitlines()[0].partition("error: ")[2]
    result = xtile.check(module, port, devices=())
    return f"{result.verdict.value} in {len(result.comparisons)} launches"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chip", default="pvc", choices=sorted(INTEL.chips))
    parser.add_argument("--only", help="only the kernel of this name")
    parser.add_argument("--values", action="store_true", help="compare values instead")
    arguments = parser.parse_args()
    rows: list[Sequence[str]] = []
    for name, text in KERNELS.items():
        if arguments.only not in (None, name):
            continue
        is_product = "gemm f16" in name or "gemm bf16" in name or "gemm i8" in name
        for way in WAYS if is_product and not arguments.values else WAYS[:2]:
            if arguments.values:
                row = (verdict(text, way, arguments.chip),)
            else:
                row = figures(text, way, arguments.chip)
            rows.append((f"{name}, {way}", *row))
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    headings = ("values",) if arguments.values else HEADINGS
    full = [(*row, *[""] * (len(headings) + 1 - len(row))) for row in rows]
    print_table(f"{conditions()}; {arguments.chip}", ("kernel, way", *headings), full)


if __name__ == "__main__":
    main()
