"""What a process keeps for further launches; for all backends."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

ValueT = TypeVar("ValueT")


class RecentlyUsed(Generic[ValueT]):
    """Values that are made once, by one thread; those not used for the longest time go.

    Attributes:
        limit: The number of values that are kept.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._values: OrderedDict[Hashable, ValueT] = OrderedDict()
        self._lock = threading.RLock()

    def get(self, key: Hashable, make: Callable[[], ValueT]) -> ValueT:
        """Returns the value of a key; where there is none, `make` makes it.

        An error of `make` is the caller's, and the next one tries again.
        """
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            value = self._values[key] = make()
            if len(self._values) > self.limit:
                self._values.popitem(last=False)
            return value
