"""Every construct's text: the examples of the operations' docstrings, types, constants, locations.

A text is read, printed and read again, as `.ir` and as MLIR in both of its forms.
"""

from __future__ import annotations

import re
import textwrap
from io import StringIO

import pytest
from xdsl.dialects.builtin import FileLineColLoc, ModuleOp
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer

from tests.dialects.tensorlang.round_trip import (
    assert_equivalent,
    ir_text,
    locations,
    mlir_text,
    module_from_ir,
    module_from_mlir,
    tensorlang_context,
)
from xtile.dialects.tensorlang.attributes import AddressSpace, MatrixUse
from xtile.dialects.tensorlang.operation import Execution, TensorLangOperation
from xtile.dialects.tensorlang.ops import OPERATIONS
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.types import (
    C64,
    DYNAMIC,
    F32,
    F64,
    I8,
    SCALAR_TYPES,
    CoopmatrixType,
    GroupType,
    MemrefType,
    VoidType,
    type_text,
)
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics

MATRIX = "coopmatrix<f32x16x8,matrix_acc>"
SQUARE = "coopmatrix<f32x16x16,matrix_acc>"

OPERANDS = {
    **dict.fromkeys(("alpha", "beta", "a", "b", "x", "value", "zero"), "f32"),
    **dict.fromkeys(("i", "j", "n", "c0", "from", "to", "step", "y"), "index"),
    **dict.fromkeys(("A", "B", "C"), "memref<f32x?x?>"),
    "condition": "bool",
    "local_id": "i32",
    "m": MATRIX,
}
"""The types of the values that examples use, unless the table below says otherwise."""

_VECTOR = {"A": "memref<f32x?>"}
_POSITION = {"x": "index", "y": "index"}
_COLUMN = {"m": SQUARE}
_INTEGERS = {"a": "i32", "b": "i32"}
_COMPLEX = {"a": "c32"}

OPERANDS_OF: dict[str, dict[str, str]] = {
    "lifetime_stop": {"tmp": "memref<f32x16x8,local>"},
    "sum": {"b": "memref<f32x?>"},
    "gemv": {"b": "memref<f32x?>", "c": "memref<f32x?>"},
    "ger": {"a": "memref<f32x?>", "b": "memref<f32x?>"},
    "foreach": {"m": "index"},
    "foreach_tile": {"m": "index"},
    "atomic_load": _VECTOR,
    "atomic_store": _VECTOR,
    "atomic_add": _VECTOR,
    "atomic_min": _VECTOR,
    "atomic_max": _VECTOR,
    "expand": {"A": "memref<f32x32x?>"},
    "fuse": {"A": "memref<f32x32x16x8x4x42>"},
    "subview": {"A": "memref<f32x32x16x8>"},
    "if": _INTEGERS,
    "conj": _COMPLEX,
    "im": _COMPLEX,
    "re": _COMPLEX,
    "cast": {"a": "i32"},
    **dict.fromkeys(("shl", "shr", "and", "or", "xor", "not"), _INTEGERS),
    "cooperative_matrix_apply": _COLUMN,
    **{
        f"cooperative_matrix_{name}": _POSITION
        for name in (
            *("load", "store", "prefetch", "atomic_load", "atomic_store"),
            *("atomic_add", "atomic_max", "atomic_min"),
        )
    },
    "cooperative_matrix_mul_add": {
        "a": "coopmatrix<f32x16x8,matrix_a>",
        "b": "coopmatrix<f32x8x16,matrix_b>",
        "c": SQUARE,
    },
    "cooperative_matrix_scale": _COLUMN,
    "cooperative_matrix_reduce_max": _COLUMN,
}

PRINTED = {
    "sum": "sum %alpha, %A, %beta, %b",
    "constant": "%r = constant [3.0, -inf] : c32",
}
"""Examples that are printed in another way than they are written."""


def example_of(cls: type[TensorLangOperation]) -> str:
    """The example in the class's docstring."""
    match = re.search(r"```\n(.*?)```", textwrap.dedent(cls.__doc__ or ""), re.DOTALL)
    assert match is not None, f"{cls.__name__} has no example"
    return textwrap.dedent(match[1]).strip()


def kernel_around(cls: type[TensorLangOperation], example: str) -> str:
    """A function that defines what the example uses and holds it."""
    if cls is FuncOp:
        return example + "\n"
    types = {**OPERANDS, **OPERANDS_OF.get(cls.mnemonic(), {})}
    defined = set(re.findall(r"%(\w+)(?=[^=\n]* = )|[(,]%(\w+)(?=[^()]*\)<?=)|%(\w+)=", example))
    names = {name for group in defined for name in group}
    used = [name for name in dict.fromkeys(re.findall(r"%(\w+)", example)) if name not in names]
    parameters = [f"%{name}: {types[name]}" for name in used if is_parameter(types[name])]
    body = [f"%{n} = {definition(types[n])}" for n in used if not is_parameter(types[n])]
    if cls.mnemonic() == "yield":
        lines = [*body, "%c = constant true : bool", "%p, %q = if %c -> (f32,f32) {"]
        lines += [example, "} else {", example, "}"]
    else:
        lines = [*body, *example.splitlines()]
    if cls.EXECUTION == Execution.SPMD:
        lines = ["parallel {", *lines, "}"]
    attributes = "attributes {subgroup_size=16}"
    return f"func @f({', '.join(parameters)}) {attributes} {{\n" + "\n".join(lines) + "\n}\n"


def is_parameter(type: str) -> bool:
    return type.startswith("memref") and not type.endswith("local>")


def definition(type: str) -> str:
    """An instruction that makes a value of a type."""
    if type.startswith("memref"):
        return f"alloca : {type}"
    if type == "bool":
        return "constant true : bool"
    if type == "c32":
        return "constant [1.0, 2.0] : c32"
    return f"constant {'1.0' if 'f32' in type else '1'} : {type}"


def check_every_form(module: ModuleOp) -> str:
    """Prints and reads a module in all forms and verifies it; returns its `.ir` text."""
    diagnostics = Diagnostics()
    verify_module(module, diagnostics)
    text = ir_text(module)
    assert not diagnostics, f"{diagnostics.render()}\n{text}"
    again = module_from_ir(text)
    assert_equivalent(module, again, text)
    assert ir_text(again) == text
    for generic in (False, True):
        mlir = mlir_text(module, generic=generic, debuginfo=True)
        reread = module_from_mlir(mlir)
        assert_equivalent(module, reread, mlir)
        assert locations(reread) == locations(module)
    return text


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize("cls", OPERATIONS, ids=lambda cls: cls.mnemonic())
def test_the_example_of_the_docstring(cls: type[TensorLangOperation]) -> None:
    example = example_of(cls)
    text = check_every_form(module_from_ir(kernel_around(cls, example)))
    assert squeezed(PRINTED.get(cls.mnemonic(), example)) in squeezed(text)


MODIFIED = """
func @f(%x: f32, %i: index, %A: memref<f32x?x?>, %a: memref<f32x?>, %s: memref<f32>) {
    gemm %x, %A, %A, %x, %A
    gemm.n %x, %A, %A, %x, %A
    gemm.t %x, %A, %A, %x, %A
    gemm.n.n %x, %A, %A, %x, %A
    gemm.n.t %x, %A, %A, %x, %A
    gemm.t.n %x, %A, %A, %x, %A
    gemm.t.t %x, %A, %A, %x, %A
    %zero = constant 0.0 : f32
    gemm.atomic %x, %A, %A, %zero, %A
    gemm.atomic.n.t %x, %A, %A, %zero, %A
    axpby.n %x, %A, %x, %A
    barrier
    barrier.global
    barrier.local
    barrier.global.local
    %0 = atomic_load %a[%i] : f32
    %1 = atomic_load.work_group %a[%i] : f32
    %2 = atomic_load.relaxed %a[%i] : f32
    %3 = atomic_load.work_group.relaxed %a[%i] : f32
    %4 = atomic_load.device %a[%i] : f32
    %5 = atomic_load.acquire %a[%i] : f32
    %6 = atomic_load.cross_device.sequentially_consistent %s[] : f32
    store %x, %s[]
}
"""

MODIFIED_PRINTED = """\
func @f(%x: f32, %i: index, %A: memref<f32x?x?>, %a: memref<f32x?>, %s: memref<f32>) {
    gemm %x, %A, %A, %x, %A
    gemm %x, %A, %A, %x, %A
    gemm.t %x, %A, %A, %x, %A
    gemm %x, %A, %A, %x, %A
    gemm.n.t %x, %A, %A, %x, %A
    gemm.t %x, %A, %A, %x, %A
    gemm.t.t %x, %A, %A, %x, %A
    %zero = constant 0.0 : f32
    gemm.atomic %x, %A, %A, %zero, %A
    gemm.atomic.n.t %x, %A, %A, %zero, %A
    axpby %x, %A, %x, %A
    barrier
    barrier.global
    barrier.local
    barrier.global.local
    %0 = atomic_load %a[%i] : f32
    %1 = atomic_load %a[%i] : f32
    %2 = atomic_load %a[%i] : f32
    %3 = atomic_load %a[%i] : f32
    %4 = atomic_load.device %a[%i] : f32
    %5 = atomic_load.acquire %a[%i] : f32
    %6 = atomic_load.cross_device.sequentially_consistent %s[] : f32
    store %x, %s[]
}
"""


def test_defaults_are_read_but_not_printed() -> None:
    assert check_every_form(module_from_ir(MODIFIED)) == MODIFIED_PRINTED


_LOCAL = AddressSpace.LOCAL

TYPES: list[tuple[str, Attribute]] = [
    *SCALAR_TYPES.items(),
    ("void", VoidType()),
    ("memref<f32>", MemrefType.get(F32)),
    ("memref<i8x4>", MemrefType.get(I8, (4,))),
    ("memref<f32x0>", MemrefType.get(F32, (0,))),
    ("memref<f32x0x4>", MemrefType.get(F32, (0, 4))),
    ("memref<f32x?>", MemrefType.get(F32, (DYNAMIC,))),
    ("memref<f32x4x?x8>", MemrefType.get(F32, (4, DYNAMIC, 8))),
    ("memref<c64x1x2x3x4x5>", MemrefType.get(C64, (1, 2, 3, 4, 5))),
    ("memref<f64x4x8,strided<1,8>>", MemrefType.get(F64, (4, 8), (1, 8))),
    ("memref<f32x4,strided<2>>", MemrefType.get(F32, (4,), (2,))),
    ("memref<f32x4,strided<?>>", MemrefType.get(F32, (4,), (DYNAMIC,))),
    ("memref<f32x4x8,strided<1,?>>", MemrefType.get(F32, (4, 8), (1, DYNAMIC))),
    ("memref<f32,local>", MemrefType.get(F32, address_space=_LOCAL)),
    ("memref<f32x4x8,local>", MemrefType.get(F32, (4, 8), address_space=_LOCAL)),
    ("memref<f32x4x8,strided<1,8>,local>", MemrefType.get(F32, (4, 8), (1, 8), _LOCAL)),
    ("group<memref<f32>x4>", GroupType.get(MemrefType.get(F32), 4)),
    ("group<memref<f32x?>x?>", GroupType.get(MemrefType.get(F32, (DYNAMIC,)))),
    ("group<memref<f32x4>x?, offset: 8>", GroupType.get(MemrefType.get(F32, (4,)), DYNAMIC, 8)),
    (
        "group<memref<f32x4,strided<2>>x2, offset: ?>",
        GroupType.get(MemrefType.get(F32, (4,), (2,)), 2, DYNAMIC),
    ),
    *(
        (f"coopmatrix<f32x16x8,{use.value}>", CoopmatrixType.get(F32, 16, 8, use))
        for use in MatrixUse
    ),
]

OTHER_SPELLINGS = [
    ("memref<f32x5x6x7,strided<1,5,30>>", "memref<f32x5x6x7>"),
    ("memref<f32x5x?x7,strided<1,5,?>>", "memref<f32x5x?x7>"),
    ("memref<f32x4,global>", "memref<f32x4>"),
    ("memref<f32,strided<>>", "memref<f32>"),
    ("memref<f32,strided<>,global>", "memref<f32>"),
    ("memref<f32x4,strided<1>,global>", "memref<f32x4>"),
    ("memref < f32 x 4 x ? , strided < 1 , 8 > , local >", "memref<f32x4x?,strided<1,8>,local>"),
    ("memref<f32 ; rows\n x4>", "memref<f32x4>"),
    ("memref<f32x04>", "memref<f32x4>"),
    ("memref<f32x+4>", "memref<f32x4>"),
    ("group<memref<f32x4>x2,offset:0>", "group<memref<f32x4>x2>"),
    ("group<memref<f32x4> x 2 , offset : 3>", "group<memref<f32x4>x2, offset: 3>"),
    ("coopmatrix<f32 x 16 x 8 , matrix_a>", "coopmatrix<f32x16x8,matrix_a>"),
]


def read_type(text: str) -> Attribute:
    """The type of a parameter that is written like this."""
    module = module_from_ir(f"func @f(%x: {text}) {{\n}}\n")
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    return function.parameters[0].type


@pytest.mark.parametrize(("text", "type"), TYPES, ids=[text for text, _ in TYPES])
def test_types(text: str, type: Attribute) -> None:
    assert read_type(text) == type
    assert type_text(type) == text
    stream = StringIO()
    Printer(stream=stream).print_attribute(type)
    assert Parser(tensorlang_context(), stream.getvalue()).parse_type() == type


@pytest.mark.parametrize(("text", "printed"), OTHER_SPELLINGS)
def test_other_spellings_of_types(text: str, printed: str) -> None:
    assert type_text(read_type(text)) == printed


CONSTANTS = [
    ("true", "bool", "true"),
    ("false", "bool", "false"),
    ("0", "i8", "0"),
    ("-128", "i8", "-128"),
    ("+7", "i32", "7"),
    ("9223372036854775807", "i64", "9223372036854775807"),
    ("-9223372036854775807", "index", "-9223372036854775807"),
    ("1.0", "f32", "1.0"),
    (".5", "f32", "0.5"),
    ("5.", "f32", "5.0"),
    ("-.5", "f16", "-0.5"),
    ("+1.5", "bf16", "1.5"),
    ("1e5", "f64", "100000.0"),
    ("1.e-7", "f64", "1e-07"),
    ("1e22", "f64", "1e+22"),
    ("0x1.8p3", "f64", "12.0"),
    ("0x.8p0", "f64", "0.5"),
    ("0x1p-1074", "f64", "0x0.0000000000001p-1022"),
    ("-0x1.fffffffffffffp+1023", "f64", "-1.7976931348623157e+308"),
    ("0xA.", "f64", "10.0"),
    ("-0.0", "f32", "-0.0"),
    ("inf", "f32", "inf"),
    ("-inf", "f32", "-inf"),
    ("+inf", "f32", "inf"),
    ("nan", "f32", "nan"),
    ("-nan", "f32", "-nan"),
    ("[1.0,-0.0]", "c32", "[1.0, -0.0]"),
    ("[ -inf , nan ]", "c64", "[-inf, nan]"),
    ("1.0", SQUARE, "1.0"),
    ("1", "coopmatrix<i8x16x16,matrix_a>", "1"),
]


@pytest.mark.parametrize(("constant", "type", "printed"), CONSTANTS)
def test_constants(constant: str, type: str, printed: str) -> None:
    module = module_from_ir(f"func @f() {{\nparallel {{\n%x = constant {constant} : {type}\n}}\n}}")
    assert f"%x = constant {printed} : {type}\n" in check_every_form(module)


def test_locations_of_instructions() -> None:
    text = "\n\n func @f() {\n  parallel {\n    %x = subgroup_local_id : i32 barrier\n  }\n}\n"
    module = module_from_ir(text, "dir/f.ir")
    assert [str(location) for location in locations(module)] == [
        f'loc("dir/f.ir":{position})' for position in ("3:2", "4:3", "5:10", "5:34")
    ]
    mlir = mlir_text(module, debuginfo=True, local_scope=True)
    assert '%x = tensorlang.subgroup_local_id : i32 loc("dir/f.ir":5:10)' in mlir
    assert '} loc("dir/f.ir":4:3)' in mlir
    assert locations(module_from_mlir(mlir)) == locations(module)


def test_locations_of_mlir_text_without_any() -> None:
    module = module_from_mlir("tensorlang.func @f() {\n  tensorlang.barrier\n}\n", "f.mlir")
    (_, barrier) = locations(module)
    assert isinstance(barrier, FileLineColLoc)
    assert str(barrier) == 'loc("f.mlir":2:3)'


def test_comments_beyond_ascii_survive_mlir_text() -> None:
    text = "; größer ⪯ 你好\nfunc @f() {\n    barrier ; ‖x‖₂\n}\n"
    for generic in (False, True):
        mlir = mlir_text(module_from_ir(text), generic=generic)
        assert ir_text(module_from_mlir(mlir)) == text


def test_file_names_beyond_ascii_survive_mlir_text() -> None:
    module = module_from_ir("func @f() {\n}\n", "größe.ir")
    reread = module_from_mlir(mlir_text(module, debuginfo=True))
    assert locations(reread) == locations(module)
