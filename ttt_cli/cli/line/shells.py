"""Completion in bash, zsh and fish: the scripts, and the form in which each shell is told what there is to choose.

Beside click's kinds of items there are `key`, behind which no blank comes, and `name`, which may hold blanks.
"""

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

VARIABLE = "_TTT_COMPLETE"

_BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' response completion type value
    response=$(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD %(complete_var)s=bash_complete $1)
    COMPREPLY=()
    for completion in $response; do
        IFS=',' read -r type value <<< "$completion"
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            key) compopt -o nospace; COMPREPLY+=("$value") ;;
            name) compopt -o filenames; COMPREPLY+=("$value") ;;
            *) COMPREPLY+=("$value") ;;
        esac
    done
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""

_ZSH = """\
#compdef %(prog_name)s
%(complete_func)s() {
    local -a response plain plain_shown open open_shown
    local type value shown
    (( $+commands[%(prog_name)s] )) || return 1
    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) \\
        %(complete_var)s=zsh_complete %(prog_name)s)}")
    for type value shown in ${response}; do
        case $type in
            dir) _path_files -/ ;;
            file) _path_files -f ;;
            key) open+=("$value"); open_shown+=("$shown") ;;
            *) plain+=("$value"); plain_shown+=("$shown") ;;
        esac
    done
    (( $#plain )) && compadd -U -l -V plain -d plain_shown -a plain
    (( $#open )) && compadd -U -l -S '' -V open -d open_shown -a open
    return 0
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    compdef %(complete_func)s %(prog_name)s
fi
"""

_FISH = """\
function %(complete_func)s
    set -l response (env %(complete_var)s=fish_complete COMP_WORDS=(commandline -cp | string collect) \\
        COMP_CWORD=(commandline -t | string collect) %(prog_name)s)
    for completion in $response
        set -l found (string split --max 1 "," -- $completion)
        switch $found[1]
            case dir
                __fish_complete_directories $found[2]
            case file
                __fish_complete_path $found[2]
            case '*'
                echo $found[2]
        end
    end
end
complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


class _Bash(BashComplete):
    source_template = _BASH

    def format_completion(self, item: CompletionItem) -> str:
        return f"{item.type},{item.value}"


class _Zsh(ZshComplete):
    source_template = _ZSH

    def format_completion(self, item: CompletionItem) -> str:
        shown = f"{item.value}  -- {_line(item.help)}" if item.help else item.value
        return f"{item.type}\n{item.value}\n{shown}"


class _Fish(FishComplete):
    source_template = _FISH

    def format_completion(self, item: CompletionItem) -> str:
        return f"{item.type},{item.value}" + (f"\t{_line(item.help)}" if item.help else "")


SHELLS: dict[str, type[ShellComplete]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}


def register() -> None:
    """Let click answer these shells in these forms."""
    for name, shell in SHELLS.items():
        add_completion_class(shell, name)


def _line(text: str) -> str:
    return " ".join(text.split())
