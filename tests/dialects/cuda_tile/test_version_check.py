"""What a version has not is an error at the operation, which names the version."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, Float4E2M1FNType, IntegerType, f32
from xdsl.ir import Attribute

from tests.dialects.cuda_tile.numbers_text import read
from xtile.dialects.cuda_tile.constants import constant_attribute
from xtile.dialects.cuda_tile.types import (
    GatherScatterViewType,
    PartitionViewType,
    TensorViewType,
    TileType,
)
from xtile.dialects.cuda_tile.version_check import check_versions, version_of
from xtile.dialects.cuda_tile.versions import V13_1, V13_2, V13_3, V13_5, Version
from xtile.opt import main
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of

KERNEL = """cuda_tile.module @kernels attributes {producer = "xtile"} {
  global private constant @table <i8: [1]> : tile<1xi8>
  entry @kernel(%p: tile<ptr<f32>>, %n: tile<i32>, %b: tile<i8>) {
    %memory = alloca num_elem = 4, alignment = 8 : tile<ptr<f32>>
    %nibbles = constant <f4E2M1FN: 1.0> : tile<4xf4E2M1FN>
    %scale = constant <f8E8M0FNU: 1.0> : tile<f8E8M0FNU>
    for unsigned %i in (%n to %n, step %n) : tile<i32> {
    }
    %t = make_token : token
    %t1 = print_tko "now" token=%t -> token
    %t2 = print_tko "then" -> token
    %t3 = join_tokens %t2, %t2 : token
    %wide = exti %b unsigned : tile<i8> -> tile<i32>
    return
  }
}
"""

LATER = {
    V13_1: {
        1: "'producer' of 'cuda_tile.module' needs version 13.3 of CUDA Tile IR, but this is 13.1",
        2: "'constant' of 'cuda_tile.global' needs version 13.3 of CUDA Tile IR, but this is 13.1",
        4: "'cuda_tile.alloca' needs version 13.3 of CUDA Tile IR, but this is 13.1",
        5: "f4E2M1FN of 'cuda_tile.constant' needs version 13.3 of CUDA Tile IR, but this is 13.1",
        6: "f8E8M0FNU of 'cuda_tile.constant' needs version 13.2 of CUDA Tile IR, but this is 13.1",
        7: "'unsigned_cmp' of 'cuda_tile.for' needs version 13.2 of CUDA Tile IR, but this is 13.1",
        10: "'token' of 'cuda_tile.print_tko' needs version 13.2 of CUDA Tile IR, but this is 13.1",
        11: "'result_token' of 'cuda_tile.print_tko' needs version 13.2 of CUDA Tile IR, but this "
        "is 13.1",
    },
    V13_2: {
        1: "'producer' of 'cuda_tile.module' needs version 13.3 of CUDA Tile IR, but this is 13.2",
        2: "'constant' of 'cuda_tile.global' needs version 13.3 of CUDA Tile IR, but this is 13.2",
        4: "'cuda_tile.alloca' needs version 13.3 of CUDA Tile IR, but this is 13.2",
        5: "f4E2M1FN of 'cuda_tile.constant' needs version 13.3 of CUDA Tile IR, but this is 13.2",
    },
    V13_3: {},
    V13_5: {},
}


@pytest.mark.parametrize("version", LATER, ids=str)
def test_everything_that_is_newer_is_reported_where_it_stands(version: Version) -> None:
    module = read(KERNEL)
    source = source_of(module)
    assert source is not None
    diagnostics = Diagnostics()
    check_versions(module, version, diagnostics)
    found: dict[int, list[str]] = {}
    for diagnostic in diagnostics.sorted():
        assert diagnostic.span is not None
        line, _ = source.position(diagnostic.span.start)
        found.setdefault(line, []).append(diagnostic.message)
    expected = {line: [message] for line, message in LATER[version].items()}
    if version in (V13_1, V13_2):
        private = expected[2][0].replace("'constant'", "'symbol_visibility'")
        expected[2].append(private)
    assert found == expected


def test_the_command_refuses_what_the_version_has_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "kernel.mlir"
    file.write_text(KERNEL)
    assert main([str(file), "--cuda-tile-version", "13.2"]) == 1
    assert capsys.readouterr().err.count("needs version 13.3 of CUDA Tile IR") == 5
    assert main([str(file), "--cuda-tile-version", "13.3"]) == 0
    assert "alloca" in capsys.readouterr().out


FLOAT4 = Float4E2M1FNType()


@pytest.mark.parametrize(
    ("attribute", "version"),
    [
        (f32, V13_1),
        (FLOAT4, V13_3),
        (IntegerType(4), V13_3),
        (TileType((2,), FLOAT4), V13_3),
        (PartitionViewType((8,), TensorViewType(f32, [8], [1])), V13_1),
        (GatherScatterViewType((8,), TensorViewType(f32, [8], [1]), 0), V13_3),
        (PartitionViewType((8,), TensorViewType(FLOAT4, [8], [1])), V13_3),
        (ArrayAttr([TileType((2,), FLOAT4)]), V13_3),
        (DictionaryAttr({"a": FLOAT4}), V13_3),
        (constant_attribute(TileType((2,), FLOAT4), [1.0]), V13_3),
    ],
)
def test_a_type_is_as_new_as_its_newest_part(attribute: Attribute, version: Version) -> None:
    assert version_of(attribute) == version


def test_values_that_say_nothing_need_no_version() -> None:
    text = KERNEL.replace("private constant ", "").replace(' attributes {producer = "xtile"}', "")
    module = read(text)
    diagnostics = Diagnostics()
    check_versions(module, V13_1, diagnostics)
    assert not any("cuda_tile.global" in d.message for d in diagnostics.sorted())
