"""Checking what was read of an attribute or a type where it stands."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.parser import AttrParser
from xdsl.utils.exceptions import VerifyException


def check_parameters(
    parser: AttrParser,
    start: int,
    attribute: type[ParametrizedAttribute],
    parameters: Sequence[Attribute],
) -> Sequence[Attribute]:
    """Returns the parameters if the attribute's verifier accepts them.

    Raises:
        ParseError: It does not; the error is at the text from `start` on.
    """
    try:
        attribute.new(parameters)
    except VerifyException as error:
        parser.raise_error(str(error), start, max(start + 1, parser.pos))
    return parameters
