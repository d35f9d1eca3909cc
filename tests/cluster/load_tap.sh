# shellcheck shell=bash
#   load_tap.sh - what the tests with applications at work share (TAP)
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced. A host's applications write $work/HOST*.history; what a script
#   does to hosts is in $work/faults.history. All times are the boot clock's,
#   in ns, unless a name says ms. Who sources it sets the names of all hosts.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/cli_tap.sh"
history=$BUILD/tests/cluster/history
load=$BUILD/tests/cluster/load
declare -A loads=()     # pid of each by its name
declare -A load_host=() # and its host
leaders=3               # that all_full wants
where=${LOCKKEEPER_SANDBOX:-$work}

pid_of () {
    cat "$where/$1/$(daemons "$2").pid"
}

ready () {
    LOCKKEEPER_ENDPOINT=ipc://$where/$1/router "$lockkeeper" status \
        >"$work/status.$1" 2>&1
}

#   full N HOST: the host is ready, with N leaders.
full () {
    ready "$2" && awk -v n="$1" '
        $1 == "leaders" { count = NF - 1 }
        END { exit count != n }' "$work/status.$2"
}

all_ready () {
    local host
    for host in "${hosts[@]}"; do
        ready "$host" || return 1
    done
}

#   All are ready, with as many leaders as there can be.
all_full () {
    local host
    for host in "${hosts[@]}"; do
        full "$leaders" "$host" || return 1
    done
}

#   hosts_get STATE: all_ready or all_full, in the end; else says why not.
hosts_get () {
    local host
    await "$1" && return
    for host in "${hosts[@]}"; do
        ready "$host"
        sed "s/^/$host: /" "$work/status.$host"
    done
    return 1
}

#   Every daemon.
all_live () {
    local file pid
    for file in "$where"/*/*.pid; do
        pid=$(cat "$file")
        kill -0 "$pid" || {
            echo "${file%.pid} is dead; the end of its log:"
            tail -n 5 "${file%.pid}.log"
            return 1
        }
    done
}

#   start_load NAME HOST OPTIONS...: an application and its successors.
start_load () {
    local name=$1 host=$2
    shift 2
    "$load" --host "$host" --endpoint "ipc://$where/$host/router" \
        --history "$work/$host-$name.history" "$@" 2>>"$work/load.errors" &
    loads[$name]=$! load_host[$name]=$host
}

#   contend OBJECT HOST: somebody there holds it, others on all hosts wait.
contend () {
    local object=$1 host=$2
    start_load "$object-1" "$host" --style hold --object "$object"
    await happened granted "$object" >/dev/null || return 1
    for host in "${hosts[@]}"; do
        start_load "$object-$host" "$host" --style hold --object "$object"
    done
}

#   The applications of a host, and who watches over them.
apps_of () {
    local name pid
    for name in "${!loads[@]}"; do
        pid=${loads[$name]}
        [ "${load_host[$name]}" = "$1" ] &&
            echo "$pid $(cat "/proc/$pid/task/$pid/children")"
    done
}

#   stop_loads NAME...: all must have had their answers.
stop_loads () {
    end_loads TERM "$@"
}

#   end_loads SIGNAL NAME...: INT ends them in the middle of their work.
end_loads () {
    local name good=0 signal=$1
    shift
    for name in "$@"; do
        kill "-$signal" "${loads[$name]}"
    done
    for name in "$@"; do
        wait "${loads[$name]}" || good=1
        unset "loads[$name]"
    done
    cat "$work/load.errors"
    return $good
}

kill_loads () {
    local name
    for name in "${!loads[@]}"; do
        kill -9 "${loads[$name]}" 2>/dev/null
    done
}

#   happened WHICH OBJECT [AFTER]: prints when that was first in a history.
happened () {
    "$history" event "$1" "$2" "${3:-0}" "$work"/*.history
}

#   granted_since OBJECT NS: whether it was.
granted_since () {
    happened granted "$1" "$2" >/dev/null
}

#   go_on NS OBJECT...: each of these was granted since.
go_on () {
    local since=$1 object
    shift
    for object in "$@"; do
        granted_since "$object" "$since" || return 1
    done
}

#   longest_pause NS OBJECT...: since then, of any of these: nobody got it for
#   so many ms.
longest_pause () {
    local since=$1 all=${hosts[*]} objects
    shift
    objects=$*
    "$history" pause "${all// /,}" "$since" "$("$history" now)" \
        "${objects// /,}" "$work"/*.history
}

#   ms_from T0 T1
ms_from () {
    echo $((($2 - $1) / 1000000))
}

#   Loads whose names begin so.
names_of () {
    printf '%s\n' "${!loads[@]}" | grep "^$1"
}

judge () {
    "$history" judge "$@" "$work"/*.history
}

#   hit HOST SIGNAL DAEMON...: prints when.
hit () {
    local host=$1 signal=$2 daemon pids=()
    shift 2
    for daemon in $(daemons "$@"); do
        pids+=("$(pid_of "$host" "$daemon")")
    done
    local IFS=+
    "$history" kill "$work/faults.history" "$host" "$*" "$signal" "${pids[@]}"
}

restart () {
    local host=$1 daemon
    shift
    for daemon in $(daemons "$@"); do
        LOCKKEEPER_SANDBOX=$where "$lockkeeper" sandbox restart "$host" \
            "$daemon" >>"$work/restarts" 2>&1 || return 1
    done
    "$history" heal "$work/faults.history" "$host"
}

#   keep_for_later: what the test saw, if it failed or $KEEP is set.
keep_for_later () {
    [ "$bad" != 0 ] || [ -n "${KEEP:-}" ] || return 0
    local kept=$BUILD/check/${0##*/}.kept
    rm -rf "$kept"
    mkdir -p "$kept"
    cp -r "$work" "$kept/work"
    cp -r "$where" "$kept/hosts" 2>/dev/null
    echo "# kept in $kept"
}

trap 'kill_loads' EXIT
trap 'exit 1' TERM INT HUP
