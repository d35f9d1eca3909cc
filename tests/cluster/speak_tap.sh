# shellcheck shell=bash
#   speak_tap.sh - scripts that say to routers what they like (TAP)
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced, ahead of in_sandbox. Speakers are processes of their own, or of
#   other hosts' routers:
#       speaker NAME ENDPOINT [COMMAND...]   by COMMAND if given: setpriv ...
#       say NAME FROM TO COMMAND SERIAL TTL [BODY]
#       heard NAME PATTERN                   whether it was told that
#       silence NAME [SIGNAL]                it ends
#       enter NAME SERVICE true|false        REGISTER; `true`: an application

# shellcheck source=tests/cluster/load_tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/load_tap.sh"
speak=$BUILD/tests/cluster/speak
declare -A speaker=() voice=()

endpoint_of () {
    echo "ipc://$LOCKKEEPER_SANDBOX/$1/router"
}

#   tcp_of HOST: where other routers find its.
tcp_of () {
    ready "$1"
    sed -n 's,^host.* at \([0-9.:]*\)).*,tcp://\1,p' "$work/status.$1"
}

speaker () {
    local name=$1 endpoint=$2 fd
    shift 2
    rm -f "$work/$name.in"
    mkfifo "$work/$name.in"
    : >"$work/$name.out"     # what one before of that name was told
    "$@" "$speak" "$endpoint" <"$work/$name.in" >"$work/$name.out" 2>&1 &
    speaker[$name]=$!
    exec {fd}>"$work/$name.in"
    voice[$name]=$fd
}

say () {
    local name=$1
    shift
    printf '%s\n' "$*" >&"${voice[$name]}"
}

heard () {
    grep -qE -- "$2" "$work/$1.out"
}

silence () {
    local fd=${voice[$1]}
    [ -z "${2:-}" ] || kill "-$2" "${speaker[$1]}"
    exec {fd}>&-
    wait "${speaker[$1]}" 2>/dev/null
    unset "speaker[$1]" "voice[$1]"
}

#   Repeated until it is answered.
enter () {
    say "$1" "$2@." router@. REGISTER 1 0 "{\"service\":\"$2\"," \
        "\"version\":\"1\",\"pid\":\$PID,\"application\":$3}"
    within 60 heard "$1" '^router@[^ ]* (READY|REFUSE) 1 '
}

#   hold NAME LOCK: a speaker of that name on h1 is an application and has it.
hold () {
    speaker "$1" "$(endpoint_of h1)"
    enter "$1" "$1" true || return 1
    say "$1" "$1@h1" lock@. LOCK 7 0 "{\"object\":\"$2\",\"wait\":-1}"
    within 60 heard "$1" '^lock@h1 LOCKED 7 '
}

#   Whether nobody has it, in the end.
is_free () {
    on h1 run --wait 60 "$1" -- true
}

#   Whether somebody has it now.
is_busy () {
    code 124 on h1 run --wait 0 "$1" -- true
}
