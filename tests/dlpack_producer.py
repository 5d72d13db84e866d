"""A producer of DLPack that is no array library: its capsules are made here, as C code makes them.

Source: DLPack 1.1, `dlpack.h`, and "Python Specification for DLPack".
"""

from __future__ import annotations

import ctypes
from ctypes import (
    CFUNCTYPE,
    POINTER,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
    py_object,
)
from typing import Any

import ml_dtypes

_CPU = 1
_READ_ONLY = 1
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5}
_BFLOAT = 4

_Deleter = CFUNCTYPE(None, c_void_p)


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", c_void_p), ("deleter", _Deleter))


class _VersionedManaged(ctypes.Structure):
    _fields_ = (
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", _Deleter),
        ("flags", c_uint64),
        ("tensor", _Tensor),
    )


class Producer:
    """Has nothing but DLPack's protocol.

    Args:
        array: The memory, which stays alive as long as what was made of it.
        is_versioned: Whether it knows version 1.0 of the protocol.
    """

    def __init__(self, array: Any, *, is_versioned: bool = True) -> None:
        self._array = array
        self._is_versioned = is_versioned

    def __dlpack__(self, *, max_version: tuple[int, int] | None = None, **options: Any) -> Any:
        if self._is_versioned and max_version is not None and max_version >= (1, 0):
            managed: Any = _VersionedManaged(major=1, minor=0)
            managed.flags = 0 if self._array.flags.writeable else _READ_ONLY
        else:
            managed = _Managed()
        # The fields hold on to what they point to.
        managed.deleter = _DELETER
        managed.tensor = _tensor_of(self._array)
        _alive[ctypes.addressof(managed)] = managed, self._array
        name = _VERSIONED if isinstance(managed, _VersionedManaged) else _UNVERSIONED
        return _new_capsule(ctypes.addressof(managed), name, _DESTRUCTOR)

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU, 0


def alive_count() -> int:
    """How much memory was lent and not given back."""
    return len(_alive)


def _tensor_of(array: Any) -> _Tensor:
    is_bfloat = array.dtype == ml_dtypes.bfloat16
    order = array.ndim
    shape = (c_int64 * order)(*array.shape)
    strides = (c_int64 * order)(*(stride // array.itemsize for stride in array.strides))
    return _Tensor(
        data=array.__array_interface__["data"][0],
        device_type=_CPU,
        ndim=order,
        code=_BFLOAT if is_bfloat else _CODES[array.dtype.kind],
        bits=8 * array.itemsize,
        lanes=1,
        shape=ctypes.cast(shape, POINTER(c_int64)),
        strides=ctypes.cast(strides, POINTER(c_int64)),
    )


_UNVERSIONED, _VERSIONED = b"dltensor", b"dltensor_versioned"

_alive: dict[int, Any] = {}
"""What was lent, by its address: the structure and the array."""

_new_capsule = ctypes.PYFUNCTYPE(py_object, c_void_p, c_char_p, c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
# A destructor's capsule has no owner any more, so that it must not become a Python object.
_is_valid = ctypes.PYFUNCTYPE(c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer_of = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _delete(managed: int) -> None:
    del _alive[managed]


def _destroy(capsule: int) -> None:
    """Gives back the memory of a capsule that nobody has used: one that was used is renamed."""
    for name in (_UNVERSIONED, _VERSIONED):
        if _is_valid(capsule, name):
            _delete(_pointer_of(capsule, name))


_DELETER = _Deleter(_delete)
_DESTRUCTOR = ctypes.cast(CFUNCTYPE(None, c_void_p)(_destroy), c_void_p)
