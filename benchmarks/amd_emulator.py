"""Whether machine code for AMD's GPUs computes what its kernel means, on an emulator.

    python benchmarks/amd_emulator.py --emulator DIRECTORY [--chip gfx942] [--only softmax]

DIRECTORY is an unpacked tinygrad, in which `test/mockgpu/amd` emulates CDNA3 one instruction after
another. It is not a dependency, and needs `clang` on the path:

    git clone https://github.com/tinygrad/tinygrad DIRECTORY && git -C DIRECTORY checkout a9069c17

The kernels are those of `kernels_through_triton.py`. Each is compiled twice, with xtile's own
layouts (`amdg`) and with Triton's (`ttir`), launched by xtile's own launches on a HIP in Python
that emulates, and compared with what that script expects. The emulator is at fault at times:
`amd_instructions.py` executes in its place what it is known to be wrong about, and compares each
opcode of the machine code with numpy, one instruction at a time. An opcode that agrees is cleared.
A kernel whose numbers are right and whose opcodes are all cleared is right.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from amd_instructions import (
    HEADER,
    Emulator,
    instructions_of,
    name_of,
    sections_of,
    text_at,
)
from amd_models import EXECUTED_HERE, model_vector, test_instructions
from kernels_through_triton import ROOT, Kernel, kernels
from measuring import conditions, print_table
from typing_extensions import override

import xtile
from tests.backends.amd.fake_hip import FakeHip, installed
from xtile.arguments.kernel import kernels_only
from xtile.backends.sidecar import write_machine_code
from xtile.backends.triton.compilation import compile_with_triton
from xtile.backends.triton.layouts import AMDG, TTIR, Options, Through
from xtile.text.diagnostics import DiagnosticError

ARCHITECTURES = {"gfx942": "cdna", "gfx1100": "rdna3"}
"""What the emulator calls a chip. It does not know the buffer operations of gfx1100."""

# --- loading ---

_SEGMENT = struct.Struct("<IIQQQQQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_LOADED, _SYMBOLS = 1, (2, 11)
_PAGE = 4096


def symbol_address(code: bytes, name: str) -> int:
    """Where a symbol of an ELF file lies when it is loaded at 0.

    Raises:
        ValueError: There is no such symbol.
    """
    sections = sections_of(code)
    for section in sections:
        if section.type not in _SYMBOLS:
            continue
        table = code[section.offset : section.offset + section.size]
        for symbol in _SYMBOL.iter_unpack(table):
            if text_at(code, sections[section.link].offset + symbol[0]) == name:
                return symbol[4]
    raise ValueError(f"the hsaco has no symbol {name}")


@dataclass
class Loaded:
    """A kernel in memory, as the driver places it.

    Attributes:
        entry: The address of its first instruction.
        float_modes: Bits 12 to 19 of COMPUTE_PGM_RSRC1.
        resources: COMPUTE_PGM_RSRC2.
        memory: What keeps the memory alive.
    """

    entry: int
    float_modes: int
    resources: int
    memory: Any


def load(code: bytes, name: str) -> Loaded:
    """Places the segments of an hsaco in memory.

    Source: LLVM 22, `AMDGPUUsage.rst`, "Kernel Descriptor".
    """
    _, _, _, _, _, start, _, _, _, _, count, *_ = HEADER.unpack_from(code)
    found = [_SEGMENT.unpack_from(code, start + i * _SEGMENT.size) for i in range(count)]
    segments = [each for each in found if each[0] == _LOADED]
    # The emulator reads a few bytes behind the last instruction.
    memory = ctypes.create_string_buffer(max(each[3] + each[6] for each in segments) + 2 * _PAGE)
    base = ctypes.addressof(memory)
    base += -base % _PAGE
    for _, _, offset, address, _, size, _, _ in segments:
        ctypes.memmove(base + address, code[offset : offset + size], size)
    descriptor = base + symbol_address(code, f"{name}.kd")
    (entry,) = struct.unpack("<q", ctypes.string_at(descriptor + 16, 8))
    modes, resources = struct.unpack("<II", ctypes.string_at(descriptor + 48, 8))
    return Loaded(descriptor + entry, modes >> 12 & 0xFF, resources, memory)


_SHARED_BITS, _SHARED_UNIT = 15, 512
"""Where GRANULATED_LDS_SIZE is in COMPUTE_PGM_RSRC2, which the driver fills in, and its unit."""

_KEEPS_DENORMALS = 3
"""FLOAT_DENORM_MODE_32, bits 4 and 5 of the float modes, where nothing is flushed to zero."""

_GUARD = 0xA5


@dataclass
class EmulatedHip(FakeHip):
    """HIP whose launches run on an emulator, and that sees what is written beside memory.

    Attributes:
        emulator: Runs machine code.
    """

    emulator: Emulator | None = None
    _sizes: dict[int, int] = field(default_factory=dict[int, int])

    @override
    def hipMalloc(self, pointer: Any, size: int) -> int:
        status = super().hipMalloc(pointer, size)
        address = pointer._obj.value
        memory = self.live[address]
        ctypes.memset(memory, _GUARD, len(memory))
        self._sizes[address] = size
        return status

    @override
    def hipModuleLaunchKernel(self, function: int, *rest: Any) -> int:
        status = super().hipModuleLaunchKernel(function, *rest)
        launch, (name, metadata) = self.launches[-1], self._functions[function]
        loaded = load(next(reversed(self._modules.values())), name)
        arguments = ctypes.create_string_buffer(_PAGE)
        address = ctypes.addressof(arguments)
        for slot, value in zip(metadata.slots, launch.values, strict=True):
            ctypes.memmove(address + slot.offset, value.to_bytes(slot.size, "little"), slot.size)
        shared = -(-max(launch.shared, metadata.shared) // _SHARED_UNIT)
        resources = loaded.resources & ~(0x1FF << _SHARED_BITS) | shared << _SHARED_BITS
        assert self.emulator is not None
        if loaded.float_modes >> 4 & 3 == _KEEPS_DENORMALS:
            self.emulator.module._MXCSRContext = nullcontext
        self.emulator.module.run_asm(
            *(loaded.entry, 0, *launch.grid, *launch.block, address, resources),
            *(metadata.private, self.emulator.architecture),
        )
        for start, size in self._sizes.items():
            self._check_guards(start, size)
        return status

    def _check_guards(self, address: int, size: int) -> None:
        if address not in self.live:
            return
        memory = self.live[address]
        begin = address - ctypes.addressof(memory)
        raw = bytes(memory)
        if set(raw[:begin]) | set(raw[begin + size :]) != {_GUARD}:
            raise ValueError(f"something was written beside {size} bytes of memory")


# --- one kernel, in a process of its own ---


def run(kernel: Kernel, path: Path, seed: int, emulator: Emulator) -> str:
    """What is wrong with a kernel after one launch; nothing if it is right."""
    architecture = "gfx942:sramecc+:xnack-" if emulator.architecture == "cdna" else "gfx1100"
    hip = EmulatedHip((architecture,), emulator=emulator)
    with pytest.MonkeyPatch.context() as monkeypatch, installed(monkeypatch, hip):
        launch = next(kernel.launches(seed))
        arguments = list(launch.arguments)
        xtile.run(path, arguments, launch.grid, "hip")
        return launch.check(arguments)


def _child(options: argparse.Namespace) -> dict[str, Any]:
    emulator = Emulator(options.emulator, ARCHITECTURES[options.chip], model_vector)
    if options.child == "instructions":
        return test_instructions(emulator, sorted(options.files.glob("*/*.hsaco")), options.seed)
    path = Path(options.child)
    kernel = next(each for each in kernels() if each.file == path.stem)
    used = sorted({name_of(each) for each in instructions_of(emulator, path.read_bytes())})
    try:
        wrong = run(kernel, path, options.seed, emulator)
    except RuntimeError as error:
        return {"opcodes": used, "cannot": " ".join(str(error).split())[:300]}
    except ValueError as error:
        wrong = " ".join(str(error).split())[:300]
    return {"opcodes": used, "wrong": wrong, "executed": sorted(emulator.executed)}


# --- all kernels ---


@dataclass(frozen=True)
class Verdict:
    """How a kernel did.

    Attributes:
        word: "right", "wrong", "uses uncleared opcodes" or "emulator cannot".
        detail: What is wrong, or what the emulator says.
        uncleared: Opcodes that it uses and that are not cleared.
        seconds: How long it took.
    """

    word: str
    detail: str
    uncleared: Sequence[str]
    seconds: float


def ask(options: argparse.Namespace, what: str, seconds: float) -> dict[str, Any]:
    """What a process of its own answers."""
    with tempfile.NamedTemporaryFile(suffix=".json") as answer:
        command = [sys.executable, __file__, "--child", what, "--answer", answer.name]
        for name in ("emulator", "chip", "seed", "files"):
            command += [f"--{name}", str(getattr(options, name))]
        try:
            done = subprocess.run(
                command, cwd=ROOT, timeout=seconds, check=False, capture_output=True, text=True
            )
        except subprocess.TimeoutExpired:
            return {"cannot": f"more than {seconds:g} s"}
        text = Path(answer.name).read_text(encoding="utf-8")
        if done.returncode or not text:
            last = [line for line in done.stderr.splitlines() if line.strip()][-1:]
            return {"cannot": f"exit code {done.returncode}: {''.join(last)[:300]}"}
        return json.loads(text)


def is_cleared(reason: str) -> bool:
    """Whether an opcode agrees with numpy, or is executed in the emulator's place."""
    return not reason or reason.startswith(EXECUTED_HERE)


def judge(answer: Mapping[str, Any], cleared: Mapping[str, str], seconds: float) -> Verdict:
    """The verdict on what a process found."""
    used = answer.get("executed") or answer.get("opcodes", ())
    uncleared = [name for name in used if not is_cleared(cleared.get(name, "not tested"))]
    if "cannot" in answer:
        return Verdict("emulator cannot", answer["cannot"], uncleared, seconds)
    wrong = answer["wrong"]
    if wrong:
        return Verdict("wrong", wrong, uncleared, seconds)
    word = "uses uncleared opcodes" if uncleared else "right"
    return Verdict(word, "numbers are right" if uncleared else "", uncleared, seconds)


def compile_kernels(options: argparse.Namespace) -> Iterator[tuple[Kernel, Through, Path | str]]:
    """Compiles every kernel; yields its machine code, or why there is none."""
    for kernel in kernels():
        if options.only not in kernel.file:
            continue
        for through in options.through:
            path = options.files / through / f"{kernel.file}.hsaco"
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                if not path.exists():
                    module = kernels_only(kernel.source(), kernel.entry)
                    how = Options(through=through)
                    made = compile_with_triton(
                        module, options.chip, options=how, launch_checks=True
                    )
                    write_machine_code(path, made)
                yield kernel, through, path
            except (DiagnosticError, RuntimeError, ValueError) as error:
                yield kernel, through, str(error).splitlines()[0]


_SHOWN = 4
"""The most opcodes that the table names for a kernel."""


def run_all(options: argparse.Namespace) -> bool:
    """Runs every kernel; returns whether no numbers are wrong."""
    compiled = list(compile_kernels(options))
    cleared = ask(options, "instructions", 3600)
    if "cannot" in cleared:
        print(f"no instruction was tested: {cleared.pop('cannot')}")
    print_opcodes(cleared)
    rows: list[list[str]] = []
    words: list[tuple[str, str]] = []
    for kernel, through, path in compiled:
        began = time.perf_counter()
        if isinstance(path, str):
            verdict = Verdict("not compiled", path, (), 0)
        else:
            answer = ask(options, str(path), options.seconds)
            verdict = judge(answer, cleared, time.perf_counter() - began)
        words.append((through, verdict.word))
        said = f"{verdict.word}: {verdict.detail}" if verdict.detail else verdict.word
        more = verdict.uncleared[_SHOWN:]
        names = [*verdict.uncleared[:_SHOWN], *([f"{len(more)} more"] if more else [])]
        rows.append([kernel.file, through, f"{verdict.seconds:.0f} s", ", ".join(names), said])
        print(" | ".join(rows[-1]), flush=True)
    title = f"{options.chip}: {conditions('triton')}; seed {options.seed}"
    print_table(title, ["kernel", "through", "time", "not cleared", "verdict"], rows)
    for pair in sorted(set(words)):
        count = sum(through == pair[0] for through, _ in words)
        print(f"{': '.join(pair)}: {words.count(pair)} of {count}")
    return all(word != "wrong" for _, word in words)


def print_opcodes(cleared: Mapping[str, str]) -> None:
    """Prints which opcodes are cleared, and why others are not."""
    agreed = [name for name, reason in cleared.items() if is_cleared(reason)]
    print(f"{len(agreed)} of {len(cleared)} opcodes are cleared: {', '.join(agreed)}")
    for name, reason in cleared.items():
        if reason:
            print(f"{name}: {reason}")


def main() -> int:
    """Does what the command line says; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--emulator", type=Path, required=True, help="the folder of tinygrad")
    parser.add_argument("--chip", choices=ARCHITECTURES, default="gfx942")
    parser.add_argument("--only", default="", help="only kernels whose names have this in them")
    parser.add_argument(
        "--through", choices=(AMDG, TTIR), nargs="+", default=(AMDG, TTIR), help="whose layouts"
    )
    parser.add_argument("--seconds", type=float, default=180, help="for each kernel (default: 180)")
    parser.add_argument("--seed", type=int, help="of inputs (default: another one each time)")
    parser.add_argument("--files", type=Path, help="keep the machine code here, and use what is")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--answer", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.seed = int(time.time()) if options.seed is None else options.seed
    if options.child is not None:
        options.answer.write_text(json.dumps(_child(options)), encoding="utf-8")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        options.files = options.files or Path(folder)
        return 0 if run_all(options) else 1


if __name__ == "__main__":
    sys.exit(main())
