"""The machine code of products on AMX: Intel's CPU runtime compiles it on any CPU."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from xtile.api import parse
from xtile.backends.intel.compilation import compile_program
from xtile.targets.intel import CPU_AMX
from xtile.targets.lanes import for_spirv

PRODUCT = """\
func @product(%A: memref<{inputs}x?x?>, %B: memref<{inputs}x?x?>, %C: memref<{sums}x128x64>) {{
    %one = constant {one} : {inputs}
    %zero = constant {zero} : {sums}
    gemm{flags} %one, %A, %B, %zero, %C
}}
"""

BUILD = """\
import sys
from pathlib import Path
import pyopencl as cl
from xtile.backends.intel.opencl.discovery import find_platforms

(device,) = [d for p in find_platforms() for d in p.get_devices() if "Intel" in p.vendor]
program = cl.Program(cl.Context([device]), Path(sys.argv[1]).read_bytes())
cl.Kernel(program.build(cache_dir=False), "product")
"""


def counts(inputs: str, sums: str, flags: str, directory: Path) -> Counter[str]:
    """How often each instruction on tiles stands in the machine code of a product."""
    one, zero = ("1", "0") if inputs == "i8" else ("1.0", "0.0")
    text = PRODUCT.format(inputs=inputs, sums=sums, flags=flags, one=one, zero=zero)
    program = compile_program(parse(text, language="tensorlang"), for_spirv(CPU_AMX))
    assert program.is_risky
    binary = directory / "product.spv"
    binary.write_bytes(program.spirv)
    environment = os.environ | {
        "CL_CONFIG_CPU_TARGET_ARCH": "sapphirerapids",
        "CL_CONFIG_DUMP_DISASSEMBLY": "True",
        "CL_CONFIG_DUMP_FILE_NAME_PREFIX": str(directory / "dump"),
    }
    command = [sys.executable, "-c", BUILD, str(binary)]
    subprocess.run(command, env=environment, check=True, timeout=120, capture_output=True)
    (code,) = directory.glob("dump*.asm")
    return Counter(re.findall(r"\t(td\w+|tileload\w+|tilestore\w+)\t", code.read_text()))


@pytest.mark.parametrize(
    ("inputs", "sums", "product"), [("bf16", "f32", "tdpbf16ps"), ("i8", "i32", "tdpbssd")]
)
@pytest.mark.parametrize("flags", [".n.n", ".t.t"])
def test_sums_stay_in_tile_registers(
    inputs: str, sums: str, product: str, flags: str, tmp_path: Path
) -> None:
    """Each factor is loaded once for two products; a register that is spilled is stored, too."""
    found = counts(inputs, sums, flags, tmp_path)
    assert found == {product: 4, "tileloadd": 4, "tilestored": 4}
