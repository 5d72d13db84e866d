"""Whether kernels of four languages compute on a GPU what they mean, through Triton's compiler.

    python benchmarks/kernels_through_triton.py --compile DIRECTORY [--chip sm_90]   with Triton
    python benchmarks/kernels_through_triton.py --compile DIRECTORY --by tileiras    with tileiras
    python benchmarks/kernels_through_triton.py --cubins DIRECTORY                   on a GPU

The text in Triton's `tt` that a kernel becomes is the same for GPUs of NVIDIA and of AMD, so what
is right on one of NVIDIA's speaks for the text that those of AMD get, too. The first command
compiles each kernel and needs no GPU; `--chip gfx942` makes hsacos, which an AMD GPU runs. The
second makes cubins of the same kernels as CUDA Tile IR. The last needs neither compiler nor
PyTorch: it launches the machine code with xtile's own sessions on fresh inputs, and compares with
numpy, or with what the kernel's source computes on the reference device, within the errors that
either may make (docs/porting.md, "What may differ").
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measuring import conditions, print_table
from xdsl.dialects.builtin import ModuleOp

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import xtile  # noqa: E402
from tests.generators.cuda_tile_kernels import BLOCKS, KernelWriter  # noqa: E402
from tests.generators.xegpu_kernels import COLUMNS, ROWS, XeGPUKernel  # noqa: E402
from xtile.arguments.copies import copied  # noqa: E402
from xtile.checking.launches import Given  # noqa: E402
from xtile.checking.trials import Trials  # noqa: E402
from xtile.text.diagnostics import DiagnosticError  # noqa: E402

SEED = 1
"""Of random kernels; that of inputs is another one each time, unless `--seed` says it."""

CUDA_TILE_KERNELS = 14
XEGPU_KERNELS = 12

TRITON_KERNELS = (
    *("adamw", "add_bf16", "atomic_floats", "attention", "attention_causal", "convolution"),
    *("cross_entropy", "histogram", "layer_norm", "layer_norm_backward", "matmul_bf16"),
    *("matmul_f16", "matmul_f32", "matmul_int8", "matmul_persistent", "matmul_split_k", "max_pool"),
    *("prefix_sums_2d", "quantize_rows", "rope", "selective_scan", "softmax", "sort_rows"),
    *("top_k", "transpose", "welford"),
)
"""Kernels of the corpus in tests/triton_kernels."""

TENSORLANG_KERNELS = (
    *("axpby", "batched_gemm", "batched_gemm:grouped_gemm", "fused_kernel", "gemm"),
    *("matrix_chain", "matrix_unit", "old_syntax:clamp", "old_syntax:views"),
    *("older_syntax:grouped_gemv", "reductions:row_sums", "reductions:column_sums"),
    *("reductions:sum_of_squares", "reductions:cumulative_sums", "tall_and_skinny"),
)
"""Files of examples, with the function where there are several."""

Check = Callable[[Sequence[Any]], str]
"""Compares arguments after a launch; returns what is wrong, or nothing."""


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel.

    Attributes:
        arguments: Fresh arguments.
        grid: The programs.
        check: Compares the arguments afterwards.
    """

    arguments: Sequence[Any]
    grid: Sequence[int]
    check: Check


@dataclass(frozen=True)
class Kernel:
    """A kernel with its launches.

    Attributes:
        language: What it is written in.
        name: What tables and files call it.
        source: Reads it; needed where it is compiled.
        launches: Makes launches of it, for a seed.
        entry: The function, if there are several.
    """

    language: str
    name: str
    source: Callable[[], Any]
    launches: Callable[[int], Iterator[Launch]]
    entry: str | None = None

    @property
    def file(self) -> str:
        """What files are called."""
        return f"{self.language}-{self.name}".replace(":", "-").replace(" ", "-")


def kernels() -> Iterator[Kernel]:
    """Every kernel."""
    yield from map(_of_tensorlang, TENSORLANG_KERNELS)
    yield from map(_of_cuda_tile, range(SEED, SEED + CUDA_TILE_KERNELS))
    yield from map(_of_xegpu, range(SEED, SEED + XEGPU_KERNELS))
    yield from map(_of_triton, TRITON_KERNELS)


def _of_tensorlang(name: str) -> Kernel:
    file, _, entry = name.partition(":")
    path = ROOT / "examples" / f"{file}.ir"
    function = entry or None
    first = "batched_gemm" if name == "batched_gemm" else function

    def launches(seed: int) -> Iterator[Launch]:
        for trial in Trials(path, first, Given({}, {}), seed):

            def check(found: Sequence[Any], trial: Any = trial) -> str:
                difference = trial.expectation.difference(found)
                return "" if difference is None or not difference.is_wrong else str(difference)

            yield Launch(copied(trial.arguments), trial.launch.grid, check)

    return Kernel("tensorlang", name, lambda: xtile.parse(path), launches, first)


def _compared(expected: Sequence[Any], tolerance: float, found: Sequence[Any]) -> str:
    for number, (a, b) in enumerate(zip(expected, found, strict=True)):
        if not isinstance(a, np.ndarray):
            continue
        # Signs of zeros and bits of NaN are nobody's promise.
        wide = [
            each.astype(np.float64) if each.dtype.kind not in "iub" else each for each in (a, b)
        ]
        if not np.allclose(wide[1], wide[0], rtol=tolerance, atol=tolerance, equal_nan=True):
            wrong = ~np.isclose(wide[1], wide[0], rtol=tolerance, atol=tolerance, equal_nan=True)
            position = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            return (
                f"argument {number}{list(map(int, position))} is {b[position]}, not {a[position]}"
            )
    return ""


def _on_reference(
    text: str, language: str, arguments: Sequence[Any], grid: Any, tolerance: float
) -> Launch:
    expected = copied(arguments)
    xtile.run(xtile.parse(text, language=language), expected, grid)  # pyright: ignore
    return Launch(arguments, grid, partial(_compared, expected, tolerance))


def _of_cuda_tile(number: int) -> Kernel:
    writer = KernelWriter(number)
    text = writer.text()

    def launches(seed: int) -> Iterator[Launch]:
        arguments = writer.arguments(np.random.default_rng(seed))
        # Their numbers are exact.
        yield _on_reference(text, "mlir", arguments, (BLOCKS,), 0.0)

    return Kernel(
        "cuda_tile", f"random {number}", lambda: xtile.parse(text, language="mlir"), launches
    )


def _of_xegpu(number: int) -> Kernel:
    kernel = XeGPUKernel(random.Random(number), is_of_work_group=True)
    text = kernel.text("known_block_size = array<i32: 64, 1, 1>")

    def launches(seed: int) -> Iterator[Launch]:
        numbers = np.random.default_rng(seed)
        shapes = (ROWS, COLUMNS), (ROWS * COLUMNS,)
        inputs = [numbers.standard_normal(shape).astype(np.float32) for shape in shapes]
        output = np.full((ROWS, COLUMNS), np.nan, np.float32)
        yield _on_reference(text, "mlir", [*inputs, output], (1,), 1e-6)

    return Kernel("xegpu", f"random {number}", lambda: xtile.parse(text, language="mlir"), launches)


def _of_triton(name: str) -> Kernel:
    from tests.triton_kernels.corpus import CASES

    def source() -> Any:
        """Raised to the core form and lowered again, as it is for another chip."""
        from tests.triton_releases.judges import NEWEST, compiled
        from xtile.translate.route import translate

        verdict = compiled(NEWEST, CASES[name]().source(), "gfx942", "ttir")
        if not verdict.accepted:
            raise RuntimeError(verdict.said)
        return translate(xtile.parse(verdict.text, language="ttir"), "triton-to-core")

    def launches(seed: int) -> Iterator[Launch]:
        case = CASES[name]()
        arguments = case.copied_arguments()
        ones = {name for name, each in arguments.items() if type(each) is int and each == 1}
        given = [each for name, each in arguments.items() if name not in ones]

        def check(found: Sequence[Any]) -> str:
            names = [name for name in arguments if name not in ones]
            try:
                case.check({**arguments, **dict(zip(names, found, strict=True))})
            except AssertionError as error:
                return " ".join(str(error).split())[:200]
            return ""

        yield Launch(given, case.grid, check)

    return Kernel("triton", name, source, launches)


# --- here ---


def compile_by_triton(module: ModuleOp, path: Path, chip: str) -> Path:
    """Writes the machine code of a kernel through Triton."""
    from xtile.backends.sidecar import write_machine_code
    from xtile.backends.triton.compilation import code_format, compile_with_triton

    path = path.with_name(path.name + code_format(chip).extension)
    write_machine_code(path, compile_with_triton(module, chip))
    return path


def compile_by_tileiras(module: ModuleOp, path: Path, chip: str) -> Path:
    """Writes the machine code of a kernel through CUDA Tile IR, with what launches check."""
    path = path.with_name(path.name + ".cubin")
    xtile.compile(module, path, chip=chip, launch_checks=True)
    return path


COMPILERS = {"tileiras": compile_by_tileiras, "triton": compile_by_triton}


def compile_all(directory: Path, chip: str, only: str, compiler: str) -> bool:
    """Compiles every kernel; returns whether all could be."""
    from xtile.arguments.kernel import kernels_only

    directory.mkdir(parents=True, exist_ok=True)
    failed: list[str] = []
    for number, kernel in enumerate(kernels(), 1):
        if only not in kernel.file:
            continue
        began = time.perf_counter()
        try:
            module = kernels_only(kernel.source(), kernel.entry)
            path = COMPILERS[compiler](module, directory / kernel.file, chip)
        except (DiagnosticError, RuntimeError, ValueError) as error:
            failed.append(kernel.file)
            print(f"{number:3} {kernel.file}: {str(error).splitlines()[0]}", flush=True)
            continue
        seconds = time.perf_counter() - began
        print(f"{number:3} {kernel.file}: {path.stat().st_size} bytes, {seconds:.1f} s", flush=True)
    print(f"not compiled: {', '.join(failed) or 'none'}")
    return not failed


# --- on a GPU ---


def run_all(directory: Path, seed: int, only: str, device: str | None) -> bool:
    """Runs every kernel that was compiled; returns whether all are right."""
    rows: list[list[str]] = []
    right: dict[str, list[bool]] = {}
    for kernel in kernels():
        found = [*directory.glob(f"{kernel.file}.cubin"), *directory.glob(f"{kernel.file}.hsaco")]
        if only not in kernel.file or not found:
            continue
        wrong, launches, gpu = _run(kernel, found[0], seed, device)
        right.setdefault(kernel.language, []).append(not wrong)
        rows.append([kernel.language, kernel.name, str(launches), gpu, wrong or "right"])
        print(" | ".join(rows[-1]), flush=True)
    title = f"{directory.name}: {conditions()}; seed {seed}"
    print_table(title, ["language", "kernel", "launches", "GPU", "verdict"], rows)
    for language, verdicts in right.items():
        print(f"{language}: {sum(verdicts)} of {len(verdicts)} are right")
    return bool(rows) and all(all(verdicts) for verdicts in right.values())


def _run(kernel: Kernel, path: Path, seed: int, device: str | None) -> tuple[str, int, str]:
    """What is wrong with a kernel, how often it was launched, and on which GPU."""
    name = device or ("hip" if path.suffix == ".hsaco" else "cuda")
    count, gpu = 0, ""
    try:
        for launch in kernel.launches(seed):
            arguments = list(launch.arguments)
            gpu = xtile.run(path, arguments, launch.grid, name).device
            count += 1
            wrong = launch.check(arguments)
            if wrong:
                return wrong, count, gpu
    except ValueError as error:
        return str(error).splitlines()[0], count, gpu
    return "" if count else "no launch was found", count, gpu


def main() -> int:
    """Does what the command line says; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--compile", type=Path, metavar="DIR", help="compile, and write files here")
    what.add_argument("--cubins", type=Path, metavar="DIR", help="run the files that are here")
    parser.add_argument("--chip", default="sm_90", help="what is compiled for (default: sm_90)")
    parser.add_argument("--by", choices=COMPILERS, default="triton", help="the compiler")
    parser.add_argument("--only", default="", help="only kernels whose names have this in them")
    parser.add_argument("--seed", type=int, help="of inputs (default: another one each time)")
    parser.add_argument("--device", help="as xtile.run calls it (default: the vendor's first GPU)")
    options = parser.parse_args()
    if options.compile is not None:
        is_done = compile_all(options.compile, options.chip, options.only, options.by)
        return 0 if is_done else 1
    seed = int(time.time()) if options.seed is None else options.seed
    return 0 if run_all(options.cubins, seed, options.only, options.device) else 1


if __name__ == "__main__":
    sys.exit(main())
