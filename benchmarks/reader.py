"""How reading and verifying .ir text grows with its length, and the peak memory.

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

from measuring import conditions, print_table, seconds

REPEATS = 3

LINE_COUNTS = (1_000, 10_000, 100_000)

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


def generate(lines: int) -> str:
    """Text of about `lines` lines."""
    count = -(-lines // FUNCTION.count("\n"))
    return "".join(
        FUNCTION.format(i=i, m=(20, 35, 56)[i % 3], k=(9, 10, 20)[i % 3]) for i in range(count)
    )


def measure(path: str) -> None:
    """Runs in a process of its own: reads and verifies once, and prints the costs."""
    from xtile.api import parse, verify

    started = time.perf_counter()
    module = parse(Path(path), check=False)
    was_read = time.perf_counter()
    verify(module)
    was_verified = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    operations = sum(1 for _ in module.walk())
    costs = [was_read - started, was_verified - was_read, peak / 1024, operations]
    print(json.dumps(costs))


def measured_row(directory: Path, lines: int) -> list[str]:
    """Medians of several processes."""
    text = generate(lines)
    path = directory / f"lines_{lines}.ir"
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
        f"{peak:.0f} MiB",
    ]


def main() -> None:
    """Measures and prints."""
    with tempfile.TemporaryDirectory() as directory:
        rows = [measured_row(Path(directory), lines) for lines in LINE_COUNTS]
    headings = ["text", "read", "verify", "both", "per line", "peak memory"]
    print_table(f"reading .ir text, median of {REPEATS}", headings, rows)
    print(conditions())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1])
    else:
        main()
