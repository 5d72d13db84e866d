"""Scripts with which shells complete the command `xtile`, made of its parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping

_BASH = """\
# For bash: eval "$(xtile completion bash)"
_xtile() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
    local words="" plain=""
    case "${{COMP_WORDS[1]}} $before" in
{values}
    esac
    if [ -z "$words" ]; then
        case "${{COMP_WORDS[1]}}" in
{options}
        esac
        [ "$COMP_CWORD" -eq 1 ] && words="{commands}"
        case "$word" in
            -*) ;;
            *) [ "$COMP_CWORD" -gt 1 ] && words="$plain" ;;
        esac
    fi
    if [ -z "$words" ]; then
        compopt -o filenames
        COMPREPLY=($(compgen -f -- "$word"))
        return
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -F _xtile xtile
"""

_ZSH = """\
# For zsh: eval "$(xtile completion zsh)"
autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
"""


Lists = Mapping[str, tuple[str, ...]]
"""By option the words that may stand behind it, where the parser itself does not list them."""


def script(parser: argparse.ArgumentParser, shell: str, lists: Lists) -> str:
    """The script for a shell.

    Args:
        parser: That of the command.
        shell: "bash", "zsh" or "fish".
        lists: What `--chip` and other options may be.
    """
    commands = _commands(parser)
    if shell == "fish":
        return "".join(_fish(commands, lists))
    script_of_bash = _bash(commands, lists)
    return script_of_bash if shell == "bash" else _ZSH + script_of_bash


def _commands(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
            return action.choices  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return {}


def _options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [each for each in parser._actions if each.option_strings]  # pyright: ignore[reportPrivateUsage]


def _values(action: argparse.Action, lists: Lists) -> tuple[str, ...]:
    """What may stand behind an option, as far as that is a list."""
    given = [lists[name] for name in action.option_strings if name in lists]
    return given[0] if given else tuple(map(str, action.choices or ()))


def _bash(commands: Mapping[str, argparse.ArgumentParser], lists: Lists) -> str:
    values: list[str] = []
    options: list[str] = []
    for name, parser in commands.items():
        words: list[str] = []
        for action in _options(parser):
            words += action.option_strings
            wanted = " ".join(_values(action, lists))
            for option in action.option_strings if wanted else ():
                values.append(f'        "{name} {option}") words="{wanted}" ;;')
        plain = " ".join(_plain_words(parser))
        options.append(f'            {name}) words="{" ".join(words)}" plain="{plain}" ;;')
    return _BASH.format(
        values="\n".join(values), options="\n".join(options), commands=" ".join(commands)
    )


def _plain_words(parser: argparse.ArgumentParser) -> tuple[str, ...]:
    """What an argument without an option may be, as far as that is a list."""
    given = parser._get_positional_actions()  # pyright: ignore[reportPrivateUsage]
    return tuple(str(choice) for action in given for choice in action.choices or ())


def _fish(commands: Mapping[str, argparse.ArgumentParser], lists: Lists) -> Iterator[str]:
    yield "# For fish: xtile completion fish | source\n"
    for name, parser in commands.items():
        yield (
            f"complete -c xtile -n __fish_use_subcommand -f -a {name} "
            f"-d {_quoted((parser.description or '').partition('. ')[0])}\n"
        )
        plain = _plain_words(parser)
        if plain:
            seen = f"'__fish_seen_subcommand_from {name}'"
            yield f"complete -c xtile -n {seen} -f -a {_quoted(' '.join(plain))}\n"
        for action in _options(parser):
            names = [
                f"-l {each[2:]}" if each.startswith("--") else f"-s {each[1:]}"
                for each in action.option_strings
            ]
            wanted = _values(action, lists)
            given = "" if action.nargs == 0 else " -r"
            if wanted:
                given = f" -x -a {_quoted(' '.join(wanted))}"
            text = _quoted((action.help or "").partition(" (")[0])
            yield (
                f"complete -c xtile -n '__fish_seen_subcommand_from {name}' "
                f"{' '.join(names)}{given} -d {text}\n"
            )


def _quoted(text: str) -> str:
    plain = " ".join(text.replace("\\", "\\\\").replace("'", "\\'").split())
    return f"'{plain}'"
