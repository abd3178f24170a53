#compdef %(prog_name)s
%(complete_func)s() {
    local -a response plain plain_shown open open_shown
    local type value shown
    (( $+commands[%(prog_name)s] )) || return 1
    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) \
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
