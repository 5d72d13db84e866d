"""What a kernel says of the parameters of its source."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import IntegerAttr, i64

from xtile.dialects.core.signature import (
    KernelSignature,
    Piece,
    Role,
    SourceParameter,
    source_signature,
)
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.registry import make_context
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir import read_mlir
from xtile.text.source import Source

SIGNATURE = KernelSignature(
    "tensorlang",
    (
        SourceParameter("x", "c32", (Piece(Role.VALUE),)),
        SourceParameter(
            "A",
            "memref<f32x4x?>",
            (Piece(Role.MEMREF, (1, 0)),),
            {"alignment": IntegerAttr(64, i64)},
            is_noalias=True,
        ),
        SourceParameter(
            "G",
            "group<memref<f32x4>x?, offset: ?>",
            (Piece(Role.MEMREF, (0,)), Piece(Role.OFFSET)),
        ),
    ),
)

TEXT = (
    'language = "tensorlang", parameters = [{becomes = ["value"], name = "x", type = "c32"}, '
    '{attributes = {alignment = 64 : i64}, becomes = ["memref 1 0"], name = "A", noalias, '
    'type = "memref<f32x4x?>"}, {becomes = ["memref 0", "offset"], name = "G", '
    'type = "group<memref<f32x4>x?, offset: ?>"}]'
)

PARAMETERS = "%x: complex<f32>, %A: memref<?x4xf32>, %G: memref<?xmemref<4xf32>>, %o: index"


def read(text: str, parameters: str = PARAMETERS) -> tuple[FuncOp, list[str]]:
    """A kernel with a signature, and the errors in it."""
    diagnostics = Diagnostics()
    kernel = (
        f"gpu.module @m {{\ngpu.func @f({parameters}) kernel attributes "
        f"{{core.signature = {{{text}}}}} {{\ngpu.return\n}}\n}}\n"
    )
    module = read_mlir(Source("k.mlir", kernel), diagnostics, make_context())
    assert module is not None, diagnostics.render()
    verify_module(module, diagnostics)
    (function,) = (each for each in module.walk() if isinstance(each, FuncOp))
    return function, [diagnostic.message for diagnostic in diagnostics]


def test_text() -> None:
    function, errors = read(TEXT)
    assert errors == []
    assert source_signature(function) == SIGNATURE
    assert function.attributes["core.signature"] == SIGNATURE.attribute()


def test_a_kernel_without_one() -> None:
    function, _ = read(TEXT)
    del function.attributes["core.signature"]
    assert source_signature(function) is None


WRONG = {
    ('becomes = ["memref 0", "offset"]', 'becomes = ["memref 0"]'): (
        "its parameters become 3 arguments, but the kernel has 4"
    ),
    ('name = "A"', 'name = "x"'): "two parameters are called 'x'",
    ('"memref 1 0"', '"memref 1 1"'): (
        "'memref 1 1' of 'A' is argument 1 of type memref<?x4xf32>, but each of its 2 dimensions "
        "is a mode of its own"
    ),
    ('"memref 1 0"', '"memref 0"'): (
        "'memref 0' of 'A' is argument 1 of type memref<?x4xf32>, but each of its 2 dimensions is "
        "a mode of its own"
    ),
    ('["value"]', '["memref 0"]'): (
        "'memref 0' of 'x' is argument 0 of type complex<f32>, but only a memref can be one"
    ),
    ('["value"]', '["pointer"]'): (
        "'pointer' of 'x' is argument 0 of type complex<f32>, but only a pointer can be it"
    ),
    ('["value"]', '["size 0"]'): (
        "'size 0' of 'x' is argument 0 of type complex<f32>, but only an index or an i64 can be it"
    ),
    ('["value"]', '["value 0"]'): (
        "'value 0' of 'x' is argument 0 of type complex<f32>, but it has no mode"
    ),
    ('"offset"', '"stride"'): (
        "'stride' of 'G' is argument 3 of type index, but it needs the number of a mode"
    ),
    ('"memref 1 0"', '"elements"'): (
        "'elements' of 'A' is argument 1 of type memref<?x4xf32>, but only a memref of one "
        "dimension can be it"
    ),
    ('"memref 1 0"', '"value"'): (
        "'value' of 'A' is argument 1 of type memref<?x4xf32>, but memory cannot be it"
    ),
    ('"offset"', '"place"'): (
        "'G' becomes \"place\"; expected one of value, real, imaginary, memref, pointer, elements, "
        "size, stride, offset, pointers, sizes, strides, count, and modes behind it"
    ),
    ('name = "A", ', ""): "a parameter must be a dictionary of becomes, name, type",
    ('name = "A"', "name = 1"): "name must be a string, given 1 : i64",
    ('["value"]', '"value"'): "what 'x' becomes must be an array",
    ("{alignment = 64 : i64}", "64"): "the attributes of 'A' must be a dictionary",
    ('language = "tensorlang", ', ""): (
        "core.signature must be a dictionary of language, parameters"
    ),
    ("noalias", "restrict"): "a parameter must be a dictionary of becomes, name, type",
}


@pytest.mark.parametrize(("right", "wrong"), WRONG)
def test_what_is_refused(right: str, wrong: str) -> None:
    assert right in TEXT
    _, errors = read(TEXT.replace(right, wrong, 1))
    assert errors == [f"core.signature: {WRONG[right, wrong]}"]


def test_arguments_that_become_several() -> None:
    def parts(number: int, piece: Piece) -> list[Piece]:
        return [piece] * number if piece.role is Role.MEMREF else [piece]

    split = SIGNATURE.split(parts)
    assert [len(parameter.becomes) for parameter in split.parameters] == [1, 1, 3]


def test_what_arguments_say_of_overlaps() -> None:
    said = PARAMETERS.replace("memref<4xf32>>", "memref<4xf32>> {core.noalias}")
    function, errors = read(TEXT, said)
    assert errors == []
    relying = SIGNATURE.relying_on(function)
    assert [each.is_noalias for each in relying.parameters] == [False, True, True]
