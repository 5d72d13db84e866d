"""The attributes of `nvvm`, `rocdl`, `xevm` and `spirv` that upstream's kernels carry.

They tell upstream's later passes what to compile for, or where memory is. This package keeps them
as they are.

```
#xevm.target<O = 3, chip = "pvc">
#spirv.target_env<#spirv.vce<v1.4, [Kernel, Addresses], []>, api=OpenCL, #spirv.resource_limits<>>
#spirv.entry_point_abi<workgroup_size = [16, 1, 1]>
```

Source: MLIR (LLVM 22), `Dialect/LLVMIR/{NVVMOps,ROCDLDialect,XeVMOps}.td`,
`Dialect/SPIRV/IR/SPIRVAttributes.td` and `SPIRVAttributes.cpp`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import (
    I32,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    i1,
    i32,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa
from xdsl.utils.str_enum import StrEnum


@dataclass(frozen=True)
class Parameter:
    """A named parameter: how its value is read, and the value that is not printed."""

    read: Callable[[AttrParser], Attribute]
    default: Attribute | None = None


def _read_integer(parser: AttrParser) -> Attribute:
    return IntegerAttr(parser.parse_integer(), i32)


def _read_boolean(parser: AttrParser) -> Attribute:
    return IntegerAttr(int(parser.parse_boolean()), i1)


def _read_integers(parser: AttrParser) -> Attribute:
    integers = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
    return DenseArrayBase.from_list(i32, integers)


def _read_attribute(parser: AttrParser) -> Attribute:
    return parser.parse_attribute()


def _integer(default: int | None = None) -> Parameter:
    return Parameter(_read_integer, None if default is None else IntegerAttr(default, i32))


def _string(default: str) -> Parameter:
    return Parameter(_read_attribute, StringAttr(default))


_ATTRIBUTE = Parameter(_read_attribute)


@dataclass(frozen=True, init=False)
class StructAttr(ParametrizedAttribute, ABC):
    """An attribute of named parameters, `<name = value, ...>`, without those that are default."""

    PARAMETERS: ClassVar[dict[str, Parameter]]
    IS_BARE_WHEN_EMPTY: ClassVar[bool] = False

    values: DictionaryAttr

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        values: dict[str, Attribute] = {}
        if parser.parse_optional_punctuation("<") is None:
            if not cls.IS_BARE_WHEN_EMPTY:
                parser.raise_error("expected '<'")
            return (DictionaryAttr({}),)

        def read_one() -> None:
            start = parser.pos
            name = parser.parse_identifier()
            parameter = cls.PARAMETERS.get(name)
            if parameter is None or name in values:
                names = ", ".join(name for name in cls.PARAMETERS if name not in values)
                parser.raise_error(f"expected one of {names}, got {name}", start, parser.pos)
            parser.parse_punctuation("=")
            values[name] = parameter.read(parser)

        if parser.parse_optional_punctuation(">") is None:
            parser.parse_comma_separated_list(parser.Delimiter.NONE, read_one)
            parser.parse_punctuation(">")
        shown = {
            name: values[name]
            for name, parameter in cls.PARAMETERS.items()
            if name in values and values[name] != parameter.default
        }
        return (DictionaryAttr(shown),)

    @override
    def print_parameters(self, printer: Printer) -> None:
        if not self.values.data and self.IS_BARE_WHEN_EMPTY:
            return
        with printer.in_angle_brackets():
            for index, (name, value) in enumerate(self.values.data.items()):
                printer.print_string(f"{', ' if index else ''}{name} = ")
                _print_value(printer, value)


def _print_value(printer: Printer, value: Attribute) -> None:
    if isa(value, DenseArrayBase[I32]):
        printer.print_string(str(list(value.get_values())))
    elif isa(value, IntegerAttr):
        value.print_without_type(printer)
    else:
        printer.print_attribute(value)


class TargetAttr(StructAttr, ABC):
    """What a `gpu.module` is compiled for."""

    IS_BARE_WHEN_EMPTY = True

    @override
    def verify(self) -> None:
        level = self.values.data.get("O")
        if isa(level, IntegerAttr) and not 0 <= level.value.data <= 3:
            raise VerifyException(
                f"the optimization level must be from 0 to 3, got {level.value.data}"
            )
        for name in ("triple", "chip"):
            if self.values.data.get(name) == StringAttr(""):
                raise VerifyException(f"the {name} of a target must not be empty")


@irdl_attr_definition
class NVVMTargetAttr(TargetAttr):
    """A GPU of NVIDIA: `#nvvm.target<chip = "sm_90">`."""

    name = "nvvm.target"
    PARAMETERS: ClassVar[dict[str, Parameter]] = {
        "O": _integer(2),
        "triple": _string("nvptx64-nvidia-cuda"),
        "chip": _string("sm_50"),
        "features": _string(""),
        "flags": _ATTRIBUTE,
        "link": _ATTRIBUTE,
        "verifyTarget": Parameter(_read_boolean, IntegerAttr(1, i1)),
    }


@irdl_attr_definition
class ROCDLTargetAttr(TargetAttr):
    """A GPU of AMD: `#rocdl.target<chip = "gfx942">`."""

    name = "rocdl.target"
    PARAMETERS: ClassVar[dict[str, Parameter]] = {
        "O": _integer(2),
        "triple": _string("amdgcn-amd-amdhsa"),
        "chip": _string("gfx900"),
        "features": _string(""),
        "abi": _string("600"),
        "flags": _ATTRIBUTE,
        "link": _ATTRIBUTE,
    }


class XeVMAddrSpace(StrEnum):
    """Where the memory of a memref is."""

    PRIVATE = "private"
    GLOBAL = "global"
    CONSTANT = "constant"
    SHARED = "shared"
    GENERIC = "generic"


@irdl_attr_definition
class XeVMAddrSpaceAttr(EnumAttribute[XeVMAddrSpace]):
    """A memory space: `#xevm.addr_space<shared>`."""

    name = "xevm.addr_space"

    @override
    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data.value}>")

    @classmethod
    @override
    def parse_parameter(cls, parser: AttrParser) -> XeVMAddrSpace:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(XeVMAddrSpace)


@irdl_attr_definition
class XeVMTargetAttr(TargetAttr):
    """A GPU of Intel: `#xevm.target<chip = "pvc">`."""

    name = "xevm.target"
    PARAMETERS: ClassVar[dict[str, Parameter]] = {
        "O": _integer(2),
        "triple": _string("spirv64-unknown-unknown"),
        "chip": _string("bmg"),
        "flags": _ATTRIBUTE,
        "linkFiles": _ATTRIBUTE,
    }


@irdl_attr_definition
class EntryPointABIAttr(StructAttr):
    """How an entry point is called: `#spirv.entry_point_abi<workgroup_size = [16, 1, 1]>`."""

    name = "spirv.entry_point_abi"
    PARAMETERS: ClassVar[dict[str, Parameter]] = {
        "workgroup_size": Parameter(_read_integers),
        "subgroup_size": _integer(),
        "target_width": _integer(),
    }


@irdl_attr_definition
class ResourceLimitsAttr(StructAttr):
    """What a device offers: `#spirv.resource_limits<subgroup_size = 16>`."""

    name = "spirv.resource_limits"
    PARAMETERS: ClassVar[dict[str, Parameter]] = {
        "max_compute_shared_memory_size": _integer(16384),
        "max_compute_workgroup_invocations": _integer(128),
        "max_compute_workgroup_size": Parameter(
            _read_attribute, ArrayAttr([IntegerAttr(size, i32) for size in (128, 128, 64)])
        ),
        "subgroup_size": _integer(32),
        "min_subgroup_size": _integer(),
        "max_subgroup_size": _integer(),
        "cooperative_matrix_properties_khr": _ATTRIBUTE,
        "cooperative_matrix_properties_nv": _ATTRIBUTE,
    }


@irdl_attr_definition
class VerCapExtAttr(ParametrizedAttribute):
    """A version of SPIR-V with capabilities and extensions: `#spirv.vce<v1.4, [Kernel], []>`."""

    name = "spirv.vce"

    version: StringAttr
    capabilities: ArrayAttr[StringAttr]
    extensions: ArrayAttr[StringAttr]

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            version = StringAttr(parser.parse_identifier())
            parser.parse_punctuation(",")
            capabilities = _read_names(parser)
            parser.parse_punctuation(",")
            extensions = _read_names(parser)
        return (version, capabilities, extensions)

    @override
    def print_parameters(self, printer: Printer) -> None:
        capabilities = ", ".join(name.data for name in self.capabilities)
        extensions = ", ".join(name.data for name in self.extensions)
        printer.print_string(f"<{self.version.data}, [{capabilities}], [{extensions}]>")

    @override
    def verify(self) -> None:
        versions = [f"v1.{minor}" for minor in range(7)]
        if self.version.data not in versions:
            names = ", ".join(versions)
            raise VerifyException(f"the version of SPIR-V is one of {names}, got {self.version}")


def _read_names(parser: AttrParser) -> ArrayAttr[StringAttr]:
    names = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_identifier)
    return ArrayAttr(StringAttr(name) for name in names)


@irdl_attr_definition
class TargetEnvAttr(ParametrizedAttribute):
    """A SPIR-V environment: its features, API, `vendor:device:id` and limits."""

    name = "spirv.target_env"

    triple: VerCapExtAttr
    client_api: StringAttr
    device: StringAttr
    resource_limits: ResourceLimitsAttr

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        client_api, device = "", ""
        with parser.in_angle_brackets():
            triple = parser.parse_attribute()
            parser.parse_punctuation(",")
            if parser.parse_optional_keyword("api") is not None:
                parser.parse_punctuation("=")
                client_api = parser.parse_identifier()
                parser.parse_punctuation(",")
            vendor = parser.parse_optional_identifier()
            if vendor is not None:
                device = _read_device(parser, vendor)
                parser.parse_punctuation(",")
            limits = parser.parse_attribute()
        return (triple, StringAttr(client_api), StringAttr(device), limits)

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.triple)
            if self.client_api.data:
                printer.print_string(f", api={self.client_api.data}")
            if self.device.data:
                printer.print_string(f", {self.device.data}")
            printer.print_string(", ")
            printer.print_attribute(self.resource_limits)


def _read_device(parser: AttrParser, vendor: str) -> str:
    """Reads what follows a vendor, `:type:id`."""
    device = vendor
    if parser.parse_optional_punctuation(":") is not None:
        device += f":{parser.parse_identifier()}"
        if parser.parse_optional_punctuation(":") is not None:
            device += f":{parser.parse_integer()}"
    return device


NVVM = Dialect("nvvm", [], [NVVMTargetAttr])
XeVM = Dialect("xevm", [], [XeVMAddrSpaceAttr, XeVMTargetAttr])
SPIRV = Dialect("spirv", [], [EntryPointABIAttr, ResourceLimitsAttr, TargetEnvAttr, VerCapExtAttr])
