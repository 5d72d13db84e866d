"""Machine code of Triton's kernels for AMD's chips: xtile's layouts beside Triton's own.

    python benchmarks/amd_machine_code.py [--chip gfx942] [--only matmul_f16]
    python benchmarks/amd_machine_code.py --times [--chip gfx942] [--only matmul_f16]

Triton compiles each function of `amd_kernels.py` through all of its passes. xtile takes the text in
`tt` of the same compilation, gives it layouts, and Triton makes machine code of that as it stands.
Instructions of the whole kernel are counted, so that loops that were unrolled or peeled count more
than once: compare what there is for each instruction of the matrix unit. No GPU is needed.

`--times` tells how long that takes: xtile's own part in a process that has done it before, and
whole commands with empty caches, `xtile compile` from text to an hsaco and a program that calls
`triton.compile` with the function.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measuring import conditions, cost_of_call, cost_of_command, print_table, seconds

SECONDS = 300
"""Time that Triton has for a kernel."""

COMPILE = """
import json, sys
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

request = json.load(open("request.json"))
target = GPUTarget("hip", request["chip"], request["lanes"])
if "text" in request:
    open("kernel.ttgir", "w").write(request["text"])
    made = triton.compile("kernel.ttgir", target=target)
else:
    sys.path.insert(0, request["folder"])
    import amd_kernels
    import triton.language as tl

    function = getattr(amd_kernels, request["function"])
    constants = {
        name: getattr(tl, value) if isinstance(value, str) else value
        for name, value in request["constants"].items()
    }
    names = function.arg_names
    signature = {name: request["signature"].get(name, "constexpr") for name in names}
    backend = triton.compiler.make_backend(target)
    attributes = {
        (names.index(name),): backend.parse_attr("DS" if type_[0] == "*" else "D")
        for name, type_ in request["signature"].items()
        if type_ != "fp32"
    }
    source = ASTSource(function, signature, constants, attributes)
    made = triton.compile(source, target=target, options={"num_warps": request["warps"]})
keys = ("ttir", "ttgir", "amdgcn")
answer = {key: made.asm[key] for key in keys if key in made.asm}
json.dump({**answer, "shared": made.metadata.shared}, open("answer.json", "w"))
"""
"""What a process with Triton runs in a folder of its own."""


@dataclass(frozen=True)
class Kernel:
    """A function with what it is compiled for.

    Attributes:
        function: Its name in `amd_kernels`.
        signature: The types of its arguments, in Triton's words; 16 divides all but floats.
        constants: The values of its constants.
        warps: The warps of a program.
    """

    function: str
    signature: Mapping[str, str]
    constants: Mapping[str, Any]
    warps: int = 4


def _matmul(factor: str, result: str, total: str, block: int = 128) -> Kernel:
    pointers = {"a_ptr": f"*{factor}", "b_ptr": f"*{factor}", "c_ptr": f"*{result}"}
    numbers = ("M", "N", "K", "stride_am", "stride_bk", "stride_cm")
    sizes = {"BLOCK_M": block, "BLOCK_N": block, "BLOCK_K": 64}
    return Kernel("matmul", {**pointers, **dict.fromkeys(numbers, "i32")}, {**sizes, "SUM": total})


def _rows(function: str, pointers: str) -> Kernel:
    types = dict.fromkeys(pointers.split(), "*fp32")
    return Kernel(function, {**types, "columns": "i32", "stride": "i32"}, {"BLOCK": 4096})


KERNELS = {
    "matmul_f16": _matmul("fp16", "fp16", "float32"),
    "matmul_bf16": _matmul("bf16", "bf16", "float32"),
    "matmul_f32": _matmul("fp32", "fp32", "float32", 64),
    "matmul_i8": _matmul("i8", "i32", "int32"),
    "matmul_fp8_fnuz": _matmul("fp8e4b8", "fp16", "float32"),
    "matmul_fp8": _matmul("fp8e4nv", "fp16", "float32"),
    "attention": Kernel(
        "attention",
        {**dict.fromkeys(("q_ptr", "k_ptr", "v_ptr", "o_ptr"), "*fp16"), "length": "i32"}
        | {"scale": "fp32"},
        {"BLOCK": 64, "DEPTH": 64},
    ),
    "softmax": _rows("softmax", "x_ptr y_ptr"),
    "layer_norm": _rows("layer_norm", "x_ptr y_ptr w_ptr b_ptr"),
}


@dataclass
class Counts:
    """What is in machine code.

    Attributes:
        instructions: All instructions.
        kinds: How many there are of some kinds.
        registers: Vector registers of a lane, with those that only the matrix unit uses.
        spills: Vector registers that are kept in memory for want of room.
        shared: Bytes of local memory.
    """

    instructions: int
    kinds: Counter[str] = field(default_factory=Counter[str])
    registers: int = 0
    spills: int = 0
    shared: int = 0


_KINDS = {
    "matrix unit": r"v_(mfma|wmma|swmmac)_",
    "loads": r"(buffer|global|flat)_load",
    "stores": r"(buffer|global|flat)_store",
    "ds_read": r"ds_(read|load)",
    "ds_write": r"ds_(write|store)",
    "waits": r"s_wait",
    "barriers": r"s_barrier",
}


def counted(assembly: str, shared: int) -> Counts:
    """Counts the instructions of a kernel."""
    words = re.findall(r"^\t([vsdbgf]\w*_\w+)", assembly, re.MULTILINE)
    kinds = Counter({name: sum(bool(re.match(k, w)) for w in words) for name, k in _KINDS.items()})

    def note(name: str) -> int:
        found = re.search(rf"\.{name}:\s+(\d+)", assembly)
        return int(found[1]) if found else 0

    registers = note("vgpr_count")
    return Counts(len(words), kinds, registers, note("vgpr_spill_count"), shared)


def compiled(request: Mapping[str, Any]) -> dict[str, Any]:
    """Has Triton compile something in a process of its own.

    Raises:
        RuntimeError: It fails; the message ends with what it says.
    """
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "request.json").write_text(json.dumps(request))
        (Path(folder) / "compile.py").write_text(COMPILE)
        environment = {"PATH": "/usr/bin:/bin", "TRITON_CACHE_DIR": f"{folder}/cache"}
        ran = subprocess.run(
            [sys.executable, "compile.py"],
            cwd=folder,
            env={**environment, "TRITON_DEFAULT_FP_FUSION": "1", "HOME": folder},
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        answer = Path(folder) / "answer.json"
        if not answer.exists():
            raise RuntimeError(ran.stderr[-800:])
        return json.loads(answer.read_text())


def both(kernel: Kernel, chip: str) -> tuple[Counts, Counts]:
    """The machine code of a kernel by xtile's layouts and by Triton's own."""
    import xtile
    from xtile.targets import find_target
    from xtile.translate.route import Options, translate

    common = {"chip": chip, "lanes": find_target(chip).subgroup_size}
    theirs = compiled(_request_of(kernel, **common))
    module = xtile.parse(theirs["ttir"], language="ttir")
    made = translate(module, "triton-to-amdg", Options(chip, warps=kernel.warps))
    ours = compiled({**common, "text": xtile.to_text(made, "mlir")})
    return counted(ours["amdgcn"], ours["shared"]), counted(theirs["amdgcn"], theirs["shared"])


# --- how long it takes ---

REPEATS = 5

EXAMPLES = ("matrix_unit", "gemm", "flash_attention", "subgroup_gemm")
"""Kernels of the tensor language, which Triton has no function for."""


def _request_of(kernel: Kernel, chip: str, lanes: int) -> dict[str, Any]:
    return {
        "chip": chip,
        "lanes": lanes,
        "folder": str(Path(__file__).parent),
        "function": kernel.function,
        "signature": dict(kernel.signature),
        "constants": dict(kernel.constants),
        "warps": kernel.warps,
    }


def times_of(path: Path, chip: str, request: Mapping[str, Any] | None) -> list[str]:
    """xtile's own part of a compilation, a whole command, and one of Triton."""
    import xtile
    from xtile.backends.triton.compilation import compile_program

    own = cost_of_call(lambda: compile_program(xtile.parse(path), chip), REPEATS)
    with tempfile.TemporaryDirectory() as folder:
        caches = ["env", f"HOME={folder}", "XDG_CACHE_HOME="]
        made = f"{folder}/k.hsaco"
        xtile_ = [str(Path(sys.executable).with_name("xtile")), "compile", str(path)]
        fresh = ["sh", "-c", 'rm -rf "$0"/.cache "$0"/.triton; exec "$@"', folder, *caches]
        whole = cost_of_command([*fresh, *xtile_, "--chip", chip, "-o", made], REPEATS)
        row = [seconds(own.cpu), seconds(whole.wall), seconds(whole.cpu)]
        if request is None:
            return [*row, "", "", ""]
        (Path(folder) / "request.json").write_text(json.dumps(request))
        (Path(folder) / "compile.py").write_text(COMPILE)
        script = ["sh", "-c", 'cd "$0" && exec "$@"', folder]
        theirs = cost_of_command(
            [*fresh, "TRITON_DEFAULT_FP_FUSION=1", *script, sys.executable, "compile.py"], REPEATS
        )
    ratio = f"{whole.wall / theirs.wall:.2f}"
    return [*row, seconds(theirs.wall), seconds(theirs.cpu), ratio]


def print_times(chip: str, only: Sequence[str]) -> None:
    """Prints how long kernels take to become hsacos."""
    from xtile.targets import find_target

    lanes = find_target(chip).subgroup_size
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in only:
            request = _request_of(KERNELS[name], chip, lanes)
            path = Path(folder) / f"{name}.ttir"
            path.write_text(compiled(request)["ttir"])
            rows.append([name, *times_of(path, chip, request)])
        for name in EXAMPLES:
            path = Path(__file__).parents[1] / "examples" / f"{name}.ir"
            rows.append([f"examples/{name}.ir", *times_of(path, chip, None)])
    headings = ["kernel", "xtile's part, warm, CPU", "text to hsaco", "CPU"]
    headings += ["triton.compile", "CPU", "ratio of times"]
    print_table(f"{chip}, {conditions('triton')}", headings, rows)


def main() -> None:
    """Prints the table: xtile's figure, and Triton's behind a stroke."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chip", default="gfx942")
    parser.add_argument("--only", nargs="*", default=list(KERNELS))
    parser.add_argument("--times", action="store_true", help="how long it takes")
    arguments = parser.parse_args()
    if arguments.times:
        print_times(arguments.chip, arguments.only)
        return
    headings = ["kernel", *_KINDS, "instructions", "registers", "spills", "local memory"]
    rows: list[list[str]] = []
    for name in arguments.only:
        try:
            ours, theirs = both(KERNELS[name], arguments.chip)
        except RuntimeError as error:
            rows.append([name, str(error).strip().splitlines()[-1][:60]])
            continue
        pairs = [(ours.kinds[kind], theirs.kinds[kind]) for kind in _KINDS]
        for what in ("instructions", "registers", "spills", "shared"):
            pairs.append((getattr(ours, what), getattr(theirs, what)))
        rows.append([name, *(f"{a} / {b}" for a, b in pairs)])
    print_table(f"{arguments.chip}: xtile / Triton", headings, rows)


if __name__ == "__main__":
    main()
