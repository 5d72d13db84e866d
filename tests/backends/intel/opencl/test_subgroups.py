"""A driver that does not keep to the sizes of subgroups is found out."""

from __future__ import annotations

from pathlib import Path

import pytest

from xtile.arguments.errors import DeviceError
from xtile.backends.cache import Cache
from xtile.backends.intel.compilation import KernelInterface, Program
from xtile.backends.intel.opencl.build import build
from xtile.backends.intel.opencl.device import find_devices
from xtile.backends.intel.opencl.session import own_context
from xtile.backends.intel.opencl.subgroups import without_subgroups
from xtile.dialects.spirv import assemble

DEVICE = next(device for device in find_devices() if device.is_cpu)

# The loop is endless if the number of subgroups is 0, which the runtime cannot rule out.
KERNEL = """
OpCapability Addresses
OpCapability Int64
OpCapability Kernel
OpCapability SubgroupDispatch
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %f "f" %id %count %lane
OpExecutionMode %f LocalSize 32 2 1
OpExecutionMode %f SubgroupSize {size}
OpDecorate %id BuiltIn {id}
OpDecorate %count BuiltIn {count}
OpDecorate %lane BuiltIn {lane}
%ulong = OpTypeInt 64 0
%one = OpConstant %ulong 1
%uint = OpTypeInt 32 0
%input = OpTypePointer Input %uint
%id = OpVariable %input Input
%count = OpVariable %input Input
%lane = OpVariable %input Input
%void = OpTypeVoid
%memory = OpTypePointer CrossWorkgroup %ulong
%type = OpTypeFunction %void %memory
%bool = OpTypeBool
%f = OpFunction %void None %type
%A = OpFunctionParameter %memory
%start = OpLabel
%id32 = OpLoad %uint %id
%first = OpUConvert %ulong %id32
%count32 = OpLoad %uint %count
%step = OpUConvert %ulong %count32
%lane32 = OpLoad %uint %lane
%place = OpUConvert %ulong %lane32
%element = OpInBoundsPtrAccessChain %memory %A %place
OpBranch %header
%header = OpLabel
%i = OpPhi %ulong %first %start %next %body
%goes_on = OpSLessThan %bool %i %one
OpLoopMerge %end %body None
OpBranchConditional %goes_on %body %end
%body = OpLabel
OpStore %element %i
%next = OpIAdd %ulong %i %step
OpBranch %header
%end = OpLabel
OpReturn
OpFunctionEnd
"""

SUBGROUPS = {"id": "SubgroupId", "count": "NumSubgroups", "lane": "SubgroupLocalInvocationId"}

LOG = 'Done.\nKernel "f" was not vectorized\nDone.'


def spirv(size: int = 16, id: str = "SubgroupId") -> bytes:
    return assemble(KERNEL.format(**{**SUBGROUPS, "size": size, "id": id}))


def test_a_kernel_that_the_driver_does_not_vectorize_is_refused(tmp_path: Path) -> None:
    program = Program(spirv(), {"f": KernelInterface("f", (), (32, 2, 1), 16, 0)})
    with pytest.raises(DeviceError) as caught:
        build(DEVICE, own_context(DEVICE), program, Cache(tmp_path / "cache"))
    first, *log = str(caught.value).splitlines()
    assert first == (
        f"the device {DEVICE} cannot build the kernel: it makes no subgroups for @f, which needs "
        "them"
    )
    assert 'Kernel "f" was not vectorized' in log


def test_what_the_log_says() -> None:
    assert without_subgroups(spirv(), LOG) == ["f"]
    assert without_subgroups(spirv(), 'Kernel "f" was successfully vectorized (16)') == []
    assert without_subgroups(spirv(), 'Kernel "another" was not vectorized') == []
    assert without_subgroups(spirv(), "") == []


@pytest.mark.parametrize(
    ("counts", "found"), [((3, 2), []), ((3, 2, 3), []), ((2, 3), ["f"]), ((2,), ["f"])]
)
def test_a_kernel_that_does_nothing_needs_none(counts: tuple[int, ...], found: list[str]) -> None:
    lines = [f"remark: <unknown>:0:0: {count} instructions in function" for count in counts]
    lines += ['Kernel "another" was successfully vectorized (16)', LOG]
    assert without_subgroups(spirv(), "\n".join(lines)) == found


def test_subgroups_of_one_work_item_are_no_vectors() -> None:
    assert without_subgroups(spirv(size=1), LOG) == []


def test_who_knows_no_subgroups_needs_none() -> None:
    text = KERNEL.format(size=16, **dict.fromkeys(SUBGROUPS, "WorkDim"))
    assert without_subgroups(assemble(text), LOG) == []


def test_only_what_a_kernel_itself_uses_counts() -> None:
    other = 'OpEntryPoint Kernel %f "other"\nOpExecutionMode %f LocalSize'
    text = KERNEL.replace("OpExecutionMode %f LocalSize", other, 1)
    both = 'Kernel "f" was not vectorized\nKernel "other" was not vectorized'
    assert without_subgroups(assemble(text.format(**SUBGROUPS, size=16)), both) == ["f"]
