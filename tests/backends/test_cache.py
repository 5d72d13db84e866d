"""The cache on disk."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from pathlib import Path

import pytest

from xtile.backends import cache as module
from xtile.backends.cache import (
    Cache,
    Entry,
    compiler_version,
    default_directory,
    make_key,
    version_of,
)


@pytest.fixture(name="cache")
def make_cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def only_file(cache: Cache) -> Path:
    (path,) = cache.directory.iterdir()
    return path


def test_an_entry_comes_back(cache: Cache) -> None:
    key = make_key("test", text="a")
    content = os.urandom(1000)
    assert cache.get(key) is None
    cache.put(key, {"name": "é", "sizes": [1, 2]}, content)
    assert cache.get(key) == Entry({"name": "é", "sizes": [1, 2]}, content)
    assert Cache(cache.directory).get(key) == cache.get(key)
    cache.put(key, {}, b"new")
    assert cache.get(key) == Entry({}, b"new")
    cache.remove(key)
    assert cache.get(key) is None


def test_keys_tell_everything_apart() -> None:
    keys = [
        make_key("test", a="x", b="y"),
        make_key("test", a="xb", b="y"),
        make_key("test", a="x", c="y"),
        make_key("other", a="x", b="y"),
        make_key("test", a="x"),
        make_key("test", a=b"z", b="y"),
    ]
    assert len(set(keys)) == len(keys)
    assert make_key("test", a="x", b="y") == keys[0] == make_key("test", a=b"x", b=b"y")


def test_keys_change_with_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    old = make_key("test", a="x")
    monkeypatch.setattr(module, "compiler_version", lambda: "another")
    assert make_key("test", a="x") != old


def test_files_change_without_the_version(tmp_path: Path) -> None:
    """In a checkout, and in what pip installed again from a changed one."""
    package = tmp_path / "xtile"
    (package / "backends").mkdir(parents=True)
    source = package / "backends" / "cache.py"
    source.write_text("")
    versions = [version_of(package)]
    source.write_text("changed")
    versions.append(version_of(package))
    record = tmp_path / f"xtile-{module.__version__}.dist-info" / "RECORD"
    record.parent.mkdir()
    for line in ("xtile/api.py,sha256=a,1", "xtile/api.py,sha256=b,1"):
        record.write_text(line)
        versions.append(version_of(package))
    # What is recorded tells more than the times, which installing changes.
    source.write_text("")
    assert version_of(package) == versions[-1]
    assert len(set(versions)) == 4
    assert all(version.startswith(f"{module.__version__}+") for version in versions)


def test_keys_hold_the_version_of_the_files() -> None:
    assert compiler_version() == version_of(Path(module.__file__).parents[1])


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:10],
        lambda data: data[:-1],
        lambda data: data + b"\0",
        lambda data: b"xtile cache 0\n" + data[14:],
        lambda data: data[:60] + bytes([data[60] ^ 1]) + data[61:],
        lambda data: data[:-1] + bytes([data[-1] ^ 128]),
    ],
)
def test_a_damaged_entry_is_gone_and_can_be_written_again(cache: Cache, damage: object) -> None:
    assert callable(damage)
    key = make_key("test")
    cache.put(key, {"a": 1}, b"content")
    path = only_file(cache)
    path.write_bytes(damage(path.read_bytes()))
    assert cache.get(key) is None
    assert not path.exists()
    cache.put(key, {"a": 1}, b"content")
    assert cache.get(key) == Entry({"a": 1}, b"content")


def test_entries_that_were_swapped_are_none(cache: Cache) -> None:
    keys = [make_key("test", text=text) for text in "ab"]
    for key in keys:
        cache.put(key, {"of": key}, key.encode())
    first, second = cache.directory.iterdir()
    contents = first.read_bytes(), second.read_bytes()
    first.write_bytes(contents[1])
    second.write_bytes(contents[0])
    assert [cache.get(key) for key in keys] == [None, None]
    assert not list(cache.directory.iterdir())


def test_what_was_not_used_for_the_longest_time_goes_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=10_000)
    keys = [make_key("test", number=str(number)) for number in range(9)]
    for age, key in enumerate(reversed(keys)):
        cache.put(key, {}, bytes(1000))
        used = time.time() - 100 - age
        os.utime(tmp_path / f"{key}.entry", (used, used))
    # keys[0] is the oldest now; reading makes it the newest.
    assert cache.get(keys[0]) is not None
    new = make_key("test", number="new")
    cache.put(new, {}, bytes(1000))
    kept = [key for key in [*keys, new] if (tmp_path / f"{key}.entry").exists()]
    assert kept == [keys[0], *keys[3:], new]
    assert cache.usage().size <= 9_000


def test_more_than_the_limit_is_not_held(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=1000)
    small, large = make_key("test", size="small"), make_key("test", size="large")
    cache.put(small, {}, bytes(500))
    cache.put(large, {}, bytes(1000))
    assert cache.get(large) is None
    assert cache.get(small) is not None


def test_usage_and_clear(cache: Cache) -> None:
    assert cache.usage() == cache.clear()
    assert cache.usage().entries == {}
    cache.put(make_key("binary"), {}, b"1")
    cache.put(make_key("program", a="1"), {}, b"1")
    cache.put(make_key("program", a="2"), {}, b"1")
    other = cache.directory / "notes.tmp"
    other.write_text("mine")
    usage = cache.usage()
    assert usage.entries == {"binary": 1, "program": 2}
    assert usage.size == sum(p.stat().st_size for p in cache.directory.glob("*.entry"))
    assert cache.clear() == usage
    assert cache.usage().entries == {}
    assert only_file(cache) == other


def test_abandoned_temporary_files_go(cache: Cache) -> None:
    cache.put(make_key("test"), {})
    old = cache.directory / f"{make_key('test')}.12.34.tmp"
    fresh = cache.directory / f"{make_key('test')}.12.35.tmp"
    for path in (old, fresh):
        path.write_bytes(b"half")
    long_ago = time.time() - 7200
    os.utime(old, (long_ago, long_ago))
    cache.put(make_key("test", a="b"), {})
    assert not old.exists()
    assert fresh.exists()
    assert cache.usage().entries == {"test": 2}


def test_a_cache_that_cannot_be_written_holds_nothing(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("no directory")
    cache = Cache(file / "cache")
    cache.put(make_key("test"), {}, b"1")
    assert cache.get(make_key("test")) is None
    assert cache.usage().entries == {}


def test_the_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XTILE_CACHE_DIR", str(tmp_path / "given"))
    assert default_directory() == Cache().directory == tmp_path / "given"
    monkeypatch.setenv("XTILE_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_directory() == tmp_path / "xtile"


def _hammer(directory: str, rounds: int) -> None:
    """Writes and reads the same few entries; fails on any that is neither whole nor absent."""
    cache = Cache(Path(directory), limit=60_000)
    for number in range(rounds):
        letter = "abcd"[number % 4]
        key = make_key("test", letter=letter)
        cache.put(key, {"letter": letter}, letter.encode() * 20_000)
        entry = cache.get(key)
        assert entry is None or entry == Entry({"letter": letter}, letter.encode() * 20_000)


def test_many_processes_share_a_cache(cache: Cache) -> None:
    # A process is started afresh: other tests of this one may have threads.
    context = multiprocessing.get_context("spawn")
    arguments = (str(cache.directory), 200)
    processes = [context.Process(target=_hammer, args=arguments) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert not list(cache.directory.glob("*.tmp"))
    assert cache.usage().size <= 60_000


@pytest.mark.slow
def test_many_threads_share_a_cache(cache: Cache) -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            _hammer(str(cache.directory), 100)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
