"""Format strings of C's `printf`.

Source: ISO C11, 7.21.6.1; NVIDIA/cuda-tile 13.3.0, `CudaTile.cpp`, `PrintTkoOp`.
"""

from __future__ import annotations

import re

from xdsl.utils.exceptions import VerifyException

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
