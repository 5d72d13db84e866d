"""What instructions of AMD's GPUs mean, in numpy, and whether an emulator agrees.

Each instruction of machine code runs alone, from random registers, on the emulator and as numpy
says; then all registers and all memory that it may reach must be the same.

Source: AMD, "Instinct MI300 Instruction Set Architecture", chapter "Instructions".
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from amd_instructions import (
    CARRY,
    CONDITION,
    COUNTER,
    EXECUTION_MASK,
    NO_REGISTER,
    SCALARS,
    SHARED_BYTES,
    Array,
    Emulator,
    State,
    access_buffer,
    access_global,
    instructions_of,
    moved_lanes,
    multiply,
    name_of,
    operation,
    own_execution,
    permute,
    place_loaded,
    raw,
    scalar_operand,
    signed,
    size_of_access,
    skip,
    stored_bytes,
)

FORMS, REPEATS = 10, 2
"""How many forms of an opcode are tested, and from how many states each."""

ARENA_BYTES = 1 << 17

EXECUTED_HERE = "executed here"
"""How the verdict on an opcode begins that is executed in the emulator's place."""

_END = 2**64 - 1
"""Where a wave that has ended is."""

_BITS32, _BITS64 = 2**32 - 1, 2**64 - 1


# --- scalars ---

Scalar = Callable[[int, int, int], tuple[int, int | None]]
"""From two operands and SCC to a result and a new SCC, which is None where it stays."""


def _nonzero(function: Callable[[int, int], int], bits: int) -> Scalar:
    def model(a: int, b: int, _: int) -> tuple[int, int]:
        result = function(a, b) & (1 << bits) - 1
        return result, int(result != 0)

    return model


def _overflows(function: Callable[[int, int], int]) -> Scalar:
    def model(a: int, b: int, _: int) -> tuple[int, int]:
        result = function(signed(a, 32), signed(b, 32))
        return result, int(signed(result, 32) != result)

    return model


def _chosen(choose: Callable[[int, int], bool], *, is_signed: bool) -> Scalar:
    def model(a: int, b: int, _: int) -> tuple[int, int]:
        is_first = choose(signed(a, 32), signed(b, 32)) if is_signed else choose(a, b)
        return a if is_first else b, int(is_first)

    return model


def _kept(function: Callable[[int, int], int]) -> Scalar:
    return lambda a, b, _: (function(a, b), None)


def _field(a: int, b: int, bits: int, *, is_signed: bool) -> int:
    width = b >> 16 & 0x7F
    found = a >> (b & bits - 1) & (1 << width) - 1
    return signed(found, width) if is_signed and width else found


_LOGIC: Mapping[str, Callable[[int, int], int]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "andn2": lambda a, b: a & ~b,
    "orn2": lambda a, b: a | ~b,
    "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b),
    "xnor": lambda a, b: ~(a ^ b),
}


def _of_bits(bits: int) -> Iterator[tuple[str, Scalar]]:
    last = bits - 1
    for name, function in _LOGIC.items():
        yield f"s_{name}_b{bits}", _nonzero(function, bits)
    yield f"s_lshl_b{bits}", _nonzero(lambda a, b: a << (b & last), bits)
    yield f"s_lshr_b{bits}", _nonzero(lambda a, b: a >> (b & last), bits)
    yield f"s_ashr_i{bits}", _nonzero(lambda a, b: signed(a, bits) >> (b & last), bits)
    yield f"s_mov_b{bits}", _kept(lambda a, _: a)
    yield f"s_not_b{bits}", _nonzero(lambda a, _: ~a, bits)
    yield f"s_brev_b{bits}", _kept(lambda a, _: int(f"{a:0{bits}b}"[::-1], 2))
    yield f"s_bcnt1_i32_b{bits}", _nonzero(lambda a, _: a.bit_count(), bits)
    yield f"s_ff1_i32_b{bits}", _kept(lambda a, _: (a & -a).bit_length() - 1)
    yield f"s_cselect_b{bits}", lambda a, b, condition: (a if condition else b, None)
    for sign, is_signed in (("u", False), ("i", True)):
        yield (
            f"s_bfe_{sign}{bits}",
            _nonzero(lambda a, b, s=is_signed: _field(a, b, bits, is_signed=s), bits),
        )


def _shifted_sum(shift: int) -> Scalar:
    return lambda a, b, _: ((a << shift) + b, int((a << shift) + b > _BITS32))


SCALAR: Mapping[str, Scalar] = {
    **dict(_of_bits(32)),
    **dict(_of_bits(64)),
    "s_add_u32": lambda a, b, _: (a + b, a + b >> 32),
    "s_sub_u32": lambda a, b, _: (a - b, int(b > a)),
    "s_addc_u32": lambda a, b, c: (a + b + c, a + b + c >> 32),
    "s_subb_u32": lambda a, b, c: (a - b - c, int(b + c > a)),
    "s_add_i32": _overflows(lambda a, b: a + b),
    "s_sub_i32": _overflows(lambda a, b: a - b),
    "s_addk_i32": _overflows(lambda a, b: a + b),
    "s_min_i32": _chosen(lambda a, b: a < b, is_signed=True),
    "s_max_i32": _chosen(lambda a, b: a >= b, is_signed=True),
    "s_min_u32": _chosen(lambda a, b: a < b, is_signed=False),
    "s_max_u32": _chosen(lambda a, b: a >= b, is_signed=False),
    "s_mul_i32": _kept(lambda a, b: a * b),
    "s_mulk_i32": _kept(lambda a, b: a * b),
    "s_mul_hi_u32": _kept(lambda a, b: a * b >> 32),
    "s_mul_hi_i32": _kept(lambda a, b: signed(a, 32) * signed(b, 32) >> 32),
    "s_bfm_b32": _kept(lambda a, b: (1 << (a & 31)) - 1 << (b & 31)),
    "s_abs_i32": _nonzero(lambda a, _: abs(signed(a, 32)), 32),
    "s_pack_ll_b32_b16": _kept(lambda a, b: a & 0xFFFF | b << 16),
    "s_pack_lh_b32_b16": _kept(lambda a, b: a & 0xFFFF | b & 0xFFFF0000),
    "s_pack_hh_b32_b16": _kept(lambda a, b: a >> 16 | b & 0xFFFF0000),
    "s_sext_i32_i8": _kept(lambda a, _: signed(a, 8)),
    "s_sext_i32_i16": _kept(lambda a, _: signed(a, 16)),
    "s_movk_i32": _kept(lambda _, b: b),
    **{f"s_lshl{shift}_add_u32": _shifted_sum(shift) for shift in (1, 2, 3, 4)},
}

COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "eq": lambda a, b: a == b,
    "lg": lambda a, b: (a < b) | (a > b),
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "neq": lambda a, b: ~(a == b),
    "nlt": lambda a, b: ~(a < b),
    "nle": lambda a, b: ~(a <= b),
    "ngt": lambda a, b: ~(a > b),
    "nge": lambda a, b: ~(a >= b),
    "nlg": lambda a, b: ~((a < b) | (a > b)),
    "o": lambda a, b: (a == a) & (b == b),
    "u": lambda a, b: (a != a) | (b != b),
}


def _write_scalar(state: State, register: int, value: int, bits: int) -> None:
    state.scalars[register] = value & _BITS32
    if bits == 64:
        state.scalars[register + 1] = value >> 32 & _BITS32


def _scalar_operands(instruction: Any, state: State, name: str, bits: int) -> tuple[int, int]:
    if instruction.__class__.__name__.startswith("SOPK"):
        target = raw(instruction, "sdst")
        return int(state.scalars[target]), signed(raw(instruction, "simm16"), 16)
    second_bits = 32 if re.search(r"sh[lr]|bfe|bitcmp|bitset", name) else bits
    a = scalar_operand(state, instruction, raw(instruction, "ssrc0"), f"b{bits}")
    second = raw(instruction, "ssrc1", -1)
    if second < 0:
        return a, 0
    return a, scalar_operand(state, instruction, second, f"b{second_bits}")


def _holds(instruction: Any, name: str, a: int, b: int) -> int | None:
    """What a comparison leaves in SCC; None where an instruction is none."""
    if found := re.fullmatch(r"s_cmp(k?)_(\w+)_([iu])(32|64)", name):
        bits = int(found[4])
        pair = [each & (1 << bits) - 1 for each in (a, b & 0xFFFF if found[1] else b)]
        if found[3] == "i":
            pair = [signed(each, bits) for each in (a, b)]
        return int(COMPARISONS[found[2]](*pair))
    if found := re.fullmatch(r"s_bitcmp([01])_b32", name):
        return int(a >> (b & 31) & 1 == int(found[1]))
    return None


def model_scalar(instruction: Any, state: State) -> None:
    """SOP1, SOP2, SOPC and SOPK."""
    name, target = operation(instruction), raw(instruction, "sdst")
    bits = 64 if name.endswith("64") else 32
    a, b = _scalar_operands(instruction, state, name, bits)
    state.advance(instruction.size())
    holds = _holds(instruction, name, a, b)
    if holds is not None:
        state.scalars[CONDITION] = holds
    elif found := re.fullmatch(r"s_(\w+)_saveexec_b64", name):
        mask = int(state.scalars[126]) | int(state.scalars[127]) << 32
        result, changed = SCALAR[f"s_{found[1]}_b64"](a, mask, 0)
        _write_scalar(state, target, mask, 64)
        _write_scalar(state, EXECUTION_MASK, result, 64)
        state.scalars[CONDITION] = changed
    elif found := re.fullmatch(r"s_bitset([01])_b32", name):
        old, bit = int(state.scalars[target]), 1 << (a & 31)
        _write_scalar(state, target, old | bit if found[1] == "1" else old & ~bit, 32)
    else:
        result, changed = SCALAR[name](a, b, int(state.scalars[CONDITION]))
        _write_scalar(state, target, result, 32 if "_i32_b64" in name else bits)
        if changed is not None:
            state.scalars[CONDITION] = changed


def model_flow(instruction: Any, state: State) -> None:
    """SOPP: branches, waits and the end."""
    name = operation(instruction)
    following = state.counter + instruction.size()
    state.jump(_END if name == "s_endpgm" else following)
    if name.startswith(("s_branch", "s_cbranch")):
        condition = bool(state.scalars[CONDITION])
        holds = {
            "s_branch": True,
            "s_cbranch_scc0": not condition,
            "s_cbranch_scc1": condition,
            "s_cbranch_vccz": not state.mask(CARRY).any(),
            "s_cbranch_vccnz": state.mask(CARRY).any(),
            "s_cbranch_execz": not state.mask(EXECUTION_MASK).any(),
            "s_cbranch_execnz": state.mask(EXECUTION_MASK).any(),
        }
        if holds[name]:
            state.jump(following + 4 * signed(raw(instruction, "simm16"), 16))
    elif name not in ("s_nop", "s_waitcnt", "s_barrier", "s_endpgm"):
        raise KeyError(name)


def model_scalar_load(instruction: Any, state: State) -> None:
    """SMEM."""
    found = re.fullmatch(r"s_load_dword(?:x(\d+))?", operation(instruction))
    if found is None:
        raise KeyError(operation(instruction))
    base = 2 * raw(instruction, "sbase")
    address = int(state.scalars[base]) | int(state.scalars[base + 1]) << 32
    address += signed(raw(instruction, "offset"), 21) if raw(instruction, "imm") else 0
    if raw(instruction, "soffset_en"):
        address += int(state.scalars[raw(instruction, "soffset")])
    count, first = int(found[1] or 1), raw(instruction, "sdata")
    data = state.read_memory(address & ~3, 4 * count)
    state.scalars[first : first + count] = np.frombuffer(data, np.uint32)
    state.advance(instruction.size())


# --- vectors ---

Vector = (
    Callable[[Array], Array]
    | Callable[[Array, Array], Array]
    | Callable[[Array, Array, Array], Array]
)

TYPES: Mapping[str, Any] = {
    **{f"{kind}{bits}": np.dtype(f"{kind}{bits // 8}") for kind in "fiu" for bits in (16, 32, 64)},
    **{f"b{bits}": np.dtype(f"u{bits // 8}") for bits in (16, 32, 64)},
}


def _fused(a: Array, b: Array, c: Array) -> Array:
    if a.dtype != np.float64:
        # A product of two is exact in 64 bits.
        wide = a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)
        return wide.astype(a.dtype)
    rounded = a * b + c
    for lane in np.flatnonzero(np.isfinite(rounded)):
        exact = Fraction(float(a[lane])) * Fraction(float(b[lane])) + Fraction(float(c[lane]))
        rounded[lane] = float(exact) if exact else rounded[lane]
    return rounded


def _to_integer(type: str) -> Vector:
    limits = np.iinfo(TYPES[type])

    def convert(a: Array) -> Array:
        wide = np.nan_to_num(np.trunc(a.astype(np.float64)), nan=0.0, posinf=1e30, neginf=-1e30)
        return np.clip(wide, limits.min, limits.max).astype(TYPES[type])

    return convert


def _high(type: Any) -> Vector:
    return lambda a, b: (a.astype(type) * b.astype(type) >> type(32)).astype(np.uint32)


def _byte_chosen(both: int, choice: int) -> int:
    if choice < 8:
        return both >> 8 * choice & 0xFF
    if choice < 12:
        return 0xFF if both >> 16 * (choice - 8) + 15 & 1 else 0
    return 0 if choice == 12 else 0xFF


def _permuted(a: Array, b: Array, selector: Array) -> Array:
    result = np.zeros(len(a), np.uint32)
    for lane, (high, low, choices) in enumerate(zip(a, b, selector, strict=True)):
        both = int(high) << 32 | int(low)
        for number in range(4):
            byte = _byte_chosen(both, int(choices) >> 8 * number & 0xFF)
            result[lane] |= np.uint32(byte << 8 * number)
    return result


def _leading(a: Array) -> Array:
    """The number of bits before the first that differs from the sign, or -1."""
    found = [(each ^ (_BITS32 if each >> 31 else 0)).bit_length() for each in map(int, a)]
    return np.array([32 - each if each else _BITS32 for each in found], np.uint32)


def _reversed(a: Array) -> Array:
    return np.array([int(f"{each:032b}"[::-1], 2) for each in map(int, a)], np.uint32)


def _class(a: Array, b: Array) -> Array:
    bits = a.view(np.uint32)
    is_quiet, is_negative = bits >> 22 & 1 == 1, bits >> 31 == 1
    is_small = (np.abs(a) < np.finfo(np.float32).tiny) & (a != 0)
    is_normal = np.isfinite(a) & ~is_small & (a != 0)
    kinds = (
        *(np.isnan(a) & ~is_quiet, np.isnan(a) & is_quiet, np.isinf(a) & is_negative),
        *(is_normal & is_negative, is_small & is_negative, (a == 0) & is_negative),
        *((a == 0) & ~is_negative, is_small & ~is_negative, is_normal & ~is_negative),
        np.isinf(a) & ~is_negative,
    )
    result = np.zeros(len(a), bool)
    for number, kind in enumerate(kinds):
        result |= kind & (b >> number & 1 == 1)
    return result


def _extracted(*, is_signed: bool) -> Vector:
    def model(a: Array, offset: Array, width: Array) -> Array:
        places = zip(a, offset & 31, width & 31, strict=True)
        triples = [(int(x), int(o), int(w)) for x, o, w in places]
        found = [_field(x, o | w << 16, 32, is_signed=is_signed) for x, o, w in triples]
        return np.array([each & _BITS32 for each in found], np.uint32)

    return model


def _clipped(a: Array) -> Array:
    return np.clip(a.astype(np.int64), -300, 300).astype(np.int32)


def _byte(number: int) -> Vector:
    return lambda a: (a >> 8 * number & 0xFF).astype(np.float32)


def _aligned(a: Array, b: Array, c: Array) -> Array:
    both = a.astype(np.uint64) << np.uint64(32) | b
    return (both >> (c & 31).astype(np.uint64)).astype(np.uint32)


_PAIRS: Mapping[str, Vector] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "subrev": lambda a, b: b - a,
}

_FLOAT_PAIRS: Mapping[str, Vector] = {
    **_PAIRS,
    "mul": lambda a, b: a * b,
    "max": np.fmax,
    "min": np.fmin,
}

_INTEGER_PAIRS: Mapping[str, Vector] = {
    **_PAIRS,
    "mul_lo": lambda a, b: a * b,
    "max": np.maximum,
    "min": np.minimum,
}

VECTOR: Mapping[str, tuple[str, Vector]] = {
    "v_mov_b32": ("b32", lambda a: a),
    "v_mov_b64": ("b64", lambda a: a),
    "v_not_b32": ("b32", lambda a: ~a),
    "v_bfrev_b32": ("b32", _reversed),
    "v_ffbh_i32": ("b32", _leading),
    "v_cvt_f32_i32": ("i32", lambda a: a.astype(np.float32)),
    "v_cvt_f32_u32": ("u32", lambda a: a.astype(np.float32)),
    "v_cvt_i32_f32": ("f32", _to_integer("i32")),
    "v_cvt_u32_f32": ("f32", _to_integer("u32")),
    "v_cvt_f16_f32": ("f32", lambda a: a.astype(np.float16)),
    "v_cvt_f32_f16": ("f16", lambda a: a.astype(np.float32)),
    "v_cvt_f32_f64": ("f64", lambda a: a.astype(np.float32)),
    "v_cvt_f64_f32": ("f32", lambda a: a.astype(np.float64)),
    "v_cvt_f64_i32": ("i32", lambda a: a.astype(np.float64)),
    "v_cvt_f64_u32": ("u32", lambda a: a.astype(np.float64)),
    **{f"v_cvt_f32_ubyte{number}": ("u32", _byte(number)) for number in range(4)},
    "v_floor_f32": ("f32", np.floor),
    "v_ceil_f32": ("f32", np.ceil),
    "v_trunc_f32": ("f32", np.trunc),
    "v_rndne_f32": ("f32", np.rint),
    "v_rcp_f32": ("f32", lambda a: 1 / a),
    "v_rcp_iflag_f32": ("f32", lambda a: 1 / a),
    "v_rsq_f32": ("f32", lambda a: 1 / np.sqrt(a)),
    "v_sqrt_f32": ("f32", np.sqrt),
    "v_exp_f32": ("f32", np.exp2),
    "v_log_f32": ("f32", np.log2),
    "v_ldexp_f32": ("f32 i32", lambda a, b: np.ldexp(a, _clipped(b))),
    **{
        f"v_{name}_{type}": (f"{type} {type}", function)
        for type in ("f16", "f32", "f64")
        for name, function in _FLOAT_PAIRS.items()
    },
    **{f"v_fma_{t}": (f"{t} {t} {t}", _fused) for t in ("f16", "f32", "f64")},
    "v_fmamk_f32": ("f32 k:f32 f32", _fused),
    "v_fmaak_f32": ("f32 f32 k:f32", _fused),
    "v_bcnt_u32_b32": ("b32 b32", lambda a, b: np.bitwise_count(a) + b),
    **{f"v_fmac_{t}": (f"{t} {t} d:{t}", _fused) for t in ("f16", "f32", "f64")},
    "v_max3_f32": ("f32 f32 f32", lambda a, b, c: np.fmax(np.fmax(a, b), c)),
    "v_min3_f32": ("f32 f32 f32", lambda a, b, c: np.fmin(np.fmin(a, b), c)),
    **{
        f"v_{name}_u{bits}": (f"u{bits} u{bits}", function)
        for bits in (16, 32)
        for name, function in _INTEGER_PAIRS.items()
    },
    "v_max_i32": ("i32 i32", np.maximum),
    "v_min_i32": ("i32 i32", np.minimum),
    "v_mul_hi_u32": ("u32 u32", _high(np.uint64)),
    "v_mul_hi_i32": ("i32 i32", _high(np.int64)),
    "v_mul_u32_u24": ("u32 u32", lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF)),
    "v_mad_u32_u24": ("u32 u32 u32", lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c),
    "v_and_b32": ("b32 b32", lambda a, b: a & b),
    "v_or_b32": ("b32 b32", lambda a, b: a | b),
    "v_xor_b32": ("b32 b32", lambda a, b: a ^ b),
    "v_lshlrev_b32": ("b32 b32", lambda a, b: b << (a & 31)),
    "v_lshrrev_b32": ("b32 b32", lambda a, b: b >> (a & 31)),
    "v_ashrrev_i32": ("b32 i32", lambda a, b: b >> (a & 31).astype(np.int32)),
    "v_lshlrev_b16": ("b16 b16", lambda a, b: b << (a & 15)),
    "v_lshrrev_b16": ("b16 b16", lambda a, b: b >> (a & 15)),
    "v_ashrrev_i16": ("b16 i16", lambda a, b: b >> (a & 15).astype(np.int16)),
    "v_lshlrev_b64": ("b32 b64", lambda a, b: b << (a & 63).astype(np.uint64)),
    "v_lshrrev_b64": ("b32 b64", lambda a, b: b >> (a & 63).astype(np.uint64)),
    "v_ashrrev_i64": ("b32 i64", lambda a, b: b >> (a & 63).astype(np.int64)),
    "v_add3_u32": ("u32 u32 u32", lambda a, b, c: a + b + c),
    "v_add_lshl_u32": ("u32 u32 u32", lambda a, b, c: a + b << (c & 31)),
    "v_lshl_add_u32": ("u32 u32 u32", lambda a, b, c: (a << (b & 31)) + c),
    "v_lshl_or_b32": ("b32 b32 b32", lambda a, b, c: a << (b & 31) | c),
    "v_lshl_add_u64": ("u64 u32 u64", lambda a, b, c: (a << (b & 7).astype(np.uint64)) + c),
    "v_and_or_b32": ("b32 b32 b32", lambda a, b, c: a & b | c),
    "v_or3_b32": ("b32 b32 b32", lambda a, b, c: a | b | c),
    "v_xad_u32": ("u32 u32 u32", lambda a, b, c: (a ^ b) + c),
    "v_bfi_b32": ("b32 b32 b32", lambda a, b, c: a & b | ~a & c),
    "v_bfe_u32": ("u32 u32 u32", _extracted(is_signed=False)),
    "v_bfe_i32": ("u32 u32 u32", _extracted(is_signed=True)),
    "v_perm_b32": ("b32 b32 b32", _permuted),
    "v_alignbit_b32": ("b32 b32 b32", _aligned),
    "v_pack_b32_f16": ("b16 b16", lambda a, b: a.astype(np.uint32) | b.astype(np.uint32) << 16),
    "v_div_fixup_f32": ("f32 f32 f32", lambda a, b, c: np.copysign(np.abs(a), b * c)),
    "v_div_fmas_f32": ("f32 f32 f32", _fused),
}
"""By name the types of the operands, and what the result is; "d:" is the register written to,
"k:" the literal."""

APPROXIMATE = frozenset(
    {"v_rcp_f32", "v_rcp_iflag_f32", "v_rsq_f32", "v_sqrt_f32", "v_exp_f32", "v_log_f32"}
)
"""What may err by some of the last bits."""

ORDINARY = (
    "v_div_",
    "v_log",
    "v_rcp",
    "v_rsq",
    "v_sqrt",
    "v_exp",
    "v_ldexp",
    "v_cvt_i32",
    "v_cvt_u32",
)
"""How instructions begin that are only tested on floats that are neither tiny nor huge."""


def _bits(state: State, instruction: Any, offset: int, type: str) -> Array:
    """The bits of an operand, in each lane."""
    is_wide = type.endswith("64")
    if offset < 256:
        value = scalar_operand(state, instruction, offset, type)
        return np.full(state.lanes, value, np.uint64 if is_wide else np.uint32)
    low = state.vectors[offset - 256]
    if not is_wide:
        return low.copy()
    return low | state.vectors[offset - 255].astype(np.uint64) << np.uint64(32)


def operands(instruction: Any) -> list[int]:
    """The numbers of the operands of a vector instruction."""
    found: list[int] = []
    first = "vsrc0" if hasattr(instruction.__class__, "vsrc0") else "src0"
    for name in (first, "vsrc1", "src1", "src2"):
        if not hasattr(instruction.__class__, name):
            continue
        offset = raw(instruction, name)
        if name.startswith("v"):
            is_scalar = encoding(instruction) == "sdwa" and raw(instruction, f"s{name[-1]}")
            offset += 0 if is_scalar else 256
        found.append(offset)
    return found


def encoding(instruction: Any) -> str:
    """The encoding as far as it changes operands: "dpp", "sdwa", or nothing."""
    kind = instruction.__class__.__name__
    return "dpp" if "DPP" in kind else "sdwa" if "SDWA" in kind else ""


def _selected(values: Array, selection: int, *, is_signed: bool) -> Array:
    if selection == 6:
        return values
    width, number = (8, selection) if selection < 4 else (16, selection - 4)
    found = (values >> width * number & (1 << width) - 1).astype(np.int64)
    return (found - (found >> width - 1 << width) if is_signed else found).astype(np.uint32)


def _source(instruction: Any, state: State, number: int, type: str) -> Array:
    """An operand as its type, with what the encoding does to it."""
    bits = _bits(state, instruction, operands(instruction)[number], type)
    signs = [raw(instruction, name) >> number & 1 for name in ("neg", "abs")]
    if encoding(instruction):
        signs = [raw(instruction, f"src{number}_{name}") for name in ("neg", "abs")]
    if encoding(instruction) == "dpp" and number == 0:
        bits, _ = _moved(instruction, state)
    if encoding(instruction) == "sdwa":
        is_signed = bool(raw(instruction, f"src{number}_sext"))
        bits = _selected(bits, raw(instruction, f"src{number}_sel", 6), is_signed=is_signed)
    if type.endswith("16"):
        bits = bits >> 16 if raw(instruction, "opsel") >> number & 1 else bits
        bits = (bits & 0xFFFF).astype(np.uint16)
    values = bits.view(TYPES[type])
    if any(signs) and type[0] != "f":
        raise KeyError("a sign of an integer")
    values = np.abs(values) if signs[1] else values
    return -values if signs[0] else values


def _moved(instruction: Any, state: State) -> tuple[Array, Array]:
    return moved_lanes(
        state.vectors[raw(instruction, "vsrc0")],
        state.mask(EXECUTION_MASK),
        raw(instruction, "dpp"),
        raw(instruction, "row_mask", 15),
        raw(instruction, "bank_mask", 15),
        bool(raw(instruction, "bc")),
    )


def _write_vector(instruction: Any, state: State, result: Array) -> None:
    target, mask = raw(instruction, "vdst"), state.mask(EXECUTION_MASK)
    if encoding(instruction) == "dpp":
        _, mask = _moved(instruction, state)
    if raw(instruction, "omod"):
        raise KeyError("omod")
    if raw(instruction, "clmp"):
        if result.dtype.kind != "f":
            raise KeyError("clamp of an integer")
        result = np.clip(np.nan_to_num(result, nan=0.0), 0, 1).astype(result.dtype)
    words = np.ascontiguousarray(result)
    if words.itemsize == 8:
        halves = words.view(np.uint32).reshape(-1, 2)
        state.write(target, halves[:, 0], mask)
        state.write(target + 1, halves[:, 1], mask)
        return
    bits = words.view(f"u{words.itemsize}").astype(np.uint32)
    if encoding(instruction) == "sdwa":
        bits = _placed(instruction, state.vectors[target], bits)
    elif words.itemsize == 2 and raw(instruction, "opsel") & 8:
        bits = state.vectors[target] & 0xFFFF | bits << 16
    state.write(target, bits, mask)


def _placed(instruction: Any, old: Array, bits: Array) -> Array:
    selection, unused = raw(instruction, "dst_sel", 6), raw(instruction, "dst_unused")
    if selection == 6:
        return bits
    width, number = (8, selection) if selection < 4 else (16, selection - 4)
    field = (1 << width) - 1 << width * number
    placed = bits << width * number & field
    if unused == 1:
        raise KeyError("a sign in unused bits")
    return (old & (~field & _BITS32) | placed if unused == 2 else placed).astype(np.uint32)


def model_vector(instruction: Any, state: State) -> None:
    """VOP1, VOP2, VOP3 and VOPC."""
    name = operation(instruction)
    if found := re.fullmatch(r"v_cmpx?_(\w+?)_([a-z]\d+)", name):
        _compare(instruction, state, found[1], found[2])
    elif name in SPECIAL:
        SPECIAL[name](instruction, state)
    else:
        types, function = VECTOR[name]
        numbers = iter(range(3))
        values: list[Array] = []
        for type in types.split():
            if ":" in type:
                offset = raw(instruction, "vdst") + 256 if type[0] == "d" else _LITERAL
                values.append(_bits(state, instruction, offset, type[2:]).view(TYPES[type[2:]]))
            else:
                values.append(_source(instruction, state, next(numbers), type))
        result = function(*values)
        if name in ("v_add_u32", "v_sub_u32") and raw(instruction, "clmp"):
            _write_saturated(instruction, state, name, *values)
        else:
            _write_vector(instruction, state, result)
    state.advance(instruction.size())


_LITERAL = 255
"""The operand that is a literal."""


def _write_saturated(instruction: Any, state: State, name: str, a: Array, b: Array) -> None:
    wide = a.astype(np.int64), b.astype(np.int64)
    result = wide[0] + wide[1] if name == "v_add_u32" else wide[0] - wide[1]
    words = np.clip(result, 0, _BITS32).astype(np.uint32)
    state.write(raw(instruction, "vdst"), words, state.mask(EXECUTION_MASK))


def _compare(instruction: Any, state: State, name: str, type: str) -> None:
    second = "b32" if name == "class" else type
    pair = [_source(instruction, state, n, each) for n, each in enumerate((type, second))]
    result = _class(*pair) if name == "class" else COMPARISONS[name](*pair)
    result = result & state.mask(EXECUTION_MASK)
    is_named = encoding(instruction) == "sdwa" and raw(instruction, "sd")
    target = raw(instruction, "sdst") if is_named else raw(instruction, "vdst", CARRY)
    state.set_mask(target, result)
    if operation(instruction).startswith("v_cmpx"):
        state.set_mask(EXECUTION_MASK, result)


def _select(instruction: Any, state: State) -> None:
    sources = operands(instruction)
    mask = state.mask(sources[2] if len(sources) > 2 else CARRY)
    # Signs are those of floats.
    type = "f32" if raw(instruction, "neg") | raw(instruction, "abs") else "b32"
    a, b = (_source(instruction, state, number, type) for number in range(2))
    _write_vector(instruction, state, np.where(mask, b, a))


def _read_lane(instruction: Any, state: State) -> None:
    sources = operands(instruction)
    if len(sources) == 1:
        active = np.flatnonzero(state.mask(EXECUTION_MASK))
        lane = int(active[0]) if len(active) else 0
    else:
        lane = scalar_operand(state, instruction, sources[1], "u32") & state.lanes - 1
    state.scalars[raw(instruction, "vdst")] = state.vectors[sources[0] - 256, lane]


def _write_lane(instruction: Any, state: State) -> None:
    first, second = operands(instruction)[:2]
    value, lane = (scalar_operand(state, instruction, each, "u32") for each in (first, second))
    state.vectors[raw(instruction, "vdst"), lane & state.lanes - 1] = value


def _carries(sign: int, *, reads: bool, reverses: bool = False) -> Callable[[Any, State], None]:
    def model(instruction: Any, state: State) -> None:
        sources = operands(instruction)
        a, b = (_bits(state, instruction, each, "u32").astype(np.int64) for each in sources[:2])
        a, b = (b, a) if reverses else (a, b)
        is_named = hasattr(instruction.__class__, "sdst")
        given = sources[2] if is_named and reads else CARRY
        carry = state.mask(given) if reads else np.zeros(state.lanes, bool)
        result, mask = a + sign * (b + carry), state.mask(EXECUTION_MASK)
        state.write(raw(instruction, "vdst"), (result & _BITS32).astype(np.uint32), mask)
        changed = ((result < 0) | (result > _BITS32)) & mask
        state.set_mask(raw(instruction, "sdst") if is_named else CARRY, changed)

    return model


def _multiply_add(*, is_signed: bool) -> Callable[[Any, State], None]:
    def model(instruction: Any, state: State) -> None:
        types = ("u32", "u32", "u64")
        found = zip(operands(instruction), types, strict=True)
        bits = [_bits(state, instruction, each, type) for each, type in found]
        words, carries = np.zeros(state.lanes, np.uint64), np.zeros(state.lanes, bool)
        for lane in range(state.lanes):
            a, b, c = (int(each[lane]) for each in bits)
            if is_signed:
                a, b, c = signed(a, 32), signed(b, 32), signed(c, 64)
            total = a * b + c
            carries[lane] = (signed(total, 64) if is_signed else total & _BITS64) != total
            words[lane] = total & _BITS64
        mask, target = state.mask(EXECUTION_MASK), raw(instruction, "vdst")
        state.set_mask(raw(instruction, "sdst"), carries & mask)
        state.write(target, (words & np.uint64(_BITS32)).astype(np.uint32), mask)
        state.write(target + 1, (words >> np.uint64(32)).astype(np.uint32), mask)

    return model


def _scale(instruction: Any, state: State) -> None:
    """V_DIV_SCALE where nothing is so large or small that it is scaled."""
    value = _source(instruction, state, 0, "f32")
    state.set_mask(raw(instruction, "sdst"), np.zeros(state.lanes, bool))
    _write_vector(instruction, state, value)


SPECIAL: Mapping[str, Callable[[Any, State], None]] = {
    "v_cndmask_b32": _select,
    "v_readlane_b32": _read_lane,
    "v_readfirstlane_b32": _read_lane,
    "v_writelane_b32": _write_lane,
    "v_add_co_u32": _carries(1, reads=False),
    "v_addc_co_u32": _carries(1, reads=True),
    "v_sub_co_u32": _carries(-1, reads=False),
    "v_subrev_co_u32": _carries(-1, reads=False, reverses=True),
    "v_subb_co_u32": _carries(-1, reads=True),
    "v_subbrev_co_u32": _carries(-1, reads=True, reverses=True),
    "v_mad_u64_u32": _multiply_add(is_signed=False),
    "v_mad_i64_i32": _multiply_add(is_signed=True),
    "v_div_scale_f32": _scale,
}

# --- packed ---

_PACKED_FLOATS: Mapping[str, tuple[int, Vector]] = {
    "add": (2, lambda a, b: a + b),
    "mul": (2, lambda a, b: a * b),
    "fma": (3, _fused),
    "max": (2, np.fmax),
    "min": (2, np.fmin),
}

PACKED: Mapping[str, tuple[str, int, Vector]] = {
    **{
        f"v_pk_{name}_{type}": (type, count, function)
        for type in ("f16", "f32")
        for name, (count, function) in _PACKED_FLOATS.items()
    },
    "v_pk_add_u16": ("u16", 2, lambda a, b: a + b),
    "v_pk_sub_i16": ("u16", 2, lambda a, b: a - b),
    "v_pk_mul_lo_u16": ("u16", 2, lambda a, b: a * b),
    "v_pk_lshlrev_b16": ("u16", 2, lambda a, b: b << (a & 15)),
    "v_pk_lshrrev_b16": ("u16", 2, lambda a, b: b >> (a & 15)),
}


def model_packed(instruction: Any, state: State) -> None:
    """VOP3P without products of matrices: two results, each from a chosen half of its operands."""
    name = operation(instruction)
    if raw(instruction, "clmp"):
        raise KeyError("clamp")
    if name in ("v_accvgpr_read_b32", "v_accvgpr_write_b32"):
        _copy_accumulator(instruction, state, name, operands(instruction)[0])
    elif name == "v_pk_mov_b32":
        _move_pair(instruction, state)
    elif found := re.fullmatch(r"v_mad_mix(lo|hi)?(?:_f16|_f32)", name):
        _mix(instruction, state, found[1])
    else:
        type, count, function = PACKED[name]
        low, high = (
            function(*(_half(instruction, state, n, is_high, type) for n in range(count)))
            .astype(TYPES[type])
            .view(f"u{TYPES[type].itemsize}")
            for is_high in (False, True)
        )
        mask, target = state.mask(EXECUTION_MASK), raw(instruction, "vdst")
        if type == "f32":
            state.write(target, low, mask)
            state.write(target + 1, high, mask)
        else:
            state.write(target, low.astype(np.uint32) | high.astype(np.uint32) << 16, mask)
    state.advance(instruction.size())


def _half(instruction: Any, state: State, number: int, is_high: bool, type: str) -> Array:
    """The half of an operand that the low or the high result takes."""
    offset = operands(instruction)[number]
    choices = raw(instruction, "opsel")
    if is_high:
        choices = raw(instruction, "opsel_hi") | raw(instruction, "opsel_hi2") << 2
    chosen = choices >> number & 1
    if type == "f32":
        is_register = offset < 128 or offset >= 256
        bits = _bits(state, instruction, offset + (chosen if is_register else 0), "f32")
    else:
        bits = _bits(state, instruction, offset, type)
        bits = (bits >> 16 * chosen & 0xFFFF).astype(np.uint16)
    values = bits.view(TYPES[type])
    signs = raw(instruction, "neg_hi" if is_high else "neg")
    return -values if signs >> number & 1 else values


def _move_pair(instruction: Any, state: State) -> None:
    mask, target = state.mask(EXECUTION_MASK), raw(instruction, "vdst")
    found: list[Array] = []
    for number, offset in enumerate(operands(instruction)[:2]):
        chosen = raw(instruction, "opsel") >> number & 1
        is_register = offset < 128 or offset >= 256
        found.append(_bits(state, instruction, offset + (chosen if is_register else 0), "b32"))
    for number, values in enumerate(found):
        state.write(target + number, values, mask)


def _mix(instruction: Any, state: State, half: str | None) -> None:
    """V_MAD_MIX: a product and a sum of floats of 16 and 32 bits."""
    values: list[Array] = []
    is_small = raw(instruction, "opsel_hi") | raw(instruction, "opsel_hi2") << 2
    for number, offset in enumerate(operands(instruction)):
        if is_small >> number & 1:
            bits = _bits(state, instruction, offset, "f16")
            bits = bits >> 16 * (raw(instruction, "opsel") >> number & 1) & 0xFFFF
            value = bits.astype(np.uint16).view(np.float16).astype(np.float32)
        else:
            value = _bits(state, instruction, offset, "f32").view(np.float32)
        value = np.abs(value) if raw(instruction, "neg_hi") >> number & 1 else value
        values.append(-value if raw(instruction, "neg") >> number & 1 else value)
    result, target = _fused(*values), raw(instruction, "vdst")
    bits = result.view(np.uint32)
    if half is not None:
        small = result.astype(np.float16).view(np.uint16).astype(np.uint32)
        old = state.vectors[target]
        bits = old & 0xFFFF0000 | small if half == "lo" else old & 0xFFFF | small << 16
    state.write(target, bits, state.mask(EXECUTION_MASK))


def _copy_accumulator(instruction: Any, state: State, name: str, offset: int) -> None:
    mask, target = state.mask(EXECUTION_MASK), raw(instruction, "vdst")
    if name == "v_accvgpr_read_b32":
        state.write(target, state.accumulators[offset - 256], mask)
    else:
        state.write(target, _bits(state, instruction, offset, "u32"), mask, accumulates=True)


# --- shared memory ---

_KINDS: Mapping[str, str] = {
    "b32": "dword",
    "b64": "dwordx2",
    "b96": "dwordx3",
    "b128": "dwordx4",
    "b8": "byte",
    "u8": "ubyte",
    "i8": "sbyte",
    "b16": "short",
    "u16": "ushort",
    "i16": "sshort",
}
"""The ends of the names of accesses to memory that move as much as those to shared memory."""


def model_shared(instruction: Any, state: State) -> None:
    """DS."""
    name = operation(instruction).removeprefix("ds_")
    addresses = state.vectors[raw(instruction, "addr")].astype(np.int64)
    if name == "add_u32":
        assert state.shared is not None
        offset = raw(instruction, "offset1") << 8 | raw(instruction, "offset0")
        data = state.vectors[raw(instruction, "data0")]
        for lane in np.flatnonzero(state.mask(EXECUTION_MASK)):
            state.shared[(int(addresses[lane]) + offset) // 4] += data[lane]
    else:
        _access_shared(instruction, state, name, addresses)
    state.advance(instruction.size())


def shared_parts(instruction: Any) -> tuple[str, list[tuple[str, int, int]]]:
    """What an access to shared memory moves, and its parts.

    A part is the field with its data, its first register in a result, and its offset in bytes.
    """
    name = operation(instruction).removeprefix("ds_")
    found = re.fullmatch(r"(?:read|write)(2(?:st64)?)?_(b\d+|[ui]\d+)((?:_d16)?(?:_hi)?)", name)
    if found is None:
        raise KeyError(name)
    kind = _KINDS[found[2]] + found[3]
    first, second = raw(instruction, "offset0"), raw(instruction, "offset1")
    if found[1] is None:
        return kind, [("data0", 0, second << 8 | first)]
    size = size_of_access(kind)
    stride = size * (64 if found[1] == "2st64" else 1)
    return kind, [("data0", 0, first * stride), ("data1", size // 4, second * stride)]


def _access_shared(instruction: Any, state: State, name: str, addresses: Array) -> None:
    kind, parts = shared_parts(instruction)
    size = size_of_access(kind)
    assert state.shared is not None
    memory = state.shared.view(np.uint8)
    file = state.accumulators if raw(instruction, "acc") else state.vectors
    for field, first, offset in parts:
        for lane in np.flatnonzero(state.mask(EXECUTION_MASK)):
            begin = int(addresses[lane]) + offset
            if name.startswith("read"):
                data = memory[begin : begin + size].tobytes()
                place_loaded(kind, file[:, lane], raw(instruction, "vdst") + first, data)
            else:
                data = stored_bytes(kind, file[:, lane], raw(instruction, field))
                memory[begin : begin + size] = np.frombuffer(data, np.uint8)


def _model_shared_or_permute(instruction: Any, state: State) -> None:
    is_permutation = operation(instruction) == "ds_bpermute_b32"
    (permute if is_permutation else model_shared)(instruction, state)


MODELS: Sequence[tuple[str, Callable[[Any, State], None]]] = (
    ("SOPP", model_flow),
    ("SOP", model_scalar),
    ("SMEM", model_scalar_load),
    ("VOP3P_MFMA", multiply),
    ("VOP3P", model_packed),
    ("VOP", model_vector),
    ("DS", _model_shared_or_permute),
    ("GLOBAL", access_global),
    ("MUBUF", access_buffer),
)
"""By how the name of an encoding begins, what models it."""

# --- random registers ---

_SPECIAL = (0, 1, 2**31, _BITS32, 2**31 - 1, 0x7F800000, 0xFF800000, 0x7FC00000, 0x3F800000)


def random_state(instruction: Any, numbers: np.random.Generator, lanes: int) -> State:
    """Registers from which an instruction has something to do."""
    shape, name = (256, lanes), operation(instruction)
    arena = np.frombuffer(numbers.bytes(ARENA_BYTES), np.uint8).copy()
    state = State(
        lanes,
        _random_words(numbers, (SCALARS,)),
        _random_words(numbers, shape),
        _random_words(numbers, shape),
        np.frombuffer(numbers.bytes(SHARED_BYTES), np.uint32).copy(),
        arena,
        arena.ctypes.data,
    )
    if re.search(r"_u24$", name):
        # The emulator does not clear the upper bits, which are 0 where compilers take these.
        state.vectors &= 0xFFFFFF
        state.scalars[:128] &= 0xFFFFFF
    if instruction.__class__.__name__.startswith("VOP"):
        _place_floats(instruction, state, numbers, name)
    shares = (1.0,) if "mfma" in name else (1.0, 0.7, 0.1)
    share = shares[int(numbers.integers(len(shares)))]
    state.set_mask(EXECUTION_MASK, numbers.random(lanes) < share)
    if name.startswith("v_div_fmas") or numbers.random() < 0.2:
        state.set_mask(CARRY, np.zeros(lanes, bool))
    state.scalars[CONDITION] = numbers.integers(2)
    _place_addresses(instruction, state, numbers)
    return state


def _random_words(numbers: np.random.Generator, shape: tuple[int, ...]) -> Array:
    words = numbers.integers(0, 2**32, shape, np.uint32)
    small = numbers.integers(0, 100, shape, np.uint32)
    special = numbers.choice(np.array(_SPECIAL, np.uint32), shape)
    chosen = numbers.random(shape)
    return np.where(chosen < 0.3, small, np.where(chosen < 0.4, special, words))


def _float_words(numbers: np.random.Generator, lanes: int, type: str, name: str) -> list[Array]:
    """The words of floats that are neither tiny nor huge."""
    floats = numbers.standard_normal(lanes) * 4
    if re.search(r"sqrt|rsq|log|div_|rcp|cvt_u32", name):
        is_positive = re.search(r"sq|log|cvt_u32", name)
        floats = np.copysign(np.abs(floats) + 0.1, 1 if is_positive else floats)
    if type == "f64":
        return [*floats.view(np.uint32).reshape(-1, 2).T]
    if type == "f16":
        pairs = np.stack([floats, numbers.standard_normal(lanes)], 1)
        return [pairs.astype(np.float16).view(np.uint32)[:, 0]]
    return [floats.astype(np.float32).view(np.uint32)]


def _place_floats(instruction: Any, state: State, numbers: np.random.Generator, name: str) -> None:
    """Makes operands floats that are neither tiny nor huge, all of them or most."""
    is_ordinary = name.startswith(ORDINARY) or "mfma" in name
    found = re.search(r"f(16|32|64)$", name)
    types = VECTOR[name][0].split() if name in VECTOR else [f"f{found[1]}" if found else "b32"] * 3
    count = 8 if "mfma" in name else 2
    for number, offset in enumerate(operands(instruction)):
        type = re.sub(r"^[dk]:", "", types[min(number, len(types) - 1)])
        if type[0] == "f" and offset >= 256:
            for register in range(offset - 256, min(offset - 256 + count, 256)):
                words = _float_words(numbers, state.lanes, type, name)
                chosen = numbers.random(state.lanes) < (1.0 if is_ordinary else 0.8)
                word = words[(register - offset) % len(words)]
                if len(words) > 1:
                    chosen[:] = True
                state.vectors[register, chosen] = word[chosen]
        elif type[0] == "f" and is_ordinary and offset < 106:
            state.scalars[offset] = np.float32(numbers.uniform(0.5, 2)).view(np.uint32)


def _place_addresses(instruction: Any, state: State, numbers: np.random.Generator) -> None:
    """Lets addresses be in the arena or in shared memory, each lane's own."""
    kind, name = instruction.__class__.__name__, operation(instruction)
    middle = state.arena_address + ARENA_BYTES // 2 & ~15
    slots = numbers.permutation(512)[: state.lanes].astype(np.uint32)
    if kind == "SMEM":
        _write_scalar(state, 2 * raw(instruction, "sbase"), middle, 64)
        if raw(instruction, "soffset_en"):
            state.scalars[raw(instruction, "soffset")] = 64
    elif kind == "DS" and "permute" in name:
        lanes = numbers.permutation(state.lanes).astype(np.uint32)
        state.vectors[raw(instruction, "addr")] = lanes * 4
    elif kind == "DS":
        # Both parts of an access must be each lane's own.
        is_atomic = name == "ds_add_u32"
        parts = [("data0", 0, 65520 // 2)] if is_atomic else shared_parts(instruction)[1]
        most = (SHARED_BYTES - max(offset for _, _, offset in parts) - 16) // 16
        offsets = numbers.permutation(min(most, 2048))[: state.lanes] * 16
        if len(parts) > 1 and "write" in name:
            offsets = _apart(offsets, abs(parts[0][2] - parts[1][2]))
        state.vectors[raw(instruction, "addr")] = offsets
    elif kind == "GLOBAL":
        register, scalar = raw(instruction, "addr"), raw(instruction, "saddr")
        addresses = slots.astype(np.uint64) * np.uint64(16)
        if scalar < NO_REGISTER:
            _write_scalar(state, scalar, middle, 64)
        else:
            addresses += np.uint64(middle)
            state.vectors[register + 1] = (addresses >> np.uint64(32)).astype(np.uint32)
        state.vectors[register] = (addresses & np.uint64(_BITS32)).astype(np.uint32)
    elif kind == "MUBUF":
        _place_buffer(instruction, state, middle, slots, numbers)


def _apart(offsets: Array, distance: int) -> Array:
    """Addresses at which two writes with a distance do not meet those of other lanes."""
    chosen: list[int] = []
    for offset in range(0, SHARED_BYTES - distance - 16, 16):
        near = {offset - distance, offset, offset + distance}
        if not near & set(chosen) and len(chosen) < len(offsets):
            chosen.append(offset)
    if len(chosen) < len(offsets):
        raise KeyError("no addresses that are apart")
    return np.array(chosen)


def _place_buffer(
    instruction: Any, state: State, middle: int, slots: Array, numbers: np.random.Generator
) -> None:
    first, soffset = 4 * raw(instruction, "srsrc"), raw(instruction, "soffset")
    if soffset < 128:
        state.scalars[soffset] = 32
    _write_scalar(state, first, middle, 64)
    state.scalars[first + 1] &= 0xFFFF
    # The end of the buffer, and words of 32 bits without a stride.
    state.scalars[first + 2], state.scalars[first + 3] = 16384, 0x27000
    if raw(instruction, "offen"):
        # Some lie behind the end, as those of masked elements do.
        is_outside = numbers.random(state.lanes) < 0.2
        offsets = np.where(is_outside, np.uint32(0x80000000), slots * np.uint32(16))
        state.vectors[raw(instruction, "vaddr")] = offsets


# --- comparing ---


def execute(emulator: Emulator, code: bytes, before: State, *, original: bool) -> State:
    """The state after the emulator has run one instruction."""
    padded = ctypes.create_string_buffer(code.ljust(64, b"\0"), 64)
    wave = emulator.module.WaveState(before.lanes, before.lanes)
    files = [getattr(wave, name)._buf.va_addr for name in ("sgpr_buf", "vgpr_buf", "accvgpr_buf")]
    before.jump(ctypes.addressof(padded))
    constants = np.ctypeslib.as_array((ctypes.c_uint32 * SCALARS).from_address(files[0]))
    # Numbers from 128 on are constants, except those of SCC and of the counter.
    kept = np.r_[128:CONDITION, CONDITION + 1 : COUNTER, COUNTER + 2 : SCALARS]
    before.scalars[kept] = constants[kept]
    after = before.copy()
    arrays = (after.scalars, after.vectors, after.accumulators)
    for array, address in zip(arrays, files, strict=True):
        ctypes.memmove(address, array.ctypes.data, array.nbytes)
    assert before.arena is not None
    assert after.arena is not None
    assert after.shared is not None
    pointers = (files[0], files[1], 0, after.shared.ctypes.data, 0, files[2])
    runner = emulator.original if original else emulator.runner
    program, runtime = runner(code, emulator.architecture)
    runtime.fxn(*(ctypes.c_uint64(pointers[number]) for number in program.arg.globals))
    for array, address in zip(arrays, files, strict=True):
        ctypes.memmove(array.ctypes.data, address, array.nbytes)
    # The emulator has written to the memory itself, of which there is a copy.
    written = before.arena.copy()
    before.arena[:] = after.arena
    after.arena[:] = written
    return after


def difference(name: str, found: State, expected: State) -> str:
    """What differs between two states; nothing where they agree."""
    for what in ("scalars", "vectors", "accumulators", "shared", "arena"):
        a, b = getattr(found, what), getattr(expected, what)
        wrong = a != b
        if what in ("vectors", "accumulators") and wrong.any():
            wrong &= ~_alike(name, a, b)
        if wrong.any():
            at = tuple(int(each[0]) for each in np.nonzero(wrong))
            return f"{what}{list(at)} is {int(a[at]):#x}, not {int(b[at]):#x}"
    return ""


def _alike(name: str, a: Array, b: Array) -> Array:
    """Where registers hold the same float: any NaN, or with an error in the last bits."""
    found = re.search(r"f(16|32|64)", name)
    if found is None:
        return np.zeros(a.shape, bool)
    if found[1] == "64":
        return (a & 0x7FFFFFFF >= 0x7FF00000) & (b & 0x7FFFFFFF >= 0x7FF00000)
    if found[1] == "16":
        pair = [each.view(np.uint16).reshape(*each.shape, 2) & 0x7FFF for each in (a, b)]
        both = (pair[0] == pair[1]) | ((pair[0] > 0x7C00) & (pair[1] > 0x7C00))
        return both.all(-1)
    x, y = a.view(np.float32), b.view(np.float32)
    same = np.isnan(x) & np.isnan(y)
    if re.search(r"max|min", name):
        same |= (x == 0) & (y == 0)
    if name in APPROXIMATE:
        same |= np.isclose(x, y, rtol=1e-6, atol=1e-37)
    if "mfma" in name:
        same |= np.isclose(x, y, rtol=1e-5, atol=1e-5)
    return same


def compare(emulator: Emulator, instruction: Any, seed: int) -> str:
    """What is wrong with an instruction in the emulator; nothing where it agrees with numpy."""
    kind = instruction.__class__.__name__
    own = own_execution(instruction)
    if own is skip:
        return "the emulator runs it as a load"
    model = next((model for start, model in MODELS if kind.startswith(start)), None)
    if model is None:
        return f"no model of {kind}"
    try:
        numbers = np.random.default_rng(seed)
        before = random_state(instruction, numbers, emulator.lanes)
        code = instruction.to_bytes().ljust(16, b"\0")
        with np.errstate(all="ignore"):
            try:
                found = execute(emulator, code, before, original=own is not None)
            except (RuntimeError, subprocess.CalledProcessError) as error:
                return f"the emulator fails: {' '.join(str(error).split())[:80]}"
            expected = before.copy()
            model(instruction, expected)
    except (KeyError, NotImplementedError) as error:
        return f"no model: {error}"
    _forget_unspecified(instruction, found, expected)
    return difference(operation(instruction), found, expected)


def _forget_unspecified(instruction: Any, found: State, expected: State) -> None:
    """Lets states agree on the carries of lanes that are masked, and on those of V_MAD."""
    name = operation(instruction)
    is_product = name.startswith("v_mad_") and "64" in name
    if not is_product and not re.search(r"_co_u32$", name):
        return
    target = raw(instruction, "sdst") if hasattr(instruction.__class__, "sdst") else CARRY
    active = expected.mask(EXECUTION_MASK) & (not is_product)
    for state in (found, expected):
        state.set_mask(target, state.mask(target) & active)


_VECTORS = ("vdst", "vdata", "vaddr", "addr", "data", "data0", "data1", "vsrc0", "vsrc1")
_SCALARS = ("sdst", "srsrc", "sbase", "sdata", "saddr", "literal", "simm16")
"""Fields whose values do not make another form of an instruction."""


def _form(instruction: Any) -> tuple[Any, ...]:
    """What an instruction has besides registers and distances, and which registers overlap."""
    vectors = {name: raw(instruction, name, -1) for name in _VECTORS}
    target = max(vectors["vdst"], vectors["vdata"])
    found: list[Any] = [instruction.__class__.__name__]
    for name, _ in instruction._fields:
        value = raw(instruction, name)
        if name in _VECTORS:
            value = (value >= 128, abs(value - target) < 4)
        elif name in _SCALARS or name.startswith("offset"):
            value = 0
        elif "src" in name and "_" not in name:
            value = next(n for n, end in enumerate((128, 240, 255, 256, 384, 512)) if value < end)
        found.append(value)
    return tuple(found)


def test_instructions(emulator: Emulator, paths: Sequence[Path], seed: int) -> dict[str, str]:
    """Why each opcode of machine code is not cleared; nothing where it is.

    Those that are executed in the emulator's place say so.
    """
    samples: dict[str, dict[tuple[Any, ...], Any]] = {}
    for path in paths:
        for instruction in instructions_of(emulator, path.read_bytes()):
            samples.setdefault(name_of(instruction), {}).setdefault(_form(instruction), instruction)
    verdicts: dict[str, str] = {}
    for name, forms in sorted(samples.items()):
        tried = (
            compare(emulator, instruction, seed + REPEATS * number + repeat)
            for number, instruction in enumerate([*forms.values()][:FORMS])
            for repeat in range(REPEATS)
        )
        wrong = next((each for each in tried if each), "")
        is_own = own_execution(next(iter(forms.values()))) is not None
        verdicts[name] = f"{EXECUTED_HERE}; {wrong or 'the emulator agrees'}" if is_own else wrong
    return verdicts
