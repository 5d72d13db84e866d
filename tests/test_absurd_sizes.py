"""Sizes that no device has are errors at their place, found before anything of the size is made."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

_MEMORY = 6 << 30
"""Bytes of address space that a command may have."""


def run(tmp_path: Path, command: list[str], name: str, text: str) -> tuple[int, str]:
    """The exit code of a command on a kernel, and the message of its first line."""
    kernel = tmp_path / name
    kernel.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", *[str(kernel) if part == "KERNEL" else part for part in command]],
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY)),
        check=False,
    )
    lines = done.stderr.splitlines()
    return done.returncode, lines[0].partition(": error: ")[2] if lines else ""


OPT = ["xtile.opt", "KERNEL"]

BARRIER = """
func @f(%A: memref<f32x64x64>) attributes{{{sizes}}} {{
    parallel {{
      %id = subgroup_linear_id : i32
      %c = constant 4 : i32
      %less = less_than %id, %c : bool
      if %less {{
        barrier.global
      }}
    }}
}}
"""


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("work_group_size=[4294967296,1]", "a work-group has 4294967296 work-items"),
        ("work_group_size=[4294967296,1],subgroup_size=16", "a work-group has 4294967296 work-it"),
        ("subgroup_size=1073741824", "a subgroup has 1073741824 work-items"),
    ],
)
def test_work_groups(tmp_path: Path, sizes: str, message: str) -> None:
    code, said = run(tmp_path, OPT, "k.ir", BARRIER.format(sizes=sizes))
    assert code == 1
    assert said.startswith(message)
    assert said.endswith("but no device allows more than 8192")


LOCAL = """
func @f(%A: memref<f32x64x64>) {
    %a = alloca : memref<f32x100000x100000x100,local>
}
"""

MATRIX = """
func @f(%A: memref<f32x64x64>) {{
    parallel {{
      %zero = constant 0 : index
      %x = constant 1.0 : coopmatrix<f32x{0}x{1},matrix_acc>
      cooperative_matrix_store.both_checked %x, %A[%zero,%zero]
    }}
}}
"""

VECTOR = """
gpu.module @m { gpu.func @k(%a: memref<4xf32>) kernel {
  %c0 = arith.constant 0 : index
  %s = memref.load %a[%c0] : memref<4xf32>
  %v = vector.broadcast %s : f32 to vector<100000x100000xf32>
  %w = arith.addf %v, %v : vector<100000x100000xf32>
  %e = vector.extract %w[3, 4] : f32 from vector<100000x100000xf32>
  memref.store %e, %a[%c0] : memref<4xf32>
  gpu.return
} }
"""

MEMORY = """
gpu.module @m { gpu.func @k(%a: memref<4xf32>) kernel {
  %c0 = arith.constant 0 : index
  %m = memref.alloca() : memref<100000x100000x100000xf32>
  %s = memref.load %m[%c0, %c0, %c0] : memref<100000x100000x100000xf32>
  memref.store %s, %a[%c0] : memref<4xf32>
  gpu.return
} }
"""

BLOCK = """
gpu.module @m { gpu.func @k(%a: memref<4xf32>) kernel
    attributes {known_block_size = array<i32: 2147483647, 1024, 1>} {
  gpu.return
} }
"""

SPIRV = [*OPT, "--chip", "bmg", "-t", "spirv-asm"]
RUN = ["xtile.cli", "run", "KERNEL", "--arg", "a=zeros:4"]


@pytest.mark.parametrize(
    ("command", "name", "text", "message"),
    [
        (OPT, "k.ir", LOCAL, "memref<f32x100000x100000x100,local> has 4000000000000 bytes, but no"),
        (OPT, "k.ir", MATRIX.format(1048576, 16384), "a coopmatrix has at most 16777216 componen"),
        (
            [*OPT, "--translate", "tensorlang-to-xegpu"],
            "k.ir",
            MATRIX.format(4096, 4096),
            "a subgroup cannot hold a matrix of 4096 x 4096: its 16 lanes take at most 131072",
        ),
        (SPIRV, "k.mlir", VECTOR, "a work-item cannot hold a vector of 10000000000 elements"),
        (RUN, "k.mlir", VECTOR, "a value of 10000000000 elements is too large to be computed with"),
        (SPIRV, "k.mlir", MEMORY, "a work-item cannot have 4000000000000000 bytes of private mem"),
        (RUN, "k.mlir", MEMORY, "this needs more memory than there is"),
        (SPIRV, "k.mlir", BLOCK, "a work-group has 2199023254528 work-items, but bmg allows 1024"),
        (RUN, "k.mlir", BLOCK, "2199023254528 work-items are too many for a work-group"),
    ],
)
def test_memory_and_values(
    tmp_path: Path, command: list[str], name: str, text: str, message: str
) -> None:
    code, said = run(tmp_path, command, name, text)
    assert code == 1
    assert said.startswith(message)


def test_more_workers_than_a_machine_can_use(tmp_path: Path) -> None:
    code, said = run(
        tmp_path,
        [*RUN, "--quiet", "--workers", "900000000", "--grid", "3"],
        "k.mlir",
        BLOCK.replace("2147483647, 1024", "1, 1"),
    )
    assert (code, said) == (0, "")
