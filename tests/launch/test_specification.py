"""What `xtile run` understands as the value of an argument."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.seeds import fresh_generator
from xtile.arguments.errors import ArgumentError
from xtile.arguments.groups import Group
from xtile.arguments.kernel import find_function, parameters_of
from xtile.launch.specification import random_value, value_of


def value(type: str, text: str) -> Any:
    function = find_function(f"func @f(%A: {type}) {{\n}}\n", None)
    return value_of(parameters_of(function)[0], text, fresh_generator())


def random(type: str, size: str | None) -> Any:
    function = find_function(f"func @f(%A: {type}) {{\n}}\n", None)
    return random_value(parameters_of(function)[0], size, fresh_generator())


def problem(type: str, text: str) -> str:
    with pytest.raises(ArgumentError) as raised:
        value(type, text)
    return str(raised.value).removeprefix(f"argument 'A' ({type}): ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2", 2), ("-1.5", -1.5), ("inf", float("inf")), ("0x1p-3", 0.125), ("1+2j", 1 + 2j)],
)
def test_numbers(text: str, expected: complex) -> None:
    assert value("f32", text) == expected


def test_booleans() -> None:
    assert value("bool", "true") is True
    assert problem("bool", "1") == "expected true or false, given '1'"


@pytest.mark.parametrize("text", ["1" * 5000, "1e400", "-1e400"])
def test_numbers_that_no_type_holds(text: str) -> None:
    message = problem("f32", text)
    assert message.startswith("expected a number, given '")
    assert len(message) < 200


def test_integers_of_any_size_are_read() -> None:
    assert value("f32", "1" * 400) == int("1" * 400)


def test_no_number() -> None:
    assert problem("f32", "two") == "expected a number, given 'two'"


def test_fills() -> None:
    assert value("memref<f32x2x3>", "ones").tolist() == [[1, 1, 1], [1, 1, 1]]
    assert np.isnan(value("memref<bf16x?>", "nan:4").astype(float)).all()
    assert value("memref<c32x4>", "rand").imag.any()
    assert value("memref<f32x4>", "null") is None


def test_fills_have_the_strides_of_the_type() -> None:
    array = value("memref<f32x2x3,strided<1,5>>", "rand")
    assert array.strides == (4, 20)
    assert value("memref<f32x?x?>", "zeros:2x3").strides == (4, 8)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.arange(6, dtype=np.float32).reshape(2, 3))
    array = value("memref<f32x2x3>", str(path))
    assert array.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert array.flags.f_contiguous


def test_bf16_survives_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.array([1.5, -2], ml_dtypes.bfloat16))
    assert value("memref<bf16x2>", str(path)).astype(float).tolist() == [1.5, -2]


def test_groups(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.zeros((2, 2), np.float32))
    group = value("group<memref<f32x?x?>x?>", f"{path},rand:3x4*2,null*3")
    shapes = [entry if entry is None else entry.shape for entry in group.entries]
    assert shapes == [(2, 2), (3, 4), (3, 4), None, None, None]


def test_groups_with_an_offset() -> None:
    group = value("group<memref<f32x?x2>x?, offset: 3>", "ones:2x2,null")
    assert group.entries[0].tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert group.shapes == [(2, 2), None]


def test_archives(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, np.zeros(4, np.float32), np.ones(4, np.float32))
    group = value("group<memref<f32x4>x?>", str(path))
    assert isinstance(group, Group)
    assert [entry[0] for entry in group.entries] == [0, 1]


@pytest.mark.parametrize(
    ("type", "text", "expected"),
    [
        (
            "memref<f32x4>",
            "a.txt",
            (
                "expected the path of an .npy file, null, or one of zeros, ones, nan, rand, "
                "given 'a.txt'"
            ),
        ),
        ("memref<f32x4>", "a.npy", "cannot read a.npy: No such file or directory"),
        (
            "memref<f32x4x?>",
            "zeros",
            "its shape (4, ?) is dynamic; give it, e.g. zeros:4x16",
        ),
        ("memref<i32x4>", "nan", "integers have no NaN; use zeros, ones or rand"),
        ("memref<f32x4>", "zeros*3", "'*3' repeats an entry of a group, this is none"),
        (
            "memref<f32x?>",
            "zeros:999999999999999",
            "shape (999999999999999,) is too large",
        ),
    ],
)
def test_wrong_values(type: str, text: str, expected: str) -> None:
    assert problem(type, text) == expected


@pytest.mark.parametrize("content", [b"", b"no array", b"\x93NUMPY\x01\x00", b"PK\x03\x04"])
def test_damaged_files(content: bytes, tmp_path: Path) -> None:
    for name in ("a.npy", "a.npz"):
        path = tmp_path / name
        path.write_bytes(content)
        type = "memref<f32x4>" if name.endswith("y") else "group<memref<f32x4>x?>"
        assert "holds no array" in problem(type, str(path))


def test_random_sizes() -> None:
    assert random("memref<f32x?x8>", "4x8").shape == (4, 8)
    assert len(random("group<memref<f32x?>x?>", "4*3").entries) == 3
    assert len(random("group<memref<f32x4>x5>", None).entries) == 5
    with pytest.raises(ArgumentError, match="the number of entries is dynamic"):
        random("group<memref<f32x4>x?>", None)
    with pytest.raises(ArgumentError, match="expected a size such as 64x64, given '4,4'"):
        random("memref<f32x?x?>", "4,4")
    with pytest.raises(ArgumentError, match=r"is dynamic; give it, e.g. --size A=16x4$"):
        random("memref<f32x?x4>", None)
