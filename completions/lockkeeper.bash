# shellcheck shell=bash
#   lockkeeper.bash - completion of lockkeeper(1) in bash
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Verbs, their arguments and their options are the rows of `lockkeeper help
#   --json`, so that they are those of the program that is there; names of locks
#   and hosts, and keys of the configuration, are what the program lists, if a
#   router answers quickly.

#   The program of the command line that is completed.
_lockkeeper_run () {
    LOCKKEEPER_CLIENT=${client:-} \
        timeout 0.5 "${COMP_WORDS[0]:-lockkeeper}" "$@" 2>/dev/null </dev/null
}

#   _lockkeeper_field NAME: that text of each row which has one; JSON escapes
#   none of those that count here.
_lockkeeper_field () {
    sed -n 's/.*"'"$1"'": *"\([^"\\]*\)"[,}].*/\1/p'
}

#   Names that a shell would have to quote are left out: bash expands the words
#   that it is given to choose from, and anybody may choose the name of a lock.
_lockkeeper_listed () {
    _lockkeeper_run "${@:2}" --json | _lockkeeper_field "$1" |
        grep -v '[^[:alnum:]_./:@%+,=-]' | sort -u
}

#   The words that a row of `help VERB --json` allows.
_lockkeeper_values () {
    case $(_lockkeeper_field value <<<"$1") in
        lock) _lockkeeper_listed object list ;;
        host) _lockkeeper_listed host cluster members ;;
        client) _lockkeeper_listed client clients list ;;
        zone) _lockkeeper_listed zone zone list ;;
        setting) _lockkeeper_listed key config keys ;;
        verb) _lockkeeper_listed verb help ;;
        process) compgen -A variable -P '$' -X '!*PID' ;;
        *) _lockkeeper_field words <<<"$1" | tr ' ' '\n' ;;
    esac
}

#   The row of VERB's rows that says what the word is: the value of the option
#   ahead of it, or an argument.
_lockkeeper_row () {
    local row=
    case $before in
        --*) row=$(grep "\"option\": *\"${before#--}\"" <<<"$rows") ;;
    esac
    if [[ $row == *'"value"'* ]]; then
        echo "$row"
    elif [ "$COMP_CWORD" = 2 ]; then
        grep '"argument": *""' <<<"$rows"
    elif [ "$COMP_CWORD" = 3 ]; then
        grep "\"argument\": *\"$before\"" <<<"$rows"
    fi
}

#   Leaves "--client FILE" out, ahead of the verb, and has what is asked use it.
#   Fails where that itself is completed.
_lockkeeper_client () {
    local count=3 word=${COMP_WORDS[COMP_CWORD]}
    if ((COMP_CWORD == 1)) && [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W '--client --help --version' \
            -- "$word")
        return 1
    fi
    [ "${COMP_WORDS[1]}" = --client ] || return 0
    #   bash takes --client=FILE for three words.
    [ "${COMP_WORDS[2]}" != = ] || count=4
    if ((COMP_CWORD < count)); then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "${word#=}")
        return 1
    fi
    client=${COMP_WORDS[count - 1]/#'~'/$HOME}
    COMP_WORDS=("${COMP_WORDS[0]}" "${COMP_WORDS[@]:count}")
    ((COMP_CWORD -= count - 1))
}

_lockkeeper () {
    local client=${LOCKKEEPER_CLIENT:-}
    COMPREPLY=()
    _lockkeeper_client || return
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local verb=${COMP_WORDS[1]} i rows row words=
    for ((i = 2; i < COMP_CWORD; i++)); do
        [ "${COMP_WORDS[i]}" != -- ] || break
    done
    if [ "$COMP_CWORD" -gt 1 ] && [ "$i" -lt "$COMP_CWORD" ]; then
        #   A command of its own begins behind "--".
        if declare -F _command_offset >/dev/null; then
            _command_offset $((i + 1))
        elif [ $((i + 1)) = "$COMP_CWORD" ]; then
            mapfile -t COMPREPLY < <(compgen -c -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        return
    fi
    rows=$(_lockkeeper_run help "$verb" --json)
    row=$(_lockkeeper_row)
    case $word,$(_lockkeeper_field value <<<"$row") in
        -*) ;;
        *,file | *,folder)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            return
            ;;
    esac
    if [ "$COMP_CWORD" = 1 ]; then
        words=$(_lockkeeper_listed verb help)
    elif [[ $word == -* ]]; then
        words=$(_lockkeeper_field option <<<"$rows" | sed 's/^/--/')
    else
        [ "$COMP_CWORD" != 2 ] ||
            words=$(_lockkeeper_field argument <<<"$rows")$'\n'
        words+=$(_lockkeeper_values "$row")
    fi
    local IFS=$'\n'
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _lockkeeper lockkeeper
