"""Sources: positions, recorded locations, and input that is not text."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.dialects.test import TestOp as Operation

import xtile
from xtile.dialects.languages import TILE_MAGIC
from xtile.text.diagnostics import DiagnosticError
from xtile.text.files import source_from_bytes, source_from_path
from xtile.text.source import Source, Span, attach_source, source_of, span_of, spelling_of


def test_position_counts_lines_and_columns_from_one() -> None:
    source = Source("a.ir", "ab\n\ncd")
    assert [source.position(offset) for offset in range(7)] == [
        (1, 1),
        (1, 2),
        (1, 3),
        (2, 1),
        (3, 1),
        (3, 2),
        (3, 3),
    ]


def test_position_outside_the_text_is_its_nearest_end() -> None:
    source = Source("a.ir", "ab\ncd")
    assert source.position(-1) == (1, 1)
    assert source.position(100) == (2, 3)


def test_first_line_moves_all_lines() -> None:
    source = Source("a.ir", "ab\ncd", first_line=10)
    assert source.position(3) == (11, 1)
    assert source.line_text(11) == "cd"
    assert source.offset(11, 2) == 4
    assert source.offset(1, 1) is None


def test_line_text_has_no_line_end() -> None:
    source = Source("a.ir", "ab\r\ncd\n")
    assert [source.line_text(line) for line in (1, 2, 3)] == ["ab", "cd", ""]
    with pytest.raises(IndexError, match=r"a\.ir has no line 4"):
        source.line_text(4)


def test_offset_is_the_inverse_of_position() -> None:
    source = Source("a.ir", "ab\n\ncdé\n")
    for offset in range(len(source.text) + 1):
        assert source.offset(*source.position(offset)) == offset
    assert source.offset(1, 9) is None
    assert source.offset(9, 1) is None


def test_byte_order_mark_is_dropped() -> None:
    assert source_from_bytes("a.ir", b"\xef\xbb\xbfab").text == "ab"


def test_invalid_utf8_is_located() -> None:
    with pytest.raises(DiagnosticError) as error:
        source_from_bytes("a.ir", "é\nx = ".encode() + b"\xff y")
    assert str(error.value) == (
        "a.ir:2.5: error: byte 0xff at offset 7 is not valid UTF-8; save the file as UTF-8\n"
        "x = \N{REPLACEMENT CHARACTER} y\n"
        "    ~"
    )


def test_bytes_instead_of_text_are_named() -> None:
    """Their name ends as that of a text."""
    with pytest.raises(DiagnosticError) as error:
        source_from_bytes("k.mlir", TILE_MAGIC + b"\x0d\x03\x00\x00\x82")
    assert str(error.value) == (
        "k.mlir: error: this is tileir-bytecode, not text; its name must end with .tileirbc, or "
        "the command line say -f tileirbc"
    )


def test_missing_file_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "none.ir"
    with pytest.raises(DiagnosticError) as error:
        source_from_path(path)
    assert str(error.value) == f"{path}: error: cannot read the file: No such file or directory"


def test_recorded_spans() -> None:
    source = Source("a.ir", "use x y")
    operation = Operation()
    source.record(operation, (0, 7, 4, 5, 6, 7))
    assert source.span_of(operation) == Span(0, 7)
    assert source.operand_span(operation, 0) == Span(4, 5)
    assert source.operand_span(operation, 1) == Span(6, 7)
    assert source.operand_span(operation, 2) is None
    assert source.operand_span(operation, -1) is None
    assert source.span_of(Operation()) is None
    assert source.operand_span(Operation(), 0) is None


def test_place_of_an_operation_that_a_pass_made_is_its_line() -> None:
    source = Source("a.ir", "one\n  two three  \n")
    operation = Operation()
    operation.location = FileLineColLoc(StringAttr("a.ir"), IntAttr(2), IntAttr(3))
    assert span_of(operation, source) == Span(6, 15)
    operation.location = FileLineColLoc(StringAttr("other.ir"), IntAttr(2), IntAttr(3))
    assert span_of(operation, source) is None


def test_place_of_an_unknown_operation_is_that_of_the_one_around_it() -> None:
    source = Source("a.ir", "one two")
    inner = Operation()
    module = ModuleOp([inner])
    source.record(module, (0, 7))
    assert span_of(inner, source) == Span(0, 7)
    assert span_of(inner, None) is None


@pytest.mark.slow
def test_a_module_keeps_its_source_and_both_are_collected() -> None:
    module = ModuleOp([])
    source = Source("a.ir", "")
    source.record(module, (0, 0))
    assert source_of(module) is None
    attach_source(module, source)
    assert source_of(module) is source
    reference = weakref.ref(module)
    del module, source
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("func @f() {\n    parallel { %i = subgroup_local_id : i32 }\n}\n", "subgroup_local_id"),
        ("func @f() {\n    parallel { %i = subgroup_id.y : i32 }\n}\n", "subgroup_id.y"),
    ],
)
def test_an_operation_is_called_what_its_text_calls_it(text: str, spelled: str) -> None:
    module = xtile.port(xtile.parse(text), "core")
    operation = next(op for op in module.walk() if op.name in ("gpu.lane_id", "gpu.subgroup_id"))
    assert spelling_of(operation) == spelled
    # What is not in the text is called by its own name.
    assert spelling_of(operation.clone()) == operation.name


def test_an_operation_of_mlir_is_called_by_its_name() -> None:
    text = 'module {\n  func.func @f() {\n    %0 = "gpu.lane_id"() : () -> index\n'
    text += "    gpu.barrier\n    return\n  }\n}\n"
    names = [spelling_of(operation) for operation in xtile.parse(text).walk()]
    assert names == ["module", "func.func", "gpu.lane_id", "gpu.barrier", "return"]
