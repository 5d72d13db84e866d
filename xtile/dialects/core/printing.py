"""Text that tiles print, by format strings of C's `printf`.

Source: ISO C11, 7.21.6.1; CUDA Tile IR specification, "print_tko"; NVIDIA/cuda-tile 13.3.0,
`CudaTile.cpp`, `PrintTkoOp`; triton-lang/triton, `TritonOps.td` (`tt.print`).
"""

from __future__ import annotations

import re

from typing_extensions import override
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, prop_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition

_CONVERSION = re.compile(r"%[^diuoxXeEfFgGaAcsSpn%]*([diuoxXeEfFgGaAcsSpn%]|$)", re.DOTALL)
"""What C's `printf` replaces; `%S` is CUDA's. The group is empty where it has no end."""


CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*\d*(?:\.\d+)?)(?:hh|h|ll|l|j|z|t|L)?(?P<letter>[a-zA-Z%])"
)
"""A conversion that is executed, or `%%`: its flags, width and precision, and its letter."""


def verify_format(text: str, count: int) -> None:
    """Checks that a format has a conversion for each of as many tiles.

    Raises:
        VerifyException: It has not, or a conversion has no end.
    """
    conversions = 0
    position = text.find("%")
    while position >= 0:
        match = _CONVERSION.match(text, position)
        if match is None or not match[1]:
            raise VerifyException(f"'{text[position:]}' in the format has no end such as %d")
        is_sign = match[0] == "%%"
        conversions += not is_sign
        position = text.find("%", position + (2 if is_sign else 1))
    if conversions != count:
        raise VerifyException(
            f"expected an operand for each conversion in the format, {conversions} in all, but got "
            f"{count}"
        )


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
