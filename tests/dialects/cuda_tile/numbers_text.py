"""Single operations on tiles as text: read, verified, and printed again."""

from __future__ import annotations

import re
from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xtile.dialects.registry import make_context
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir import print_mlir, read_mlir
from xtile.text.source import Source

TILES = {
    **{f"i{width}": f"tile<4x8xi{width}>" for width in (1, 4, 8, 16, 32, 64)},
    **{
        name.lower(): f"tile<4x8x{name}>"
        for name in (
            "f16", "bf16", "f32", "tf32", "f64", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f4E2M1FN",
        )
    },
    "small": "tile<4xi32>",
    "row": "tile<64xf4E2M1FN>",
    "bytes": "tile<32xi8>",
    "bits": "tile<256xi1>",
    "nibbles": "tile<64xi4>",
    "words": "tile<8xtf32>",
    "p": "tile<4x8xptr<f32>>",
    "token": "token",
}  # fmt: skip
"""The operands that a line may name, with `%`, and their types."""

FACTORS = {
    "a": "tile<16x64xf16>",
    "b": "tile<64x8xf16>",
    "c": "tile<16x8xf32>",
    "h": "tile<16x8xf16>",
    "d": "tile<16x8xf64>",
    "t": "tile<8x64xf16>",
    "x": "tile<2x16x64xf16>",
    "y": "tile<2x64x8xf16>",
    "z": "tile<2x16x8xf32>",
    "z4": "tile<4x16x8xf32>",
    "e": "tile<64x8xbf16>",
    "i": "tile<16x64xi8>",
    "j": "tile<64x8xi8>",
    "k": "tile<16x8xi32>",
    "v": "tile<16xf32>",
    "q": "tile<16x64xf8E4M3FN>",
    "w": "tile<64x8xf8E4M3FN>",
    "s": "tile<16x2xf8E8M0FNU>",
    "u": "tile<2x8xf8E8M0FNU>",
    "s4": "tile<16x4xf8E8M0FNU>",
    "u4": "tile<4x8xf8E8M0FNU>",
    "m": "tile<16x4xf8E4M3FN>",
    "n": "tile<4x8xf8E4M3FN>",
    "f": "tile<16x64xf4E2M1FN>",
    "g": "tile<64x8xf4E2M1FN>",
}

"""The operands of products, and their types."""


def program(line: str, tiles: dict[str, str] | None = None) -> str:
    """A function that holds one operation, in the last line but two.

    Args:
        line: The operation, without `cuda_tile.` if its name begins the line after any result.
        tiles: The operands and their types.
    """
    operands = TILES if tiles is None else tiles
    parameters = ", ".join(
        f"%{name}: !cuda_tile.{type.replace('ptr<', '!cuda_tile.ptr<')}"
        for name, type in operands.items()
    )
    operation = re.sub(r"^(%r = )?(?=[a-z])", r"\1cuda_tile.", line)
    return f"func.func @f({parameters}) {{\n  {operation}\n  return\n}}\n"


def product(text: str, flags: str = "") -> str:
    """The line of a product of operands that are named in `FACTORS`.

    Args:
        text: Its name and operands.
        flags: What stands before the types.
    """
    types = ", ".join(FACTORS[name] for name in re.findall(r"%(\w+)", text))
    return f"%r = {text} {flags}: {types}"


def read(text: str) -> ModuleOp:
    """Reads text that is right."""
    diagnostics = Diagnostics()
    source = Source("text.mlir", text)
    module = read_mlir(source, diagnostics, make_context())
    assert module is not None, diagnostics.sorted()
    verify_module(module, diagnostics, source)
    assert diagnostics.sorted() == []
    return module


def errors(text: str, line: int = 2) -> list[str]:
    """The messages of what is wrong with a text, each at a line."""
    diagnostics = Diagnostics()
    source = Source("text.mlir", text)
    context = make_context()
    context.allow_unregistered = '"some.operation"' in text
    module = read_mlir(source, diagnostics, context)
    if module is not None:
        verify_module(module, diagnostics, source)
    for diagnostic in diagnostics.sorted():
        assert diagnostic.span is not None
        assert source.position(diagnostic.span.start)[0] == line
    return [diagnostic.message for diagnostic in diagnostics.sorted()]


def only_operation(module: ModuleOp) -> Operation:
    """The only operation of the dialect."""
    (operation,) = (o for o in module.walk() if o.name.startswith("cuda_tile."))
    return operation


def printed(module: ModuleOp, *, generic: bool = False) -> str:
    """The module's text."""
    stream = StringIO()
    print_mlir(module, stream, generic=generic)
    return stream.getvalue()


def line_of(module: ModuleOp) -> str:
    """The line of the only operation of the dialect, without the dialect's name."""
    (line,) = (line for line in printed(module).splitlines() if " cuda_tile." in line)
    return line.strip().replace("= cuda_tile.", "= ")
