"""What a process keeps for further launches; for all backends."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

ValueT = TypeVar("ValueT")

TEXTS = 256
"""Compiled texts that a process keeps for further launches."""


class _Slot(Generic[ValueT]):
    """The position of one value."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.values: list[ValueT] = []


class RecentlyUsed(Generic[ValueT]):
    """Values that are made once; those that were not used for the longest time go.

    A thread that asks for what another one is making waits for it; others go on.

    Attributes:
        limit: The number of values that are kept.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._slots: OrderedDict[Hashable, _Slot[ValueT]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], ValueT]) -> ValueT:
        """Returns the value of a key; where there is none, `make` makes it.

        An error of `make` is the caller's, and the next one tries again.
        """
        slot = self._slot(key)
        with slot.lock:
            if not slot.values:
                slot.values.append(make())
            return slot.values[0]

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._slots.clear()

    def _slot(self, key: Hashable) -> _Slot[ValueT]:
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
            if len(self._slots) > self.limit:
                self._slots.popitem(last=False)
            return slot
