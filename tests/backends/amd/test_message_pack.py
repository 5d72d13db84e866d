"""MessagePack, of which an hsaco's notes are."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from xtile.backends.amd.message_pack import read_message


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"\x00", 0),
        (b"\x7f", 127),
        (b"\xff", -1),
        (b"\xe0", -32),
        (b"\xc0", None),
        (b"\xc2", False),
        (b"\xc3", True),
        (b"\xca" + struct.pack(">f", 1.5), 1.5),
        (b"\xcb" + struct.pack(">d", -0.1), -0.1),
        (b"\xcc\xfe", 254),
        (b"\xcd\x12\x34", 0x1234),
        (b"\xce\xff\x00\x00\x01", 0xFF000001),
        (b"\xcf" + b"\xff" * 8, 2**64 - 1),
        (b"\xd0\x80", -128),
        (b"\xd1\x80\x00", -(2**15)),
        (b"\xd2\x80\x00\x00\x00", -(2**31)),
        (b"\xd3" + b"\xff" * 8, -1),
        (b"\xa3gpu", "gpu"),
        (b"\xd9\x03gpu", "gpu"),
        (b"\xda\x00\x03gpu", "gpu"),
        (b"\xdb\x00\x00\x00\x03gpu", "gpu"),
        (b"\xc4\x02\x00\x01", b"\x00\x01"),
        (b"\xc5\x00\x01\x07", b"\x07"),
        (b"\x92\x01\x91\x02", [1, [2]]),
        (b"\xdc\x00\x01\x05", [5]),
        (b"\xdd\x00\x00\x00\x01\x05", [5]),
        (b"\x81\xa1a\x01", {"a": 1}),
        (b"\xde\x00\x01\xa1a\x80", {"a": {}}),
        (b"\xdf\x00\x00\x00\x01\xa1a\x90", {"a": []}),
    ],
)
def test_values(data: bytes, value: Any) -> None:
    found = read_message(data)
    assert found == value
    assert type(found) is type(value)
    for length in range(len(data)):
        with pytest.raises(ValueError, match="it is cut off"):
            read_message(data[:length])


def test_a_kind_that_is_not_known() -> None:
    with pytest.raises(ValueError, match="it has a value of the kind 0xc1"):
        read_message(b"\xc1")
