# shellcheck shell=bash
#   restarts_tap.sh - what the tests share in which h1's daemons end (TAP)
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced. A restart has to be over within a host lease: host_lease_ms.

# shellcheck source=tests/cluster/actor_tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/actor_tap.sh"
in_sandbox "$0" --hosts 3 --set lock/dead-after=1000 \
    --set lock/leader-lease=2100 \
    --set lock/host-lease="${host_lease_ms:=6600}"

#   end_by SIGNAL DAEMON...: those of h1.
end_by () {
    local signal=$1 daemon
    shift
    for daemon in "$@"; do
        kill "$signal" "$(cat "$LOCKKEEPER_SANDBOX/h1/$daemon.pid")"
    done
}

restart () {
    on h2 sandbox restart h1 "$@" >"$work/restart" 2>&1
}

#   told EVENT ERROR LOCK...: of each of these, in any order. On a busy machine
#   danger may come and go before.
told () {
    local event=$1 error=$2 lock told
    local -A left=()
    shift 2
    for lock in "$@"; do
        left["$event $lock $error"]=1
    done
    while [ ${#left[@]} -gt 0 ]; do
        told=$(tell a event 60000)
        echo "$told"
        case $told in
            "$event "*)
                [ -n "${left[$told]:-}" ] || [ "$error" = ok ] || return 1
                unset "left[$told]"
                ;;
            jeopardy* | safe*) ;;
            *) return 1 ;;
        esac
    done
}

#   four EVENT ERROR: of each lock but the static one.
four () {
    told "$@" ex se set sh
}
