"""What a process keeps for further launches."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from xtile.backends.recently_used import RecentlyUsed


def test_a_value_is_made_once() -> None:
    values: RecentlyUsed[list[int]] = RecentlyUsed(2)
    first = values.get("a", lambda: [1])
    assert values.get("a", lambda: [2]) is first
    assert values.get("b", lambda: [3]) == [3]
    values.clear()
    assert values.get("a", lambda: [4]) == [4]


def test_what_was_not_used_for_the_longest_time_goes() -> None:
    values: RecentlyUsed[int] = RecentlyUsed(2)
    made: list[str] = []

    def make(key: str) -> int:
        made.append(key)
        return len(made)

    for key in "abacab":
        values.get(key, partial(make, key))
    # `b` made room for `c`.
    assert "".join(made) == "abcb"


def test_a_failure_is_not_kept() -> None:
    values: RecentlyUsed[float] = RecentlyUsed(2)
    with pytest.raises(ZeroDivisionError):
        values.get("a", lambda: 1 / 0)
    assert values.get("a", lambda: 2.0) == 2.0


def test_a_value_may_need_another_one() -> None:
    values: RecentlyUsed[int] = RecentlyUsed(1)
    assert values.get("a", lambda: values.get("b", lambda: 1) + 1) == 2


def test_threads_wait_for_the_same_value_only() -> None:
    values: RecentlyUsed[int] = RecentlyUsed(4)
    is_begun, may_end = threading.Event(), threading.Event()
    made: list[int] = []
    seen: list[int] = []

    def make() -> int:
        is_begun.set()
        assert may_end.wait(60)
        made.append(1)
        return 1

    def work() -> None:
        seen.append(values.get("slow", make))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert is_begun.wait(60)
    # Another value does not wait.
    assert values.get("fast", lambda: 2) == 2
    assert seen == []
    may_end.set()
    for thread in threads:
        thread.join()
    assert made == [1]
    assert seen == [1] * 4
