"""Memory of the device, as the host sees it, and tokens for what runs beside the host.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td` and `GPUDialect.cpp`.
"""

# Operands are named as upstream names them.
# ruff: noqa: N815

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    IndexType,
    IntegerType,
    MemRefType,
    StringAttr,
    UnitAttr,
    UnrankedMemRefType,
    i8,
    i32,
)
from xdsl.dialects.gpu import AsyncTokenType
from xdsl.ir import Operation
from xdsl.irdl import (
    AttrSizedOperandSegments,
    BaseAttr,
    IRDLOperation,
    operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import op_definition
from xtile.dialects.gpu.assembly import AsyncDependencies
from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.gpu.enumerations import AddressSpace
from xtile.dialects.upstream import TypeWhere, element_type, is_float, is_index
from xtile.text.extensions import generic_elsewhere

_MEMREF: BaseAttr[MemRefType] = BaseAttr(MemRefType)
_PRINTABLE = TypeWhere(
    "an integer, an index or a float",
    lambda type: isinstance(type, IntegerType) or is_index(type) or is_float(type),
)


@generic_elsewhere
@op_definition
class WaitOp(IRDLOperation):
    """Waits for tokens; with `async`, returns a token for that instead.

    ```
    %token = gpu.wait async [%a, %b]
    ```
    """

    name = "gpu.wait"

    asyncDependencies = var_operand_def(AsyncTokenType())
    asyncToken = opt_result_def(AsyncTokenType())

    assembly_format = "custom<AsyncDependencies>(type($asyncToken), $asyncDependencies) attr-dict"
    custom_directives = (AsyncDependencies,)


@generic_elsewhere
@op_definition
class AllocOp(IRDLOperation):
    """Allocates memory of the device, or with `host_shared` memory that the host sees too.

    ```
    %memory, %token = gpu.alloc async [%dependency] (%size) : memref<?xf32>
    ```
    """

    name = "gpu.alloc"

    asyncDependencies = var_operand_def(AsyncTokenType())
    dynamicSizes = var_operand_def(IndexType())
    symbolOperands = var_operand_def(IndexType())
    hostShared = opt_prop_def(UnitAttr)
    memref = result_def(_MEMREF)
    asyncToken = opt_result_def(AsyncTokenType())

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "custom<AsyncDependencies>(type($asyncToken), $asyncDependencies) "
        "(` ` `host_shared` $hostShared^)? ` ` `(` $dynamicSizes `)` "
        "(`` `[` $symbolOperands^ `]`)? attr-dict `:` type($memref)"
    )
    custom_directives = (AsyncDependencies,)

    @override
    def verify_(self) -> None:
        type = self.memref.type
        assert isa(type, MemRefType)
        sizes = type.get_shape().count(DYNAMIC_INDEX)
        if len(self.dynamicSizes) != sizes:
            raise VerifyException(
                f"expected {sizes} sizes for {type}, got {len(self.dynamicSizes)}"
            )
        symbols = type.layout.data.num_symbols if isinstance(type.layout, AffineMapAttr) else 0
        if len(self.symbolOperands) != symbols:
            raise VerifyException(
                f"expected {symbols} symbol operands for {type}, got {len(self.symbolOperands)}"
            )


@generic_elsewhere
@op_definition
class DeallocOp(IRDLOperation):
    """Frees memory of `gpu.alloc`.

    ```
    gpu.dealloc  %memory : memref<?xf32>
    ```
    """

    name = "gpu.dealloc"

    asyncDependencies = var_operand_def(AsyncTokenType())
    memref = operand_def(_MEMREF)
    asyncToken = opt_result_def(AsyncTokenType())

    assembly_format = (
        "custom<AsyncDependencies>(type($asyncToken), $asyncDependencies) "
        "$memref attr-dict `:` type($memref)"
    )
    custom_directives = (AsyncDependencies,)


@generic_elsewhere
@op_definition
class MemcpyOp(IRDLOperation):
    """Copies the second memref to the first.

    ```
    gpu.memcpy  %to, %from : memref<64xf32>, memref<64xf32>
    ```
    """

    name = "gpu.memcpy"

    asyncDependencies = var_operand_def(AsyncTokenType())
    dst = operand_def(_MEMREF)
    src = operand_def(_MEMREF)
    asyncToken = opt_result_def(AsyncTokenType())

    assembly_format = (
        "custom<AsyncDependencies>(type($asyncToken), $asyncDependencies) "
        "$dst `,` $src `:` type($dst) `,` type($src) attr-dict"
    )
    custom_directives = (AsyncDependencies,)

    @override
    def verify_(self) -> None:
        destination, source = self.dst.type, self.src.type
        assert isa(destination, MemRefType)
        assert isa(source, MemRefType)
        if destination.element_type != source.element_type:
            raise VerifyException(
                f"expected equal element types, got {destination.element_type} and "
                f"{source.element_type}"
            )
        sizes = destination.get_shape(), source.get_shape()
        ranks_differ = len(sizes[0]) != len(sizes[1])
        if ranks_differ or any(
            a != b and DYNAMIC_INDEX not in (a, b) for a, b in zip(*sizes, strict=True)
        ):
            raise VerifyException(f"expected compatible shapes, got {destination} and {source}")


@op_definition
class MemsetOp(IRDLOperation):
    """Sets every element to a value.

    ```
    gpu.memset  %memory, %zero : memref<64xf32>, f32
    ```
    """

    name = "gpu.memset"

    asyncDependencies = var_operand_def(AsyncTokenType())
    dst = operand_def(_MEMREF)
    value = operand_def()
    asyncToken = opt_result_def(AsyncTokenType())

    assembly_format = (
        "custom<AsyncDependencies>(type($asyncToken), $asyncDependencies) "
        "$dst `,` $value `:` type($dst) `,` type($value) attr-dict"
    )
    custom_directives = (AsyncDependencies,)

    @override
    def verify_(self) -> None:
        expected, type = element_type(self.dst.type), element_type(self.value.type)
        if expected != type:
            raise VerifyException(f"expected a value of type {expected}, got {type}")


@generic_elsewhere
@op_definition
class HostRegisterOp(IRDLOperation):
    """Lets the device access memory of the host.

    ```
    gpu.host_register %memory : memref<*xf32>
    ```
    """

    name = "gpu.host_register"

    value = operand_def(UnrankedMemRefType)

    assembly_format = "$value attr-dict `:` type($value)"


@generic_elsewhere
@op_definition
class HostUnregisterOp(IRDLOperation):
    """Ends what `gpu.host_register` began.

    ```
    gpu.host_unregister %memory : memref<*xf32>
    ```
    """

    name = "gpu.host_unregister"

    value = operand_def(UnrankedMemRefType)

    assembly_format = "$value attr-dict `:` type($value)"


@generic_elsewhere
@op_definition
class SetDefaultDeviceOp(IRDLOperation):
    """Chooses the device for what follows.

    ```
    gpu.set_default_device %index
    ```
    """

    name = "gpu.set_default_device"

    devIndex = operand_def(i32)

    assembly_format = "attr-dict $devIndex"


@op_definition
class DynamicSharedMemoryOp(IRDLOperation):
    """The workgroup memory that the launch asked for.

    ```
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    ```
    """

    name = "gpu.dynamic_shared_memory"

    TYPE: ClassVar[MemRefType] = MemRefType(
        i8, [DYNAMIC_INDEX], memory_space=AddressSpaceAttr(AddressSpace.WORKGROUP)
    )

    resultMemref = result_def(_MEMREF)

    assembly_format = "attr-dict `:` type($resultMemref)"

    @override
    def verify_(self) -> None:
        if self.resultMemref.type != self.TYPE:
            raise VerifyException(f"expected the type {self.TYPE}, got {self.resultMemref.type}")
        around = self.parent_op()
        while around is not None and not around.has_trait(SymbolTable):
            around = around.parent_op()
        if around is None:
            raise VerifyException("must be inside an operation with a symbol table")


@op_definition
class PrintfOp(IRDLOperation):
    """Prints on the device, as in C.

    ```
    gpu.printf "%d", %value : i32
    ```
    """

    name = "gpu.printf"

    format = prop_def(StringAttr)
    args = var_operand_def(_PRINTABLE)

    assembly_format = "$format attr-dict (`,` $args^ `:` type($args))?"


OPERATIONS: list[type[Operation]] = [
    AllocOp,
    DeallocOp,
    DynamicSharedMemoryOp,
    HostRegisterOp,
    HostUnregisterOp,
    MemcpyOp,
    MemsetOp,
    PrintfOp,
    SetDefaultDeviceOp,
    WaitOp,
]
"""The operations of this module."""
