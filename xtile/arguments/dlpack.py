"""Reading what a DLPack capsule describes, for memory or numbers that numpy does not know.

The capsule is not consumed: its memory stays alive as long as the capsule does.

Source: DLPack 1.1, `dlpack.h`.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64
from dataclasses import dataclass
from typing import Any

LEGACY_DEFAULT_STREAM = 1
"""What `__dlpack__` calls CUDA's legacy default stream."""

_UNSIGNED, _BFLOAT = 1, 4
"""Codes of the kinds of elements, `DLDataTypeCode`."""

_NAMES = (b"dltensor_versioned", b"dltensor")
_READ_ONLY = 1


class _Tensor(ctypes.Structure):
    """`DLTensor`."""

    _fields_ = (
        ("data", c_uint64),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("type_code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    )


class _VersionedTensor(ctypes.Structure):
    """`DLManagedTensorVersioned`."""

    _fields_ = (
        ("major", c_uint32),
        ("minor", c_uint32),
        ("manager_ctx", c_uint64),
        ("deleter", c_uint64),
        ("flags", c_uint64),
        ("tensor", _Tensor),
    )


@dataclass(frozen=True)
class Tensor:
    """What a capsule describes.

    Attributes:
        address: Where the first element is.
        type_code: The kind of the elements, a `DLDataTypeCode`.
        bits: Of an element.
        lanes: Numbers of an element, which may be a vector.
        shape: Mode sizes in elements.
        strides: Strides in elements; None if they follow each other in row-major order.
        is_read_only: Whether it must not be written to.
    """

    address: int
    type_code: int
    bits: int
    lanes: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    is_read_only: bool


def read_tensor(capsule: object) -> Tensor:
    """What a capsule of `__dlpack__` describes, in either version of the protocol."""
    is_versioned, pointer = _pointer(capsule)
    if is_versioned:
        managed = _VersionedTensor.from_address(pointer)
        return _read(managed.tensor, bool(managed.flags & _READ_ONLY))
    return _read(_Tensor.from_address(pointer), False)


def show_bf16_as_bits(capsule: object) -> bool:
    """Makes a capsule of bf16, which numpy's DLPack does not know, one of integers without sign.

    Returns: Whether it was one.
    """
    is_versioned, pointer = _pointer(capsule)
    kind = _VersionedTensor if is_versioned else None
    tensor = _Tensor.from_address(pointer) if kind is None else kind.from_address(pointer).tensor
    is_bf16 = (tensor.type_code, tensor.bits) == (_BFLOAT, 16)
    if is_bf16:
        tensor.type_code = _UNSIGNED
    return is_bf16


def _pointer(capsule: object) -> tuple[bool, int]:
    api: Any = ctypes.pythonapi
    is_valid = api.PyCapsule_IsValid
    is_valid.restype, is_valid.argtypes = ctypes.c_int, (ctypes.py_object, c_char_p)
    get = api.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, c_char_p)
    for name in _NAMES:
        if is_valid(capsule, name):
            return name is _NAMES[0], int(get(capsule, name))
    raise ValueError("expected a DLPack capsule that was not used yet")


def _read(tensor: Any, is_read_only: bool) -> Tensor:
    order = int(tensor.ndim)
    return Tensor(
        int(tensor.data) + int(tensor.byte_offset),
        int(tensor.type_code),
        int(tensor.bits),
        int(tensor.lanes),
        tuple(tensor.shape[:order]),
        tuple(tensor.strides[:order]) if tensor.strides else None,
        is_read_only,
    )
