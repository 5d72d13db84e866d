"""An emulator of AMD's GPUs, corrected, and each of its instructions compared with numpy.

The emulator is tinygrad's `test/mockgpu/amd` at commit a9069c17. What it does wrong, and this file
does in its place:

- DPP: `row_bcast` reads other lanes, an instruction that overwrites what it reads takes lanes that
  it has already written, and lanes that are masked are written.
- `v_mfma`: the rows of 32x32 products, xf32, the fp8 of gfx942, and products of integers.
- MUBUF: bytes and halves are accessed as words; atomics, and what writes back caches, run as loads.
- GLOBAL: atomics return nothing, and those of two halves fail.
- `ds_bpermute`: one that overwrites what it reads takes lanes that it has already written.
- VOP1, VOP2 and VOPC of 16 bits: from v128 on, registers are taken for upper halves of others.
- SDWA: products of 16 bits have 32.

Source: AMD, "Instinct MI300 Instruction Set Architecture", sections "DPP", "Matrix Arithmetic
Instructions" and "Untyped Memory Buffer Instructions"; for where elements lie, AMD's
`amd_matrix_instruction_calculator`.
"""

from __future__ import annotations

import ctypes
import importlib
import re
import struct
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

EXECUTION_MASK, CARRY, CONDITION = 126, 106, 253
"""Numbers of scalar registers: EXEC, VCC, SCC."""

NO_REGISTER = 124
"""The first number that names no scalar register as an address."""

COUNTER = 256
"""Where the emulator keeps the program counter among scalar registers."""

SCALARS, VECTORS = 260, 256
"""How many registers a wave has in the emulator."""

SHARED_BYTES = 65536


@dataclass
class State:
    """The registers of a wave, and what they may address.

    Attributes:
        lanes: The lanes of the wave.
        scalars: Its scalar registers.
        vectors: Its vector registers, and their lanes.
        accumulators: Those for the matrix unit.
        shared: The words of shared memory.
        arena: Memory that a test may access.
        arena_address: Where that begins.
    """

    lanes: int
    scalars: Array
    vectors: Array
    accumulators: Array
    shared: Array | None = None
    arena: Array | None = None
    arena_address: int = 0

    def copy(self) -> State:
        """A state of its own."""
        return State(
            self.lanes,
            self.scalars.copy(),
            self.vectors.copy(),
            self.accumulators.copy(),
            None if self.shared is None else self.shared.copy(),
            None if self.arena is None else self.arena.copy(),
            self.arena_address,
        )

    def mask(self, register: int) -> Array:
        """A mask of lanes, as booleans."""
        value = int(self.scalars[register])
        if self.lanes > 32:
            value |= int(self.scalars[register + 1]) << 32
        return np.array([value >> lane & 1 for lane in range(self.lanes)], bool)

    def set_mask(self, register: int, mask: Array) -> None:
        """Writes a mask of lanes."""
        value = sum(1 << lane for lane in range(self.lanes) if mask[lane])
        self.scalars[register] = value & 0xFFFFFFFF
        if self.lanes > 32:
            self.scalars[register + 1] = value >> 32

    def advance(self, size: int) -> None:
        """Goes to the next instruction."""
        self.jump(self.counter + size)

    def jump(self, address: int) -> None:
        """Goes to an instruction."""
        self.scalars[COUNTER : COUNTER + 2] = address & 0xFFFFFFFF, address >> 32

    @property
    def counter(self) -> int:
        """The address of the instruction."""
        return int(self.scalars[COUNTER]) | int(self.scalars[COUNTER + 1]) << 32

    def read_memory(self, address: int, size: int) -> bytes:
        """Bytes of memory: of the arena, if a test has one."""
        if self.arena is None:
            return ctypes.string_at(address, size)
        begin = address - self.arena_address
        if not 0 <= begin <= len(self.arena) - size:
            raise NotImplementedError("memory outside of the arena")
        return self.arena[begin : begin + size].tobytes()

    def write_memory(self, address: int, data: bytes) -> None:
        """Changes bytes of memory: of the arena, if a test has one."""
        if self.arena is None:
            ctypes.memmove(address, data, len(data))
            return
        begin = address - self.arena_address
        if not 0 <= begin <= len(self.arena) - len(data):
            raise NotImplementedError("memory outside of the arena")
        self.arena[begin : begin + len(data)] = np.frombuffer(data, np.uint8)

    def write(
        self, register: int, values: Array, mask: Array, *, accumulates: bool = False
    ) -> None:
        """Writes the lanes of a vector register that a mask has."""
        into = self.accumulators if accumulates else self.vectors
        into[register, mask] = values[mask]


def _words(address: int, count: int) -> Array:
    return np.ctypeslib.as_array((ctypes.c_uint32 * count).from_address(address))


def state_at(buffers: Sequence[Any], lanes: int) -> State:
    """The registers that the emulator passes to an instruction."""
    scalars, vectors, _, _, _, accumulators = (each.value for each in buffers)
    shape = (VECTORS, lanes)
    return State(
        lanes,
        _words(scalars, SCALARS),
        _words(vectors, VECTORS * lanes).reshape(shape),
        _words(accumulators, VECTORS * lanes).reshape(shape),
    )


def raw(instruction: Any, name: str, otherwise: int = 0) -> int:
    """The bits of a field of an instruction."""
    found = getattr(instruction.__class__, name, None)
    if found is None or not hasattr(found, "lo"):
        return otherwise
    return instruction._raw >> found.lo & (1 << (found.hi - found.lo + 1)) - 1


def operation(instruction: Any) -> str:
    """The name of an instruction without its encoding, in lower case."""
    if hasattr(instruction, "opx"):
        return f"{instruction.opx.name} {instruction.opy.name}".lower()
    return re.sub(r"_e(32|64)$", "", instruction.op.name.lower())


def name_of(instruction: Any) -> str:
    """The name of an instruction, with what is special about its encoding."""
    kind = instruction.__class__.__name__
    suffix = "_dpp" if "DPP" in kind else "_sdwa" if "SDWA" in kind else ""
    return operation(instruction) + suffix


Execution = Callable[[Any, State], None]
"""What executes an instruction."""

# --- the emulator ---


class Emulator:
    """The emulator, corrected.

    Attributes:
        module: Its Python module.
        architecture: What it calls the chip, "cdna" or "rdna3".
        lanes: The lanes of a wave.
        executed: The names of the instructions that have run.
    """

    def __init__(self, folder: Path, architecture: str, halves: Execution) -> None:
        """Loads the emulator of a folder.

        Args:
            folder: What tinygrad is in.
            architecture: What the emulator calls the chip.
            halves: Executes what works on 16 bits of a register from v128 on.
        """
        # Tests of the folder have the name of a package of Python.
        sys.path.insert(0, str(folder.resolve()))
        self.module: Any = importlib.import_module("test.mockgpu.amd.emu")
        self.helpers: Any = importlib.import_module("test.amd.helpers")
        del sys.path[0]
        self.architecture = architecture
        self.lanes = 64 if architecture == "cdna" else 32
        self.executed: set[str] = set()
        self._halves = halves
        self.original: Callable[..., tuple[Any, Any]] = self.module._get_runner
        self.module._get_runner = self.runner
        self.module._load_dpp16_src0 = self._moved_operand

    def decode(self, code: bytes) -> Any:
        """The instruction that some bytes begin with."""
        return self.module.decode_inst(code, self.architecture)

    def runner(self, code: bytes, architecture: str) -> tuple[Any, Any]:
        """What executes an instruction: the numbers of its buffers, and a function."""
        instruction = self.decode(code)
        self.executed.add(name_of(instruction))
        own = own_execution(instruction)
        if self.architecture == "cdna" and has_high_half(instruction):
            own = self._halves
        if own is not None:

            def execute(*buffers: Any) -> None:
                own(instruction, state_at(buffers, self.lanes))

            return _program(execute)
        program, runtime = self.original(code, architecture)
        if name_of(instruction) == "v_mul_lo_u16_sdwa":
            return _program(self._halving(instruction, program.arg.globals, runtime.fxn))
        if "DPP" in instruction.__class__.__name__:
            return _program(self._moving(instruction, program.arg.globals, runtime.fxn))
        return program, runtime

    def _halving(self, instruction: Any, numbers: Sequence[int], function: Any) -> Any:
        """Clears the upper halves of the results of an instruction."""

        def execute(*buffers: Any) -> None:
            function(*(buffers[number] for number in numbers))
            state = state_at(buffers, self.lanes)
            if raw(instruction, "dst_sel") == _WHOLE_WORD:
                register = raw(instruction, "vdst")
                state.write(register, state.vectors[register] & 0xFFFF, state.mask(EXECUTION_MASK))

        return execute

    # --- data that moves between lanes ---

    def _moved_operand(self, context: Any, instruction: Any, lane: Any, fallback: Any) -> Any:
        moved = self.module.UOp.param(_MOVED, self.module.dtypes.uint32, (self.lanes,))
        return moved.index(lane.cast(self.module.dtypes.int)).load()

    def _moving(
        self, instruction: Any, numbers: Sequence[int], function: Any
    ) -> Callable[..., None]:
        moved = np.zeros(self.lanes, np.uint32)
        pointer = ctypes.c_uint64(moved.ctypes.data)

        def execute(*buffers: Any) -> None:
            state = state_at(buffers, self.lanes)
            before = state.mask(EXECUTION_MASK)
            values, active = moved_lanes(
                state.vectors[raw(instruction, "vsrc0")],
                before,
                raw(instruction, "dpp"),
                raw(instruction, "row_mask", 15),
                raw(instruction, "bank_mask", 15),
                bool(raw(instruction, "bc")),
            )
            moved[:] = values
            state.set_mask(EXECUTION_MASK, active)
            function(*(pointer if number == _MOVED else buffers[number] for number in numbers))
            state.set_mask(EXECUTION_MASK, before)

        return execute


_WHOLE_WORD = 6
"""DST_SEL of a result that is neither a byte nor a half."""

_MOVED = 6
"""The number of the buffer with a moved operand; the emulator has 0 to 5."""


def _program(execute: Callable[..., None]) -> tuple[Any, Any]:
    return SimpleNamespace(arg=SimpleNamespace(globals=range(6))), SimpleNamespace(fxn=execute)


def moved_lanes(
    values: Array, active: Array, control: int, rows: int, banks: int, zeroes: bool
) -> tuple[Array, Array]:
    """What lanes read by DPP, and which of them are written.

    Args:
        values: The register.
        active: The lanes that are active.
        control: DPP_CTRL.
        rows: ROW_MASK.
        banks: BANK_MASK.
        zeroes: BOUND_CTRL: whether lanes that read no lane get 0, and not remain as they are.
    """
    lane = np.arange(len(values))
    within, source = lane & 15, _sources(lane, control)
    is_valid = (source >= 0) & active[source]
    found = np.where(is_valid, values[source], 0).astype(np.uint32)
    enabled = (rows >> lane // 16 & 1) & (banks >> within // 4 & 1)
    return found, active & enabled.astype(bool) & (is_valid | zeroes)


def _sources(lane: Array, control: int) -> Array:
    """The lane that each lane reads by DPP_CTRL, or -1."""
    row, within, amount = lane & ~15, lane & 15, control & 15
    if control < 0x100:
        quad = np.array([control >> 2 * each & 3 for each in range(4)])
        return (lane & ~3) + quad[lane & 3]
    kinds = {
        0x10: np.where(within + amount < 16, lane + amount, -1),
        0x11: np.where(within >= amount, lane - amount, -1),
        0x12: row + (within - amount & 15),
        0x15: row + amount,
        0x16: row + (within ^ amount),
    }
    exact = {
        0x140: row + 15 - within,
        0x141: row + (within ^ 7),
        0x142: row - 1,
        0x143: np.where(lane >= 32, 31, -1),
    }
    found = exact.get(control, kinds.get(control >> 4))
    if found is None:
        raise NotImplementedError(f"DPP_CTRL {control:#x}")
    return found


# --- instructions that are executed here ---


def has_high_half(instruction: Any) -> bool:
    """Whether the emulator takes a register from v128 on for the upper half of another one.

    It does so where RDNA3 does, but CDNA3 has no such registers.
    """
    kind = instruction.__class__.__name__
    if not kind.startswith(("VOP1", "VOP2", "VOPC")) or "16" not in operation(instruction):
        return False
    vectors = [raw(instruction, name) for name in ("vdst", "vsrc0", "vsrc1")]
    return max(vectors) >= 128 or raw(instruction, "src0") >= 256 + 128


def own_execution(instruction: Any) -> Execution | None:
    """What executes an instruction in the emulator's place; None where it does."""
    name = operation(instruction)
    if name.startswith("v_mfma"):
        return multiply
    if name == "ds_bpermute_b32":
        return permute
    if name.startswith("global_atomic"):
        return access_global
    if name.startswith("buffer_") and not re.fullmatch(r"buffer_\w+_dword(x2|x4)?", name):
        return skip if name in ("buffer_wbl2", "buffer_inv") else access_buffer
    return None


def skip(instruction: Any, state: State) -> None:
    """Writes back or invalidates caches, of which there are none."""
    state.advance(instruction.size())


def permute(instruction: Any, state: State) -> None:
    """Lets each lane read the register of another."""
    offset = raw(instruction, "offset1") << 8 | raw(instruction, "offset0")
    addresses = state.vectors[raw(instruction, "addr")].astype(np.int64)
    lanes, mask = (addresses + offset) // 4 % state.lanes, state.mask(EXECUTION_MASK)
    found = np.where(mask[lanes], state.vectors[raw(instruction, "data0")][lanes], 0)
    state.write(raw(instruction, "vdst"), found.astype(np.uint32), mask)
    state.advance(instruction.size())


_PRODUCT = re.compile(r"v_mfma_(f32|i32|f64)_(\d+)x(\d+)x(\d+)(?:_(\d+)b)?_(\w+)")


def multiply(instruction: Any, state: State) -> None:
    """A product of the matrix unit: D = A B + C, summed in 64 bits and rounded once."""
    found = _PRODUCT.fullmatch(operation(instruction))
    if found is None or raw(instruction, "cbsz") or raw(instruction, "blgp"):
        raise NotImplementedError(operation(instruction))
    result, (rows, columns, depth) = found[1], map(int, found.group(2, 3, 4))
    types = found[6].split("_")
    blocks = 64 // rows if rows == 4 else 1
    a = _factor(instruction, state, "src0", types[0], rows, depth, blocks, 0)
    b = _factor(instruction, state, "src1", types[-1], columns, depth, blocks, 1)
    total = np.einsum("xik,xjk->xij", a, b)
    words = 2 if result == "f64" else 1
    accumulates, target = bool(raw(instruction, "acc_cd")), raw(instruction, "vdst")
    element = {"f32": np.float32, "i32": np.int32, "f64": np.float64}[result]
    block, row, column = _places(rows, columns, result, blocks)
    start = _summand(instruction, state, element, len(row), words)
    sums = start.astype(total.dtype) + total[block, row, column]
    written = np.ascontiguousarray(sums.astype(element)).view(np.uint32)
    written = written.reshape(len(row), 64, words)
    everywhere = np.ones(64, bool)
    for number in range(len(row)):
        for word in range(words):
            register = target + number * words + word
            state.write(register, written[number, :, word], everywhere, accumulates=accumulates)
    state.advance(instruction.size())


def _places(rows: int, columns: int, result: str, blocks: int) -> tuple[Array, Array, Array]:
    """The block, row and column of each register and lane of a result."""
    lane = np.arange(64)[None, :]
    number = np.arange(rows * columns * blocks // 64)[:, None]
    group = lane // columns
    if blocks > 1:
        return group + 0 * number, number + 0 * lane, lane % columns + 0 * number
    if rows == 32:
        row = 8 * (number // 4) + 4 * group + number % 4
    else:
        row = 4 * number + group if result == "f64" else 4 * group + number
    return 0 * row, row, lane % columns + 0 * number


def _summand(instruction: Any, state: State, element: Any, count: int, words: int) -> Array:
    offset = raw(instruction, "src2")
    if offset < 256:
        value = scalar_operand(state, instruction, offset, "f64" if words == 2 else "f32")
        kind = np.uint64 if words == 2 else np.uint32
        return np.full((count, 64), value, kind).view(element)
    file = state.accumulators if raw(instruction, "acc_cd") else state.vectors
    registers = file[offset - 256 : offset - 256 + count * words]
    together = registers.reshape(count, words, 64).transpose(0, 2, 1)
    return np.ascontiguousarray(together).view(element)[..., 0]


def _factor(
    instruction: Any,
    state: State,
    name: str,
    type: str,
    size: int,
    depth: int,
    blocks: int,
    number: int,
) -> Array:
    """A factor as [block, row or column, depth]."""
    groups = 64 // size // blocks
    each = depth // groups
    bits = {"f64": 64, "f32": 32, "xf32": 32, "i8": 8, "fp8": 8, "bf8": 8}.get(type, 16)
    words = max(each * bits // 32, 1)
    offset = raw(instruction, name)
    if offset < 256:
        raise NotImplementedError("a factor that is no vector")
    file = state.accumulators if raw(instruction, "acc") >> number & 1 else state.vectors
    registers = np.ascontiguousarray(file[offset - 256 : offset - 256 + words].T)
    values = elements(registers, type)[:, :each]
    # Lanes of a group follow each other; groups have consecutive depths.
    split = values.reshape(blocks, groups, size, each)
    return split.transpose(0, 2, 1, 3).reshape(blocks, size, depth)


def elements(registers: Array, type: str) -> Array:
    """The values of packed elements, in 64 bits."""
    if type == "f64":
        return registers.view(np.float64)
    if type == "i8":
        return registers.view(np.int8).astype(np.int64)
    if type == "xf32":
        # Rounded to 10 bits of mantissa.
        rounded = registers + 0xFFF + (registers >> 13 & 1) & ~np.uint32(0x1FFF)
        return rounded.astype(np.uint32).view(np.float32).astype(np.float64)
    if type == "f32":
        return registers.view(np.float32).astype(np.float64)
    if type == "f16":
        return registers.view(np.float16).astype(np.float64)
    if type == "bf16":
        wide = registers.view(np.uint16).astype(np.uint32) << 16
        return wide.view(np.float32).astype(np.float64)
    if type in ("fp8", "bf8"):
        return _small_floats(registers.view(np.uint8), 3 if type == "fp8" else 2)
    raise NotImplementedError(type)


def _small_floats(bits: Array, mantissa: int) -> Array:
    """The values of gfx942's fp8, which is FNUZ: no infinities, and -0 is NaN."""
    bias = 8 if mantissa == 3 else 16
    sign = np.where(bits >> 7, -1.0, 1.0)
    exponent = (bits & 127) >> mantissa
    fraction = (bits & (1 << mantissa) - 1) / (1 << mantissa)
    scale = np.exp2(np.maximum(exponent, 1).astype(np.float64) - bias)
    value = sign * (np.where(exponent > 0, 1.0, 0.0) + fraction) * scale
    return np.where(bits == 0x80, np.nan, value)


def buffer_addresses(instruction: Any, state: State, size: int) -> tuple[Array, Array]:
    """The addresses that lanes access in a buffer, and which of them are inside it."""
    first = 4 * raw(instruction, "srsrc")
    low, high, records, words = (int(each) for each in state.scalars[first : first + 4])
    base, stride = low | (high & 0xFFFF) << 32, high >> 16 & 0x3FFF
    if stride or words >> 23 & 1 or raw(instruction, "idxen") or raw(instruction, "lds"):
        raise NotImplementedError("a buffer with a stride")
    soffset = scalar_operand(state, instruction, raw(instruction, "soffset"), "u32")
    offset = np.full(state.lanes, raw(instruction, "offset"), np.uint64)
    if raw(instruction, "offen"):
        offset += state.vectors[raw(instruction, "vaddr")]
    is_inside = offset + np.uint64(size) <= records
    return base + int(soffset) + offset, state.mask(EXECUTION_MASK) & is_inside


def access_buffer(instruction: Any, state: State) -> None:
    """A load, a store or an atomic of a buffer."""
    name = operation(instruction).removeprefix("buffer_")
    size = size_of_access(name)
    addresses, inside = buffer_addresses(instruction, state, size)
    register = raw(instruction, "vdata")
    access(instruction, state, name, addresses, inside, register, register)
    state.advance(instruction.size())


def access(
    instruction: Any,
    state: State,
    name: str,
    addresses: Array,
    inside: Array,
    source: int,
    target: int,
) -> None:
    """Loads, stores or changes what lanes address; loads from outside of a buffer are 0.

    Args:
        instruction: The instruction.
        state: The registers.
        name: Its name, without what it addresses.
        addresses: Of each lane.
        inside: Which lanes access memory.
        source: The first register that is stored.
        target: The first register that is loaded into.
    """
    what, _, kind = name.partition("_")
    size, active = size_of_access(name), state.mask(EXECUTION_MASK)
    accumulates = raw(instruction, "acc")
    file = state.accumulators if accumulates else state.vectors
    before = file.copy()
    for lane in np.flatnonzero(active if what == "load" else inside):
        address = int(addresses[lane])
        data = state.read_memory(address, size) if inside[lane] else bytes(size)
        if what == "load":
            place_loaded(kind, file[:, lane], target, data)
        elif what == "store":
            state.write_memory(address, stored_bytes(kind, before[:, lane], source))
        else:
            given = before[source : source + 4, lane].tobytes()
            state.write_memory(address, changed_word(kind, data, given))
            if raw(instruction, "sc0") or raw(instruction, "glc"):
                file[target : target + size // 4, lane] = np.frombuffer(data, np.uint32)


def access_global(instruction: Any, state: State) -> None:
    """GLOBAL: addresses of 64 bits, or a scalar one and offsets of 32 bits."""
    name = operation(instruction).removeprefix("global_")
    register, scalar = raw(instruction, "addr"), raw(instruction, "saddr")
    addresses = state.vectors[register].astype(np.uint64)
    if scalar < NO_REGISTER:
        base = int(state.scalars[scalar]) | int(state.scalars[scalar + 1]) << 32
    else:
        base = 0
        addresses |= state.vectors[register + 1].astype(np.uint64) << np.uint64(32)
    base += signed(raw(instruction, "offset"), 13)
    found = np.array([(int(each) + base) & 2**64 - 1 for each in addresses], np.uint64)
    active = state.mask(EXECUTION_MASK)
    data, target = raw(instruction, "data"), raw(instruction, "vdst")
    access(instruction, state, name, found, active, data, target)
    state.advance(instruction.size())


def signed(value: int, bits: int) -> int:
    """The signed integer of some bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def size_of_access(name: str) -> int:
    """The bytes that a lane accesses, from the name of an instruction."""
    if "atomic" in name:
        return 8 if name.endswith(("x2", "64")) else 4
    if found := re.search(r"dword(?:x(\d))?$", name):
        return 4 * int(found[1] or 1)
    return 1 if "byte" in name else 2


def stored_bytes(kind: str, lane: Array, register: int) -> bytes:
    """What a lane stores."""
    data = lane[register : register + 4].tobytes()
    return data[2 if kind.endswith("d16_hi") else 0 :][: size_of_access(kind)]


def place_loaded(kind: str, lane: Array, register: int, data: bytes) -> None:
    """Writes what a lane has loaded into its registers."""
    if "dword" in kind:
        lane[register : register + len(data) // 4] = np.frombuffer(data, np.uint32)
        return
    value = int.from_bytes(data, "little", signed=kind.startswith(("sbyte", "sshort")))
    if "d16" not in kind:
        lane[register] = value & 0xFFFFFFFF
        return
    kept = int(lane[register])
    half = value & 0xFFFF
    lane[register] = kept & 0xFFFF | half << 16 if kind.endswith("hi") else kept & 0xFFFF0000 | half


def changed_word(kind: str, old: bytes, data: bytes) -> bytes:
    """What an atomic leaves in memory."""
    size = len(old)
    if "pk_add" in kind or re.search(r"(add|min|max)_f", kind):
        type: Any = np.float16 if "f16" in kind else np.float64 if "f64" in kind else np.float32
        if "bf16" in kind:
            raise NotImplementedError(kind)
        a, b = np.frombuffer(old, type), np.frombuffer(data[:size], type)
        combine = np.fmin if "min" in kind else np.fmax if "max" in kind else np.add
        return combine(a, b).tobytes()
    name = kind.removesuffix("_x2")
    a, b = int.from_bytes(old, "little"), int.from_bytes(data[:size], "little")
    expected = int.from_bytes(data[size : 2 * size], "little")
    signed = [int.from_bytes(each, "little", signed=True) for each in (old, data[:size])]
    results: dict[str, Callable[[], int]] = {
        "swap": lambda: b,
        "cmpswap": lambda: b if a == expected else a,
        "add": lambda: a + b,
        "sub": lambda: a - b,
        "smin": lambda: min(signed),
        "smax": lambda: max(signed),
        "umin": lambda: min(a, b),
        "umax": lambda: max(a, b),
        "and": lambda: a & b,
        "or": lambda: a | b,
        "xor": lambda: a ^ b,
    }
    return (results[name]() & (1 << 8 * size) - 1).to_bytes(size, "little")


_FLOATS = (0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 0.15915494309189532)
"""The floats that an instruction can name, from operand 240 on."""

_FLOAT_TYPES: Mapping[str, tuple[Any, Any]] = {
    "f16": (np.float16, np.uint16),
    "f64": (np.float64, np.uint64),
}


def scalar_operand(state: State, instruction: Any, offset: int, type: str) -> int:
    """The bits of an operand that is the same for all lanes."""
    is_wide = type[1:] == "64"
    if offset < 128:
        low = int(state.scalars[offset])
        return low | int(state.scalars[offset + 1]) << 32 if is_wide else low
    if offset <= 208:
        value = offset - 128 if offset <= 192 else 192 - offset
        return value & (2**64 - 1 if is_wide else 2**32 - 1)
    if 240 <= offset <= 248:
        floating, integer = _FLOAT_TYPES.get(type, (np.float32, np.uint32))
        return int(np.array(_FLOATS[offset - 240], floating).view(integer))
    if offset == 255:
        literal = raw(instruction, "literal")
        return literal << 32 if type == "f64" else literal
    if offset == CONDITION:
        return int(state.scalars[CONDITION])
    raise NotImplementedError(f"operand {offset}")


# --- instructions of machine code ---

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
"""Source: System V ABI, "Object Files", ELF-64."""


@dataclass(frozen=True)
class Section:
    """A section of an ELF file.

    Attributes:
        name: Its name.
        type: What it is, as a number.
        offset: Where its bytes begin in the file.
        size: How many they are.
        link: The number of the section that it needs.
    """

    name: str
    type: int
    offset: int
    size: int
    link: int


def text_at(code: bytes, offset: int) -> str:
    """The text in a file up to the next zero."""
    return code[offset : code.index(b"\0", offset)].decode()


def sections_of(code: bytes) -> list[Section]:
    """The sections of an ELF file."""
    header = HEADER.unpack_from(code)
    start, count = header[6], header[12]
    names: int = header[13]
    found: list[tuple[int, ...]] = [
        _SECTION.unpack_from(code, start + i * _SECTION.size) for i in range(count)
    ]
    return [
        Section(text_at(code, found[names][4] + each[0]), each[1], each[4], each[5], each[6])
        for each in found
    ]


def instructions_of(emulator: Emulator, code: bytes) -> Iterator[Any]:
    """The instructions in an hsaco."""
    for section in sections_of(code):
        if section.name != ".text":
            continue
        text, position = code[section.offset : section.offset + section.size], 0
        while position < len(text):
            instruction = emulator.decode(text[position : position + 16].ljust(16, b"\0"))
            yield instruction
            position += instruction.size()
