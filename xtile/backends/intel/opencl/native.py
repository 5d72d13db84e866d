"""Functions of OpenCL's C interface that pyopencl does not offer, or only with side effects.

pyopencl's own kernels keep code for their launches in a database in the user's home, which must be
writable, and generate that code when they are made.

Source: The OpenCL Specification 3.0; extensions cl_intel_unified_shared_memory,
cl_intel_required_subgroup_size, cl_intel_device_attribute_query and cl_khr_spirv_queries.
"""

from __future__ import annotations

import struct
import sys
import weakref
from collections.abc import Sequence
from ctypes import (
    CDLL,
    POINTER,
    byref,
    c_char_p,
    c_int,
    c_int32,
    c_size_t,
    c_uint,
    c_void_p,
    cast,
    string_at,
)
from ctypes import CFUNCTYPE as FUNCTION_TYPE
from ctypes import create_string_buffer as create_buffer
from functools import cache
from typing import Any

import pyopencl as cl
from pyopencl import _cl

DEVICE_SUBGROUP_SIZES = 0x4108
"""CL_DEVICE_SUB_GROUP_SIZES_INTEL: what `device_info` returns is an array of size_t."""

DEVICE_IP_VERSION = 0x4250
"""CL_DEVICE_IP_VERSION_INTEL: the hardware's version, as 32 bits."""

DEVICE_SPIRV_EXTENSIONS = 0x12BA
"""CL_DEVICE_SPIRV_EXTENSIONS_KHR: the names of extensions, an array of pointers to texts."""

_EXEC_INFO_SVM_POINTERS = 0x11B6
_EXEC_INFO_FINE_GRAIN_SYSTEM = 0x11B7
_EXEC_INFO_INDIRECT_ACCESS = (0x4200, 0x4201, 0x4202)
"""Host, device and shared allocations of unified shared memory."""

_SUCCESS = 0


class OpenclError(RuntimeError):
    """A function of OpenCL failed; the message is `function: NAME_OF_THE_ERROR`."""


@cache
def _library() -> CDLL:
    """The OpenCL library that pyopencl is linked to."""
    if sys.platform == "win32":
        return CDLL("OpenCL.dll")
    # What a library is linked to is found through it.
    return CDLL(_cl.__file__)


_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "clGetDeviceInfo": (c_void_p, c_uint, c_size_t, c_void_p, POINTER(c_size_t)),
    "clBuildProgram": (c_void_p, c_uint, POINTER(c_void_p), c_void_p, c_void_p, c_void_p),
    "clReleaseKernel": (c_void_p,),
    "clSetKernelArg": (c_void_p, c_uint, c_size_t, c_void_p),
    "clSetKernelArgSVMPointer": (c_void_p, c_uint, c_void_p),
    "clSetKernelExecInfo": (c_void_p, c_uint, c_size_t, c_void_p),
    "clEnqueueSVMMemcpy": (
        *(c_void_p, c_uint, c_void_p, c_void_p, c_size_t),
        *(c_uint, c_void_p, c_void_p),
    ),
    "clEnqueueNDRangeKernel": (
        *(c_void_p, c_void_p, c_uint, c_void_p, c_void_p, c_void_p),
        *(c_uint, c_void_p, POINTER(c_void_p)),
    ),
}


@cache
def _function(name: str) -> Any:
    function = getattr(_library(), name)
    function.argtypes = _SIGNATURES[name]
    function.restype = c_int32
    return function


def _call(name: str, *arguments: Any) -> None:
    _check(name, _function(name)(*arguments))


def _check(name: str, status: int) -> None:
    if status != _SUCCESS:
        raise OpenclError(f"{name}: {cl.status_code.to_string(status, '%d')}")


def device_info(device: cl.Device, parameter: int) -> bytes | None:
    """What a device says of itself; None if it does not know the question."""
    get, handle, size = _function("clGetDeviceInfo"), device.int_ptr, c_size_t()
    if get(handle, parameter, 0, None, byref(size)) != _SUCCESS:
        return None
    content = create_buffer(size.value)
    if get(handle, parameter, size.value, content, None) != _SUCCESS:
        return None
    return content.raw


def spirv_extensions(device: cl.Device) -> frozenset[str]:
    """The extensions of SPIR-V that a device reports to read; none if it does not tell."""
    content = device_info(device, DEVICE_SPIRV_EXTENSIONS) or b""
    pointers = struct.unpack(f"{len(content) // 8}Q", content)
    return frozenset(string_at(pointer).decode() for pointer in pointers)


def build_program(program: cl.Program, device: cl.Device, options: str) -> None:
    """Builds a program; unlike pyopencl's, it adds no options and shows no warnings.

    Raises:
        OpenclError: The driver refuses it; the program's build log says why.
    """
    devices = c_void_p(device.int_ptr)
    text = create_buffer(options.encode())
    _call("clBuildProgram", program.int_ptr, 1, byref(devices), text, None, None)


class Kernel:
    """A kernel of a program that is built.

    Attributes:
        int_ptr: OpenCL's kernel.

    Raises:
        OpenclError: The program has no such kernel, or the driver fails to compile it.
    """

    def __init__(self, program: cl.Program, name: str) -> None:
        create, status = _library().clCreateKernel, c_int32()
        create.argtypes, create.restype = (c_void_p, c_char_p, POINTER(c_int32)), c_void_p
        self.int_ptr: int = create(program.int_ptr, name.encode(), byref(status))
        _check("clCreateKernel", status.value)
        # A process that ends may have lost the driver by then.
        weakref.finalize(self, _call, "clReleaseKernel", self.int_ptr).atexit = False


def launch(
    queue: cl.CommandQueue, kernel: Kernel, global_size: Sequence[int], local_size: Sequence[int]
) -> cl.Event:
    """Launches a kernel; the sizes are work-items in each mode."""
    event, sizes = c_void_p(), c_size_t * len(global_size)
    _call(
        "clEnqueueNDRangeKernel",
        *(queue.int_ptr, kernel.int_ptr, len(global_size)),
        *(None, sizes(*global_size), sizes(*local_size)),
        *(0, None, byref(event)),
    )
    assert event.value is not None
    return cl.Event.from_int_ptr(event.value, False)


def set_value(kernel: Kernel, index: int, value: bytes) -> None:
    """Sets an argument that is no pointer."""
    _call("clSetKernelArg", kernel.int_ptr, index, len(value), value)


def set_buffer(kernel: Kernel, index: int, buffer: cl.MemoryObject) -> None:
    """Sets a pointer to the memory of a buffer."""
    handle = c_void_p(buffer.int_ptr)
    _call("clSetKernelArg", kernel.int_ptr, index, _POINTER_SIZE, byref(handle))


_POINTER_SIZE = 8


def set_address(kernel: Kernel, index: int, address: int) -> None:
    """Sets a pointer to shared virtual memory, or a null pointer."""
    _call("clSetKernelArgSVMPointer", kernel.int_ptr, index, address)


def set_unified_address(kernel: Kernel, index: int, address: int, device: cl.Device) -> None:
    """Sets a pointer to Intel's unified shared memory."""
    name = "clSetKernelArgMemPointerINTEL"
    function = _extension_function(device.platform.int_ptr, name)
    if function is None:
        raise OpenclError(f"{name}: the driver has no such function")
    _check(name, function(kernel.int_ptr, index, address))


@cache
def _extension_function(platform: int, name: str) -> Any:
    """A function of three arguments that belongs to a platform; None if there is none."""
    find = _library().clGetExtensionFunctionAddressForPlatform
    find.argtypes, find.restype = (c_void_p, c_void_p), c_void_p
    address = find(platform, name.encode())
    if not address:
        return None
    return cast(address, FUNCTION_TYPE(c_int, c_void_p, c_uint, c_void_p))


def allow_system_memory(kernel: Kernel) -> None:
    """Lets a kernel follow pointers to any memory of the process."""
    _set_flag(kernel, _EXEC_INFO_FINE_GRAIN_SYSTEM)


def allow_unified_memory(kernel: Kernel) -> None:
    """Lets a kernel follow pointers to Intel's unified shared memory."""
    for parameter in _EXEC_INFO_INDIRECT_ACCESS:
        _set_flag(kernel, parameter)


def _set_flag(kernel: Kernel, parameter: int) -> None:
    value = c_uint(1)
    _call("clSetKernelExecInfo", kernel.int_ptr, parameter, 4, byref(value))


def allow_shared_memory(kernel: Kernel, addresses: list[int]) -> None:
    """Lets a kernel follow pointers to allocations of shared virtual memory."""
    values = (c_void_p * len(addresses))(*addresses)
    size = len(addresses) * _POINTER_SIZE
    _call("clSetKernelExecInfo", kernel.int_ptr, _EXEC_INFO_SVM_POINTERS, size, values)


def copy_shared_memory(queue: cl.CommandQueue, target: int, source: int, size: int) -> None:
    """Copies bytes between addresses of shared virtual memory or of the host, and waits."""
    _call("clEnqueueSVMMemcpy", queue.int_ptr, 1, target, source, size, 0, None, None)
