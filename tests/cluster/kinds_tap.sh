# shellcheck shell=bash
#   kinds_tap.sh - applications that a script has on a string (TAP)
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced after hosts.sh. kinds_client.c says what they understand.
#
#       client app h1                       an application on a host
#       reply app 'get a db shared'         what it says to that
#       expect 'locked 1' app get a db shared       a case of the test
#       kill_client app                     KILL
#       end_client app                      in good order

declare -A client_pid=() client_in=() client_out=()

client () {
    local name=$1 host=$2 in out
    mkfifo "$work/$name.in" "$work/$name.out"
    LOCKKEEPER_ENDPOINT=ipc://$where/$host/router \
        setpriv --pdeathsig KILL "$BUILD/tests/cluster/kinds_client" \
        <"$work/$name.in" >"$work/$name.out" 2>"$work/$name.errors" &
    client_pid[$name]=$!
    disown
    exec {in}>"$work/$name.in" {out}<"$work/$name.out"
    client_in[$name]=$in client_out[$name]=$out
}

clients () {
    local host=$1 name
    shift
    for name in "$@"; do
        client "$name" "$host"
    done
}

#   reply NAME COMMAND...: asks it, and prints its answer.
reply () {
    local name=$1 line
    shift
    echo "$*" >&"${client_in[$name]}"
    read -rt 90 line <&"${client_out[$name]}" || line='no answer'
    echo "$line"
}

is_reply () {
    local wanted=$1 got
    shift
    got=$(reply "$@")
    [ "$got" = "$wanted" ] || {
        echo "$*: '$got', not '$wanted'"
        # shellcheck disable=SC2034 # check reads it
        [ "$got" != 'no answer' ] || hopeless="$1 gives no answer"
        return 1
    }
}

#   expect ANSWER NAME COMMAND...
expect () {
    local wanted=$1
    shift
    check "$*: $wanted" is_reply "$wanted" "$@"
}

are_waiting () {
    [ "$(on h1 list --object "$2" 2>/dev/null | grep -c '^waiting')" = "$1" ]
}

#   queued N NAME L OBJECT OPTION...: it asks, and is one of N who wait.
queued () {
    local count=$1
    shift
    is_reply ok "$1" ask "${@:2}" && await are_waiting "$count" "$3"
}

#   starts_with WORD NAME COMMAND...: whatever stands behind it.
starts_with () {
    local wanted=$1 got
    shift
    got=$(reply "$@")
    [ "${got%% *}" = "$wanted" ] || {
        echo "$*: '$got', not '$wanted ...'"
        return 1
    }
}

forget_client () {
    local in=${client_in[$1]} out=${client_out[$1]}
    exec {in}>&- {out}<&-
    rm -f "$work/$1.in" "$work/$1.out"
    unset "client_pid[$1]"
}

is_gone () {
    [ ! -e "/proc/$1" ] || [ "$(cut_field "/proc/$1/stat")" = Z ]
}

cut_field () {
    local line
    line=Z
    { read -r line <"$1"; } 2>/dev/null
    line=${line##*) }
    echo "${line%% *}"
}

kill_client () {
    local name
    for name in "$@"; do
        kill -9 "${client_pid[$name]}"
        await is_gone "${client_pid[$name]}"
        forget_client "$name"
    done
}

end_client () {
    local pid=${client_pid[$1]}
    echo quit >&"${client_in[$1]}"
    await is_gone "$pid"
    forget_client "$1"
}

#   no_tickets: nobody holds or waits for anything.
no_tickets () {
    [ -z "$(on "${1:-h1}" list --json)" ]
}
