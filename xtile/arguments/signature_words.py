"""Signatures in words that JSON can hold: in the cache, and beside compiled kernels."""

from __future__ import annotations

from typing import Any

from xdsl.context import Context
from xdsl.ir import Attribute
from xdsl.parser import Parser

from xtile.arguments.launch_checks import check_of, words_of
from xtile.arguments.signature import Parameter, Signature


def signature_words(signature: Signature) -> dict[str, Any]:
    """What JSON can hold of a signature."""
    return {
        "name": signature.name,
        "parameters": [_parameter_words(parameter) for parameter in signature.parameters],
        "written": sorted(signature.written),
        "checks": [words_of(check) for check in signature.checks],
    }


def _parameter_words(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "type": str(parameter.type),
        "attributes": {name: str(value) for name, value in parameter.attributes.items()},
        "may_be_address": parameter.may_be_address,
        "is_noalias": parameter.is_noalias,
    }


def signature_of_words(words: dict[str, Any], context: Context) -> Signature:
    """The signature that `signature_words` describes.

    Raises:
        ParseError: A type cannot be read.
    """
    parameters = tuple(_parameter(parameter, context) for parameter in words["parameters"])
    checks = tuple(map(check_of, words.get("checks", ())))
    return Signature(words["name"], parameters, frozenset(words["written"]), checks)


def _parameter(words: dict[str, Any], context: Context) -> Parameter:
    return Parameter(
        words["name"],
        Parser(context, words["type"]).parse_type(),
        {name: _attribute(text, context) for name, text in words["attributes"].items()},
        words["may_be_address"],
        words["is_noalias"],
    )


def _attribute(text: str, context: Context) -> Attribute:
    return Parser(context, text).parse_attribute()
