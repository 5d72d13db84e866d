"""The ten operations of AMD's dialect in Triton 3.4, as `docs/triton.md` has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.dialects.triton.modules import module_text, printed_for
from tests.seeds import fresh_generator
from tests.triton_releases.folders import releases
from tests.triton_releases.judges import judge
from xtile.dialects.triton.versions import NEWEST, OLDEST, V3_7, parse_release
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.route import translate

Array = Any
Arrays = dict[str, Any]

_PAGE = Path(__file__).parents[3] / "docs/triton.md"

_DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "i8": np.int8}


@dataclass(frozen=True)
class Case:
    """What an example is given and what comes of it.

    Attributes:
        types: The types of the values that it uses; `%offsets` are numbers in row-major order.
        made: The value that is compared, with its type; None for an example without a result.
        expected: What the value is, by the arrays that the others are loaded from.
        memory: What the memory at `%p` becomes, if it changes, by the same arrays.
        numbers: What is passed as it is.
    """

    types: Mapping[str, str]
    made: tuple[str, str] | None = None
    expected: Callable[[Arrays], Array] | None = None
    memory: Callable[[Arrays], Array] | None = None
    numbers: Mapping[str, int] = field(default_factory=dict[str, int])


_FLOATS, _OFFSETS, _MASK = (f"tensor<1024x{x}, #line>" for x in ("f32", "i32", "i1"))
_PLACES = {"p": "!tt.ptr<f32>", "offsets": _OFFSETS, "mask": _MASK}
_PART = "tensor<32x64xf32, #blocked>"
_TILE = "tensor<128x128xf16, #src_layout>"


def _chosen(given: Arrays, value: Array, otherwise: Array) -> Array:
    mask: Array = given["mask"]
    return mask * value + (1 - mask) * otherwise


def _e2m1(packed: Array) -> Array:
    """The floats of 4 bits in bytes, the one in the low bits first."""
    bits = np.stack([packed & 15, (packed >> 4) & 15], axis=-1).reshape(len(packed), -1)
    magnitudes = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])[bits & 7]
    return np.where(bits & 8, -magnitudes, magnitudes)


def _scaled(x: Array, scale: Array) -> Array:
    powers = np.ldexp(1.0, scale.view(np.uint8).astype(int) - 127)
    return (_e2m1(x) * np.repeat(powers, 32, axis=1)).astype(ml_dtypes.bfloat16)


CASES: list[tuple[str, Case]] = [
    (
        "buffer_load",
        Case(
            {**_PLACES, "other": _FLOATS, "s": "i32"},
            ("0", _FLOATS),
            lambda given: _chosen(given, given["p"], given["other"]),
            numbers={"s": 256},
        ),
    ),
    (
        "buffer_store",
        Case(
            {"x": _FLOATS, **_PLACES},
            memory=lambda given: _chosen(given, given["x"], given["p"]),
        ),
    ),
    (
        "buffer_atomic_rmw",
        Case(
            {"x": _FLOATS, **_PLACES},
            memory=lambda given: _chosen(given, given["p"] + given["x"], given["p"]),
        ),
    ),
    (
        "buffer_load_to_local",
        Case(
            _PLACES,
            ("0", _FLOATS),
            lambda given: _chosen(given, given["p"], np.float32(0)),
        ),
    ),
    (
        "concat",
        Case(
            {"arg0": _PART, "arg1": _PART},
            ("0", "tensor<64x64xf32, #blocked>"),
            lambda given: np.concatenate([given["arg0"], given["arg1"]]),
        ),
    ),
    (
        "concat",
        Case(
            {f"arg{number}": _TILE for number in range(4)},
            ("0", "tensor<256x256xf16, #dst_layout>"),
            lambda given: np.block(
                [[given[f"arg{2 * row}"], given[f"arg{2 * row + 1}"]] for row in (0, 1)]
            ),
        ),
    ),
    (
        "extract_slice",
        Case(
            {"0": "tensor<128x128xf16, #blocked>"},
            ("2", "tensor<128x32xf16, #blocked1>"),
            lambda given: given["0"][:, :32],
        ),
    ),
    (
        "in_thread_transpose",
        Case(
            {"x": "tensor<64x128xf16, #blocked>"},
            ("0", "tensor<64x128xf16, #linear>"),
            lambda given: given["x"],
        ),
    ),
    (
        "upcast_mxfp",
        Case(
            {"x": "tensor<64x32xi8, #packed>", "scale": "tensor<64x2xi8, #scales>"},
            ("0", "tensor<64x64xbf16, #unpacked>"),
            lambda given: _scaled(given["x"], given["scale"]),
        ),
    ),
    ("cond_barrier", Case({"pred": "i1"}, numbers={"pred": True})),
    ("instruction_sched_hint", Case({})),
]
"""The operations in the order of the page."""


def examples() -> list[tuple[str, str]]:
    """The layouts and the operations of each text of the page."""
    section = _PAGE.read_text().split("## AMD's operations of 3.4\n")[1].split("\n## ")[0]
    blocks = re.findall(r"```mlir\n(.*?)```", section, re.DOTALL)
    found = [re.fullmatch(r"((?:#.*?)?)^((?:%|amdgpu).*)", b, re.DOTALL | re.M) for b in blocks]
    return [(match[1], match[2]) for match in found if match]


def _shape(type_: str) -> tuple[list[int], str, str]:
    """The sizes, the element and the layout of a tensor."""
    match = re.fullmatch(r"tensor<([\dx]+)x([a-z]\w*), (#\w+)>", type_)
    assert match is not None
    return [int(size) for size in match[1].split("x")], match[2], match[3]


def _numbers(name: str, type_: str) -> list[str]:
    """A tensor of the numbers of elements in row-major order, in the layout of another one."""
    sizes, _, layout = _shape(type_)
    whole = f"tensor<{'x'.join(map(str, sizes))}xi32, {layout}>"
    if len(sizes) == 1:
        return [f"%{name} = tt.make_range {{end = {sizes[0]} : i32, start = 0 : i32}} : {whole}"]
    lines: list[str] = []
    for axis, (size, step) in enumerate(zip(sizes, (sizes[1], 1), strict=True)):
        line = f"tensor<{size}xi32, #ttg.slice<{{dim = {1 - axis}, parent = {layout}}}>>"
        side = f"tensor<{f'{size}x1' if axis == 0 else f'1x{size}'}xi32, {layout}>"
        part = f"%{name}_{axis}"
        lines += [
            f"{part}r = tt.make_range {{end = {size} : i32, start = 0 : i32}} : {line}",
            f"{part}e = tt.expand_dims {part}r {{axis = {1 - axis} : i32}} : {line} -> {side}",
            f"{part}c = arith.constant dense<{step}> : {side}",
            f"{part}m = arith.muli {part}e, {part}c : {side}",
            f"{part}b = tt.broadcast {part}m : {side} -> {whole}",
        ]
    return [*lines, f"%{name} = arith.addi %{name}_0b, %{name}_1b : {whole}"]


def _pointers(name: str, type_: str) -> tuple[list[str], str]:
    """Pointers to the elements of a tensor behind a parameter, and their type."""
    sizes, element, layout = _shape(type_)
    held = "i8" if element == "i1" else element
    shape = "x".join(map(str, sizes))
    pointers = f"tensor<{shape}x!tt.ptr<{held}>, {layout}>"
    numbers = f"tensor<{shape}xi32, {layout}>"
    lines = [
        *_numbers(f"n_{name}", type_),
        f"%s_{name} = tt.splat %m_{name} : !tt.ptr<{held}> -> {pointers}",
        f"%q_{name} = tt.addptr %s_{name}, %n_{name} : {pointers}, {numbers}",
    ]
    return lines, pointers


def _loaded(name: str, type_: str) -> list[str]:
    lines, pointers = _pointers(name, type_)
    if _shape(type_)[1] != "i1":
        return [*lines, f"%{name} = tt.load %q_{name} : {pointers}"]
    bytes_ = type_.replace("i1", "i8")
    return [
        *lines,
        f"%h_{name} = tt.load %q_{name} : {pointers}",
        f"%{name} = arith.trunci %h_{name} : {bytes_} to {type_}",
    ]


def _random(type_: str) -> Array:
    generator = fresh_generator()
    sizes, element, _ = _shape(type_)
    if element == "i1":
        return generator.integers(0, 2, sizes).astype(np.int8)
    if element == "i8":
        # Scales that f64 and bf16 hold.
        return generator.integers(100, 150, sizes).astype(np.uint8).view(np.int8)
    return generator.standard_normal(sizes).astype(_DTYPES[element])


def _kernel(layouts: str, operations: str, case: Case) -> str:
    """A kernel that loads what an example uses, and stores what it makes."""
    parameters: list[str] = []
    lines: list[str] = []
    for name, type_ in case.types.items():
        if name == "offsets":
            lines += _numbers(name, type_)
        elif type_.startswith("tensor"):
            element = _shape(type_)[1]
            parameters.append(f"%m_{name}: !tt.ptr<{'i8' if element == 'i1' else element}>")
            lines += _loaded(name, type_)
        else:
            parameters.append(f"%{name}: {type_}")
    lines.append(operations)
    if case.made is not None:
        name, type_ = case.made
        more, pointers = _pointers("made", type_)
        parameters.append(f"%m_made: !tt.ptr<{_shape(type_)[1]}>")
        lines += [*more, f"tt.store %q_made, %{name} : {pointers}"]
    return module_text("\n".join(lines), ", ".join(parameters), layouts=layouts)


def _arguments(case: Case) -> Arrays:
    arrays: Arrays = {}
    for name, type_ in case.types.items():
        if name in case.numbers:
            arrays[name] = case.numbers[name]
        elif type_.startswith("tensor") and name != "offsets":
            arrays[name] = _random(type_)
        elif type_.startswith("!tt.ptr"):
            arrays[name] = _random(_FLOATS)
    if case.made is not None:
        sizes, element, _ = _shape(case.made[1])
        arrays["made"] = np.full(sizes, np.nan, _DTYPES[element])
    return arrays


@pytest.mark.parametrize("is_raised", [False, True], ids=["triton", "core"])
@pytest.mark.parametrize("number", range(len(CASES)), ids=[name for name, _ in CASES])
def test_the_text_computes_what_it_says(number: int, is_raised: bool) -> None:
    (layouts, operations), (name, case) = examples()[number], CASES[number]
    assert f"amdgpu.{name} " in operations
    arrays = _arguments(case)
    before = {name: np.copy(array) for name, array in arrays.items()}
    module = xtile.parse(_kernel(layouts, operations, case), language="mlir")
    xtile.run(
        translate(module, "triton-to-core") if is_raised else module,
        [each if isinstance(each, int) else each.reshape(-1) for each in arrays.values()],
    )
    if case.expected is not None:
        np.testing.assert_array_equal(arrays["made"], case.expected(before))
    if case.memory is not None:
        np.testing.assert_array_equal(arrays["p"], case.memory(before))


def test_the_page_has_all_ten() -> None:
    assert len({name for name, _ in CASES}) == 10
    assert len(examples()) == len(CASES)


_GONE = ("upcast_mxfp", "instruction_sched_hint")
"""What 3.8 and later do not have."""


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(CASES)), ids=[name for name, _ in CASES])
def test_the_text_is_printed_for_3_4_and_3_9(number: int) -> None:
    (layouts, operations), (name, case) = examples()[number], CASES[number]
    module = xtile.parse(_kernel(layouts, operations, case), language="mlir")
    old = printed_for(module, OLDEST)
    assert f"amdgpu.{name} " in old
    again = xtile.parse(old, language="mlir")
    assert printed_for(again, OLDEST) == old
    if name not in _GONE:
        new = printed_for(module, NEWEST)
        assert f"amdg.{name} " in new
        assert printed_for(xtile.parse(new, language="mlir"), OLDEST) == old


@pytest.mark.parametrize("release", releases())
@pytest.mark.parametrize("number", range(len(CASES)), ids=[name for name, _ in CASES])
def test_tritons_read_it(number: int, release: str) -> None:
    (layouts, operations), (name, case) = examples()[number], CASES[number]
    text, version = _kernel(layouts, operations, case), parse_release(release)
    if name in _GONE and version > V3_7:
        return
    if version != OLDEST:
        text = printed_for(xtile.parse(text, language="mlir"), version)
    verdict = judge(release, text)
    assert verdict.accepted, (verdict.said, text)


_WRONG = {
    "concat": ("f32, #blocked>\n  ->", "f32, #blocked>,\n  ->", "type expected"),
    "extract_slice": ("slice %1", "slice %0", "but has been previously used or defined with type"),
    "in_thread_transpose": ("[4, 4]", "[2, 2]", "transposed in each thread they hold"),
}
"""What Triton's own page has, and what is said of it."""


@pytest.mark.parametrize("name", _WRONG)
def test_what_tritons_page_has_is_refused(name: str) -> None:
    number = [each for each, _ in CASES].index(name)
    (layouts, operations), (_, case) = examples()[number], CASES[number]
    right, wrong, message = _WRONG[name]
    text = _kernel(layouts, operations, case)
    assert text.count(right) == 1
    text = text.replace(right, wrong)
    with pytest.raises(DiagnosticError, match=message):
        xtile.parse(text, language="mlir")
    for release in releases():
        assert not judge(release, text).accepted


def test_scales_of_a_right_operand_stand_along_k_too() -> None:
    """Triton has them in rows along K for both operands, and packs both along K."""
    number = [name for name, _ in CASES].index("upcast_mxfp")
    layouts, operations = examples()[number]
    texts = [layouts.replace("opIdx = 0", "opIdx = 1"), operations]
    texts[1] = texts[1].replace("64x32xi8", "32x64xi8")
    case = Case(
        {"x": "tensor<32x64xi8, #packed>", "scale": "tensor<64x2xi8, #scales>"},
        ("0", "tensor<64x64xbf16, #unpacked>"),
    )
    text, arrays = _kernel(texts[0], texts[1], case), _arguments(case)
    module = xtile.parse(text, language="mlir")
    given = [array.reshape(-1) for array in arrays.values()]
    expected = _scaled(np.ascontiguousarray(arrays["x"].T), arrays["scale"]).T
    for form in (module, translate(module, "triton-to-core")):
        arrays["made"][:] = np.nan
        xtile.run(form, given)
        np.testing.assert_array_equal(arrays["made"], expected)
    for release in releases():
        if parse_release(release) == OLDEST:
            assert judge(release, text).accepted
