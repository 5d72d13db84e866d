"""What an operation's text in the RFC's form becomes in the dialect.

Source: RFC, the section of each operation; the dialect of mlir-extensions of April 2024.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.xegpu.rfc.operation_text import OperationText
from xtile.dialects.xegpu.rfc.read_barriers import BARRIER_READERS
from xtile.dialects.xegpu.rfc.read_blocks import BLOCK_READERS
from xtile.dialects.xegpu.rfc.read_dpas import DPAS_READERS
from xtile.dialects.xegpu.rfc.read_scattered import SCATTERED_READERS

_READERS: dict[str, Callable[[OperationText], Operation]] = {
    **BARRIER_READERS,
    **BLOCK_READERS,
    **DPAS_READERS,
    **SCATTERED_READERS,
}


def build(text: OperationText) -> Operation:
    """Returns the operation that a text in the RFC's form stands for.

    Raises:
        ParseError: It stands for none.
    """
    try:
        return _READERS[text.name](text)
    except VerifyException as error:
        text.error(str(error))
