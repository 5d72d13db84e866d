"""Text that tiles print.

Source: CUDA Tile IR specification, "print_tko"; triton-lang/triton, `TritonOps.td` (`tt.print`).
"""

from __future__ import annotations

from typing_extensions import override
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, prop_def, var_operand_def

from xtile.dialects.definitions import op_definition
from xtile.dialects.format_strings import verify_format


@op_definition
class PrintOp(IRDLOperation):
    r"""Prints numbers and tiles by a format string of C's `printf`, once for the work-group.

    ```
    core.print "x = %f, n = %d\n", %x, %n : vector<8xf32>, i32
    ```

    The conversion that stands for a tile prints each element, all of them between brackets.
    """

    name = "core.print"

    format = prop_def(StringAttr)
    args = var_operand_def(Attribute)

    assembly_format = "$format attr-dict (`,` $args^ `:` type($args))?"

    @override
    def verify_(self) -> None:
        verify_format(self.format.data, len(self.args))
