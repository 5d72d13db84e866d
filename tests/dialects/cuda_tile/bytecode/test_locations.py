"""Where operations come from: debug information in bytecode, and locations in the text."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import FileLineColLoc, UnknownLoc

from tests.dialects.cuda_tile.bytecode.texts import printed, read
from tests.tile_tools import assembled, disassembled
from xtile.dialects.cuda_tile.bytecode import decode, encode
from xtile.dialects.cuda_tile.debug_info import DILocAttr
from xtile.dialects.cuda_tile.versions import VERSIONS, Version
from xtile.text.diagnostics import DiagnosticError

SCOPES = """
#file = #cuda_tile.di_file<"kernels.py" in "/home/me">
#unit = #cuda_tile.di_compile_unit<file = #file>
#scope = #cuda_tile.di_subprogram<file = #file, line = 1, name = "k", linkageName = "k",
                                  compileUnit = #unit, scopeLine = 2>
#other = #cuda_tile.di_subprogram<file = #file, line = 40, name = "w", linkageName = "with",
                                  compileUnit = #unit>
#with = #cuda_tile.di_loc<loc("/home/me/kernels.py":41:0) in #other>
#block = #cuda_tile.di_lexical_block<scope = #scope, file = #file, line = 3, column = 4>
#deeper = #cuda_tile.di_lexical_block<scope = #block, file = #file, line = 30>
#place = #cuda_tile.di_loc<loc("/home/me/kernels.py":5:6) in #scope>
#inner = #cuda_tile.di_loc<loc("/home/me/kernels.py":7:8) in #block>
#third = #cuda_tile.di_loc<loc("/home/me/kernels.py":9:10) in #deeper>
"""

KERNELS = f"""{SCOPES}
cuda_tile.module @kernels {{
  entry @k(%a: tile<f32>) {{
    %b = addf %a, %a : tile<f32> loc(#inner)
    %c = mulf %b, %a : tile<f32> loc(callsite(#inner at #place))
    %d = subf %c, %b : tile<f32> loc(callsite(callsite(#third at #inner) at #place))
    %e = negf %d : tile<f32> loc(unknown)
    %f = reshape %e : tile<f32> -> tile<1xf32> loc(#third)
    %g = reduce %f dim=0 identities=[0.0 : f32] : tile<1xf32> -> tile<f32>
    (%l: tile<f32>, %r: tile<f32>) {{
      yield %l : tile<f32> loc(#third)
    }} loc(#place)
    return loc(#place)
  }} loc(#place)
  entry @without(%a: tile<f32>) {{
    %b = addf %a, %a : tile<f32>
    return
  }}
  entry @with(%a: tile<f32>) {{
    return loc(unknown)
  }} loc(#with)
}}
"""


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_debug_information(version: Version) -> None:
    """All locations are kept, and NVIDIA's disassembler tells the same."""
    data = encode(read(KERNELS), version)
    module = decode(data)
    assert encode(module, version) == data
    text = printed(module, locations=True)
    assert encode(read(text), version) == data
    theirs = disassembled(data, debug_info=True)
    inside = "".join(line for line in theirs.splitlines(True) if not line.startswith("#"))
    after = "".join(line for line in theirs.splitlines(True) if line.startswith("#"))
    assert encode(read(f"cuda_tile.module @kernels {{\n{inside}}}\n{after}"), version) == data


def test_what_is_kept() -> None:
    """A location without a scope is lost, and the others are what they were."""
    before = [operation.location for operation in read(KERNELS).walk()][2:]
    after = [operation.location for operation in decode(encode(read(KERNELS))).walk()][1:]
    expected = [
        UnknownLoc() if isinstance(location, FileLineColLoc) else location for location in before
    ]
    assert after == expected
    assert sum(isinstance(location, DILocAttr) for location in after) == 7


@pytest.mark.parametrize(
    "location", ['"name"', '"name"(#place)', 'fused[#place, "a.py":1:2]', 'callsite("n" at #place)']
)
def test_other_locations(location: str) -> None:
    """What the format has not is an error at the operation."""
    text = f"""{SCOPES}
cuda_tile.module @kernels {{
  entry @k() {{
    return loc({location})
  }} loc(#place)
}}
"""
    with pytest.raises(DiagnosticError) as error:
        encode(read(text))
    assert "the bytecode has no location such as" in str(error.value)
    assert "expected a di_loc, or a callsite of such" in str(error.value)


TEXT = """\
cuda_tile.module @kernels {
  entry @k(%a: tile<f32>) {
    %b = addf %a, %a : tile<f32>
    return
  }
  entry @l() {
    return
  }
}
"""


def test_line_info() -> None:
    """Locations in the text become locations in the function."""
    module = decode(encode(read(TEXT, "/home/me/k.mlir"), line_info=True))
    entries = [operation for operation in module.walk() if operation.name == "cuda_tile.entry"]
    assert [str(entry.location) for entry in entries] == [
        position("k", 2, 2, 3),
        position("l", 6, 6, 3),
    ]
    inside = [operation.location for operation in entries[0].body.block.ops]
    assert [str(location) for location in inside] == [
        position("k", 2, 3, 10),
        position("k", 2, 4, 5),
    ]


@pytest.mark.parametrize(
    "location",
    [
        '"a_ptr"("/home/me/k.mlir":3:4)',
        '"x"("y"("/home/me/k.mlir":3:4))',
        'callsite("z"("/lib/standard.py":9:1) at "x"("/home/me/k.mlir":3:4))',
        'callsite(callsite("/lib/a.py":9:1 at "/lib/b.py":8:1) at "/home/me/k.mlir":3:4)',
        'fused["x"("/home/me/k.mlir":3:4), "/lib/standard.py":9:1]',
    ],
)
def test_line_info_of_other_locations(location: str) -> None:
    """Names are left out, and calls are at their line in the function."""
    text = f"""
cuda_tile.module @kernels {{
  entry @k() {{
    return loc({location})
  }} loc("k"("/home/me/k.mlir":2:3))
}}
"""
    module = decode(encode(read(text), line_info=True))
    assert [str(operation.location) for operation in module.walk()][-2:] == [
        position("k", 2, 2, 3),
        position("k", 2, 3, 4),
    ]


@pytest.mark.parametrize("location", ["unknown", '"name"', 'callsite("x" at "y")'])
def test_line_info_without_a_file(location: str) -> None:
    """A location in no file is unknown."""
    text = f"""
cuda_tile.module @kernels {{
  entry @k() {{
    return loc({location})
  }} loc("/home/me/k.mlir":2:3)
}}
"""
    module = decode(encode(read(text), line_info=True))
    assert str([operation.location for operation in module.walk()][-1]) == "loc(unknown)"


def position(function: str, start: int, line: int, column: int) -> str:
    """The text of a location in a function that begins at a line."""
    file = '#cuda_tile.di_file<"k.mlir" in "/home/me">'
    unit = f"#cuda_tile.di_compile_unit<file = {file}>"
    scope = (
        f'#cuda_tile.di_subprogram<file = {file}, line = {start}, name = "{function}", '
        f'linkageName = "{function}", compileUnit = {unit}, scopeLine = {start}>'
    )
    return f'#cuda_tile.di_loc<loc("/home/me/k.mlir":{line}:{column}) in {scope}>'


def test_line_info_in_messages_of_the_assembler() -> None:
    """What NVIDIA's assembler cannot compile it names by the line of the text."""
    text = """\
cuda_tile.module @kernels {
  entry @k(%p: tile<ptr<f8E8M0FNU>>) {
    %x, %t = load_ptr_tko weak %p : tile<ptr<f8E8M0FNU>> -> tile<f8E8M0FNU>, token
    %t1 = store_ptr_tko weak %p, %x : tile<ptr<f8E8M0FNU>>, tile<f8E8M0FNU> -> token
    return
  }
}
"""
    data = encode(read(text, "/home/me/k.mlir"), line_info=True)
    assembled(data, "sm_100")
    with pytest.raises(ValueError, match="unsupported type 'f8E8M0FNU'"):
        assembled(data, "sm_90")
