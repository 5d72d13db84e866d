"""Comments stay where they stand when a file is read and printed."""

from io import StringIO

from xtile.dialects.tensorlang.printer import print_module
from xtile.dialects.tensorlang.reader import read
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source

TEXT = """\
; A paragraph of
; two lines.

; Another one, above a definition that is resolved.


$n = 8
;
; Above the function.
func @f(%A: memref<f32x$n>, %c: bool) { ; behind the brace

    ; above an instruction

    ; and another paragraph
    %b = constant true : bool   ;behind an instruction
    ; the last of the inner region's lines
    if %b { ; in front of the region
        parallel {
        }
        ; behind the last instruction
    } ; behind the region
    %z = constant 1.0 : f32

    ; the last line of the function

}
; the last line of the file"""

PRINTED = """\
; A paragraph of
; two lines.

; Another one, above a definition that is resolved.

;
; Above the function.
func @f(%A: memref<f32x8>, %c: bool) {
    ; behind the brace

    ; above an instruction

    ; and another paragraph
    %b = constant true : bool ; behind an instruction
    ; the last of the inner region's lines
    if %b {
        ; in front of the region
        parallel {
        }
        ; behind the last instruction
    } ; behind the region
    %z = constant 1.0 : f32
    ; the last line of the function
}
; the last line of the file
"""


def printed(text: str) -> str:
    diagnostics, stream = Diagnostics(), StringIO()
    print_module(read(Source("kernel.ir", text), diagnostics), stream)
    assert diagnostics.render() == ""
    return stream.getvalue()


def test_comments_stay_where_they_stand() -> None:
    assert printed(TEXT) == PRINTED


def test_printed_comments_are_read_as_printed() -> None:
    assert printed(PRINTED) == PRINTED
