"""Launches of kernels by the host.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td` and `GPUDialect.cpp`.
"""

# Operands are named as upstream names them.
# ruff: noqa: N815

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import (
    IndexType,
    SymbolRefAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.dialects.builtin import ModuleOp as BuiltinModuleOp
from xdsl.dialects.gpu import AsyncTokenType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    VarConstraint,
    operand_def,
    opt_operand_def,
    opt_result_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import SymbolTable, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.gpu.assembly import AsyncDependencies, LaunchDimType, LaunchFuncOperands
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.modules import BinaryOp, ModuleOp
from xtile.dialects.upstream import TypeWhere
from xtile.text.extensions import generic_elsewhere

CONTAINER_MODULE = "gpu.container_module"
"""The attribute of a module that launches functions of the `gpu.module`s in it."""

_LAUNCH_SIZE = TypeWhere(
    "an index, an i32 or an i64", lambda type: isinstance(type, IndexType) or type in (i32, i64)
)


class _KernelIsKnown(SymbolUserOpInterface):
    """The kernel exists, is one, and takes these operands."""

    @override
    def verify(self, op: Operation) -> None:
        assert isinstance(op, LaunchFuncOp)
        container = op.container()
        function = op.parent_op()
        # Upstream looks only at launches in functions that stand in the container itself.
        if function is None or function.parent_op() is not container:
            return
        module_name = op.kernel.root_reference.data
        module = SymbolTable.lookup_symbol(container, module_name)
        if module is None:
            raise VerifyException(f"kernel container '@{module_name}' is undefined")
        if isinstance(module, BinaryOp):
            return
        if not isinstance(module, ModuleOp):
            raise VerifyException(
                f"kernel container '@{module_name}' must be a gpu.module or a gpu.binary, "
                f"got '{module.name}'"
            )
        kernel = SymbolTable.lookup_symbol(container, op.kernel)
        if kernel is None:
            raise VerifyException(f"kernel function {op.kernel} is undefined")
        self._verify_kernel(op, kernel)

    def _verify_kernel(self, op: LaunchFuncOp, kernel: Operation) -> None:
        if "function_type" not in kernel.properties:
            raise VerifyException(f"{op.kernel} is not a function")
        if not isinstance(kernel.attributes.get("gpu.kernel"), UnitAttr):
            raise VerifyException(f"function {op.kernel} is missing the 'gpu.kernel' attribute")
        if not isinstance(kernel, FuncOp):
            return
        expected = kernel.function_type.inputs.data
        if len(expected) != len(op.kernelOperands):
            raise VerifyException(
                f"expected {len(expected)} kernel operands, got {len(op.kernelOperands)}"
            )
        for index, (type, operand) in enumerate(zip(expected, op.kernelOperands, strict=True)):
            if type != operand.type:
                raise VerifyException(
                    f"expected kernel operand {index} of type {type}, got {operand.type}"
                )


@generic_elsewhere
@op_definition
class LaunchFuncOp(IRDLOperation):
    """Launches a kernel of a `gpu.module`.

    ```
    gpu.launch_func  @kernels::@scale blocks in (%n, %c1, %c1) threads in (%c16, %c1, %c1)
        args(%data : memref<64xf32>)
    ```
    """

    name = "gpu.launch_func"

    LAUNCH_SIZE: ClassVar = VarConstraint("LAUNCH_SIZE", _LAUNCH_SIZE)

    asyncDependencies = var_operand_def(AsyncTokenType())
    gridSizeX = operand_def(LAUNCH_SIZE)
    gridSizeY = operand_def(LAUNCH_SIZE)
    gridSizeZ = operand_def(LAUNCH_SIZE)
    blockSizeX = operand_def(LAUNCH_SIZE)
    blockSizeY = operand_def(LAUNCH_SIZE)
    blockSizeZ = operand_def(LAUNCH_SIZE)
    clusterSizeX = opt_operand_def(_LAUNCH_SIZE)
    clusterSizeY = opt_operand_def(_LAUNCH_SIZE)
    clusterSizeZ = opt_operand_def(_LAUNCH_SIZE)
    dynamicSharedMemorySize = opt_operand_def(i32)
    kernelOperands = var_operand_def()
    asyncObject = opt_operand_def()
    kernel = prop_def(SymbolRefAttr)
    asyncToken = opt_result_def(AsyncTokenType())

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "custom<AsyncDependencies>(type($asyncToken), $asyncDependencies) "
        "(`<` $asyncObject^ `:` type($asyncObject) `>`)? $kernel "
        "(`clusters` `in` ` ` `(` $clusterSizeX^ `,` $clusterSizeY `,` $clusterSizeZ `)`)? "
        "`blocks` `in` ` ` `(` $gridSizeX `,` $gridSizeY `,` $gridSizeZ `)` "
        "`threads` `in` ` ` `(` $blockSizeX `,` $blockSizeY `,` $blockSizeZ `)` "
        "custom<LaunchDimType>(type($gridSizeX), ref($clusterSizeX), type($clusterSizeX), "
        "type($clusterSizeY), type($clusterSizeZ)) "
        "(`dynamic_shared_memory_size` $dynamicSharedMemorySize^)? "
        "custom<LaunchFuncOperands>($kernelOperands, type($kernelOperands)) attr-dict"
    )
    custom_directives = (AsyncDependencies, LaunchDimType, LaunchFuncOperands)

    traits = traits_def(_KernelIsKnown())

    def __init__(
        self,
        kernel: SymbolRefAttr,
        grid_size: Sequence[SSAValue],
        block_size: Sequence[SSAValue],
        kernel_operands: Sequence[SSAValue] = (),
        *,
        dynamic_shared_memory_size: SSAValue | None = None,
    ) -> None:
        super().__init__(
            operands=[
                [],
                *grid_size,
                *block_size,
                None,
                None,
                None,
                dynamic_shared_memory_size,
                kernel_operands,
                None,
            ],
            properties={"kernel": kernel},
            result_types=[None],
        )

    def container(self) -> BuiltinModuleOp:
        """Returns the module around the launch.

        Raises:
            VerifyException: There is none, or it is not marked as a container.
        """
        module = self.parent_op()
        while module is not None and not isinstance(module, BuiltinModuleOp):
            module = module.parent_op()
        if module is None:
            raise VerifyException("expected to belong to a module")
        if not isinstance(module.attributes.get(CONTAINER_MODULE), UnitAttr):
            raise VerifyException(
                f"expected the closest module around it to have the '{CONTAINER_MODULE}' attribute"
            )
        return module

    @override
    def verify_(self) -> None:
        sizes = (self.clusterSizeX, self.clusterSizeY, self.clusterSizeZ)
        present = [size for size in sizes if size is not None]
        if len(present) not in (0, 3):
            raise VerifyException(f"expected all 3 cluster sizes or none, got {len(present)}")
        if len({size.type for size in present}) > 1:
            raise VerifyException("the cluster sizes must have the same type")


OPERATIONS: list[type[Operation]] = [
    LaunchFuncOp,
]
"""The operations of this module."""
