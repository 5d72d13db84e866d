"""Names for ids that tell people what they are, as SPIRV-Tools gives them.

Source: SPIRV-Tools, source/name_mapper.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from xtile.dialects.spirv.binary import Binary, Number, RawInstruction
from xtile.dialects.spirv.number_text import number_text
from xtile.dialects.spirv.words import enumerant_argument

_MAXIMUM_LENGTH = 256
_NOT_ALLOWED = re.compile(rb"[^a-zA-Z0-9_]")

_INTEGERS = {8: "char", 16: "short", 32: "int", 64: "long"}
_FLOATS = {16: "half", 32: "float", 64: "double"}
_ENCODED_FLOATS = {0: "bfloat16", 4214: "fp8e4m3", 4215: "fp8e5m2"}

_FIXED = {
    "TypeVoid": "void",
    "TypeBool": "bool",
    "TypeEvent": "Event",
    "TypeDeviceEvent": "DeviceEvent",
    "TypeReserveId": "ReserveId",
    "TypeQueue": "Queue",
    "TypePipeStorage": "PipeStorage",
    "TypeNamedBarrier": "NamedBarrier",
    "ConstantTrue": "true",
    "ConstantFalse": "false",
}

_GL_BUILTINS = {
    **{
        name: f"gl_{name}"
        for name in (
            *("Position", "PointSize", "ClipDistance", "CullDistance", "Layer", "ViewportIndex"),
            *("TessLevelOuter", "TessLevelInner", "TessCoord", "PatchVertices", "FragCoord"),
            *("PointCoord", "FrontFacing", "SamplePosition", "SampleMask", "FragDepth"),
            *("HelperInvocation", "LocalInvocationIndex", "VertexIndex", "InstanceIndex"),
            "BaseInstance",
        )
    },
    **{
        f"{name}Id": f"gl_{name}ID"
        for name in (
            *("Vertex", "Instance", "Primitive", "Invocation", "Sample"),
            *("LocalInvocation", "GlobalInvocation"),
        )
    },
    "NumWorkgroups": "gl_NumWorkGroups",
    "WorkgroupSize": "gl_WorkGroupSize",
    "WorkgroupId": "gl_WorkGroupID",
    **{
        name: name
        for name in (
            *("WorkDim", "GlobalSize", "EnqueuedWorkgroupSize", "GlobalOffset", "GlobalLinearId"),
            *("SubgroupSize", "SubgroupMaxSize", "NumSubgroups", "NumEnqueuedSubgroups"),
            *("SubgroupId", "SubgroupLocalInvocationId"),
        )
    },
    **{
        f"Subgroup{relation}Mask": f"Subgroup{relation}MaskKHR"
        for relation in ("Eq", "Ge", "Gt", "Le", "Lt")
    },
}
"""What variables of built-in values are called."""


def friendly_names(binary: Binary) -> dict[int, str]:
    """A name for each id of a binary; no two ids have the same."""
    names = _Names()
    for raw in binary.instructions:
        names.take(raw)
    return names.found


class _Names:
    def __init__(self) -> None:
        self.found: dict[int, str] = {}
        self._used: set[str] = set()
        self._counts: dict[str, int] = {}

    def take(self, raw: RawInstruction) -> None:
        """Names what an instruction defines, or what it gives a name to."""
        if raw.name == "Name":
            self._save(raw.id_at(0), raw.text_at(1))
        elif raw.name == "Decorate":
            self._take_decoration(raw)
        elif raw.result is not None and raw.result not in self.found:
            self._save(raw.result, self._suggestion(raw, raw.result))

    def _take_decoration(self, raw: RawInstruction) -> None:
        if enumerant_argument("Decoration", raw.number_at(1)) == "BuiltIn":
            builtin = enumerant_argument("BuiltIn", raw.number_at(2))
            name = _GL_BUILTINS.get(str(builtin))
            if name is not None:
                self._save(raw.id_at(0), name)

    def _save(self, number: int, suggestion: str) -> None:
        if number in self.found:
            return
        data = suggestion.encode("utf-8", "surrogateescape")
        base = str(number)
        if len(data) <= _MAXIMUM_LENGTH:
            base = _NOT_ALLOWED.sub(b"_", data).decode("ascii") or "_"
        name = base
        while name in self._used:
            count = self._counts.get(base, 0)
            self._counts[base] = count + 1
            name = f"{base}_{count}"
        self._used.add(name)
        self.found[number] = name

    def _suggestion(self, raw: RawInstruction, result: int) -> str:
        fixed = _FIXED.get(raw.name)
        if fixed is not None:
            return fixed
        suggest = _SUGGESTIONS.get(raw.name)
        return str(result) if suggest is None else suggest(self, raw)

    def _name(self, number: int) -> str:
        return self.found.get(number, str(number))

    def integer(self, raw: RawInstruction) -> str:
        """`uint`, `long`, `u4`."""
        width, signedness = raw.number_at(0), raw.number_at(1)
        root = _INTEGERS.get(width)
        if root is None:
            return f"{'i' if signedness else 'u'}{width}"
        return root if signedness else f"u{root}"

    def float(self, raw: RawInstruction) -> str:
        """`half`, `float`, `bfloat16`."""
        width = raw.number_at(0)
        if len(raw.operands) > 1:
            name = _ENCODED_FLOATS.get(raw.number_at(1))
            if name is not None:
                return name
        return _FLOATS.get(width, f"fp{width}")

    def vector(self, raw: RawInstruction) -> str:
        """`v4float`."""
        return f"v{raw.number_at(1)}{self._name(raw.id_at(0))}"

    def matrix(self, raw: RawInstruction) -> str:
        """`mat3v3float`."""
        return f"mat{raw.number_at(1)}{self._name(raw.id_at(0))}"

    def array(self, raw: RawInstruction) -> str:
        """`_arr_float_uint_16`."""
        return f"_arr_{self._name(raw.id_at(0))}_{self._name(raw.id_at(1))}"

    def runtime_array(self, raw: RawInstruction) -> str:
        """`_runtimearr_float`."""
        return f"_runtimearr_{self._name(raw.id_at(0))}"

    def payload_array(self, raw: RawInstruction) -> str:
        """`_payloadarr_float`."""
        return f"_payloadarr_{self._name(raw.id_at(0))}"

    def pointer(self, raw: RawInstruction) -> str:
        """`_ptr_CrossWorkgroup_float`."""
        return f"{self.untyped_pointer(raw)}_{self._name(raw.id_at(1))}"

    def untyped_pointer(self, raw: RawInstruction) -> str:
        """`_ptr_CrossWorkgroup`."""
        storage_class = enumerant_argument("StorageClass", raw.number_at(0))
        unknown = f"StorageClass{storage_class}"
        return f"_ptr_{storage_class if isinstance(storage_class, str) else unknown}"

    def pipe(self, raw: RawInstruction) -> str:
        """`PipeReadOnly`."""
        return f"Pipe{enumerant_argument('AccessQualifier', raw.number_at(0))}"

    def opaque(self, raw: RawInstruction) -> str:
        """`Opaque_name`."""
        return f"Opaque_{raw.text_at(0) or '_'}"

    def struct(self, raw: RawInstruction) -> str:
        """`_struct_7`."""
        return f"_struct_{raw.result}"

    def constant(self, raw: RawInstruction) -> str:
        """`float_1_5`, `int_n1`."""
        number = raw.operands[0].value
        assert isinstance(number, Number)
        return f"{self._name(raw.type or 0)}_{number_text(number).replace('-', 'n')}"


_SUGGESTIONS: dict[str, Callable[[_Names, RawInstruction], str]] = {
    "TypeInt": _Names.integer,
    "TypeFloat": _Names.float,
    "TypeVector": _Names.vector,
    "TypeMatrix": _Names.matrix,
    "TypeArray": _Names.array,
    "TypeRuntimeArray": _Names.runtime_array,
    "TypeNodePayloadArrayAMDX": _Names.payload_array,
    "TypePointer": _Names.pointer,
    "TypeUntypedPointerKHR": _Names.untyped_pointer,
    "TypePipe": _Names.pipe,
    "TypeOpaque": _Names.opaque,
    "TypeStruct": _Names.struct,
    "Constant": _Names.constant,
}
"""What suggests the name of an instruction's result; others are called by their number."""
