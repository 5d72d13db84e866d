"""How reading and verifying text grows with its length, and the peak memory.

The text is tensor language, Triton's `ttg`, or CUDA Tile IR.

python benchmarks/reader.py
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cuda_tile_bytecode
from measuring import conditions, print_table, seconds

REPEATS = 3

LINE_COUNTS = {
    "ir": (1_000, 10_000, 100_000),
    "ttgir": (1_000, 2_000, 20_000),
    "mlir": (1_000, 2_000, 20_000),
}

FUNCTION = """\
; One of many kernels, of the instructions that real ones use most.
func @kernel_{i}(%alpha: f32, %A: group<memref<f32x{m}x{k}>x?>, %B: memref<f32x{k}x9x?>,
                 %C: memref<f32x{m}x9x?>) attributes {{subgroup_size=16}} {{
    %zero = constant 0.0 : f32
    %one = constant 1.0 : f32
    %c0 = constant 0 : index
    %c9 = constant 9 : index
    %g = group_id.x : index
    %a = load %A[%g] : memref<f32x{m}x{k}>
    %b = subview %B[0:{k},0:9,%g] : memref<f32x{k}x9>
    %c = subview %C[0:{m},0:9,%g] : memref<f32x{m}x9>
    %tmp = alloca : memref<f32x{m}x9,local>
    gemm.n.n %one, %a, %b, %zero, %tmp
    axpby.n %alpha, %tmp, %one, %c
    foreach (%i)=(%c0),(%c9) {{
        %sum = for %j=%c0,%c9 init(%s=%zero) -> (f32) {{
            %x = load %b[%j,%i] : f32
            %y = mul %x, %alpha : f32
            %next = add %s, %y : f32
            yield (%next)
        }}
        %is_large = greater_than %sum, %one : bool
        if %is_large {{
            store %sum, %c[%c0,%i]
        }}
    }}
}}

"""


TTGIR_LAYOUTS = """\
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
"""  # noqa: E501

TTGIR_FUNCTION = """\
  tt.func public @kernel_{i}(%p: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %q: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %n: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %stride = arith.constant dense<64> : tensor<64x1xi32, #blocked>
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %id = tt.get_program_id x : i32
    %r = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32, #ttg.slice<{{dim = 1, parent = #blocked}}>>
    %c = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32, #ttg.slice<{{dim = 0, parent = #blocked}}>>
    %rows = tt.expand_dims %r {{axis = 1 : i32}} : tensor<64xi32, #ttg.slice<{{dim = 1, parent = #blocked}}>> -> tensor<64x1xi32, #blocked>
    %columns = tt.expand_dims %c {{axis = 0 : i32}} : tensor<64xi32, #ttg.slice<{{dim = 0, parent = #blocked}}>> -> tensor<1x64xi32, #blocked>
    %scaled = arith.muli %rows, %stride : tensor<64x1xi32, #blocked>
    %a = tt.broadcast %scaled : tensor<64x1xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %b = tt.broadcast %columns : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %offsets = arith.addi %a, %b : tensor<64x64xi32, #blocked>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>)  : i32 {{
      %shift = tt.splat %k : i32 -> tensor<64x64xi32, #blocked>
      %at = arith.addi %offsets, %shift : tensor<64x64xi32, #blocked>
      %x = amdg.buffer_load %p[%at] {{contiguity = 4 : i32}} : !tt.ptr<f16> -> tensor<64x64xf16, #blocked>
      %left = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #ttg.dot_op<{{opIdx = 0, parent = #mma, kWidth = 4}}>>
      %right = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #ttg.dot_op<{{opIdx = 1, parent = #mma, kWidth = 4}}>>
      %next = tt.dot %left, %right, %acc : tensor<64x64xf16, #ttg.dot_op<{{opIdx = 0, parent = #mma, kWidth = 4}}>> * tensor<64x64xf16, #ttg.dot_op<{{opIdx = 1, parent = #mma, kWidth = 4}}>> -> tensor<64x64xf32, #mma>
      scf.yield %next : tensor<64x64xf32, #mma>
    }}
    %result = ttg.convert_layout %sum : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #blocked>
    amdg.buffer_store %result, %q[%offsets] {{contiguity = 4 : i32}} : !tt.ptr<f32> -> tensor<64x64xf32, #blocked>
    tt.return
  }}
"""  # noqa: E501


def generate(lines: int, ending: str) -> str:
    """Text of about `lines` lines."""
    if ending == "mlir":
        return cuda_tile_bytecode.text(-(-lines // cuda_tile_bytecode.BODY.count("\n")))
    if ending == "ttgir":
        count = -(-lines // TTGIR_FUNCTION.count("\n"))
        functions = "".join(TTGIR_FUNCTION.format(i=i) for i in range(count))
        return f"{TTGIR_LAYOUTS}{functions}}}\n"
    count = -(-lines // FUNCTION.count("\n"))
    return "".join(
        FUNCTION.format(i=i, m=(20, 35, 56)[i % 3], k=(9, 10, 20)[i % 3]) for i in range(count)
    )


def measure(path: str) -> None:
    """Runs in a process of its own: reads and verifies once, and prints the costs."""
    from xtile.api import parse, verify

    started = time.process_time()
    module = parse(Path(path), check=False)
    was_read = time.process_time()
    verify(module)
    was_verified = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    operations = sum(1 for _ in module.walk())
    costs = [was_read - started, was_verified - was_read, peak / 1024, operations]
    print(json.dumps(costs))


def measured_row(directory: Path, lines: int, ending: str) -> list[str]:
    """Medians of several processes."""
    text = generate(lines, ending)
    path = directory / f"lines_{lines}.{ending}"
    path.write_text(text)
    runs: list[list[float]] = []
    for _ in range(REPEATS):
        command = [sys.executable, __file__, str(path)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        runs.append(json.loads(output))
    read, verified, peak, operations = (statistics.median(x) for x in zip(*runs, strict=True))
    count = text.count("\n")
    return [
        f"{count} lines, {operations:.0f} operations",
        seconds(read),
        seconds(verified),
        seconds(read + verified),
        f"{1e6 * (read + verified) / count:.0f} us",
        f"{operations / (read + verified):,.0f}",
        f"{peak:.0f} MiB",
    ]


def main() -> None:
    """Measures and prints."""
    with tempfile.TemporaryDirectory() as directory:
        for ending, counts in LINE_COUNTS.items():
            rows = [measured_row(Path(directory), lines, ending) for lines in counts]
            headings = [
                "text",
                "read",
                "verify",
                "both",
                "per line",
                "operations a second",
                "peak memory",
            ]
            print_table(f"reading .{ending} text, median of {REPEATS}", headings, rows)
    print(conditions())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1])
    else:
        main()
