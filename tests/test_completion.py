"""Shells complete commands, options and chips by the scripts of `xtile completion`."""

from __future__ import annotations

import subprocess

import pytest

from xtile.cli import main

ASK = """
ask() {{ COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _xtile 2> /dev/null; }}
ask {words}
echo "${{COMPREPLY[@]}}"
"""


def script(capsys: pytest.CaptureFixture[str], shell: str) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("xtile po", "port"),
        ("xtile port k.ir --sched", "--scheduler"),
        ("xtile port k.ir --to am", "amdg"),
        ("xtile port k.ir --to ''", "tensorlang xegpu spirv cuda_tile triton amdg all"),
        ("xtile asm k.ir --chip gfx94", "gfx942"),
        ("xtile completion ''", "bash zsh fish"),
        ("xtile cache cl", "clear"),
    ],
)
def test_bash(words: str, completed: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(capsys, "bash") + ASK.format(words=words)
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == completed


def test_other_shells_have_the_same_words(capsys: pytest.CaptureFixture[str]) -> None:
    bash, zsh, fish = (script(capsys, shell) for shell in ("bash", "zsh", "fish"))
    assert zsh.endswith(bash)
    for word in ("run", "port", "asm", "lsp"):
        assert f"-a {word} -d " in fish
    assert "-l chip -x -a 'pvc bmg dg2" in fish
    assert "-f -a 'bash zsh fish'" in fish
