# shellcheck shell=bash
#   restarts_tap.sh - what the tests share in which h1's daemons end (TAP)
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced.

# shellcheck source=tests/cluster/actor_tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/actor_tap.sh"
in_sandbox "$0" --hosts 3 --set lock/dead-after=300 \
    --set lock/leader-lease=700 --set lock/host-lease=3000

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

#   told EVENT ERROR SECONDS LOCK...: of each of these, in any order.
told () {
    local event=$1 error=$2 patience=$3 wanted told=''
    shift 3
    wanted=$(printf "$event %s $error\n" "$@" | sort)
    for _ in "$@"; do
        told="$told$(tell a event $((patience * 1000)))
"
    done
    told=$(printf '%s' "$told" | sort)
    [ "$told" = "$wanted" ] || {
        echo "told: $told"
        return 1
    }
}

#   three EVENT ERROR SECONDS: of those that can go on.
three () {
    told "$@" ex se sh
}
