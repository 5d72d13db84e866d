"""Ports kernels in processes of this computer, some at once."""

from __future__ import annotations

import subprocess
import sys
import threading
from argparse import Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

from xtile.ports.outcome import Outcome, failed, key_of, of_kernel, read_report, words_of


class LocalJobs:
    """Ports each kernel in a process of its own, so that one that dies stops no other."""

    def __init__(self, options: Namespace, folder: Path) -> None:
        self._options = options
        self._folder = folder
        self._processes: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._is_stopped = False

    def run(self, kernels: Sequence[Path]) -> Iterator[Outcome]:
        """Ports kernels, and gives what became of each as soon as it is done."""
        with ThreadPoolExecutor(self._options.jobs) as pool:
            futures: list[Future[Outcome]] = [pool.submit(self._port, each) for each in kernels]
            try:
                for future in as_completed(futures):
                    yield future.result()
            except BaseException:
                self._stop(futures)
                raise

    def _stop(self, futures: Sequence[Future[Outcome]]) -> None:
        for future in futures:
            future.cancel()
        with self._lock:
            self._is_stopped = True
            for process in self._processes:
                process.terminate()

    def _port(self, kernel: Path) -> Outcome:
        name = str(kernel.relative_to(self._folder))
        output = Path(self._options.output) / name
        command = [sys.executable, "-m", "xtile", "port", str(kernel), "-o", str(output)]
        code, errors = self._run([*command, *words_of(self._options)])
        made = read_report(name, output, key_of(of_kernel(self._options, kernel)))
        return made or failed(name, code, errors)

    def _run(self, command: Sequence[str]) -> tuple[int, str]:
        with self._lock:
            if self._is_stopped:
                return 130, "interrupted"
            process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            self._processes.add(process)
        _, errors = process.communicate()
        with self._lock:
            self._processes.discard(process)
        return process.returncode, errors
