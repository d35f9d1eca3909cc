# shellcheck shell=bash
#   lockkeeper.bash - completion of lockkeeper(1) in bash
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Verbs and options are what `lockkeeper help` says, so that they are those of
#   the program that is there; names of locks and hosts, and keys of the
#   configuration, are what the program lists, if a router answers quickly.

#   The program of the command line that is completed.
_lockkeeper_run () {
    timeout 0.5 "${COMP_WORDS[0]:-lockkeeper}" "$@" 2>/dev/null </dev/null
}

_lockkeeper_verbs () {
    _lockkeeper_run help | sed -n 's/^  \([a-z][a-z-]*\)  *[A-Z].*/\1/p'
}

_lockkeeper_options () {
    echo --help
    _lockkeeper_run help "$1" | sed -n 's/^ *\(--[a-z][a-z-]*\).*/\1/p'
}

#   The words that may follow a verb as they are: `cluster add`.
_lockkeeper_subverbs () {
    _lockkeeper_run help "$1" | sed -n '1,/^$/p' | sed -n \
        "s/^\(usage:\)\{0,1\} *lockkeeper $1 \([a-z|]*\)\( .*\)\{0,1\}\$/\2/p" |
        tr '|' '\n' | grep .
}

#   Whether an option of a verb has a value: `--wait S`.
_lockkeeper_has_value () {
    _lockkeeper_run help "$1" | grep -qE "^ *$2 [A-Z]"
}

#   Names that a shell would have to quote much, or JSON does, are left out.
_lockkeeper_locks () {
    _lockkeeper_run list --json |
        sed -n 's/.*"object": *"\([^"\\ ]*\)".*/\1/p' | sort -u
}

_lockkeeper_hosts () {
    _lockkeeper_run cluster members --json |
        sed -n 's/.*"host": *"\([^"]*\)".*/\1/p' | sort -u
}

_lockkeeper_keys () {
    _lockkeeper_run config keys | sed -n 's#^ *\([a-z]*/[a-z-]*\).*#\1#p'
}

#   What the value of an option, or the word behind a verb, can be.
_lockkeeper_values () {
    case $1 in
        --object) _lockkeeper_locks ;;
        --kind) printf '%s\n' exclusive shared semaphore ;;
        --sort) printf '%s\n' name host pid since left ;;
        --host | add | remove) _lockkeeper_hosts ;;
        --set | get | set) _lockkeeper_keys ;;
        --policy) printf '%s\n' hard soft ;;
        --on-jeopardy) printf '%s\n' HUP INT QUIT USR1 USR2 ALRM TERM ;;
        --pid) compgen -A variable -P '$' -X '!*PID' ;;
        restart) printf 'h%s\n' {1..15} ;;
        help) _lockkeeper_verbs ;;
        -*) ;;
        *) _lockkeeper_run help "$1" |
            grep -qE "^usage: lockkeeper $1 \[?(NAME|PATTERN)" &&
            _lockkeeper_locks ;;
    esac
}

_lockkeeper () {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local verb=${COMP_WORDS[1]} i words=
    COMPREPLY=()
    for ((i = 2; i < COMP_CWORD; i++)); do
        [ "${COMP_WORDS[i]}" != -- ] || break
    done
    if [ "$COMP_CWORD" = 1 ]; then
        words=$(_lockkeeper_verbs)
    elif [ "$i" -lt "$COMP_CWORD" ]; then
        #   A command of its own begins behind "--".
        if declare -F _command_offset >/dev/null; then
            _command_offset $((i + 1))
        elif [ $((i + 1)) = "$COMP_CWORD" ]; then
            mapfile -t COMPREPLY < <(compgen -c -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        return
    elif [[ $word == -* ]]; then
        words=$(_lockkeeper_options "$verb")
    elif [[ $before == --dir || $before == --state || $verb == decode ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
    elif [[ $before == --* ]] && _lockkeeper_has_value "$verb" "$before"; then
        words=$(_lockkeeper_values "$before")
    elif [ "$COMP_CWORD" = 2 ]; then
        words=$(_lockkeeper_subverbs "$verb"; _lockkeeper_values "$verb")
    elif [ "$COMP_CWORD" = 3 ]; then
        words=$(_lockkeeper_values "$before")
    fi
    local IFS=$'\n'
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _lockkeeper lockkeeper
