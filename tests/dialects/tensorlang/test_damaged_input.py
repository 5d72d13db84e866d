"""Damaged and hostile text gives located errors: no exception, no long wait, no memory eaten."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.dialects.tensorlang.round_trip import (
    assert_equivalent,
    ir_text,
    mlir_text,
    module_from_ir,
    module_from_mlir,
    tensorlang_context,
)
from tests.generators.damaged_text import damaged
from tests.generators.tensorlang_kernels import random_kernel
from tests.samples import one_of
from xtile.dialects.tensorlang.reader import MAX_REGION_DEPTH, read
from xtile.dialects.tensorlang.term_reader import MAX_ATTRIBUTE_DEPTH
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.text.files import source_from_bytes
from xtile.text.mlir import read_mlir
from xtile.text.source import Source

pytestmark = pytest.mark.slow

CHUNKS = 40
FILES_PER_CHUNK = 250
MLIR_CHUNKS = 20
MLIR_FILES_PER_CHUNK = 200
SECONDS_PER_FILE = 5.0

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.ir"))
KERNELS = 250
KERNEL_SIZE = 5


def originals(random: Random) -> Callable[[], bytes]:
    """Gives the examples and small random kernels, in random order."""
    examples = [path.read_bytes() for path in EXAMPLES]
    first = random.randrange(10**6)
    texts = [ir_text(random_kernel(first + i, KERNEL_SIZE)).encode() for i in range(KERNELS)]
    return lambda: random.choice(examples if random.random() < 0.12 else texts)


def decoded(data: bytes) -> Source | None:
    """The text of a file, or None where it is not valid UTF-8, which must be a located error."""
    try:
        return source_from_bytes("damaged.ir", data)
    except DiagnosticError as error:
        reason = str(error)
    assert "is not valid UTF-8; save the file as UTF-8" in reason
    return None


def check_ir(source: Source) -> str:
    """Reads, verifies and renders; what has no error must print and read back."""
    diagnostics = Diagnostics()
    module = read(source, diagnostics)
    could_read = not diagnostics.has_errors
    verify_module(module, diagnostics, source)
    rendered = diagnostics.render()
    text = ir_text(module) if could_read else ""
    if not diagnostics.has_errors:
        again = module_from_ir(text)
        assert_equivalent(module, again, text)
        assert ir_text(again) == text
    return rendered


def timed(check: Callable[[], object], data: bytes | str) -> None:
    """Runs a check and fails with the input if it raises or takes long."""
    start = time.process_time()
    try:
        check()
    except Exception as error:
        raise AssertionError(f"{type(error).__name__} for:\n{data!r}") from error
    assert time.process_time() - start < SECONDS_PER_FILE, f"slow:\n{data!r}"


@pytest.mark.parametrize("chunk", one_of(20, range(CHUNKS)))
def test_damaged_files(chunk: int) -> None:
    random = Random(chunk)
    original = originals(random)
    outcomes = {"undecodable": 0, "errors": 0, "accepted": 0}
    for _ in range(FILES_PER_CHUNK):
        data = damaged(original(), random)
        source = decoded(data)
        if source is None:
            outcomes["undecodable"] += 1
            continue
        rendered: list[str] = []
        timed(lambda source=source, out=rendered: out.append(check_ir(source)), data)
        outcomes["errors" if "error: " in rendered[0] else "accepted"] += 1
    assert sum(outcomes.values()) == FILES_PER_CHUNK
    assert min(outcomes.values()) > FILES_PER_CHUNK // 100
    assert outcomes["errors"] > FILES_PER_CHUNK // 2


def check_mlir(source: Source) -> None:
    """Reads and verifies MLIR text and renders what is wrong with it; what was read must print."""
    diagnostics = Diagnostics()
    module = read_mlir(source, diagnostics, tensorlang_context())
    assert module is not None or diagnostics.has_errors
    if module is not None:
        verify_module(module, diagnostics, source)
        text = mlir_text(module)
        if not diagnostics.has_errors:
            assert_equivalent(module, module_from_mlir(text), text)
    diagnostics.render()


def test_a_module_of_two_blocks() -> None:
    text = '"builtin.module"() ({\n^bb0:\n^bb1:  // no predecessors\n}) : () -> ()\n'
    source = Source("f.mlir", text)
    diagnostics = Diagnostics()
    module = read_mlir(source, diagnostics, tensorlang_context())
    assert module is not None
    verify_module(module, diagnostics, source)
    assert [error.message for error in diagnostics.errors] == [
        "'builtin.module': Region 'body' at position 0 expected a single block, but got 2 blocks"
    ]
    assert mlir_text(module) == text


def test_a_module_of_two_blocks_with_functions() -> None:
    function = '"tensorlang.func"() <{{sym_name = "{}"}}> ({{\n^bb1:\n}}) : () -> ()\n'
    blocks = f"{function.format('f')}^bb0:\n{function.format('g')}"
    source = Source("f.mlir", f'"builtin.module"() ({{\n{blocks}}}) : () -> ()\n')
    diagnostics = Diagnostics()
    module = read_mlir(source, diagnostics, tensorlang_context())
    assert module is not None
    verify_module(module, diagnostics, source)
    assert [error.message for error in diagnostics.errors] == [
        "a module has one region of one block"
    ]


def errors_of_mlir(text: str) -> list[str]:
    """The messages of the verifier for MLIR text that can be read."""
    source, diagnostics = Source("f.mlir", text), Diagnostics()
    module = read_mlir(source, diagnostics, tensorlang_context())
    assert module is not None
    verify_module(module, diagnostics, source)
    return [error.message for error in diagnostics.errors]


def test_a_function_that_uses_a_value_from_outside() -> None:
    constant = '%x = "tensorlang.constant"() <{value = 1.0 : f64}> : () -> f32\n'
    function = '"tensorlang.func"() <{sym_name = "f"}> ({\n^bb0:\n'
    use = '"tensorlang.parallel"() ({\n^bb0:\n%y = "tensorlang.neg"(%x) : (f32) -> f32\n'
    end = "}) : () -> ()\n"
    assert errors_of_mlir(f"{constant}{function}{use}{end}{end}\n") == [
        "constant must stand in a function",
        (
            "operand 0 of 'tensorlang.neg' is defined outside of the 'tensorlang.func' around it, "
            "which may only use values of its own"
        ),
    ]


@pytest.mark.parametrize(
    "text",
    [
        '"tensorlang.func"() <{sym_name = "f"}> ({}) : () -> ()\n',
        'tensorlang.func @f() {\n"tensorlang.parallel"() ({}) : () -> ()\n}\n',
        'tensorlang.func @f(%c: i1) {\n"tensorlang.if"(%c) ({}, {}) : (i1) -> ()\n}\n',
    ],
)
def test_a_region_without_a_block(text: str) -> None:
    assert errors_of_mlir(text) == ["a region needs a block, which may be empty"]


def test_an_operation_without_its_properties_is_printed_in_the_generic_form() -> None:
    source = Source("f.mlir", '%0 = "tensorlang.constant"() : () -> f32\n')
    diagnostics = Diagnostics()
    module = read_mlir(source, diagnostics, tensorlang_context())
    assert module is not None
    assert '%0 = "tensorlang.constant"() : () -> f32\n' in mlir_text(module)
    verify_module(module, diagnostics, source)
    assert [error.message for error in diagnostics.errors] == [
        "constant needs a value",
        "constant must stand in a function",
    ]
    with pytest.raises(DiagnosticError) as error:
        ir_text(module)
    assert "'tensorlang.constant' has no tensor language text" in str(error.value)


def test_a_function_that_does_not_verify_is_no_ir_text() -> None:
    text = 'tensorlang.func @f() {\n  %0 = "tensorlang.constant"() : () -> f32\n}\n'
    source, diagnostics = Source("f.mlir", text), Diagnostics()
    module = read_mlir(source, diagnostics, tensorlang_context())
    assert module is not None
    with pytest.raises(DiagnosticError) as error:
        ir_text(module)
    assert str(error.value).splitlines()[0] == (
        "f.mlir:2.3-42: error: constant is not what its text needs; verify the module to see why"
    )


@pytest.mark.parametrize("chunk", one_of(20, range(MLIR_CHUNKS)))
def test_damaged_mlir_files(chunk: int) -> None:
    random = Random(chunk)
    for i in range(MLIR_FILES_PER_CHUNK):
        module = random_kernel(chunk * MLIR_FILES_PER_CHUNK + i, KERNEL_SIZE)
        text = mlir_text(module, generic=i % 2 == 0, debuginfo=i % 3 == 0)
        data = damaged(text.encode(), random)
        source = decoded(data)
        if source is not None:
            timed(lambda source=source: check_mlir(source), data)


def errors_of(text: str) -> list[str]:
    """The messages of all errors of a text, without their places."""
    diagnostics = Diagnostics()
    module = read(Source("f.ir", text), diagnostics)
    verify_module(module, diagnostics)
    diagnostics.render()
    return [error.message for error in diagnostics.errors]


LEVELS = 10_000
REGIONS_TOO_DEEP = f"regions are nested more than {MAX_REGION_DEPTH} deep"
ATTRIBUTES_TOO_DEEP = f"attributes are nested more than {MAX_ATTRIBUTE_DEPTH} deep"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "func @f() {\n" + "parallel {\n" * LEVELS + "}\n" * (LEVELS + 1),
            REGIONS_TOO_DEEP,
        ),
        (
            "func @f() {\n" + "parallel {" * LEVELS,
            REGIONS_TOO_DEEP,
        ),
        (
            "func @f(%c: i8) {\n" + "if %c {} else {" * LEVELS,
            REGIONS_TOO_DEEP,
        ),
        (
            "func @f() attributes " + "{unroll=" * LEVELS,
            ATTRIBUTES_TOO_DEEP,
        ),
        (
            "func @f() attributes {unroll=" + "[" * LEVELS + "]" * LEVELS + "} {\n}",
            ATTRIBUTES_TOO_DEEP,
        ),
        ("$a = " + "[" * LEVELS, ATTRIBUTES_TOO_DEEP),
        ("$a = " + '{"a"=' * LEVELS, ATTRIBUTES_TOO_DEEP),
        (
            "func @f(%A: " + "group<" * LEVELS + ">" * LEVELS + ") {\n}",
            "expected a memref type, but found 'group'",
        ),
        (
            "func @f(%A: " + "memref<" * LEVELS + ">" * LEVELS + ") {\n}",
            "expected a number type, but found 'memref'",
        ),
        ("$a = " + "coopmatrix<" * LEVELS, "expected a number type, but found 'coopmatrix'"),
        (
            "$a = !calc(" + "(" * LEVELS + ")",
            "expected an integer for the calculation, but found '('",
        ),
    ],
)
def test_deep_nesting(text: str, message: str) -> None:
    assert errors_of(text)[0] == message


DIGITS = "9" * 10_000
SHORT_DIGITS = "9" * 37 + "..."


@pytest.mark.parametrize(
    "line",
    [
        "%x = constant {} : i64",
        "%x = constant {} : f64",
        "%x = constant -{} : c32",
        "%x = size %A[{}] : index",
        "%x = load %A[{}] : f32",
        "%x = fuse %A[{}, 1] : memref<f32>",
        "%x = expand %A[0 -> {} x 2] : memref<f32>",
        "%x = expand %A[{} -> 2 x 2] : memref<f32>",
        "%x = subview %A[{}] : memref<f32>",
        "%x = subview %A[0:{}] : memref<f32>",
        "%x = alloca : memref<f32x{},local>",
        "%x = alloca : memref<f32x4,strided<{}>,local>",
        "%x = alloca {{alignment={}}} : memref<f32,local>",
        "%x = constant 1.0 : coopmatrix<f32x{}x4,matrix_a>",
        "cumsum %one, %A, {}, %one, %A",
        "cooperative_matrix_prefetch {}, %A[%i,%i], 1, 1",
        "foreach_tile (%a)=(%i),(%i) as (%b)<=({}) {{}}",
        "for %a=%i,%i {{}} attributes{{unroll={}}}",
        "$x = {}",
        "$x = !calc({})",
        "$x = {{shape_gcd=[1,{}]}}",
    ],
)
def test_integers_of_ten_thousand_digits(line: str) -> None:
    body = line.format(DIGITS)
    header = "func @f(%A: memref<f32x?>, %one: f32, %i: index)"
    (message, *_) = errors_of(f"{header} {{\n    {body}\n}}\n")
    sign = "-" if "-{" in line else ""
    shown = sign + SHORT_DIGITS[len(sign) :] if sign else SHORT_DIGITS
    assert message == (f"integer {shown} is out of range; it must lie in -2^63+1, ..., 2^63-1")


def test_names_of_ten_thousand_digits_are_names() -> None:
    text = f"func @f(%{DIGITS}: f32) {{\n    %0 = neg %{DIGITS} : f32\n}}\n"
    assert ir_text(module_from_ir(text)) == text


def test_a_memref_of_ten_thousand_modes() -> None:
    text = f"func @f(%A: memref<f32{'x1' * 10_000}>) {{\n}}\n"
    assert ir_text(module_from_ir(text)) == text


def test_a_memref_larger_than_any_memory() -> None:
    text = f"func @f(%A: memref<f32{'x9223372036854775807' * 4},strided<1,?,?,?>>) {{\n}}\n"
    assert ir_text(module_from_ir(text)) == text


@pytest.mark.parametrize("exponent", ["999999999999", "9" * 10_000])
def test_huge_exponents(exponent: str) -> None:
    for number in (f"1e{exponent}", f"0x1p{exponent}"):
        (message,) = errors_of(f"func @f() {{\n    %x = constant {number} : f64\n}}\n")
        assert message.endswith(
            " is out of the range of double precision numbers; write inf if that is meant"
        )


def test_a_huge_calculation() -> None:
    (message,) = errors_of("$x = !calc(2 9223372036854775807 ^)")
    assert message == "2 9223372036854775807 ^ is out of range"


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n", "; only a comment", "; one\n; two\n", "\r\n;x\r\n", "$a = 1"]
)
def test_texts_without_functions(text: str) -> None:
    diagnostics = Diagnostics()
    module = read(Source("f.ir", text), diagnostics)
    assert not diagnostics
    assert ir_text(module) == ""


@pytest.mark.parametrize(
    ("data", "position"),
    [
        (b"func @f() {\n  \xff\n}", "f.ir:2.3: error: byte 0xff at offset 14"),
        (b"\xc3", "f.ir:1.1: error: byte 0xc3 at offset 0"),
        (b"; \xed\xa0\x80", "f.ir:1.3: error: byte 0xed at offset 2"),
    ],
)
def test_invalid_utf_8(data: bytes, position: str) -> None:
    with pytest.raises(DiagnosticError) as error:
        source_from_bytes("f.ir", data)
    assert str(error.value).startswith(f"{position} is not valid UTF-8; save the file as UTF-8\n")


def test_a_byte_order_mark_is_skipped() -> None:
    source = source_from_bytes("f.ir", b"\xef\xbb\xbffunc @f() {\n}\n")
    diagnostics = Diagnostics()
    assert ir_text(read(source, diagnostics)) == "func @f() {\n}\n"
    assert not diagnostics


def test_line_ends_of_other_systems() -> None:
    text = "; above\nfunc @f(%x: f32) {\n    ; inside\n    %y = neg %x : f32 ; behind\n}\n"
    assert ir_text(module_from_ir(text.replace("\n", "\r\n"))) == text


def test_nul_bytes() -> None:
    diagnostics = Diagnostics()
    read(Source("f.ir", "func @f() {\n    barrier\x00\n}\n"), diagnostics)
    assert diagnostics.render() == (
        "f.ir:2.12: error: expected an instruction, but found '\N{REPLACEMENT CHARACTER}'\n"
        "    barrier\N{REPLACEMENT CHARACTER}\n"
        "           ~"
    )


def test_an_unterminated_string() -> None:
    diagnostics = Diagnostics()
    read(Source("f.ir", 'func @f() attributes {"a=1} {\n}\n'), diagnostics)
    assert diagnostics.render() == (
        "f.ir:1.23: error: expected an attribute name, but found '\"'\n"
        'func @f() attributes {"a=1} {\n'
        "                      ~"
    )


MEGABYTE = 10**6
LINE_LENGTH = 100 * MEGABYTE
SECONDS_PER_LINE = 10.0
MEGABYTES_PER_LINE = 400

LINES = {
    "letters": "a",
    "digits": "1",
    "hexadecimal digits": "0xf",
    "operands": "%0 ",
    "parentheses": "(",
    "brackets": "[",
    "minus signs": "-",
    "full stops": ".",
    "a comment": ";",
    "quotes": '"',
    "blanks": " ",
    "nul bytes": "\x00",
    "emoji": "\N{GRINNING FACE}",
}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("head", ["", "func @f() {\n    "], ids=["outside", "inside"])
def test_a_line_of_a_hundred_megabytes(name: str, head: str) -> None:
    piece = LINES[name]
    text = head + piece * (LINE_LENGTH // len(piece))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    diagnostics = Diagnostics()
    read(Source("f.ir", text), diagnostics)
    rendered = diagnostics.render()
    assert time.process_time() - start < SECONDS_PER_LINE
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEGABYTES_PER_LINE * 1024
    assert len(rendered) < 2000
    assert diagnostics.has_errors or (not head and piece in "; ")
